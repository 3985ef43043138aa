// SPDX-License-Identifier: GPL-2.0-or-later
/* Reader of perf.data recordings. */
#include "config.h"

#include <event-parse.h>

#include "import/decoder.h"
#include "import/functions.h"
#include "import/perf-command.h"
#include "import/perf-data.h"
#include "import/perf-incomplete.h"
#include "import/perf-layout.h"
#include "import/perf-parts.h"
#include "import/import-symbols.h"

/*
 * Files of perf record --threads contain no KMT_PERF_ENTRY_ROUND. In such a
 * file, the reader ends a round after this number of samples.
 */
#define ROUND_SAMPLES 65536

/*
 * PERF_CONTEXT_MAX: words of a callchain at or above this value are context
 * markers.
 */
#define FIRST_CONTEXT_MARKER ((guint64)-4095)

typedef struct {
	KmtImport *import;
	GArray *parts; /* KmtPerfPart, sorted by first_ns */
	struct tep_handle *formats;
	KmtImportDecoder *decoder;
	KmtImportFunctions *functions;
	KmtImportCallers *callers; /* NULL: samples have no callchains */
	GArray *chain;	  /* guint64: callchain of the current sample */
	gint64 latest_ns; /* latest sample time; of the current file in a
			   * recording of perf record --threads */
	gint64 round_ns;  /* value of latest_ns at the end of the last round */
	guint samples;	  /* number of samples since the last round */
	guint64 n_tasks;  /* recorded tasks, or KMT_PERF_TASKS_UNKNOWN */
	guint64 lost;	  /* sum of KMT_PERF_ENTRY_LOST */
	/* guint64 event ID -> guint64 lost samples of all files */
	GHashTable *lost_samples;
	GError *damage; /* first damage found, or NULL */
} KmtPerfReader;

static void reader_clear(KmtPerfReader *r)
{
	g_clear_pointer(&r->decoder, kmt_import_decoder_free);
	g_clear_pointer(&r->formats, tep_free);
	g_clear_pointer(&r->callers, kmt_import_callers_free);
	g_clear_pointer(&r->functions, kmt_import_functions_free);
	g_clear_pointer(&r->parts, g_array_unref);
	g_array_unref(r->chain);
	g_hash_table_unref(r->lost_samples);
	g_clear_error(&r->damage);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KmtPerfReader, reader_clear)

static KmtPerfData *first_data(const KmtPerfReader *r)
{
	return g_array_index(r->parts, KmtPerfPart, 0).data;
}

static gboolean read_formats(KmtPerfReader *r, GError **error)
{
	const KmtPerfData *data = first_data(r);
	guint cpus = kmt_import_cpus(r->import);

	r->formats = kmt_tracepoint_formats_new(kmt_perf_data_long_bytes(data),
						error);
	if (!r->formats ||
	    !kmt_perf_data_formats(data, kmt_import_decoder_add_format,
				   r->formats, error))
		return FALSE;
	r->decoder = kmt_import_decoder_new(
		r->formats, kmt_perf_data_page_bytes(data),
		cpus ? cpus : kmt_perf_data_cpus(data), error);
	return r->decoder != NULL;
}

static void set_text(GKeyFile *meta, const char *key, const char *text)
{
	if (text)
		g_key_file_set_string(meta, KMT_IMPORT_GROUP, key, text);
}

static void describe(const KmtPerfReader *r)
{
	GKeyFile *meta = kmt_import_meta(r->import);
	const KmtPerfData *data = first_data(r);
	const char *version = kmt_perf_data_version(data);
	const char *clock = kmt_perf_data_clock(data);
	g_autofree char *recorder =
		version ? g_strconcat("perf ", version, NULL) : NULL;

	set_text(meta, "imported_from", "perf.data");
	set_text(meta, "recorded_by", recorder ? recorder : "perf");
	set_text(meta, "machine", kmt_perf_data_machine(data));
	set_text(meta, "kernel_release", kmt_perf_data_release(data));
	set_text(meta, "build_id", kmt_perf_data_build_id(data));
	/* perf uses sched_clock() unless the user selects another clock. */
	set_text(meta, "clock", clock ? clock : "perf");
	g_key_file_set_uint64(meta, KMT_IMPORT_GROUP, "page_size",
			      kmt_perf_data_page_bytes(data));
	g_key_file_set_uint64(meta, KMT_IMPORT_GROUP, "word_size",
			      kmt_perf_data_long_bytes(data));
}

