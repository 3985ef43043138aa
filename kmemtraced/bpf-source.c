// SPDX-License-Identifier: GPL-2.0-or-later
/* The event source "bpf": programs in an unmodified kernel. */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include <kmemtrace_abi.h>

#include "kmemtraced/bpf-private.h"
#include "lib/capture/error.h"

/* Default size of a CPU's buffer in kilobytes: the buffers of all CPUs share
 * 1/MEMORY_PART of the memory, within these limits for each CPU. */
#define BUFFER_MAX_KB 16384
#define BUFFER_MIN_KB 1024
#define MEMORY_PART   16

/* Default of --stacks. */
#define STACK_DEPTH 32

/* Samples of stacks that the programs may send between two polls. */
#define SAMPLE_BUDGET 2000
#define LATE_BUDGET   5000

#define CAPTURE "capture"

static gboolean bpf_is_enabled(KmtdSource *source, gboolean *enabled,
			       GError **error)
{
	*enabled = ((KmtdBpf *)source)->is_on;
	return TRUE;
}

/* Return the size of a buffer in records: a power of 2. */
static guint32 buffer_slots(const KmtdBpf *bpf)
{
	guint64 memory_kb = (guint64)sysconf(_SC_PHYS_PAGES) *
			    ((guint64)sysconf(_SC_PAGESIZE) / 1024);
	guint64 kb = bpf->buffer_kb;
	/* More than the slots that the programs keep free. */
	guint32 n = 256;

	if (kb == 0)
		kb = CLAMP(memory_kb / MEMORY_PART /
				   kmtd_online_cpus_seen(bpf->cpus)->len,
			   BUFFER_MIN_KB, BUFFER_MAX_KB);
	while (n < 1 << 24 &&
	       (guint64)n * sizeof(struct kmtd_bpf_record) < kb * 1024)
		n *= 2;
	return n;
}

/*
 * Load the programs, which then belong to the descriptors of this process.
 * Return FALSE and set an error if the kernel does not permit this.
 */
static gboolean load(KmtdBpf *bpf, GError **error)
{
	KmtdSource *source = &bpf->source;
	guint32 n = buffer_slots(bpf);

	source->subbuf_bytes = sizeof(struct kmtd_bpf_record);
	source->n_subbufs = n;
	source->batch_bytes = n / 8 * sizeof(struct kmtd_bpf_record);
	bpf->functions = kmtd_bpf_functions_new(bpf->proc);
	bpf->callers = kmtd_bpf_callers_new(bpf->functions);
	bpf->programs.find_callers =
		kmtd_bpf_functions_are_known(bpf->functions);
	bpf->programs.inner = kmtd_bpf_functions_inner(bpf->functions);
	return kmtd_bpf_programs_load(&bpf->programs, n, error);
}

static gboolean bpf_prepare(KmtdSource *source, GError **error)
{
	KmtdBpf *bpf = (KmtdBpf *)source;
	guint32 tgid;

	if (!kmtd_bpf_filter_apply(&bpf->programs.filter, bpf->programs.object,
				   error) ||
	    !kmtd_bpf_callers_attach(bpf->callers, bpf->programs.object, error))
		return FALSE;
	if (!kmtd_bpf_programs_describe(&bpf->programs, &tgid, error))
		return FALSE;
	if (!bpf->keep_own)
		bpf->programs.state->own_tgid = tgid;
	bpf->by_cpu =
		g_malloc0_n(bpf->programs.n_possible, sizeof(*bpf->by_cpu));
	if (bpf->programs.stack_depth)
		bpf->stacks =
			kmtd_bpf_stacks_new(&bpf->programs, bpf->functions,
					    bpf->programs.stack_depth);
	bpf->names = kmtd_bpf_names_new(&bpf->programs, bpf->proc, error);
	if (!bpf->names)
		return FALSE;
	source->changes_fd = kmtd_bpf_callers_fd(bpf->callers);
	return TRUE;
}

/* Wait until no program runs that has begun before the call. */
static void wait_for_programs(const KmtdBpf *bpf)
{
	const KmtdBpfStream *first =
		bpf->streams->len ? bpf->streams->pdata[0] : NULL;

	if (first)
		kmtd_bpf_programs_wait(&bpf->programs, first->cpu, first->fd);
}

