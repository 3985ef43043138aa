// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "fuzz/exercise.h"

#include "lib/match/pipeline.h"
#include "lib/input/namespace.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define ALL_PARTS (KMT_MATCH_KEY_CPU | KMT_MATCH_KEY_NODE | KMT_MATCH_KEY_GFP)

/* An object of the matcher with its allocation class resolved. The struct has
 * no padding, because objects are compared byte by byte. */
typedef struct {
	guint64 ptr;
	gint64 alloc_time;
	guint64 call_site, gfp_flags;
	guint64 bytes_req, bytes_alloc;
	gint32 node;
	guint16 file, cell_file;
	guint8 type, cell_type;
	guint8 unused[6];
} ExpectedObject;
G_STATIC_ASSERT(sizeof(ExpectedObject) == 64);

/*
 * An event that the matcher reported. The struct has no padding, because events
 * are compared byte by byte.
 */
typedef struct {
	guint64 index; /* number of the record in merged order; n at the end */
	ExpectedObject object;
	guint64 ptr;
	guint16 file;
	guint8 type;
	guint8 op; /* KmtMatchSlowOp */
	guint8 class;
	guint8 deferred, mismatch, late_free;
} Told;
G_STATIC_ASSERT(sizeof(Told) == 88);

/* State of a record during the direct run of the matcher. */
enum {
	UNTOLD,
	TOLD,	/* a reported FREE, or an ALLOC whose object is live */
	CLOSED, /* an ALLOC whose object was freed or replaced */
};

typedef struct {
	const KmtInputCapture *capture;
	KmtMatchKeys *keys;
	KmtMatcher *matcher;
	GArray *told;	 /* Told elements */
	guint8 **states; /* state of each record of each file */
	guint8 **doubled;
	guint64 index;
	KmtMatchPosition current;
	guint64 n_live, n_allocs, n_closed, n_replaced;
	KmtMatchFindings findings;
	gint64 last; /* merged time of the last record */
} Exercise;

/*
 * libFuzzer keeps the input of a run that ends in abort(). GLib's g_error()
 * raises SIGTRAP, for which libFuzzer keeps no input.
 */
static void on_trap(int number)
{
	abort();
}

void kmt_exercise_begin(void)
{
	signal(SIGTRAP, on_trap);
	g_random_set_seed(1);
}

static ExpectedObject object_of(const KmtMatchKeys *keys,
				const KmtMatchObject *o)
{
	KmtMatchKey cell = kmt_match_keys_of_class(keys, o->class_id);
	KmtMatchSize bytes = kmt_match_keys_size_of_class(keys, o->class_id);
	ExpectedObject object;

	memset(&object, 0, sizeof(object));
	object.ptr = o->ptr;
	object.alloc_time = o->timestamp;
	object.call_site = cell.call_site;
	object.gfp_flags = cell.gfp_flags;
	object.node = cell.node;
	object.cell_file = cell.file;
	object.cell_type = cell.type;
	object.bytes_req = bytes.req;
	object.bytes_alloc = bytes.alloc;
	object.file = o->file;
	object.type = o->type;
	return object;
}

static Told *tell(Exercise *x, KmtMatchSlowOp op, const KmtMatchObject *object,
		  guint64 ptr, guint8 type, guint16 file)
{
	Told *told;

	g_array_set_size(x->told, x->told->len + 1);
	told = &g_array_index(x->told, Told, x->told->len - 1);
	memset(told, 0, sizeof(*told));
	told->index = x->index;
	told->op = (guint8)op;
	if (object)
		told->object = object_of(x->keys, object);
	told->ptr = ptr;
	told->type = type;
	told->file = file;
	return told;
}

/* Order events by record, then deferred decisions by address. Decisions
 * deferred to the same record concern different addresses and are made in no
 * fixed order. */
static gint compare_told(gconstpointer a, gconstpointer b)
{
	const Told *x = a, *y = b;
	gint x_space = (gint)kmt_input_namespace_of(x->type);
	gint y_space = (gint)kmt_input_namespace_of(y->type);

	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	if (x->deferred != y->deferred)
		return x->deferred ? -1 : 1;
	if (!x->deferred)
		return 0;
	if (x->ptr != y->ptr)
		return x->ptr < y->ptr ? -1 : 1;
	return x_space - y_space;
}

