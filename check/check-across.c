// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks the rules across files. The pipeline of a report counts the errors,
 * because nearly every capture has none. If there are errors, a second pass,
 * which takes about three times as long, finds their records.
 */
#include "config.h"

#include "check/check-private.h"
#include "lib/cli/progress.h"
#include "lib/input/namespace.h"
#include "lib/match/pipeline.h"

/*
 * The address of stored errors: of unmatched frees, or of unmatched or double
 * DEFERs. A second pass finds, for each of these errors, the last record of the
 * address that precedes the error in merged order.
 */
typedef struct {
	guint64 ptr;
	KmtInputNamespace namespace;
	/* Last record of the address that the pass has read. */
	const KmtInputCpuFile *last_file;
	guint64 last_index;
} TrackedAddress;

/* Store an error whose preceding record is the allocation of @object. */
static void store_object_error(KmtCheck *check, KmtRuleId rule,
			       const KmtMatchObject *object,
			       const KmtMatchPosition *position)
{
	KmtError *error = kmt_check_store_error(check, rule, position->file,
						position->index);

	if (error) {
		error->before_file = check->capture->files->pdata[object->file];
		error->before_index = object->index;
	}
}

/* A matched free is an error only if the types do not fit and no loss may
 * explain that. Any CPU may free an object. */
static void on_free(gpointer user, const KmtMatchObject *object,
		    const struct kmemtrace_event *event,
		    const KmtMatchPosition *position, gboolean mismatch)
{
	if (mismatch)
		store_object_error(user, KMT_RULE_MISMATCHED_FREE, object,
				   position);
}

static void on_double(gpointer user, const KmtMatchObject *object,
		      const struct kmemtrace_event *event,
		      const KmtMatchPosition *position,
		      KmtMatchDoubleAlloc class,
		      const struct kmemtrace_event *free_event)
{
	if (class == KMT_MATCH_DOUBLE_UNEXPLAINED)
		store_object_error(user, KMT_RULE_DOUBLE_ALLOCATION, object,
				   position);
}

static void on_unmatched(gpointer user, const struct kmemtrace_event *event,
			 const KmtMatchPosition *position,
			 KmtMatchUnmatched class)
{
	if (class == KMT_MATCH_UNMATCHED_UNEXPLAINED)
		kmt_check_store_error(user, KMT_RULE_UNMATCHED_FREE,
				      position->file, position->index);
}

static void on_double_defer(gpointer user, const KmtMatchObject *object,
			    const struct kmemtrace_event *event,
			    const KmtMatchPosition *position,
			    gboolean after_loss)
{
	if (!after_loss)
		kmt_check_store_error(user, KMT_RULE_DOUBLE_DEFER,
				      position->file, position->index);
}

static void on_unmatched_defer(gpointer user,
			       const struct kmemtrace_event *event,
			       const KmtMatchPosition *position,
			       KmtMatchUnmatched class)
{
	if (class == KMT_MATCH_UNMATCHED_UNEXPLAINED)
		kmt_check_store_error(user, KMT_RULE_UNMATCHED_DEFER,
				      position->file, position->index);
}

static guint address_hash(gconstpointer p)
{
	const TrackedAddress *address = p;

	return g_int64_hash(&address->ptr) + (guint)address->namespace;
}

static gboolean address_equal(gconstpointer a, gconstpointer b)
{
	const TrackedAddress *x = a, *y = b;

	return x->ptr == y->ptr && x->namespace == y->namespace;
}

static void set_key(TrackedAddress *address,
		    const struct kmemtrace_event *event)
{
	address->ptr = event->ptr;
	address->namespace = kmt_input_namespace_of(event->type_id);
}

/*
 * Return one number that identifies a record. No disk holds 2^48 records of 56
 * bytes.
 */
static guint64 record_id(const KmtInputCpuFile *file, guint64 index)
{
	return (guint64)file->position << 48 | index;
}

/* Return whether find_before() searches for the record before an error of this
 * rule. */
static gboolean is_searched(KmtRuleId rule)
{
	return rule == KMT_RULE_UNMATCHED_FREE ||
	       rule == KMT_RULE_UNMATCHED_DEFER ||
	       rule == KMT_RULE_DOUBLE_DEFER;
}

/* Collect the stored errors of the rules of is_searched(), by record_id(), and
 * the addresses of their records. */
