// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "check/check.h"
#include "lib/cli/progress.h"
#include "lib/input/namespace.h"

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

/* Count and store an error. Return NULL, and only count the error, if
 * max_errors errors of the rule are stored already. The result is valid until
 * the next call. */
static KmtError *add_error(KmtCheck *check, KmtRuleId rule,
			   const KmtInputCpuFile *file, guint64 index)
{
	KmtError error = {.rule = rule, .file = file, .index = index};

	check->total++;
	check->counts[rule]++;
	if (check->kept[rule] >= check->max_errors)
		return NULL;
	check->kept[rule]++;
	g_array_append_val(check->errors, error);
	return &g_array_index(check->errors, KmtError, check->errors->len - 1);
}

static void add_file_error(KmtCheck *check, KmtRuleId rule,
			   const KmtInputCpuFile *file, guint64 index)
{
	KmtError *error = add_error(check, rule, file, index);

	if (error && index > 0) {
		error->before_file = file;
		error->before_index = index - 1;
	}
}

/* Remove the stored errors from index @from on. check->counts still counts
 * them. */
static void drop_errors(KmtCheck *check, guint from)
{
	guint i;

	for (i = from; i < check->errors->len; i++)
		check->kept[g_array_index(check->errors, KmtError, i).rule]--;
	g_array_set_size(check->errors, from);
}

/* ---- rules of a file ---- */

/*
 * Check a record. Return whether the record is usable, i.e. breaks no fatal
 * rule.
 */
static gboolean check_record(KmtCheck *check, const KmtRuleInput *input,
			     guint64 index)
{
	int rule;

	for (rule = 0; rule < KMT_N_FATAL_RULES; rule++) {
		if (kmt_rules[rule].broken(input)) {
			add_file_error(check, rule, input->file, index);
			return FALSE;
		}
	}
	for (; rule < KMT_N_RECORD_RULES; rule++) {
		if (kmt_rules[rule].broken(input))
			add_file_error(check, rule, input->file, index);
	}
	return TRUE;
}

/*
 * Read the owner and the stack of a record, if the records of the capture have
 * them. The record of a loss has neither.
 */
static void read_owner(const KmtInputCpuFile *file, guint64 index,
		       KmtInputRecordOwner *owner, KmtRuleInput *input)
{
	guint8 record[KMEMTRACE_EVENT_SIZE_V2S];

	input->owner = NULL;
	input->stack = KMEMTRACE_STACK_NONE;
	if (!kmt_input_capture_has_owners(file->capture) ||
	    kmt_input_is_loss(input->event, file->record_size))
		return;
	kmt_input_cpu_file_copy(file, index * file->record_size,
				MIN(file->record_size, sizeof(record)), record);
	kmt_input_record_owner(record, file->swapped, owner);
	input->owner = owner;
	if (kmt_input_capture_has_stacks(file->capture))
		input->stack = kmt_input_record_stack(record, file->swapped);
}

static void add_saturated(guint64 *sum, guint64 n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = G_MAXUINT64;
}

/* Number of records between two reports of the progress. */
#define PROGRESS_RECORDS 65536

/* Report the progress after @done records of a pass. */
static void report_progress(guint64 done)
{
	if (done % PROGRESS_RECORDS == 0)
		kmt_progress_add(PROGRESS_RECORDS);
}

static void check_file(KmtCheck *check, const KmtInputCpuFile *file)
{
	struct kmemtrace_event events[2];
	KmtInputRecordOwner owner;
	KmtRuleInput input = {.file = file,
			      .tables = check->tables,
			      .tolerance_ns = check->tolerance_ns};
	guint current = 0, first = check->errors->len;
	guint64 i;
	int rule;

	for (i = 0; i < file->n_records; i++) {
		report_progress(i + 1);
		kmt_input_cpu_file_get(file, i, &events[current]);
		input.event = &events[current];
		read_owner(file, i, &owner, &input);
		if (kmt_input_is_defer(input.event, file->capture))
			check->has_defers = TRUE;
		if (check_record(check, &input, i)) {
			if (kmt_input_is_loss(input.event, file->record_size))
				add_saturated(
					&input.lost,
					kmt_input_loss_events(input.event));
			else if (kmt_input_is_mark(input.event,
						   file->record_size))
				check->has_marks = TRUE;
			check->usable[file->position]++;
			input.previous = input.event;
			current = !current;
		}
	}
	input.event = NULL;
	input.owner = NULL;
	for (rule = KMT_N_RECORD_RULES; rule < KMT_N_FILE_RULES; rule++) {
		if (kmt_rules[rule].broken(&input))
			add_file_error(check, rule, file, file->n_records);
	}
	/* A file whose records are all unusable is probably no cpu file. Count
	 * its errors, but store none of them. */
	if (kmt_check_is_unusable(check, file))
		drop_errors(check, first);
}

/* ---- rules of marks ---- */

G_STATIC_ASSERT(KMT_N_MARK_RULES - KMT_RULE_MARK_STRAY ==
		KMT_INPUT_N_MARK_DEFECTS);