static gint compare_objects(gconstpointer a, gconstpointer b)
{
	const ExpectedObject *x = a, *y = b;
	gint x_space = (gint)kmt_input_namespace_of(x->type);
	gint y_space = (gint)kmt_input_namespace_of(y->type);

	if (x->ptr != y->ptr)
		return x->ptr < y->ptr ? -1 : 1;
	return x_space - y_space;
}

/* ---- direct run of the matcher ---- */

static guint8 *state_of(Exercise *x, guint file, guint64 index)
{
	const KmtInputCpuFile *cpu_file;

	g_assert_cmpuint(file, <, x->capture->files->len);
	cpu_file = x->capture->files->pdata[file];
	g_assert_cmpuint(index, <, cpu_file->n_records);
	return &x->states[file][index];
}

/* Check that an object has the values of its ALLOC record. */
static void check_object(Exercise *x, const KmtMatchObject *object)
{
	const KmtInputCpuFile *file = x->capture->files->pdata[object->file];
	ExpectedObject o = object_of(x->keys, object);
	struct kmemtrace_event event;

	kmt_input_cpu_file_get(file, object->index, &event);
	g_assert_cmpuint(event.event_id, ==, KMEMTRACE_EVENT_ALLOC);
	g_assert_cmphex(event.ptr, ==, object->ptr);
	g_assert_cmpuint(event.type_id, ==, object->type);
	g_assert_cmpuint(event.type_id, ==, o.cell_type);
	g_assert_cmphex(event.call_site, ==, o.call_site);
	g_assert_cmphex(event.gfp_flags, ==, o.gfp_flags);
	g_assert_cmpint(event.node, ==, o.node);
	g_assert_cmpuint(event.bytes_req, ==, o.bytes_req);
	g_assert_cmpuint(event.bytes_alloc, ==, o.bytes_alloc);
	g_assert_cmpuint(object->file, ==, o.cell_file);
	g_assert_cmpint(event.timestamp, <=, object->timestamp);
}

static void set_late(Exercise *x, Told *told)
{
	gint64 time;

	told->deferred = (guint8)kmt_matcher_is_deferred(x->matcher, &time);
}

static void close_object(Exercise *x, const KmtMatchObject *object)
{
	guint8 *state = state_of(x, object->file, object->index);

	check_object(x, object);
	g_assert_cmpuint(*state, ==, TOLD);
	*state = CLOSED;
}

static void told_free(Exercise *x, const KmtMatchPosition *position)
{
	guint8 *state = state_of(x, position->file->position, position->index);

	g_assert_cmpuint(*state, ==, UNTOLD);
	*state = TOLD;
}

static void on_alloc(gpointer user, const KmtMatchObject *object,
		     const struct kmemtrace_event *event,
		     const KmtMatchPosition *position)
{
	Exercise *x = user;
	guint8 *state = state_of(x, position->file->position, position->index);
	Told *told = tell(x, KMT_MATCH_SLOW_ALLOC, object, event->ptr,
			  event->type_id, (guint16)position->file->position);

	set_late(x, told);
	g_assert_false(told->deferred);
	g_assert_cmpuint(object->file, ==, position->file->position);
	g_assert_cmpuint(object->index, ==, position->index);
	check_object(x, object);
	g_assert_cmpuint(*state, ==, UNTOLD);
	*state = TOLD;
	x->n_allocs++;
}

static void on_free(gpointer user, const KmtMatchObject *object,
		    const struct kmemtrace_event *event,
		    const KmtMatchPosition *position, gboolean mismatch)
{
	Exercise *x = user;
	Told *told = tell(x, KMT_MATCH_SLOW_FREE, object, event->ptr,
			  event->type_id, (guint16)position->file->position);

	set_late(x, told);
	told->mismatch = (guint8)mismatch;
	g_assert_cmphex(object->ptr, ==, event->ptr);
	g_assert_cmpint(kmt_input_namespace_of(object->type), ==,
			kmt_input_namespace_of(event->type_id));
	if (object->type == event->type_id)
		g_assert_false(mismatch);
	else if (mismatch)
		x->findings.mismatches++;
	else
		x->findings.mismatches_after_loss++;
	close_object(x, object);
	told_free(x, position);
	x->n_closed++;
}