/*
 * Return whether any tracepoint was recorded with PERF_SAMPLE_CALLCHAIN, as
 * perf record -g and perf kmem --page record do.
 */
static gboolean has_callchains(const KmtPerfReader *r)
{
	const KmtPerfLayouts *layouts = kmt_perf_data_layouts(first_data(r));

	for (guint i = 0; i < kmt_perf_layouts_count(layouts); i++) {
		const struct perf_event_attr *attr =
			kmt_perf_layouts_attr(layouts, i);

		if (attr->type == PERF_TYPE_TRACEPOINT &&
		    (attr->sample_type & PERF_SAMPLE_CALLCHAIN))
			return TRUE;
	}
	return FALSE;
}

static void prepare_callchains(KmtPerfReader *r)
{
	const KmtImportSymbolFiles *files = kmt_import_symbol_files(r->import);
	char *text;

	if (!has_callchains(r))
		return;
	text = files ? kmt_import_symbols_text(r->import, files) : NULL;
	if (text)
		r->functions = kmt_import_functions_new(text);
	r->callers = kmt_import_callers_new(
		text ? kmt_import_functions_name : NULL, r->functions);
	kmt_import_set_stacks(r->import);
}

/*
 * Copy the kernel's part of a callchain to r->chain. A callchain may also
 * contain a user space part, which the function skips.
 */
static void read_callchain(KmtPerfReader *r, KmtByteSpan chain)
{
	gboolean is_kernel = TRUE;

	g_array_set_size(r->chain, 0);
	while (chain.next && chain.left >= sizeof(guint64)) {
		guint64 word = kmt_byte_span_64(&chain);

		if (word >= FIRST_CONTEXT_MARKER)
			is_kernel = word == (guint64)PERF_CONTEXT_KERNEL;
		else if (is_kernel)
			g_array_append_val(r->chain, word);
	}
}

static gboolean import_sample(KmtPerfReader *r, const KmtPerfEntry *entry,
			      GError **error)
{
	KmtImportDecoderStack stack = {.callers = r->callers};

	r->samples++;
	/* Ignore the time of a damaged sample, which may be arbitrary. */
	if (kmt_import_decoder_is_complete(r->decoder, entry->data,
					   entry->n_bytes) &&
	    entry->cpu < KMT_IMPORT_MAX_CPUS)
		r->latest_ns = MAX(r->latest_ns, entry->time);
	if (r->callers) {
		read_callchain(r, entry->chain);
		stack.addresses = (const guint64 *)(gpointer)r->chain->data;
		stack.n = r->chain->len;
	}
	return kmt_import_decoder_add_sample(
		r->decoder, r->import, entry->cpu, entry->time, entry->data,
		entry->n_bytes, r->callers ? &stack : NULL, error);
}

/*
 * End a round, in which perf read all buffers once. Events that follow in the
 * file are not earlier than the latest event of the previous round, so the
 * records up to that time can be written.
 */
static gboolean end_round(KmtPerfReader *r, GError **error)
{
	gint64 before = r->round_ns;

	r->samples = 0;
	r->round_ns = r->latest_ns;
	return kmt_import_advance(r->import, before, error);
}

/*
 * Start the next file of a threaded recording, which contains events of other
 * CPUs.
 */
static gboolean begin_thread_file(KmtPerfReader *r, GError **error)
{
	r->latest_ns = r->round_ns = G_MININT64;
	r->samples = 0;
	return kmt_import_advance(r->import, G_MAXINT64, error);
}

