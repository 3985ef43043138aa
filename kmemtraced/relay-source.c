// SPDX-License-Identifier: GPL-2.0-or-later
/* The event source "relay", which reads a kernel with kmemtrace. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <kmemtrace_abi.h>

#include "kmemtraced/relay-control.h"
#include "lib/capture/error.h"
#include "kmemtraced/cgroup-paths.h"
#include "kmemtraced/filter-text.h"
#include "kmemtraced/kernel-info.h"
#include "kmemtraced/buffer-mapping.h"
#include "kmemtraced/event-source.h"

#define NONE	  "none"
#define OVERWRITE "overwrite"

typedef struct {
	KmtdSource source;
	KmtdControl *control;
	GPtrArray *streams; /* of RelayStream *: the streams that exist */
	char *filter;	    /* filter to set; NULL: leave the filter as it is */
	char *old_filter;   /* the kernel's filter when the source was opened;
			     * NULL if filter is NULL */
	gboolean filter_is_set; /* the kernel has our filter */
	gboolean was_enabled;	/* tracing was on when the source was opened */
	guint64 session;	/* number of the recorded session; 0: unknown */
	char *mode;		/* mode of the buffers; NULL: discard */
	const char *reader;	/* see KmtdSourceOptions */
} Relay;

typedef struct {
	KmtdCpuStream base;
	Relay *relay;
	KmtdMapping *mapping; /* NULL: use read() */
} RelayStream;

static KmtdControl *control_of(KmtdSource *source)
{
	return ((Relay *)source)->control;
}

/* The bytes that the kernel returns are the records. */
static gssize relay_read(KmtdCpuStream *stream, void *to, gsize n_bytes,
			 gboolean all)
{
	ssize_t n;

	do
		n = read(stream->fd, to, n_bytes);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	return n;
}

static gssize relay_acquire(KmtdCpuStream *stream, KmtdCpuStreamBatch *batch,
			    gboolean all)
{
	return kmtd_mapping_acquire(((RelayStream *)stream)->mapping, batch,
				    all);
}

static int relay_release(KmtdCpuStream *stream, const KmtdCpuStreamBatch *batch)
{
	return kmtd_mapping_release(((RelayStream *)stream)->mapping, batch);
}

static void relay_stream_free(KmtdCpuStream *stream)
{
	RelayStream *relay_stream = (RelayStream *)stream;

	g_ptr_array_remove(relay_stream->relay->streams, stream);
	kmtd_mapping_close(relay_stream->mapping);
	if (stream->fd >= 0)
		close(stream->fd);
	g_free(stream->name);
	g_free(stream);
}

static const KmtdCpuStreamClass stream_class = {
	.read = relay_read,
	.free = relay_stream_free,
};

static const KmtdCpuStreamClass mapped_class = {
	.acquire = relay_acquire,
	.release = relay_release,
	.free = relay_stream_free,
};

/*
 * Map the buffer of a CPU if the user and the kernel allow it. Return FALSE and
 * set an error if the user chose mmap and the kernel refuses it.
 */
static gboolean map_stream(const Relay *relay, RelayStream *stream,
			   GError **error)
{
	if (g_strcmp0(relay->reader, "read") == 0)
		return TRUE;
	stream->mapping = kmtd_mapping_open(stream->base.fd);
	if (stream->mapping) {
		stream->base.class = &mapped_class;
		return TRUE;
	}
	if (!relay->reader)
		return TRUE;
	kmt_capture_set_errno(error, KMT_DAEMON_ERROR_READ, errno,
			      "cannot map %s in debugfs", stream->base.name);
	return FALSE;
}