static void on_replaced(gpointer user, const KmtMatchObject *object,
			const struct kmemtrace_event *event,
			const KmtMatchPosition *position)
{
	Exercise *x = user;

	set_late(x, tell(x, KMT_MATCH_SLOW_REPLACED, object, event->ptr,
			 event->type_id, (guint16)position->file->position));
	g_assert_cmphex(object->ptr, ==, event->ptr);
	close_object(x, object);
	x->n_replaced++;
}

static void on_double(gpointer user, const KmtMatchObject *object,
		      const struct kmemtrace_event *event,
		      const KmtMatchPosition *position,
		      KmtMatchDoubleAlloc class,
		      const struct kmemtrace_event *free_event)
{
	Exercise *x = user;
	guint file = position->file->position;
	Told *told = tell(x, KMT_MATCH_SLOW_DOUBLE, object, event->ptr,
			  event->type_id, (guint16)file);

	set_late(x, told);
	told->class = (guint8) class;
	told->late_free = free_event != NULL;
	check_object(x, object);
	g_assert_cmpuint(*state_of(x, object->file, object->index), ==, CLOSED);
	g_assert_cmpuint(*state_of(x, file, position->index), !=, UNTOLD);
	g_assert_cmpuint(x->doubled[file][position->index], ==, 0);
	x->doubled[file][position->index] = 1;
	if (free_event) {
		g_assert_cmpint(class, ==, KMT_MATCH_DOUBLE_RACE);
		g_assert_false(told->deferred);
		told_free(x, &x->current);
	}
	g_assert_cmpuint(class, <, KMT_MATCH_N_DOUBLE);
	x->findings.doubles[class]++;
}

static void on_unmatched(gpointer user, const struct kmemtrace_event *event,
			 const KmtMatchPosition *position,
			 KmtMatchUnmatched class)
{
	Exercise *x = user;
	Told *told = tell(x, KMT_MATCH_SLOW_UNMATCHED, NULL, event->ptr,
			  event->type_id, (guint16)position->file->position);

	set_late(x, told);
	told->class = (guint8) class;
	told_free(x, position);
	g_assert_cmpuint(class, <, KMT_MATCH_N_UNMATCHED);
	x->findings.unmatched[class]++;
}

static void add_live(gpointer user, const KmtMatchObject *object)
{
	GArray *live = user;

	g_array_append_val(live, *object);
}

static GArray *sorted_live(const KmtMatchKeys *keys, const GArray *live)
{
	GArray *objects = g_array_sized_new(FALSE, FALSE,
					    sizeof(ExpectedObject), live->len);
	guint i;

	for (i = 0; i < live->len; i++) {
		ExpectedObject object = object_of(
			keys, &g_array_index(live, KmtMatchObject, i));

		g_array_append_val(objects, object);
	}
	g_array_sort(objects, compare_objects);
	for (i = 1; i < objects->len; i++)
		g_assert_cmpint(
			compare_objects(
				&g_array_index(objects, ExpectedObject, i - 1),
				&g_array_index(objects, ExpectedObject, i)),
			<, 0);
	return objects;
}

/* Check the counts after the last record. */
static void check_sums(Exercise *x, const KmtMatchMerge *merge)
{
	g_autoptr(GArray) live =
		g_array_new(FALSE, FALSE, sizeof(KmtMatchObject));
	guint64 sum = 0;
	guint i;

	g_assert_cmpmem(&x->findings, sizeof(x->findings),
			kmt_matcher_findings(x->matcher), sizeof(x->findings));
	for (i = 0; i < KMT_MATCH_N_DOUBLE; i++)
		sum += x->findings.doubles[i];
	g_assert_cmpuint(sum, ==, x->n_replaced);
	kmt_matcher_foreach_live(x->matcher, add_live, live);
	g_assert_cmpuint(live->len, ==,
			 x->n_allocs - x->n_closed - x->n_replaced);
	for (i = 0; i < live->len; i++) {
		const KmtMatchObject *object =
			&g_array_index(live, KmtMatchObject, i);

		check_object(x, object);
		g_assert_cmpuint(*state_of(x, object->file, object->index), ==,
				 TOLD);
	}
	g_assert_cmpuint(x->index + kmt_match_merge_skipped(merge) +
				 kmt_match_merge_gap_records(merge) +
				 kmt_match_merge_stop_records(merge) +
				 kmt_match_merge_mark_records(merge),
			 ==, x->capture->n_records);
}