static void add_lost_samples(GHashTable *sums, guint64 id, guint64 n)
{
	guint64 *sum = g_hash_table_lookup(sums, &id);

	if (!sum) {
		sum = g_new0(guint64, 1);
		g_hash_table_insert(sums, g_memdup2(&id, sizeof(id)), sum);
	}
	*sum = kmt_add_saturating(*sum, n);
}

static gboolean import_entry(KmtPerfReader *r, const KmtPerfEntry *entry,
			     GHashTable *lost, GError **error)
{
	switch (entry->kind) {
	case KMT_PERF_ENTRY_SAMPLE:
		return import_sample(r, entry, error);
	case KMT_PERF_ENTRY_OTHER_SAMPLE:
		kmt_import_count_other(r->import);
		return TRUE;
	case KMT_PERF_ENTRY_LOST:
		r->lost = kmt_add_saturating(r->lost, entry->number);
		return kmt_import_add_counted_loss(r->import, entry->cpu,
						   entry->number, entry->time,
						   error);
	case KMT_PERF_ENTRY_LOST_SAMPLES:
		add_lost_samples(lost, entry->id, entry->number);
		return TRUE;
	case KMT_PERF_ENTRY_COMM:
		kmt_import_name_task(r->import, entry->pid, entry->time,
				     entry->name);
		return TRUE;
	case KMT_PERF_ENTRY_ROUND:
		return end_round(r, error);
	case KMT_PERF_ENTRY_FILE:
		return begin_thread_file(r, error);
	case KMT_PERF_ENTRY_CUT_OFF:
		kmt_import_set_lost_unknown(r->import);
		return TRUE;
	case KMT_PERF_ENTRY_DAMAGED:
		return kmt_import_fail(error,
				       "it is damaged: a record does not match "
				       "its type: record again");
	case KMT_PERF_ENTRY_KERNEL:
	case KMT_PERF_ENTRY_TASKS:
		/* read_preamble() of perf-parts.c has already read the kernel's
		 * symbol and the number of recorded tasks. */
		return TRUE;
	}
	return TRUE;
}

/*
 * Merge the lost samples of a file into total_counts. The kernel counts lost
 * samples from the start of perf, so the count of a later file includes all
 * earlier files; the merge takes the maximum.
 */
static void merge_lost_samples(GHashTable *total_counts,
			       GHashTable *file_counts)
{
	GHashTableIter iter;
	gpointer id, n;

	g_hash_table_iter_init(&iter, file_counts);
	while (g_hash_table_iter_next(&iter, &id, &n)) {
		guint64 *maximum = g_hash_table_lookup(total_counts, id);

		if (maximum)
			*maximum = MAX(*maximum, *(guint64 *)n);
		else
			g_hash_table_insert(total_counts,
					    g_memdup2(id, sizeof(guint64)),
					    g_memdup2(n, sizeof(guint64)));
	}
}

static GHashTable *new_lost_table(void)
{
	return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
				     g_free);
}

/*
 * Record a loss for data that cannot be read, and store the first problem for
 * the message about a file without any event. sample is the damaged sample,
 * whose CPU and time may be damaged too, or NULL if the damage is elsewhere.
 * The function takes ownership of problem. Returns FALSE and sets *error if
 * problem is not damage of the input.
 */
static gboolean handle_damage(KmtPerfReader *r, GError *problem,
			      const KmtPerfEntry *sample, GError **error)
{
	if (!kmt_perf_is_damage(problem)) {
		g_propagate_error(error, problem);
		return FALSE;
	}
	if (r->damage)
		g_error_free(problem);
	else
		r->damage = problem;
	kmt_import_set_damaged(r->import);
	kmt_import_set_lost_unknown(r->import);
	/* Without an earlier event, a loss record has no position. */
	if (r->latest_ns == G_MININT64)
		return TRUE;
	if (sample && sample->cpu < KMT_IMPORT_MAX_CPUS)
		return kmt_import_add_loss(r->import, sample->cpu, 0,
					   r->latest_ns, r->latest_ns, error);
	kmt_import_add_loss_on_all_cpus(r->import, r->latest_ns);
	return TRUE;
}