/* Warn if the kernel has functions to which it attaches no program. */
static void warn_of_gaps(const KmtdBpf *bpf)
{
	g_autofree char *text = NULL;

	if (bpf->programs.has_paths || !bpf->warning)
		return;
	text = g_strdup_printf(
		"this kernel attaches no BPF programs to functions, so %u ways "
		"to allocate or free memory are not recorded; kmemtrace-report "
		"lists them",
		kmtd_bpf_paths_n_gaps(&bpf->programs));
	bpf->warning(text);
}

/* Warn if the filter could not decide about all cgroups. */
static void warn_of_unknown_cgroups(const KmtdBpf *bpf)
{
	guint n = kmtd_bpf_names_n_unknown_cgroups(bpf->names);
	g_autofree char *text = NULL;

	if (!n || !bpf->warning)
		return;
	text = g_strdup_printf(
		"there were more cgroups than the filter can tell apart (%u): "
		"the events of %u cgroups are recorded, selected or not; use "
		"kmemtrace-report --cgroup",
		KMTD_BPF_CGROUPS, n);
	bpf->warning(text);
}

static gboolean bpf_enable(KmtdSource *source, GError **error)
{
	KmtdBpf *bpf = (KmtdBpf *)source;
	guint n_cgroups;

	bpf->programs.counters->sample_budget = SAMPLE_BUDGET;
	bpf->programs.counters->late_budget = LATE_BUDGET;
	if (!kmtd_bpf_programs_attach(&bpf->programs, error))
		return FALSE;
	kmtd_bpf_paths_complete(&bpf->programs);
	warn_of_gaps(bpf);
	if (!kmtd_bpf_names_begin(bpf->names, &n_cgroups, error))
		return FALSE;
	if (bpf->programs.filter.cgroups->len && n_cgroups == 0 && bpf->warning)
		bpf->warning("the filter matches no existing cgroup; only "
			     "tasks in cgroups that are made from now on can "
			     "be recorded");
	/* From now on, both programs of each event that begins are attached. */
	kmtd_bpf_programs_record(&bpf->programs, KMTD_BPF_MARKING);
	wait_for_programs(bpf);
	kmtd_bpf_streams_begin(bpf);
	kmtd_bpf_programs_record(&bpf->programs, KMTD_BPF_RECORDING);
	bpf->is_on = TRUE;
	return TRUE;
}

static gboolean bpf_disable(KmtdSource *source, GError **error)
{
	KmtdBpf *bpf = (KmtdBpf *)source;

	kmtd_bpf_programs_record(&bpf->programs, KMTD_BPF_IDLE);
	bpf->is_on = FALSE;
	wait_for_programs(bpf);
	kmtd_bpf_streams_end(bpf);
	kmtd_bpf_names_end(bpf->names);
	warn_of_unknown_cgroups(bpf);
	kmtd_bpf_programs_detach(&bpf->programs);
	return TRUE;
}

static GHashTable *bpf_overruns(KmtdSource *source, GError **error)
{
	KmtdBpf *bpf = (KmtdBpf *)source;
	GHashTable *table = g_hash_table_new_full(NULL, NULL, NULL, g_free);

	for (guint i = 0; i < bpf->streams->len; i++) {
		KmtdBpfStream *stream = bpf->streams->pdata[i];
		guint64 n = kmtd_bpf_stream_overruns(stream);

		g_hash_table_insert(table, GUINT_TO_POINTER(stream->cpu),
				    g_memdup2(&n, sizeof(n)));
	}
	return table;
}

static gboolean bpf_total_overruns(KmtdSource *source, guint64 *n_events,
				   GError **error)
{
	KmtdBpf *bpf = (KmtdBpf *)source;

	*n_events = 0;
	for (guint i = 0; i < bpf->streams->len; i++)
		*n_events += kmtd_bpf_stream_overruns(bpf->streams->pdata[i]);
	return TRUE;
}

/* The programs were not attached before, so nobody can have read records. */
static gboolean bpf_any_consumed(KmtdSource *source, gboolean *consumed,
				 GError **error)
{
	*consumed = FALSE;
	return TRUE;
}

static GArray *bpf_cpus(KmtdSource *source)
{
	return kmtd_online_cpus_follow(((KmtdBpf *)source)->cpus);
}