/* Check that each record that the merge returns was reported. */
static void check_told(Exercise *x)
{
	g_autoptr(KmtMatchMerge) merge = kmt_match_merge_new(x->capture);
	struct kmemtrace_event event;
	KmtMatchPosition p;

	while (kmt_match_merge_next(merge, &event, &p))
		g_assert_cmpuint(*state_of(x, p.file->position, p.index), !=,
				 UNTOLD);
}

static GArray *live_of_matcher(Exercise *x)
{
	g_autoptr(GArray) live =
		g_array_new(FALSE, FALSE, sizeof(KmtMatchObject));

	kmt_matcher_foreach_live(x->matcher, add_live, live);
	return sorted_live(x->keys, live);
}

static void feed_all(Exercise *x, gint64 tolerance_ns, GArray **live)
{
	static const KmtMatchOps ops = {
		.on_alloc = on_alloc,
		.on_free = on_free,
		.on_replaced = on_replaced,
		.on_double = on_double,
		.on_unmatched = on_unmatched,
	};
	const KmtMatchOptions options = {
		.clock_tolerance_ns = tolerance_ns,
		.keys = x->keys,
		.keep_indexes = TRUE,
	};
	g_autoptr(KmtMatchMerge) merge = kmt_match_merge_new(x->capture);
	g_autoptr(KmtMatcher) matcher =
		kmt_matcher_new(x->capture, &options, &ops, x);
	struct kmemtrace_event event;

	x->matcher = matcher;
	for (x->index = 0; kmt_match_merge_next(merge, &event, &x->current);
	     x->index++)
		kmt_matcher_process(matcher, &event, &x->current);
	kmt_matcher_finish(matcher);
	check_sums(x, merge);
	check_told(x);
	*live = live_of_matcher(x);
	x->matcher = NULL;
}

/* ---- run of the pipeline ---- */

static void consume_step(Exercise *x, const KmtMatchedBlock *m, guint i)
{
	const KmtMatchEvent *item = m->items[i];
	const KmtInputRawEvent *event = item->event;
	gboolean is_alloc = item->op == KMT_MATCH_STEP_ALLOC;
	KmtMatchObject object = {
		.ptr = event->ptr,
		.timestamp = is_alloc ? item->now : item->alloc_time,
		.class_id = item->class_id,
		.file = is_alloc ? item->file : item->alloc_file,
		.type = event->type_id,
	};

	if (item->op != KMT_MATCH_STEP_NONE)
		tell(x, is_alloc ? KMT_MATCH_SLOW_ALLOC : KMT_MATCH_SLOW_FREE,
		     &object, event->ptr, event->type_id, item->file);
}

static void count_finding(KmtMatchFindings *findings,
			  const KmtMatchSlowEvent *extra)
{
	if (extra->op == KMT_MATCH_SLOW_DOUBLE)
		findings->doubles[extra->class]++;
	else if (extra->op == KMT_MATCH_SLOW_UNMATCHED)
		findings->unmatched[extra->class]++;
	else if (extra->op == KMT_MATCH_SLOW_FREE && extra->mismatch)
		findings->mismatches++;
	else if (extra->op == KMT_MATCH_SLOW_FREE &&
		 extra->object.type != extra->type)
		findings->mismatches_after_loss++;
}

static void consume_extra(Exercise *x, const KmtMatchSlowEvent *extra)
{
	gboolean has_object = extra->op != KMT_MATCH_SLOW_UNMATCHED;
	Told *told = tell(x, extra->op, has_object ? &extra->object : NULL,
			  extra->ptr, extra->type, extra->file);

	told->deferred = (guint8)extra->deferred;
	told->mismatch = (guint8)extra->mismatch;
	told->class = (guint8)extra->class;
	told->late_free = (guint8)extra->late_free;
	count_finding(&x->findings, extra);
}

static void consume(gpointer user, const KmtMatchedBlock *m)
{
	Exercise *x = user;
	guint64 first = x->index;
	guint i, e = 0;

	for (i = 0; i <= m->n; i++) {
		x->index = first + i;
		for (; e < m->n_slow_events && m->slow_events[e]->index == i;
		     e++)
			consume_extra(x, m->slow_events[e]);
		if (i == m->n)
			break;
		g_assert_cmpint(m->items[i]->now, >=, x->last);
		x->last = m->items[i]->now;
		consume_step(x, m, i);
	}
	g_assert_cmpuint(e, ==, m->n_slow_events);
}

