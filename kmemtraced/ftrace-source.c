// SPDX-License-Identifier: GPL-2.0-or-later
/* The event source "ftrace", which records the tracepoints of any kernel. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <kmemtrace_abi.h>

#include "lib/capture/error.h"
#include "kmemtraced/tracefs-instance.h"
#include "kmemtraced/interference.h"
#include "kmemtraced/ring-format.h"
#include "kmemtraced/event-source.h"
#include "kmemtraced/task-names.h"

/* Default size of a CPU's buffer in kilobytes: the buffers of all CPUs share
 * 1/MEMORY_PART of the memory, within these limits for each CPU. */
#define BUFFER_MAX_KB 16384
#define BUFFER_MIN_KB 1024
#define MEMORY_PART   16

/* Minimum size of a buffer in pages, as enforced by the kernel. */
#define BUFFER_MIN_PAGES 2

/*
 * WAKE_PERCENT is the fill level of a buffer at which the kernel wakes its
 * reader. Without a wakeup, the reader reads after READ_INTERVAL_MS
 * milliseconds.
 */
#define WAKE_PERCENT	 10
#define READ_INTERVAL_MS 100

/*
 * Interval of the reads, in milliseconds, on kernels without buffer_percent.
 * Such a kernel wakes readers at each event, so the readers do not poll.
 */
#define POLL_INTERVAL_MS 10

/*
 * A page with less free space than this is full. A page with more free space
 * was the last one in the buffer: the reader has consumed all records and lets
 * other tasks run.
 */
#define EVENT_MAX_BYTES 256

#define CAPTURE "capture"

/* Added to "not_seen" in the meta file if only some processes are recorded. */
#define NOT_SEEN_OTHERS                                                        \
	"what other processes allocate, and free of what these allocated"

typedef struct {
	KmtdSource source;
	KmtdInstance *instance;
	KmtdRingFormat *format;
	KmtdInterference *interference; /* NULL until tracing is switched on */
	KmtdTaskNames *names;
	gboolean names_complete; /* every change of a task's name is recorded */
	KmtdOwnTasks tasks;
	char *clock;
	int online_fd;	    /* the file with the online CPUs in sysfs */
	GArray *cpus;	    /* of guint: all CPUs that were ever online */
	GPtrArray *streams; /* of FtraceStream *: the streams that exist */
	gint *pids;
	guint n_pids;
	gboolean children;
	gboolean keep_own;
	gboolean prepared; /* the instance exists */
	char *proc;
	guint64 buffer_kb; /* see KmtdSourceOptions */
	void (*warning)(const char *text);
} Ftrace;

typedef struct {
	KmtdCpuStream base;
	Ftrace *ftrace;
	guint cpu;
	gboolean caught_up; /* the last page had free space */
	guint8 *page;
	KmtdTaskChanges changes;
	KmtdRing ring;
} FtraceStream;

/* ---- streams of the CPUs ---- */

static void stream_attach(KmtdCpuStream *stream)
{
	kmtd_own_tasks_add(&((FtraceStream *)stream)->ftrace->tasks,
			   (gint32)syscall(SYS_gettid));
}

/*
 * Read the next page. Return the number of bytes in the page, 0 if there is no
 * page, or -errno.
 */
static gssize read_page(FtraceStream *ftrace_stream)
{
	gsize page_bytes = ftrace_stream->ftrace->format->page_bytes;
	gsize used;
	ssize_t n;

	do
		n = read(ftrace_stream->base.fd, ftrace_stream->page,
			 page_bytes);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	if (n == 0)
		return 0;
	used = kmtd_ring_begin(&ftrace_stream->ring, ftrace_stream->page,
			       (gsize)n);
	ftrace_stream->caught_up =
		used + ftrace_stream->ftrace->format->data_offset +
			EVENT_MAX_BYTES <
		page_bytes;
	return n;
}

static gssize stream_read(KmtdCpuStream *stream, void *to, gsize n_bytes,
			  gboolean all)
{
	FtraceStream *ftrace_stream = (FtraceStream *)stream;
	struct kmemtrace_event_v2 *records = to;
	gsize max = n_bytes / sizeof(*records), n = 0;

	for (;;) {
		gssize r;

		n += kmtd_ring_next(&ftrace_stream->ring, records + n, max - n);
		/* The buffer of the caller is full; the page may contain more
		 * records. */
		if (n == max)
			break;
		if (ftrace_stream->caught_up && !all) {
			if (n == 0)
				ftrace_stream->caught_up = FALSE;
			break;
		}
		r = read_page(ftrace_stream);
		if (r < 0 && n == 0)
			return r;
		if (r <= 0)
			break;
	}
	return (gssize)(n * sizeof(*records));
}