static void describe_gaps(const KmtdBpf *bpf, GKeyFile *meta)
{
	g_autoptr(GPtrArray) not_seen = kmtd_bpf_paths_not_seen(&bpf->programs);

	g_key_file_set_string_list(meta, CAPTURE, "not_seen",
				   (const char *const *)not_seen->pdata,
				   not_seen->len);
}

static void describe_filter(const KmtdBpfFilter *filter, GKeyFile *meta)
{
	if (!filter->text)
		return;
	g_key_file_set_string(meta, CAPTURE, "filter", filter->text);
	/* A filter by cache drops an allocation together with its free. The
	 * size of memory other than slab objects is not known when it is freed.
	 */
	if (!filter->pids->len && !filter->cgroups->len &&
	    !filter->commands->len && filter->sample <= 1 &&
	    (!filter->by_size || filter->caches))
		g_key_file_set_string(meta, CAPTURE, "filter_frees", "exact");
	if (filter->sample > 1)
		g_key_file_set_uint64(meta, CAPTURE, "sample", filter->sample);
}

static void bpf_describe(KmtdSource *source, GKeyFile *meta)
{
	KmtdBpf *bpf = (KmtdBpf *)source;

	g_key_file_set_string(meta, CAPTURE, "clock", "mono");
	g_key_file_set_uint64(meta, CAPTURE, "subbufs", source->n_subbufs);
	g_key_file_set_uint64(meta, CAPTURE, "subbuf_size",
			      source->subbuf_bytes);
	g_key_file_set_string(meta, CAPTURE, "task_names", "proc");
	describe_filter(&bpf->programs.filter, meta);
	/* Until bpf_conclude() knows which programs were attached. */
	describe_gaps(bpf, meta);
}

static gboolean bpf_conclude(KmtdSource *source, GKeyFile *meta, GError **error)
{
	KmtdBpf *bpf = (KmtdBpf *)source;
	const struct kmtd_bpf_counters *counters;
	guint64 own = 0;
	gint64 last_ns = 0;

	for (guint i = 0; i < bpf->streams->len; i++) {
		KmtdBpfStream *stream = bpf->streams->pdata[i];

		own += kmtd_bpf_stream_own_events(stream);
		source->n_skipped += stream->n_skipped_reported;
		last_ns = MAX(last_ns, stream->last_ns);
	}
	g_key_file_set_uint64(meta, CAPTURE, "own_events", own);
	g_key_file_set_uint64(meta, CAPTURE, "skipped_events",
			      source->n_skipped);
	g_key_file_set_string(meta, CAPTURE, "task_names", "tracepoints");
	if (g_hash_table_contains(bpf->programs.attached, "cgroup_attach_task"))
		g_key_file_set_string(meta, CAPTURE, "cgroups", "tracked");
	describe_gaps(bpf, meta);
	counters = bpf->programs.counters;
	kmtd_bpf_names_conclude(bpf->names, counters->n_lost_names == 0,
				last_ns);
	kmtd_bpf_callers_describe(bpf->callers, meta);
	g_key_file_set_uint64(meta, CAPTURE, "stack_samples_refused",
			      counters->n_refused_samples);
	g_key_file_set_uint64(meta, CAPTURE, "mark_collisions",
			      counters->n_mark_collisions);
	return TRUE;
}

static void bpf_poll_changes(KmtdSource *source, gboolean now)
{
	KmtdBpf *bpf = (KmtdBpf *)source;

	kmtd_bpf_names_poll(bpf->names);
	kmtd_bpf_callers_poll(bpf->callers);
	bpf->programs.counters->sample_budget = SAMPLE_BUDGET;
	bpf->programs.counters->late_budget = LATE_BUDGET;
}

static char *bpf_table(KmtdSource *source, const char *name)
{
	KmtdBpf *bpf = (KmtdBpf *)source;

	if (g_str_equal(name, "stacks"))
		return bpf->stacks ? kmtd_bpf_stacks_text(bpf->stacks) : NULL;
	return kmtd_bpf_names_table(bpf->names, name);
}

/* The kernel frees programs and maps with the last descriptor. */
static gboolean bpf_initial_state(KmtdSource *source, KmtRecoveryState *state)
{
	return FALSE;
}