static KmtdCpuStream *relay_open_cpu(KmtdSource *source, guint cpu,
				     GError **error)
{
	Relay *relay = (Relay *)source;
	RelayStream *relay_stream = g_new0(RelayStream, 1);
	g_autoptr(KmtdCpuStream) stream = &relay_stream->base;
	gboolean enabled = TRUE;

	stream->class = &stream_class;
	stream->fd = -1;
	relay_stream->relay = relay;
	g_ptr_array_add(relay->streams, stream);
	/* In overwrite mode, read at the end only: records that the kernel
	 * overwrites meanwhile need not be written to the disk. */
	stream->read_at_end = g_strcmp0(relay->mode, OVERWRITE) == 0;
	if (!kmtd_control_is_enabled(relay->control, &enabled, error))
		return NULL;
	stream->was_off = !enabled;
	stream->timeout_ms = -1;
	stream->name = g_strdup_printf("cpu%u", cpu);
	stream->fd = openat(kmtd_control_fd(control_of(source)), stream->name,
			    O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (stream->fd < 0) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_READ, errno,
				      "cannot open %s in debugfs",
				      stream->name);
		return NULL;
	}
	if (!map_stream(relay, relay_stream, error))
		return NULL;
	return g_steal_pointer(&stream);
}

static gboolean relay_is_enabled(KmtdSource *source, gboolean *enabled,
				 GError **error)
{
	return kmtd_control_is_enabled(control_of(source), enabled, error);
}

/* ---- filter and session ---- */

/*
 * Read and parse the kernel's file "info". Return NULL if the kernel has no
 * such file or it cannot be read.
 */
static KmtdInfo *read_info(Relay *relay)
{
	g_autofree char *text =
		kmtd_control_has(relay->control, "info")
			? kmtd_control_read(relay->control, "info", NULL)
			: NULL;

	return text ? kmtd_info_parse(text) : NULL;
}

static void save_session(Relay *relay)
{
	g_autoptr(KmtdInfo) info = read_info(relay);

	relay->session = info ? kmtd_info_session(info) : 0;
	kmt_recovery_set_session(relay->source.recovery, relay->session);
}

static gboolean set_filter(Relay *relay, GError **error)
{
	if (!relay->filter)
		return TRUE;
	relay->filter_is_set = kmtd_control_write(relay->control, "filter",
						  relay->filter, error);
	return relay->filter_is_set;
}

static gboolean relay_enable(KmtdSource *source, GError **error)
{
	Relay *relay = (Relay *)source;

	if (!set_filter(relay, error) ||
	    !kmtd_control_enable(relay->control, error))
		return FALSE;
	save_session(relay);
	return TRUE;
}

/* Return the paths of the cgroups that @options select, or NULL and set an
 * error. */
static char **find_cgroups(const Relay *relay, const KmtdSourceOptions *options,
			   GError **error)
{
	/* The file cgroups is as old as the condition of the filter. */
	if (kmtd_control_has(relay->control, "cgroups"))
		return kmtd_cgroup_paths(options->proc, options->cgroups,
					 error);
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_SOURCE,
		    "this kernel's kmemtrace cannot select cgroups");
	return NULL;
}

/*
 * Set relay->filter to the filter that @options demand, and relay->old_filter
 * to the current filter of the kernel. Without such options, both stay NULL.
 * Return FALSE and set an error if the kernel has no such filter, the filter
 * cannot be read, or a process or cgroup does not exist.
 */
static gboolean make_filter(Relay *relay, const KmtdSourceOptions *options,
			    GError **error)
{
	KmtdSourceOptions selected = *options;
	g_auto(GStrv) paths = NULL;

	if (!options->filter && !options->n_pids && !options->cgroups)
		return TRUE;
	if (!kmtd_control_has(relay->control, "filter")) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_SOURCE,
			    options->filter
				    ? "this kernel's kmemtrace has no filter"
				    : "this kernel's kmemtrace cannot select "
				      "processes");
		return FALSE;
	}
	if (options->cgroups) {
		paths = find_cgroups(relay, options, error);
		if (!paths)
			return FALSE;
		selected.cgroups = paths;
	}
	if (!kmtd_filter_text(&selected, &relay->filter, error))
		return FALSE;
	relay->old_filter = kmtd_control_read(relay->control, "filter", error);
	return relay->old_filter != NULL;
}

/* If tracing is on already, it stays on, and the filter applies from now on. */
static gboolean relay_prepare(KmtdSource *source, GError **error)
{
	Relay *relay = (Relay *)source;

	if (!relay->was_enabled)
		return TRUE;
	if (!set_filter(relay, error))
		return FALSE;
	save_session(relay);
	return TRUE;
}

static gboolean relay_disable(KmtdSource *source, GError **error)
{
	return kmtd_control_disable(control_of(source), error);
}