static gboolean stream_check(const KmtdCpuStream *stream, guint cpu,
			     GError **error)
{
	guint64 n = ((const FtraceStream *)stream)->ring.counters.damaged;

	if (n == 0)
		return TRUE;
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_READ,
		    "CPU %u: the kernel's ring buffer gave %" G_GUINT64_FORMAT
		    " pages or events that make no sense",
		    cpu, n);
	return FALSE;
}

static void stream_free(KmtdCpuStream *stream)
{
	FtraceStream *ftrace_stream = (FtraceStream *)stream;

	g_ptr_array_remove(ftrace_stream->ftrace->streams, ftrace_stream);
	if (stream->fd >= 0)
		close(stream->fd);
	g_free(stream->name);
	kmtd_task_changes_clear(&ftrace_stream->changes);
	g_free(ftrace_stream->page);
	g_free(ftrace_stream);
}

static const KmtdCpuStreamClass stream_class = {
	.attach = stream_attach,
	.read = stream_read,
	.check = stream_check,
	.free = stream_free,
};

static KmtdCpuStream *ftrace_open_cpu(KmtdSource *source, guint cpu,
				      GError **error)
{
	Ftrace *ftrace = (Ftrace *)source;
	FtraceStream *ftrace_stream = g_new0(FtraceStream, 1);
	g_autoptr(KmtdCpuStream) stream = &ftrace_stream->base;

	ftrace_stream->ftrace = ftrace;
	ftrace_stream->cpu = cpu;
	ftrace_stream->page = g_malloc0(ftrace->format->page_bytes);
	kmtd_ring_init(&ftrace_stream->ring, ftrace->format,
		       ftrace->keep_own ? NULL : &ftrace->tasks);
	kmtd_task_changes_init(&ftrace_stream->changes);
	ftrace_stream->ring.changes = &ftrace_stream->changes;
	g_ptr_array_add(ftrace->streams, ftrace_stream);
	stream->class = &stream_class;
	stream->name = g_strdup_printf("per_cpu/cpu%u/trace_pipe_raw", cpu);
	stream->fd = kmtd_instance_open_file(ftrace->instance, stream->name,
					     O_RDONLY | O_NONBLOCK, error);
	if (stream->fd < 0)
		return NULL;
	stream->pause_ms = POLL_INTERVAL_MS / 2;
	stream->timeout_ms = READ_INTERVAL_MS;
	if (!kmtd_instance_has(ftrace->instance, "buffer_percent")) {
		stream->timeout_ms = POLL_INTERVAL_MS;
		stream->cannot_poll = TRUE;
	}
	return g_steal_pointer(&stream);
}

/* ---- switching on and off ---- */

static gboolean set_tracepoints(Ftrace *ftrace, const char *value,
				GError **error)
{
	for (guint i = 0; i < kmt_tracepoint_n_names; i++) {
		g_autofree char *name = g_strdup_printf(
			"events/%s/%s/enable", kmt_tracepoint_names[i].system,
			kmt_tracepoint_names[i].name);

		if (kmt_tracepoint_names[i].optional &&
		    !kmtd_instance_has(ftrace->instance, name))
			continue;
		if (!kmtd_instance_write(ftrace->instance, name, value, error))
			return FALSE;
	}
	return TRUE;
}

/*
 * Switch the tracepoints of task names on or off. Return FALSE if the kernel
 * lacks one of these tracepoints or refuses the write.
 */
static gboolean set_task_points(Ftrace *ftrace, const char *value)
{
	gboolean all = TRUE;

	for (guint i = 0; i < KMT_TRACEPOINT_N_TASKS; i++) {
		g_autofree char *name = g_build_filename(
			"events", KMT_TASK_SYSTEM, kmt_tracepoint_task_names[i],
			"enable", NULL);

		all = ftrace->format->tasks[i].min_bytes &&
		      kmtd_instance_write(ftrace->instance, name, value,
					  NULL) &&
		      all;
	}
	return all;
}