/* Run the pipeline and return the number of processed records. */
static guint64 run_pipeline(Exercise *x, guint jobs, guint shards,
			    gint64 tolerance_ns, gint64 stop_ns, GArray **live)
{
	const KmtMatchPipelineOptions options = {
		.jobs = jobs,
		.shards = shards,
		.clock_tolerance_ns = tolerance_ns,
		.keys = x->keys,
		.stop_ns = stop_ns,
	};
	g_autoptr(KmtMatchPipeline) pipeline =
		kmt_match_pipeline_new(x->capture, &options, consume, x);
	g_autoptr(GArray) objects =
		g_array_new(FALSE, FALSE, sizeof(KmtMatchObject));

	x->last = G_MININT64;
	x->index = 0;
	g_array_set_size(x->told, 0);
	kmt_match_pipeline_run(pipeline);
	kmt_match_pipeline_foreach_live(pipeline, add_live, objects);
	*live = sorted_live(x->keys, objects);
	return x->index;
}

static void assert_same(GArray *a, GArray *b, const char *what)
{
	guint i, size = g_array_get_element_size(a);

	for (i = 0; i < MIN(a->len, b->len); i++)
		if (memcmp(a->data + i * size, b->data + i * size, size) != 0)
			g_error("%s: number %u of %u differs", what, i, a->len);
	if (a->len != b->len)
		g_error("%s: %u and %u of them", what, a->len, b->len);
}

static GArray *steal_told(Exercise *x)
{
	GArray *told = x->told;

	x->told = g_array_new(FALSE, FALSE, sizeof(Told));
	g_array_sort(told, compare_told);
	return told;
}

/* ---- comparison of all runs ---- */

static void compare_pipelines(Exercise *x, gint64 tolerance_ns, gint64 stop_ns)
{
	g_autoptr(GArray) told = NULL, live = NULL;
	g_autoptr(GArray) told_too = NULL, live_too = NULL;
	guint64 n = run_pipeline(x, 1, 1, tolerance_ns, stop_ns, &live);

	told = steal_told(x);
	g_assert_cmpuint(
		run_pipeline(x, 1, 2, tolerance_ns, stop_ns, &live_too), ==, n);
	told_too = steal_told(x);
	assert_same(told, told_too, "what was told until then");
	assert_same(live, live_too, "what was live then");
}

static void run_all(Exercise *x, gint64 tolerance_ns, gint64 stop_ns,
		    gboolean threads)
{
	static const KmtMatchFindings none;
	g_autoptr(GArray) told = NULL, live = NULL;
	KmtMatchFindings findings;
	guint64 n;
	guint shards;

	feed_all(x, tolerance_ns, &live);
	told = steal_told(x);
	findings = x->findings;
	n = x->index;
	for (shards = 1; shards <= 3; shards += 2) {
		g_autoptr(GArray) told_too = NULL, live_too = NULL;

		x->findings = none;
		g_assert_cmpuint(run_pipeline(x, threads ? shards : 1, shards,
					      tolerance_ns, G_MAXINT64,
					      &live_too),
				 ==, n);
		told_too = steal_told(x);
		assert_same(told, told_too, "what was told");
		assert_same(live, live_too, "live objects");
		g_assert_cmpmem(&findings, sizeof(findings), &x->findings,
				sizeof(findings));
	}
	if (stop_ns != G_MAXINT64)
		compare_pipelines(x, tolerance_ns, stop_ns);
}

/*
 * Check that merging record by record and merging in blocks return the same
 * records, in order.
 */