static gboolean relay_total_overruns(KmtdSource *source, guint64 *n_events,
				     GError **error)
{
	return kmtd_control_total_overruns(control_of(source), n_events, error);
}

static GHashTable *relay_overruns(KmtdSource *source, GError **error)
{
	return kmtd_control_overruns(control_of(source), error);
}

static gboolean relay_any_consumed(KmtdSource *source, gboolean *consumed,
				   GError **error)
{
	return kmtd_control_any_consumed(control_of(source), "consumed",
					 consumed, error);
}

static GArray *relay_cpus(KmtdSource *source)
{
	return kmtd_control_cpus(control_of(source));
}

static void relay_describe(KmtdSource *source, GKeyFile *meta)
{
	Relay *relay = (Relay *)source;
	g_autoptr(KmtdInfo) info = read_info(relay);
	g_autofree char *now =
		kmtd_control_has(relay->control, "filter")
			? kmtd_control_read(relay->control, "filter", NULL)
			: NULL;

	g_key_file_set_string(meta, "capture", "clock", "sched_clock");
	g_key_file_set_uint64(meta, "capture", "subbufs", source->n_subbufs);
	g_key_file_set_uint64(meta, "capture", "subbuf_size",
			      source->subbuf_bytes);
	if (relay->mode)
		g_key_file_set_string(meta, "capture", "mode", relay->mode);
	if (kmtd_control_has(relay->control, "cgroups"))
		g_key_file_set_string(meta, "capture", "cgroups", "tracked");
	if (!info)
		return;
	if (!now)
		now = g_strdup(NONE);
	if (relay->session)
		kmtd_info_describe(info, NULL, meta);
	else
		kmtd_info_describe(info, relay->filter ? relay->filter : now,
				   meta);
}

/*
 * Return whether a snapshot was taken. The kernel counts the snapshots of each
 * session.
 */
static gboolean had_snapshots(const Relay *relay)
{
	g_autofree char *state =
		kmtd_control_has(relay->control, "snapshot/take")
			? kmtd_control_read(relay->control, "snapshot/take",
					    NULL)
			: NULL;

	return state && g_regex_match_simple("^taken: [1-9]", state,
					     G_REGEX_MULTILINE, 0);
}

static gboolean relay_conclude(KmtdSource *source, GKeyFile *meta,
			       GError **error)
{
	Relay *relay = (Relay *)source;
	g_autoptr(KmtdInfo) info = read_info(relay);

	source->had_snapshots = had_snapshots(relay);
	if (!info)
		return TRUE;
	kmtd_info_describe(info, NULL, meta);
	if (!relay->session || relay->session == kmtd_info_session(info))
		return TRUE;
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_RESET,
		    "another program began a new session during the recording: "
		    "the records that were unread then are missing");
	return FALSE;
}

static gboolean relay_initial_state(KmtdSource *source, KmtRecoveryState *state)
{
	const Relay *relay = (const Relay *)source;

	state->relay_path = kmtd_control_path(relay->control);
	state->was_enabled = relay->was_enabled;
	state->filter = relay->old_filter;
	return !relay->was_enabled || relay->old_filter;
}

/*
 * Close the CPU files. The child process does not inherit the mappings
 * (MADV_DONTFORK).
 */
static void relay_close_inherited(KmtdSource *source)
{
	const Relay *relay = (const Relay *)source;

	for (guint i = 0; i < relay->streams->len; i++)
		close(((const KmtdCpuStream *)relay->streams->pdata[i])->fd);
}

/*
 * Switch tracing off unless it was on before, and restore the filter. Records
 * in the buffers stay there: the next kmemtraced saves them.
 */
static void relay_clean_up(KmtdSource *source)
{
	const Relay *relay = (const Relay *)source;

	if (!relay->was_enabled &&
	    !kmtd_control_equals(relay->control, "enabled", "0"))
		kmtd_control_disable(relay->control, NULL);
	if (relay->old_filter &&
	    !kmtd_control_equals(relay->control, "filter", relay->old_filter))
		kmtd_control_write(relay->control, "filter", relay->old_filter,
				   NULL);
}