static gboolean ftrace_is_enabled(KmtdSource *source, gboolean *enabled,
				  GError **error)
{
	Ftrace *ftrace = (Ftrace *)source;
	g_autofree char *text = NULL;

	*enabled = FALSE;
	if (!ftrace->prepared)
		return TRUE;
	text = kmtd_instance_read(ftrace->instance, "tracing_on", error);
	*enabled = text && g_str_equal(text, "1");
	return text != NULL;
}

/*
 * Enable each tracepoint and then set tracing_on, so that all tracepoints begin
 * to record at the same moment.
 */
static gboolean ftrace_enable(KmtdSource *source, GError **error)
{
	Ftrace *ftrace = (Ftrace *)source;

	if (!set_tracepoints(ftrace, "1", error))
		return FALSE;
	ftrace->names_complete = set_task_points(ftrace, "1");
	ftrace->interference =
		kmtd_interference_new(ftrace->instance, ftrace->children);
	/* Read the task names as late as possible, but before tracing is on, so
	 * that reading them is not in the trace. */
	kmtd_task_names_begin(ftrace->names);
	if (!kmtd_instance_write(ftrace->instance, "tracing_on", "1", error))
		return FALSE;
	kmtd_interference_begin(ftrace->interference);
	source->changes_fd = kmtd_interference_fd(ftrace->interference);
	return TRUE;
}

static void ftrace_poll_changes(KmtdSource *source, gboolean now)
{
	kmtd_interference_poll(((Ftrace *)source)->interference, now);
}

/*
 * Clear tracing_on, so that all tracepoints end at the same moment. Then
 * disable each tracepoint, which removes the kernel's probes.
 */
static gboolean ftrace_disable(KmtdSource *source, GError **error)
{
	Ftrace *ftrace = (Ftrace *)source;

	/* Stop watching the instance before kmemtraced itself changes the
	 * settings. */
	kmtd_interference_stop(ftrace->interference);
	source->changes_fd = -1;
	if (!kmtd_instance_write(ftrace->instance, "tracing_on", "0", error))
		return FALSE;
	/* Read the task names now, before more tasks end. */
	kmtd_task_names_end(ftrace->names);
	set_task_points(ftrace, "0");
	return set_tracepoints(ftrace, "0", error);
}

/* ---- lost events ---- */

/*
 * Set *n_events to the number of events that @cpu has lost. The kernel has a
 * counter for each cause of a loss; the result is their sum. Return FALSE and
 * set an error if there is no such counter.
 */
static gboolean cpu_overruns(Ftrace *ftrace, guint cpu, guint64 *n_events,
			     GError **error)
{
	static const char *const kinds[] = {
		"overrun: ", "commit overrun: ", "dropped events: "};
	g_autofree char *name = g_strdup_printf("per_cpu/cpu%u/stats", cpu);
	g_autofree char *text =
		kmtd_instance_read(ftrace->instance, name, error);
	g_auto(GStrv) lines = NULL;
	gboolean any = FALSE;

	if (!text)
		return FALSE;
	*n_events = 0;
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++)
		for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
			if (g_str_has_prefix(*line, kinds[i])) {
				any = TRUE;
				*n_events += g_ascii_strtoull(
					*line + strlen(kinds[i]), NULL, 10);
			}
	if (!any)
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_TRACEFS,
			    "%s/%s does not tell how many events were lost",
			    kmtd_instance_path(ftrace->instance), name);
	return any;
}

/*
 * Set *n_events to the number of events that were read from the buffer of @cpu.
 * Return FALSE if this kernel does not count these events.
 */
static gboolean cpu_read_events(Ftrace *ftrace, guint cpu, guint64 *n_events)
{
	static const char key[] = "read events: ";
	g_autofree char *name = g_strdup_printf("per_cpu/cpu%u/stats", cpu);
	g_autofree char *text =
		kmtd_instance_read(ftrace->instance, name, NULL);
	const char *line = text ? strstr(text, key) : NULL;

	if (line)
		*n_events = g_ascii_strtoull(line + strlen(key), NULL, 10);
	return line != NULL;
}

/*
 * Report interference if another program has cleared or read one of the
 * buffers. The kernel counts the events that any reader has consumed since a
 * buffer was last cleared. If another program interfered, this count differs
 * from the number of events in the pages that kmemtraced read.
 */