static void collect_addresses(KmtCheck *check, GHashTable *errors,
			      GHashTable *addresses)
{
	struct kmemtrace_event event;
	guint i;

	for (i = 0; i < check->errors->len; i++) {
		KmtError *e = &g_array_index(check->errors, KmtError, i);
		guint64 *id;
		TrackedAddress *address;

		if (!is_searched(e->rule))
			continue;
		id = g_new(guint64, 1);
		*id = record_id(e->file, e->index);
		g_hash_table_insert(errors, id, e);
		kmt_input_cpu_file_get(e->file, e->index, &event);
		address = g_new0(TrackedAddress, 1);
		set_key(address, &event);
		g_hash_table_add(addresses, address);
	}
}

/*
 * For each stored error that is an unmatched free, or an unmatched or double
 * DEFER, find the last earlier record of the same address in merged order. The
 * matcher does not store the last record of an address, because that would cost
 * memory for every address. The second pass runs only if such errors exist.
 */
static void find_before(KmtCheck *check)
{
	g_autoptr(GHashTable) errors = g_hash_table_new_full(
		g_int64_hash, g_int64_equal, g_free, NULL);
	g_autoptr(GHashTable) addresses = g_hash_table_new_full(
		address_hash, address_equal, g_free, NULL);
	g_autoptr(KmtMatchMerge) merge = NULL;
	struct kmemtrace_event event;
	KmtMatchPosition position;

	collect_addresses(check, errors, addresses);
	if (g_hash_table_size(addresses) == 0)
		return;
	merge = kmt_match_merge_new(check->capture);
	while (kmt_match_merge_next(merge, &event, &position)) {
		guint64 id = record_id(position.file, position.index);
		TrackedAddress key, *address;
		KmtError *e;

		set_key(&key, &event);
		address = g_hash_table_lookup(addresses, &key);
		if (!address)
			continue;
		e = g_hash_table_lookup(errors, &id);
		if (e) {
			e->before_file = address->last_file;
			e->before_index = address->last_index;
		}
		address->last_file = position.file;
		address->last_index = position.index;
	}
}

/* Find the records of the errors that are to be stored. */
static void find_errors(KmtCheck *check)
{
	static const KmtMatchOps ops = {
		.on_free = on_free,
		.on_double = on_double,
		.on_unmatched = on_unmatched,
		.on_double_defer = on_double_defer,
		.on_unmatched_defer = on_unmatched_defer,
	};
	const KmtMatchOptions options = {
		.clock_tolerance_ns = check->tolerance_ns,
		.keep_indexes = TRUE,
	};
	g_autoptr(KmtMatchMerge) merge = kmt_match_merge_new(check->capture);
	g_autoptr(KmtMatcher) matcher =
		kmt_matcher_new(check->capture, &options, &ops, check);
	struct kmemtrace_event event;
	KmtMatchPosition position;

	while (kmt_match_merge_next(merge, &event, &position))
		kmt_matcher_process(matcher, &event, &position);
	kmt_matcher_finish(matcher);
}

/* Count the errors among the findings, and return their number. */
static guint64 count_errors(KmtCheck *check)
{
	const KmtMatchFindings *f = &check->findings;
	const guint64 before = check->total;

	kmt_check_count_errors(check, KMT_RULE_DOUBLE_ALLOCATION,
			       f->doubles[KMT_MATCH_DOUBLE_UNEXPLAINED]);
	kmt_check_count_errors(check, KMT_RULE_UNMATCHED_FREE,
			       f->unmatched[KMT_MATCH_UNMATCHED_UNEXPLAINED]);
	kmt_check_count_errors(check, KMT_RULE_MISMATCHED_FREE, f->mismatches);
	kmt_check_count_errors(
		check, KMT_RULE_UNMATCHED_DEFER,
		f->unmatched_defers[KMT_MATCH_UNMATCHED_UNEXPLAINED]);
	kmt_check_count_errors(check, KMT_RULE_DOUBLE_DEFER, f->double_defers);
	return check->total - before;
}

static void count_records(gpointer user, const KmtMatchedBlock *matched)
{
	kmt_progress_add(matched->n);
}

void kmt_check_across(KmtCheck *check)
{
	const KmtMatchPipelineOptions options = {
		.jobs = g_get_num_processors(),
		.clock_tolerance_ns = check->tolerance_ns,
		.stop_ns = G_MAXINT64,
	};
	KmtMatchPipeline *pipeline = kmt_match_pipeline_new(
		check->capture, &options, count_records, NULL);

	kmt_match_pipeline_run(pipeline);
	kmt_match_pipeline_findings(pipeline, &check->findings);
	g_ptr_array_unref(check->notes);
	check->notes =
		kmt_match_merge_notes(kmt_match_pipeline_merge(pipeline));
	kmt_match_pipeline_free(pipeline);
	if (count_errors(check) && check->max_errors) {
		find_errors(check);
		find_before(check);
	}
}