/*
 * Import the entries up to the end of the part. Damage that hides the rest of a
 * file ends the loop earlier and sets *problem. Returns FALSE and sets *error
 * if the import must stop.
 */
static gboolean read_entries(KmtPerfReader *r, const KmtPerfPart *part,
			     GHashTable *lost, GError **problem, GError **error)
{
	gboolean is_threaded = kmt_perf_data_is_threaded(part->data);
	KmtPerfEntry entry;

	while (kmt_perf_data_next(part->data, &entry, problem)) {
		GError *damage = NULL;
		gboolean is_sample = entry.kind == KMT_PERF_ENTRY_SAMPLE;

		if (!import_entry(r, &entry, lost, &damage) &&
		    !handle_damage(r, damage, is_sample ? &entry : NULL, error))
			return FALSE;
		if (is_threaded && r->samples >= ROUND_SAMPLES &&
		    !end_round(r, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean read_part(KmtPerfReader *r, const KmtPerfPart *part,
			  GError **error)
{
	g_autoptr(GHashTable) lost = new_lost_table();
	gboolean has_more = TRUE;

	kmt_perf_data_rewind(part->data);
	while (has_more) {
		GError *problem = NULL;

		if (!read_entries(r, part, lost, &problem, error))
			return FALSE;
		has_more = problem && kmt_perf_data_next_file(part->data);
		if (problem && !handle_damage(r, problem, NULL, error))
			return FALSE;
		if (has_more && !begin_thread_file(r, error))
			return FALSE;
	}
	merge_lost_samples(r->lost_samples, lost);
	return TRUE;
}

/*
 * Report the number of lost samples. The counters in a file of perf record
 * --switch-output include the losses of earlier files. If only one such file
 * was given and its counters exceed its loss records, the losses may be those
 * of missing earlier files, so the number is unknown.
 */
static void report_lost_samples(KmtPerfReader *r)
{
	KmtPerfCommand command =
		kmt_perf_command_parse(kmt_perf_data_command(first_data(r)));
	guint64 sum = 0;
	GHashTableIter iter;
	gpointer n;

	g_hash_table_iter_init(&iter, r->lost_samples);
	while (g_hash_table_iter_next(&iter, NULL, &n))
		sum = kmt_add_saturating(sum, *(guint64 *)n);
	/* perf's loss records and the kernel's counters count the same losses.
	 * The counters also cover losses after the last record. */
	if (r->parts->len > 1 || !command.switch_output)
		kmt_import_set_lost(r->import, sum);
	else if (sum > r->lost)
		kmt_import_set_lost_unknown(r->import);
}

gboolean kmt_import_perf_data(KmtImport *import, const char *const *paths,
			      GError **error)
{
	g_auto(KmtPerfReader) r = {
		.import = import,
		.chain = g_array_new(FALSE, FALSE, sizeof(guint64)),
		.latest_ns = G_MININT64,
		.round_ns = G_MININT64,
		.n_tasks = KMT_PERF_TASKS_UNKNOWN,
		.lost_samples = new_lost_table(),
	};

	r.parts = kmt_perf_parts_open(paths, kmt_import_kernel(import),
				      &r.n_tasks, error);
	if (!r.parts || !read_formats(&r, error))
		return FALSE;
	describe(&r);
	kmt_perf_add_incomplete(import, first_data(&r), r.decoder, r.n_tasks);
	prepare_callchains(&r);
	for (guint i = 0; i < r.parts->len; i++)
		if (!read_part(&r, &g_array_index(r.parts, KmtPerfPart, i),
			       error))
			return FALSE;
	report_lost_samples(&r);
	if (kmt_import_memory_events(import) || !r.damage)
		return TRUE;
	g_propagate_error(error, g_steal_pointer(&r.damage));
	return FALSE;
}