static void compare_counts(Ftrace *ftrace)
{
	for (guint i = 0; i < ftrace->streams->len; i++) {
		const FtraceStream *ftrace_stream = ftrace->streams->pdata[i];
		guint64 n;

		if (ftrace_stream->ring.counters.damaged ||
		    !cpu_read_events(ftrace, ftrace_stream->cpu, &n) ||
		    n == ftrace_stream->ring.counters.events)
			continue;
		kmtd_interference_add(ftrace->interference, "trace");
	}
}

static gboolean ftrace_total_overruns(KmtdSource *source, guint64 *n_events,
				      GError **error)
{
	Ftrace *ftrace = (Ftrace *)source;

	*n_events = 0;
	for (guint i = 0; i < ftrace->cpus->len; i++) {
		guint64 n;

		if (!cpu_overruns(ftrace, g_array_index(ftrace->cpus, guint, i),
				  &n, error))
			return FALSE;
		*n_events += n;
	}
	return TRUE;
}

static GHashTable *ftrace_overruns(KmtdSource *source, GError **error)
{
	Ftrace *ftrace = (Ftrace *)source;
	g_autoptr(GHashTable) table =
		g_hash_table_new_full(NULL, NULL, NULL, g_free);

	for (guint i = 0; i < ftrace->cpus->len; i++) {
		guint cpu = g_array_index(ftrace->cpus, guint, i);
		guint64 n;

		if (!cpu_overruns(ftrace, cpu, &n, error))
			return NULL;
		g_hash_table_insert(table, GUINT_TO_POINTER(cpu),
				    g_memdup2(&n, sizeof(n)));
	}
	return g_steal_pointer(&table);
}

/* No other program reads the instance, so no part of the trace is consumed. */
static gboolean ftrace_any_consumed(KmtdSource *source, gboolean *consumed,
				    GError **error)
{
	*consumed = FALSE;
	return TRUE;
}

/* ---- CPUs ---- */

static void add_cpu(GArray *cpus, guint cpu)
{
	guint i;

	for (i = 0; i < cpus->len; i++) {
		if (g_array_index(cpus, guint, i) == cpu)
			return;
		if (g_array_index(cpus, guint, i) > cpu)
			break;
	}
	g_array_insert_val(cpus, i, cpu);
}

/*
 * Add the online CPUs, such as "0-3,5", to ftrace->cpus. A CPU that goes
 * offline stays in the list, because its buffer stays.
 */
static void follow_online(Ftrace *ftrace)
{
	char text[4096];
	ssize_t n = pread(ftrace->online_fd, text, sizeof(text) - 1, 0);
	char *p = text;

	if (n <= 0)
		return;
	text[n] = '\0';
	while (g_ascii_isdigit(*p)) {
		guint64 first = g_ascii_strtoull(p, &p, 10), last = first;

		if (*p == '-')
			last = g_ascii_strtoull(p + 1, &p, 10);
		for (guint64 cpu = first; cpu <= last && cpu < 65536; cpu++)
			add_cpu(ftrace->cpus, (guint)cpu);
		if (*p == ',')
			p++;
	}
}

static GArray *ftrace_cpus(KmtdSource *source)
{
	Ftrace *ftrace = (Ftrace *)source;

	follow_online(ftrace);
	return g_array_copy(ftrace->cpus);
}

/* ---- meta file and task names ---- */

static void ftrace_describe(KmtdSource *source, GKeyFile *meta)
{
	Ftrace *ftrace = (Ftrace *)source;
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	g_autoptr(GPtrArray) not_seen = NULL;
	guint types = 0;

	for (guint i = 0; i < ftrace->format->by_id->len; i++) {
		const KmtTracepoint *point = ftrace->format->by_id->pdata[i];

		if (!point)
			continue;
		g_ptr_array_add(names, (gpointer)point->name);
		types |= 1U << point->type_id;
	}
	not_seen = kmt_tracepoints_not_seen(types);
	g_key_file_set_string(meta, CAPTURE, "clock", ftrace->clock);
	g_key_file_set_uint64(meta, CAPTURE, "subbufs", source->n_subbufs);
	g_key_file_set_uint64(meta, CAPTURE, "subbuf_size",
			      source->subbuf_bytes);
	g_key_file_set_string_list(meta, CAPTURE, "tracepoints",
				   (const char *const *)names->pdata,
				   names->len);
	/* The capture has a table of task names from now on. conclude_names()
	 * replaces this value by the final one. */
	g_key_file_set_string(meta, CAPTURE, "task_names", "proc");
	if (ftrace->n_pids)
		g_ptr_array_add(not_seen, g_strdup(NOT_SEEN_OTHERS));
	g_key_file_set_string_list(meta, CAPTURE, "not_seen",
				   (const char *const *)not_seen->pdata,
				   not_seen->len);
	if (ftrace->n_pids) {
		g_key_file_set_integer_list(meta, CAPTURE, "pids", ftrace->pids,
					    ftrace->n_pids);
		g_key_file_set_boolean(meta, CAPTURE, "children",
				       ftrace->children);
	}
}