static void on_mark_defect(gpointer user, KmtInputMarkDefect defect,
			   const KmtInputCpuFile *file, guint64 index)
{
	add_file_error(user, KMT_RULE_MARK_STRAY + (KmtRuleId)defect, file,
		       index);
}

static void check_marks(KmtCheck *check)
{
	if (!check->has_marks)
		return;
	check->marks =
		kmt_input_marks_new(check->capture, on_mark_defect, check);
	kmt_input_marks_scan(check->marks);
	kmt_input_marks_finish(check->marks, check->tables);
}

/* ---- rules across files ---- */

/* Add an error whose preceding record is the allocation of @object. */
static void add_object_error(KmtCheck *check, KmtRuleId rule,
			     const KmtMatchObject *object,
			     const KmtMatchPosition *position)
{
	KmtError *error =
		add_error(check, rule, position->file, position->index);

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
		add_object_error(user, KMT_RULE_MISMATCHED_FREE, object,
				 position);
}

static void on_double(gpointer user, const KmtMatchObject *object,
		      const struct kmemtrace_event *event,
		      const KmtMatchPosition *position,
		      KmtMatchDoubleAlloc class,
		      const struct kmemtrace_event *free_event)
{
	if (class == KMT_MATCH_DOUBLE_UNEXPLAINED)
		add_object_error(user, KMT_RULE_DOUBLE_ALLOCATION, object,
				 position);
}

static void on_unmatched(gpointer user, const struct kmemtrace_event *event,
			 const KmtMatchPosition *position,
			 KmtMatchUnmatched class)
{
	if (class == KMT_MATCH_UNMATCHED_UNEXPLAINED)
		add_error(user, KMT_RULE_UNMATCHED_FREE, position->file,
			  position->index);
}

static void on_double_defer(gpointer user, const KmtMatchObject *object,
			    const struct kmemtrace_event *event,
			    const KmtMatchPosition *position,
			    gboolean after_loss)
{
	if (!after_loss)
		add_error(user, KMT_RULE_DOUBLE_DEFER, position->file,
			  position->index);
}

static void on_unmatched_defer(gpointer user,
			       const struct kmemtrace_event *event,
			       const KmtMatchPosition *position,
			       KmtMatchUnmatched class)
{
	if (class == KMT_MATCH_UNMATCHED_UNEXPLAINED)
		add_error(user, KMT_RULE_UNMATCHED_DEFER, position->file,
			  position->index);
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

static void check_across(KmtCheck *check)
{
	static const KmtMatchOps ops = {
		.on_free = on_free,
		.on_double = on_double,
		.on_unmatched = on_unmatched,
		.on_double_defer = on_double_defer,
		.on_unmatched_defer = on_unmatched_defer,
	};
	g_autoptr(KmtMatchMerge) merge = kmt_match_merge_new(check->capture);
	const KmtMatchOptions options = {
		.clock_tolerance_ns = check->tolerance_ns,
		.keep_indexes = TRUE,
	};
	g_autoptr(KmtMatcher) matcher =
		kmt_matcher_new(check->capture, &options, &ops, check);
	struct kmemtrace_event event;
	KmtMatchPosition position;
	guint64 done = 0;

	while (kmt_match_merge_next(merge, &event, &position)) {
		report_progress(++done);
		kmt_matcher_process(matcher, &event, &position);
	}
	kmt_matcher_finish(matcher);
	check->findings = *kmt_matcher_findings(matcher);
	g_ptr_array_unref(check->notes);
	check->notes = kmt_match_merge_notes(merge);
	find_before(check);
}

KmtCheck *kmt_check_new(const KmtInputCapture *capture, gboolean across_files,
			gint64 tolerance_ns, guint64 max_errors)
{
	KmtCheck *check = g_new0(KmtCheck, 1);
	guint i;

	check->capture = capture;
	check->across_files = across_files;
	check->tolerance_ns = tolerance_ns;
	check->max_errors = max_errors;
	check->errors = g_array_new(FALSE, FALSE, sizeof(KmtError));
	check->notes = g_ptr_array_new_with_free_func(g_free);
	check->usable = g_new0(guint64, capture->files->len);
	check->tables = kmt_input_tables_new(capture);
	check->tags = kmt_input_tag_table_new(capture);
	for (i = 0; i < capture->files->len; i++)
		check_file(check, capture->files->pdata[i]);
	check_marks(check);
	if (across_files)
		check_across(check);
	return check;
}

void kmt_check_free(KmtCheck *check)
{
	if (!check)
		return;
	g_array_unref(check->errors);
	g_ptr_array_unref(check->notes);
	g_free(check->usable);
	kmt_input_tables_free(check->tables);
	kmt_input_tag_table_free(check->tags);
	kmt_input_marks_free(check->marks);
	g_free(check);
}

gboolean kmt_check_is_unusable(const KmtCheck *check,
			       const KmtInputCpuFile *file)
{
	return file->n_records && !check->usable[file->position];
}