static void check_merge(const KmtInputCapture *capture)
{
	g_autoptr(KmtMatchMerge) merge = kmt_match_merge_new(capture);
	g_autoptr(KmtMatchMerge) filling = kmt_match_merge_new(capture);
	g_autofree guint64 *next = g_new0(guint64, capture->files->len);
	struct kmemtrace_event event, copy;
	KmtMatchPosition position;
	KmtMatchEvent items[KMT_MATCH_BLOCK_RECORDS];
	KmtMatchOrder order;
	KmtMatchShardQueue queue = {
		.seed = 1, .n_shards = 1, .order = &order, .items = items};
	KmtMatchBlock block;
	gint64 now = G_MININT64, first = G_MAXINT64, last = G_MININT64;
	gint64 range_first, range_last;
	guint i;

	kmt_match_order_init_identity(&order, items);
	kmt_match_block_init(&block);
	while (kmt_match_merge_fill(filling, &block, &queue)) {
		guint n_allocs = 0;

		for (i = 0; i < block.n; i++) {
			guint file = items[i].file;

			g_assert_true(order.items[i] == &items[i]);
			g_assert_cmpuint(items[i].index, ==, i);
			if (items[i].op == KMEMTRACE_EVENT_ALLOC)
				g_assert_true(order.allocs[n_allocs++] ==
					      &items[i]);
			g_assert_true(
				kmt_match_merge_next(merge, &event, &position));
			copy = *items[i].event;
			if (copy.event_id == KMEMTRACE_EVENT_FREE)
				kmt_input_clear_free_fields(&copy);
			g_assert_cmpmem(&event, sizeof(event), &copy,
					sizeof(copy));
			kmt_input_cpu_file_get(position.file, position.index,
					       &copy);
			g_assert_cmpmem(&event, sizeof(event), &copy,
					sizeof(copy));
			g_assert_cmpuint(position.file->position, ==, file);
			g_assert_cmpuint(position.index, >=, next[file]);
			next[file] = position.index + 1;
			now = MAX(now, event.timestamp);
			g_assert_cmpint(items[i].now, ==, now);
			first = MIN(first, event.timestamp);
			last = MAX(last, event.timestamp);
		}
		g_assert_cmpuint(n_allocs, ==, queue.n_allocs);
	}
	kmt_match_block_clear(&block);
	g_assert_false(kmt_match_merge_next(merge, &event, &position));
	g_assert_cmpuint(kmt_match_merge_skipped(merge), ==,
			 kmt_match_merge_skipped(filling));
	g_assert_cmpuint(kmt_match_merge_gap_records(merge), ==,
			 kmt_match_merge_gap_records(filling));
	g_assert_cmpuint(kmt_match_merge_unordered(merge), ==,
			 kmt_match_merge_unordered(filling));
	if (kmt_match_merge_time_range(merge, &range_first, &range_last)) {
		g_assert_cmpint(first, ==, range_first);
		g_assert_cmpint(last, ==, range_last);
	} else {
		g_assert_cmpint(first, >, last);
	}
}

static guint8 **new_states(const KmtInputCapture *capture)
{
	guint8 **states = g_new(guint8 *, capture->files->len);
	guint i;

	for (i = 0; i < capture->files->len; i++) {
		const KmtInputCpuFile *file = capture->files->pdata[i];

		states[i] = g_new0(guint8, file->n_records);
	}
	return states;
}

static void free_states(const KmtInputCapture *capture, guint8 **states)
{
	guint i;

	for (i = 0; i < capture->files->len; i++)
		g_free(states[i]);
	g_free(states);
}

void kmt_exercise(const KmtInputCapture *capture, gint64 tolerance_ns,
		  gint64 stop_ns, gboolean threads)
{
	g_autoptr(KmtMatchKeys) keys =
		kmt_match_keys_new(ALL_PARTS, capture, NULL);
	Exercise x = {
		.capture = capture,
		.keys = keys,
		.told = g_array_new(FALSE, FALSE, sizeof(Told)),
		.states = new_states(capture),
		.doubled = new_states(capture),
	};

	check_merge(capture);
	run_all(&x, tolerance_ns, stop_ns, threads);
	free_states(capture, x.states);
	free_states(capture, x.doubled);
	g_array_unref(x.told);
}

char *kmt_exercise_digest(const KmtInputCapture *capture, gint64 tolerance_ns)
{
	g_autoptr(KmtMatchKeys) keys =
		kmt_match_keys_new(ALL_PARTS, capture, NULL);
	g_autoptr(GArray) told = NULL, live = NULL;
	g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA1);
	Exercise x = {
		.capture = capture,
		.keys = keys,
		.told = g_array_new(FALSE, FALSE, sizeof(Told)),
	};

	run_pipeline(&x, 1, 2, tolerance_ns, G_MAXINT64, &live);
	told = steal_told(&x);
	g_array_unref(x.told);
	g_checksum_update(checksum, (const guchar *)told->data,
			  told->len * sizeof(Told));
	g_checksum_update(checksum, (const guchar *)live->data,
			  live->len * sizeof(ExpectedObject));
	return g_strdup_printf("%" G_GUINT64_FORMAT " records, %u live, %s",
			       capture->n_records, live->len,
			       g_checksum_get_string(checksum));
}