static void conclude_names(Ftrace *ftrace, GKeyFile *meta)
{
	g_autoptr(GPtrArray) changes = g_ptr_array_new();
	gint64 last_ns = 0;
	guint64 lost;
	gboolean none_lost =
		ftrace_total_overruns(&ftrace->source, &lost, NULL) &&
		lost == 0;

	for (guint i = 0; i < ftrace->streams->len; i++) {
		FtraceStream *ftrace_stream = ftrace->streams->pdata[i];

		g_ptr_array_add(changes, &ftrace_stream->changes);
		last_ns = MAX(last_ns, ftrace_stream->ring.last_ns);
		none_lost = none_lost && !ftrace_stream->changes.n_dropped &&
			    !ftrace_stream->ring.counters.gaps;
	}
	kmtd_task_names_merge(ftrace->names, changes,
			      ftrace->names_complete && none_lost, last_ns);
	g_key_file_set_string(meta, CAPTURE, "task_names",
			      ftrace->names_complete ? "tracepoints" : "proc");
}

static char *ftrace_tasks(KmtdSource *source)
{
	return kmtd_task_names_text(((Ftrace *)source)->names);
}

static gboolean ftrace_conclude(KmtdSource *source, GKeyFile *meta,
				GError **error)
{
	Ftrace *ftrace = (Ftrace *)source;
	guint64 own = 0;

	for (guint i = 0; i < ftrace->streams->len; i++) {
		const FtraceStream *ftrace_stream = ftrace->streams->pdata[i];
		const KmtdRingCounters *counters =
			&ftrace_stream->ring.counters;
		g_autofree char *group =
			g_strdup_printf("cpu%u", ftrace_stream->cpu);

		own += counters->own;
		if (counters->gaps == 0)
			continue;
		g_key_file_set_int64(meta, group, "lost_from",
				     counters->lost_from);
		g_key_file_set_int64(
			meta, group, "lost_until",
			MAX(counters->lost_until, ftrace_stream->ring.last_ns));
	}
	g_key_file_set_uint64(meta, CAPTURE, "own_events", own);
	conclude_names(ftrace, meta);
	compare_counts(ftrace);
	return kmtd_interference_conclude(ftrace->interference, meta, error);
}

/* ---- opening and closing ---- */

static gboolean ftrace_initial_state(KmtdSource *source,
				     KmtRecoveryState *state)
{
	state->instance = kmtd_instance_path(((Ftrace *)source)->instance);
	return TRUE;
}

static void ftrace_close_inherited(KmtdSource *source)
{
	Ftrace *ftrace = (Ftrace *)source;

	for (guint i = 0; i < ftrace->streams->len; i++)
		close(((const FtraceStream *)ftrace->streams->pdata[i])
			      ->base.fd);
	kmtd_interference_stop(ftrace->interference);
	kmtd_instance_close_inherited(ftrace->instance);
}

static void ftrace_clean_up(KmtdSource *source)
{
	kmtd_instance_clean_up(((Ftrace *)source)->instance);
}

static void ftrace_free(KmtdSource *source)
{
	Ftrace *ftrace = (Ftrace *)source;

	kmtd_interference_free(ftrace->interference);
	kmtd_instance_close(ftrace->instance);
	g_clear_pointer(&ftrace->format, kmtd_ring_format_free);
	kmtd_task_names_free(ftrace->names);
	g_ptr_array_unref(ftrace->streams);
	g_array_unref(ftrace->cpus);
	if (ftrace->online_fd >= 0)
		close(ftrace->online_fd);
	g_free(ftrace->clock);
	g_free(ftrace->pids);
	g_free(ftrace->proc);
	g_free(source->description);
	g_free(source->watch_path);
	g_free(source);
}