static void bpf_close_inherited(KmtdSource *source)
{
	KmtdBpf *bpf = (KmtdBpf *)source;

	for (guint i = 0; i < bpf->streams->len; i++)
		close(((const KmtdBpfStream *)bpf->streams->pdata[i])->fd);
	kmtd_bpf_programs_close_inherited(&bpf->programs);
}

static void bpf_clean_up(KmtdSource *source)
{
}

static void bpf_free(KmtdSource *source)
{
	KmtdBpf *bpf = (KmtdBpf *)source;

	kmtd_bpf_stacks_free(bpf->stacks);
	kmtd_bpf_names_free(bpf->names);
	kmtd_bpf_callers_free(bpf->callers);
	kmtd_bpf_functions_free(bpf->functions);
	g_free(bpf->by_cpu);
	kmtd_bpf_programs_unload(&bpf->programs);
	kmtd_bpf_filter_clear(&bpf->programs.filter);
	g_free(bpf->proc);
	g_ptr_array_unref(bpf->streams);
	kmtd_online_cpus_free(bpf->cpus);
	g_free(source->description);
	g_free(source);
}

static const KmtdSourceClass source_class = {
	.name = "bpf",
	.sizes_buffers = TRUE,
	.is_enabled = bpf_is_enabled,
	.prepare = bpf_prepare,
	.enable = bpf_enable,
	.disable = bpf_disable,
	.total_overruns = bpf_total_overruns,
	.overruns = bpf_overruns,
	.any_consumed = bpf_any_consumed,
	.cpus = bpf_cpus,
	.open_cpu = kmtd_bpf_open_cpu,
	.describe = bpf_describe,
	.conclude = bpf_conclude,
	.poll_changes = bpf_poll_changes,
	.table = bpf_table,
	.initial_state = bpf_initial_state,
	.close_inherited = bpf_close_inherited,
	.clean_up = bpf_clean_up,
	.free = bpf_free,
};

/* Return whether the text is in the file @name of sysfs. "" is in any file. */
static gboolean has_text(const KmtdSourceOptions *options, const char *name,
			 const char *text)
{
	g_autofree char *path = g_build_filename(options->sys, name, NULL);
	g_autofree char *contents = NULL;

	return g_file_get_contents(path, &contents, NULL, NULL) &&
	       strstr(contents, text);
}

/*
 * Replace the error of a system call that loads programs if the state of the
 * kernel is the reason.
 */
static void explain(const KmtdSourceOptions *options, GError **error)
{
	if (has_text(options, "kernel/security/lockdown",
		     "[confidentiality]")) {
		g_clear_error(error);
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_LOCKDOWN,
			    "the kernel is locked down (confidentiality), and "
			    "refuses programs that read its memory");
	} else if (!has_text(options, "kernel/btf/vmlinux", "")) {
		g_clear_error(error);
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_BPF,
			    "this kernel has no BTF, which describes its types "
			    "(CONFIG_DEBUG_INFO_BTF)");
	}
}

KmtdSource *kmtd_bpf_open(const KmtdSourceOptions *options, GError **error)
{
	KmtdBpf *bpf;
	g_autoptr(KmtdSource) source = NULL;

	if (options->reader) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_SOURCE,
			    "the source bpf has no option -R");
		return NULL;
	}
	bpf = g_new0(KmtdBpf, 1);
	source = &bpf->source;
	source->class = &source_class;
	source->changes_fd = -1;
	source->abi_version = 3;
	source->record_bytes = options->stacks
				       ? sizeof(struct kmemtrace_event_v2s)
				       : KMEMTRACE_EVENT_SIZE_V2;
	bpf->proc = g_strdup(options->proc);
	bpf->streams = g_ptr_array_new();
	bpf->keep_own = options->keep_own;
	bpf->buffer_kb = options->buffer_kb;
	bpf->warning = options->warning;
	bpf->programs.recover = !options->no_recover;
	if (options->stacks)
		bpf->programs.stack_depth = options->stack_depth
						    ? options->stack_depth
						    : STACK_DEPTH;
	if (!kmtd_bpf_filter_parse(&bpf->programs.filter, options, error))
		return NULL;
	bpf->cpus = kmtd_online_cpus_open(options->sys, error);
	if (!bpf->cpus)
		return NULL;
	if (!load(bpf, error)) {
		explain(options, error);
		return NULL;
	}
	source->description =
		g_strdup("BPF programs in this kernel (source bpf)");
	return g_steal_pointer(&source);
}