static void relay_free(KmtdSource *source)
{
	Relay *relay = (Relay *)source;

	/* Restore the filter. Tracing is off by now, unless another program had
	 * switched it on. */
	if (relay->filter_is_set)
		kmtd_control_write(relay->control, "filter", relay->old_filter,
				   NULL);
	kmtd_control_close(relay->control);
	g_ptr_array_unref(relay->streams);
	g_free(relay->filter);
	g_free(relay->mode);
	g_free(relay->old_filter);
	g_free(source->description);
	g_free(source->watch_path);
	g_free(source->tables_path);
	g_free(source);
}

static const KmtdSourceClass source_class = {
	.name = "relay",
	.keeps_records = TRUE,
	.is_enabled = relay_is_enabled,
	.prepare = relay_prepare,
	.enable = relay_enable,
	.disable = relay_disable,
	.total_overruns = relay_total_overruns,
	.overruns = relay_overruns,
	.any_consumed = relay_any_consumed,
	.cpus = relay_cpus,
	.open_cpu = relay_open_cpu,
	.describe = relay_describe,
	.conclude = relay_conclude,
	.initial_state = relay_initial_state,
	.close_inherited = relay_close_inherited,
	.clean_up = relay_clean_up,
	.free = relay_free,
};

/*
 * Read the mode of the buffers. A kernel without the file "mode" discards new
 * events if a buffer is full.
 */
static gboolean read_mode(Relay *relay, GError **error)
{
	if (!kmtd_control_has(relay->control, "mode"))
		return TRUE;
	relay->mode = kmtd_control_read(relay->control, "mode", error);
	if (!relay->mode)
		return FALSE;
	if (g_str_equal(relay->mode, OVERWRITE))
		relay->source.keeps_newest = TRUE;
	return TRUE;
}

/* Print a warning if the user asked the kernel for stacks that it lacks. */
static void warn_no_stacks(Relay *relay, const KmtdSourceOptions *options)
{
	g_autoptr(KmtdInfo) info = read_info(relay);
	const char *reason = info ? kmtd_info_no_stacks(info) : NULL;
	g_autofree char *text = NULL;

	if (!reason || !options->warning)
		return;
	text = g_strdup_printf("the records have no stacks, although the "
			       "kernel was booted with kmemtrace.stacks=yes: "
			       "%s",
			       reason);
	options->warning(text);
}

/* Return FALSE and set an error if the kernel lacks the stacks of @options. */
static gboolean check_stacks(const Relay *relay,
			     const KmtdSourceOptions *options, GError **error)
{
	const char *why;

	if (!options->stacks)
		return TRUE;
	if (kmtd_control_record_bytes(relay->control) <
	    sizeof(struct kmemtrace_event_v2s))
		why = "records no stacks: boot it with kmemtrace.stacks=yes";
	else if (options->stack_depth)
		why = "takes the number of callers from its parameter "
		      "kmemtrace.stack_depth=";
	else
		return TRUE;
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_SOURCE,
		    "this kernel's kmemtrace %s", why);
	return FALSE;
}

KmtdSource *kmtd_relay_open(const KmtdSourceOptions *options, GError **error)
{
	Relay *relay = g_new0(Relay, 1);
	g_autoptr(KmtdSource) source = &relay->source;

	source->class = &source_class;
	source->changes_fd = -1;
	relay->streams = g_ptr_array_new();
	source->description = g_strdup("kmemtrace in the kernel");
	relay->control = kmtd_control_open(options->debugfs, error);
	relay->reader = options->reader;
	if (!relay->control || !read_mode(relay, error) ||
	    !make_filter(relay, options, error) ||
	    !check_stacks(relay, options, error) ||
	    !kmtd_control_is_enabled(relay->control, &relay->was_enabled,
				     error) ||
	    !kmtd_control_geometry(relay->control, &source->n_subbufs,
				   &source->subbuf_bytes, error))
		return NULL;
	warn_no_stacks(relay, options);
	source->watch_path = g_strdup(kmtd_control_path(relay->control));
	source->tables_path = g_strdup(kmtd_control_path(relay->control));
	source->abi_version = kmtd_control_abi_version(relay->control);
	source->record_bytes = kmtd_control_record_bytes(relay->control);
	source->batch_bytes = source->subbuf_bytes;
	return g_steal_pointer(&source);
}