static gboolean ftrace_prepare(KmtdSource *source, GError **error);

static const KmtdSourceClass source_class = {
	.name = "ftrace",
	.sizes_buffers = TRUE,
	.is_enabled = ftrace_is_enabled,
	.prepare = ftrace_prepare,
	.enable = ftrace_enable,
	.disable = ftrace_disable,
	.poll_changes = ftrace_poll_changes,
	.total_overruns = ftrace_total_overruns,
	.overruns = ftrace_overruns,
	.any_consumed = ftrace_any_consumed,
	.cpus = ftrace_cpus,
	.open_cpu = ftrace_open_cpu,
	.describe = ftrace_describe,
	.conclude = ftrace_conclude,
	.tasks = ftrace_tasks,
	.initial_state = ftrace_initial_state,
	.close_inherited = ftrace_close_inherited,
	.clean_up = ftrace_clean_up,
	.free = ftrace_free,
};

static char *read_format(gpointer data, const char *name, GError **error)
{
	g_autofree char *path = g_build_filename("events", name, NULL);

	return kmtd_instance_read_top(data, path, error);
}

static gboolean open_online(Ftrace *ftrace, const char *sys, GError **error)
{
	g_autofree char *path = g_build_filename(sys, "devices", "system",
						 "cpu", "online", NULL);

	ftrace->online_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (ftrace->online_fd < 0) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_READ, errno,
				      "cannot open %s", path);
		return FALSE;
	}
	follow_online(ftrace);
	if (ftrace->cpus->len > 0)
		return TRUE;
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_READ,
		    "%s names no CPU", path);
	return FALSE;
}

/*
 * Choose the trace clock. The file trace_clock lists the clocks and brackets
 * the default one, for example "[local] global counter". "local" is
 * sched_clock(); the kernel selects another default if sched_clock() differs
 * between CPUs. If the default is another clock, whether the kernel or the user
 * chose it, use "mono": it costs more than "local", but needs no lock as
 * "global" does. "global" exists in every kernel.
 */
static void choose_clock(Ftrace *ftrace)
{
	g_autofree char *top =
		kmtd_instance_read_top(ftrace->instance, "trace_clock", NULL);

	if (top && strstr(top, "[local]"))
		ftrace->clock = g_strdup("local");
	else if (top && strstr(top, "mono"))
		ftrace->clock = g_strdup("mono");
	else
		ftrace->clock = g_strdup("global");
}

/*
 * Set all options that matter, because a new instance inherits the options of
 * the top-level tracing directory.
 */
static gboolean set_options(Ftrace *ftrace, GError **error)
{
	const struct {
		const char *name;
		gboolean on;
	} options[] = {
		{"options/overwrite", TRUE}, /* overwrite mode marks where
					      * events were lost */
		{"options/stacktrace", FALSE},
		{"options/userstacktrace", FALSE},
		{"options/record-cmd", FALSE},
		{"options/record-tgid", FALSE},
		{"options/event-fork", ftrace->children},
	};
	g_autofree char *percent = g_strdup_printf("%d", WAKE_PERCENT);

	for (gsize i = 0; i < G_N_ELEMENTS(options); i++)
		if ((options[i].on ||
		     kmtd_instance_has(ftrace->instance, options[i].name)) &&
		    !kmtd_instance_write(ftrace->instance, options[i].name,
					 options[i].on ? "1" : "0", error))
			return FALSE;
	return !kmtd_instance_has(ftrace->instance, "buffer_percent") ||
	       kmtd_instance_write(ftrace->instance, "buffer_percent", percent,
				   error);
}

/*
 * Append all current threads of the process @pid to @text. Return FALSE and set
 * an error if the process does not exist.
 */
static gboolean add_threads(GString *text, const char *proc, gint pid,
			    GError **error)
{
	g_autofree char *path = g_strdup_printf("%s/%d/task", proc, pid);
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	const char *name;

	if (!dir) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_PROCESS,
			    "there is no process %d", pid);
		return FALSE;
	}
	while ((name = g_dir_read_name(dir)))
		g_string_append_printf(text, "%s ", name);
	return TRUE;
}

static gboolean set_pids(Ftrace *ftrace, const char *proc, GError **error)
{
	g_autoptr(GString) text = g_string_new(NULL);

	if (ftrace->n_pids == 0)
		return TRUE;
	for (guint i = 0; i < ftrace->n_pids; i++)
		if (!add_threads(text, proc, ftrace->pids[i], error))
			return FALSE;
	return kmtd_instance_write(ftrace->instance, "set_event_pid", text->str,
				   error);
}

static gboolean set_buffer(Ftrace *ftrace, guint64 kb, GError **error)
{
	KmtdSource *source = &ftrace->source;
	guint64 memory_kb = (guint64)sysconf(_SC_PHYS_PAGES) *
			    ((guint64)sysconf(_SC_PAGESIZE) / 1024);
	g_autofree char *text = NULL;

	if (kb == 0)
		kb = CLAMP(memory_kb / MEMORY_PART / ftrace->cpus->len,
			   BUFFER_MIN_KB, BUFFER_MAX_KB);
	text = g_strdup_printf("%" G_GUINT64_FORMAT, kb);
	source->subbuf_bytes = ftrace->format->page_bytes;
	/* The kernel rounds the size up in the same way. */
	source->n_subbufs = MAX((kb * 1024 + source->subbuf_bytes - 1) /
					source->subbuf_bytes,
				BUFFER_MIN_PAGES);
	source->batch_bytes = kb * 1024 / 100 * WAKE_PERCENT;
	return kmtd_instance_write(ftrace->instance, "buffer_size_kb", text,
				   error);
}

static gboolean ftrace_prepare(KmtdSource *source, GError **error)
{
	Ftrace *ftrace = (Ftrace *)source;
	gboolean was_stale = FALSE;

	if (!kmtd_instance_create(ftrace->instance, &was_stale, error))
		return FALSE;
	ftrace->prepared = TRUE;
	if (was_stale && ftrace->warning)
		ftrace->warning(KMTD_INSTANCE_REMOVED);
	return kmtd_instance_write(ftrace->instance, "tracing_on", "0",
				   error) &&
	       set_options(ftrace, error) &&
	       kmtd_instance_write(ftrace->instance, "trace_clock",
				   ftrace->clock, error) &&
	       set_pids(ftrace, ftrace->proc, error) &&
	       set_buffer(ftrace, ftrace->buffer_kb, error);
}

KmtdSource *kmtd_ftrace_open(const KmtdSourceOptions *options, GError **error)
{
	Ftrace *ftrace = g_new0(Ftrace, 1);
	g_autoptr(KmtdSource) source = &ftrace->source;

	source->class = &source_class;
	source->changes_fd = -1;
	/* The records have version 2. This kernel keeps no tables for them;
	 * ftrace_tasks() supplies the table of tasks. */
	source->abi_version = 2;
	source->record_bytes = KMEMTRACE_EVENT_SIZE_V2;
	ftrace->online_fd = -1;
	ftrace->names = kmtd_task_names_new(options->proc);
	ftrace->cpus = g_array_new(FALSE, FALSE, sizeof(guint));
	ftrace->streams = g_ptr_array_new();
	ftrace->pids = g_memdup2(options->pids,
				 options->n_pids * sizeof(*options->pids));
	ftrace->n_pids = options->n_pids;
	ftrace->children = options->children && options->n_pids;
	ftrace->keep_own = options->keep_own;
	ftrace->proc = g_strdup(options->proc);
	ftrace->buffer_kb = options->buffer_kb;
	ftrace->warning = options->warning;
	/* Register the calling thread. Each reader thread registers itself in
	 * stream_attach(). */
	kmtd_own_tasks_add(&ftrace->tasks, (gint32)syscall(SYS_gettid));
	if (!kmtd_ring_format_can_read(error))
		return NULL;
	ftrace->instance = kmtd_instance_open(options->tracefs, error);
	if (!ftrace->instance)
		return NULL;
	ftrace->format =
		kmtd_ring_format_read(read_format, ftrace->instance, error);
	if (!ftrace->format || !open_online(ftrace, options->sys, error))
		return NULL;
	choose_clock(ftrace);
	source->description = g_strdup_printf(
		"this kernel's tracepoints (source ftrace, clock %s)",
		ftrace->clock);
	return g_steal_pointer(&source);
}
