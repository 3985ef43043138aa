// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The fast test of check/record-filter.c accepts exactly the ALLOC and FREE
 * records that break no rule, except that it does not know the clock tolerance.
 * Records of each version have random values at the limits of the rules.
 */
#include "config.h"

#include <string.h>

#include "check/record-filter.h"
#include "check/rules.h"
#include "tests/input/capture-fixture.h"

#define N_FILES	       200
#define N_RECORDS      500
#define CREATED	       1000000
#define DESTROYED      2000000
#define TOLERANCE_NS   1000
#define MAX_FILE_BYTES (N_RECORDS * KMEMTRACE_EVENT_SIZE_V2S)

#define CACHES                                                                 \
	"# kmemtrace: caches\n"                                                \
	"# columns: number object_size size created destroyed name\n"          \
	"# unnumbered: 0\n"                                                    \
	"7 100 128 0 - seven\n"                                                \
	"263 40 48 1000000 2000000 same index as seven\n"
#define TASKS                                                                  \
	"# kmemtrace: tasks\n"                                                 \
	"# columns: pid until name\n"                                          \
	"# dropped: 0\n"                                                       \
	"12 5000 sh\n"                                                         \
	"12 - ls\n"                                                            \
	"610 - same index as the idle task\n"
#define STACKS                                                                 \
	"# kmemtrace: stacks\n"                                                \
	"# columns: number addresses\n"                                        \
	"# lost: 0\n"                                                          \
	"5 ffffffff81000010\n"                                                 \
	"610 ffffffff81000010\n"                                               \
	"4294967295 ffffffff81000010\n"

/* A kind of capture: its record size and files; NULL omits a file. */
typedef struct {
	guint16 record_size;
	const char *meta;
	const char *caches, *tasks, *stacks;
} Kind;

#if G_BYTE_ORDER == G_LITTLE_ENDIAN
#define ORDER "little"
#else
#define ORDER "big"
#endif
#define META(version, size, more)                                              \
	"[capture]\nformat=1\nbyte_order=" ORDER "\nabi_version=" version      \
	"\nrecord_size=" size "\n" more

static const Kind kinds[] = {
	{56, NULL, NULL, NULL, NULL},
	{56, META("1", "56", "complete=true\n"), NULL, NULL, NULL},
	{64, NULL, CACHES, TASKS, NULL},
	{64, META("2", "64", "complete=true\n"), CACHES, TASKS, NULL},
	{64, META("3", "64", "complete=false\n"), CACHES, TASKS, NULL},
	{64, META("3", "64", "complete=true\n"), NULL, NULL, NULL},
	{72, META("3", "72", "complete=true\n"), CACHES, TASKS, STACKS},
	{72, META("3", "72", "complete=true\nimported=true\n"), CACHES, NULL,
	 NULL},
};

/* Values of any field: limits of the rules and of the types, and neighbours. */
static const guint64 values[] = {0,
				 1,
				 2,
				 3,
				 4,
				 5,
				 6,
				 7,
				 8,
				 12,
				 40,
				 41,
				 48,
				 56,
				 64,
				 72,
				 99,
				 100,
				 101,
				 128,
				 263,
				 519,
				 CREATED - TOLERANCE_NS - 1,
				 CREATED - 1,
				 CREATED,
				 DESTROYED,
				 DESTROYED + 1,
				 DESTROYED + TOLERANCE_NS + 1,
				 G_MAXUINT16,
				 G_MAXUINT32,
				 G_MAXINT64,
				 G_MAXINT64 + G_GUINT64_CONSTANT(1),
				 G_MAXUINT64};

static guint below(GRand *rand, guint n)
{
	return (guint)g_rand_int_range(rand, 0, (gint32)n);
}

static guint64 random_value(GRand *rand)
{
	return values[below(rand, G_N_ELEMENTS(values))];
}

/* Change a random field to a random value. */
static void damage(GRand *rand, struct kmemtrace_event_v2s *record)
{
	struct kmemtrace_event *event = &record->v2.v1;
	const guint64 value = random_value(rand);

	switch (below(rand, 11)) {
	case 0:
		event->event_id = (guint8)value;
		break;
	case 1:
		event->type_id = (guint8)value;
		break;
	case 2:
		event->event_size = (guint16)value;
		break;
	case 3:
		event->ptr = value;
		break;
	case 4:
		event->bytes_req = value;
		break;
	case 5:
		event->bytes_alloc = value;
		break;
	case 6:
		event->timestamp = (gint64)value;
		break;
	case 7:
		record->v2.pid = (guint32)value;
		break;
	case 8:
		record->v2.cache = (guint16)value;
		break;
	case 9:
		record->v2.flags = (guint16)value;
		break;
	default:
		record->stack = (guint32)value;
	}
}

/* Store a random record with up to three wrong fields. */
static void make_record(GRand *rand, const Kind *kind, gint64 time,
			guint8 *record)
{
	static const guint16 caches[] = {0, 7, 263};
	static const guint32 pids[] = {0, 12, 610}, stacks[] = {0, 5, 610};
	struct kmemtrace_event_v2s r = {
		.v2.v1 = {.event_id = (guint8)(1 + below(rand, 2)),
			  .type_id = (guint8)below(rand, 3),
			  .event_size = kind->record_size,
			  .node = KMEMTRACE_NODE_NONE,
			  .ptr = 0xffff888000001000,
			  .bytes_req = 40,
			  .bytes_alloc = 128,
			  .timestamp = time},
		.v2.pid = pids[below(rand, G_N_ELEMENTS(pids))],
		.v2.cache = caches[below(rand, G_N_ELEMENTS(caches))],
		.v2.flags = (guint16)below(rand, 4),
		.stack = stacks[below(rand, G_N_ELEMENTS(stacks))]};
	guint n;

	if (r.v2.cache == 263)
		r.v2.v1.bytes_alloc = 48;
	if (r.v2.cache)
		r.v2.v1.type_id = KMEMTRACE_TYPE_CACHE;
	for (n = below(rand, 8); n > 4; n--)
		damage(rand, &r);
	memcpy(record, &r, kind->record_size);
}

/* Return whether the record breaks a rule; *usable: no fatal one. */
static gboolean breaks_a_rule(const KmtRuleInput *input, gboolean *usable)
{
	gboolean broken = FALSE;
	int rule;

	*usable = TRUE;
	for (rule = 0; rule < KMT_N_RECORD_RULES; rule++) {
		if (!kmt_rules[rule].broken(input))
			continue;
		broken = TRUE;
		*usable &= rule >= KMT_N_FATAL_RULES;
	}
	return broken;
}

/* Return whether the filter may reject a record that breaks no rule. */
static gboolean may_be_rejected(const KmtRuleInput *input)
{
	const gint64 time = input->event.timestamp;

	if (input->event.event_id != KMEMTRACE_EVENT_ALLOC &&
	    input->event.event_id != KMEMTRACE_EVENT_FREE)
		return TRUE;
	return input->has_owner && input->owner.cache == 263 &&
	       (time < CREATED || time > DESTROYED);
}

/* Compare filter and rules for the records of a file. Return the number of
 * accepted records. */
static guint compare(KmtRecordFilter *filter, KmtRuleInput *input,
		     const guint8 *next, const guint8 *end)
{
	const guint stride = input->file->record_size;
	guint n_accepted = 0;
	gboolean usable;

	input->previous_time = G_MININT64;
	for (; next != end; next += stride) {
		gint64 time = input->previous_time;
		const guint8 *rejected =
			kmt_record_filter_skip(filter, next, end, &time);

		for (; next != rejected; next += stride, n_accepted++) {
			kmt_rule_input_read(input, next);
			g_assert_false(breaks_a_rule(input, &usable));
			input->previous_time = input->event.timestamp;
		}
		g_assert_cmpint(time, ==, input->previous_time);
		if (next == end)
			break;
		kmt_rule_input_read(input, next);
		g_assert_true(breaks_a_rule(input, &usable) ||
			      may_be_rejected(input));
		if (usable)
			input->previous_time = input->event.timestamp;
	}
	return n_accepted;
}

static KmtInputCapture *open_kind(const Kind *kind, char **directory)
{
	guint8 records[4 * KMEMTRACE_EVENT_SIZE_V2S] = {0};
	KmtInputCapture *capture;
	guint i;

	*directory = fixture_new();
	for (i = 0; i < 4; i++) {
		const struct kmemtrace_event event = {
			.event_id = KMEMTRACE_EVENT_ALLOC,
			.event_size = kind->record_size,
			.ptr = 8,
			.bytes_req = 8,
			.bytes_alloc = 8,
			.timestamp = i};

		memcpy(records + (gsize)i * kind->record_size, &event,
		       sizeof(event));
	}
	fixture_put(*directory, "cpu0.out", (const char *)records,
		    4 * kind->record_size);
	fixture_put(*directory, "kmemtrace.meta", kind->meta, -1);
	fixture_put(*directory, "caches", kind->caches, -1);
	fixture_put(*directory, "tasks", kind->tasks, -1);
	fixture_put(*directory, "stacks", kind->stacks, -1);
	capture = fixture_open(*directory);
	g_assert_cmpuint(capture->record_size, ==, kind->record_size);
	return capture;
}

static void test_random_records(gconstpointer data)
{
	const Kind *kind = data;
	char *directory;
	g_autoptr(KmtInputCapture) capture = open_kind(kind, &directory);
	g_autoptr(KmtInputTables) tables = kmt_input_tables_new(capture);
	g_autoptr(KmtRecordFilter) filter =
		kmt_record_filter_new(capture, tables);
	g_autofree guint8 *records = g_malloc(MAX_FILE_BYTES);
	GRand *rand = g_rand_new_with_seed(kind->record_size);
	KmtRuleInput input = {.file = capture->files->pdata[0],
			      .tables = tables,
			      .tolerance_ns = TOLERANCE_NS};
	guint file, i, n_accepted = 0;

	g_assert_true(!kind->caches || !kind->meta ||
		      kmt_input_tables_has_caches(tables));
	g_assert_true(!kind->tasks || !kind->meta ||
		      kmt_input_tables_has_all_tasks(tables));
	g_assert_true(!kind->stacks || kmt_input_tables_has_stacks(tables));
	for (file = 0; file < N_FILES; file++) {
		gint64 time = CREATED - TOLERANCE_NS;

		for (i = 0; i < N_RECORDS; i++) {
			make_record(rand, kind, time,
				    records + (gsize)i * kind->record_size);
			time += below(rand, 2) *
				(DESTROYED - CREATED + 4 * TOLERANCE_NS) /
				N_RECORDS * 2;
		}
		n_accepted += compare(filter, &input, records,
				      records + N_RECORDS * kind->record_size);
	}
	g_assert_cmpuint(n_accepted, >, N_FILES * N_RECORDS / 10);
	g_assert_cmpuint(n_accepted, <, N_FILES * N_RECORDS * 9 / 10);
	g_rand_free(rand);
	fixture_remove(directory);
}

/* A set has exactly the added numbers and 0, while it grows. */
static void test_number_set(void)
{
	enum { N_NUMBERS = 20000, RANGE = 100000 };
	g_autofree guint8 *is_added = g_new0(guint8, RANGE);
	KmtNumberSet set;
	guint32 i;

	kmt_number_set_init(&set);
	is_added[0] = TRUE;
	for (i = 0; i < N_NUMBERS; i++) {
		const guint32 number = (guint32)g_test_rand_int_range(0, RANGE);

		g_assert_cmpint(kmt_number_set_contains(&set, number), ==,
				is_added[number]);
		if (!is_added[number])
			kmt_number_set_add(&set, number);
		is_added[number] = TRUE;
	}
	kmt_number_set_add(&set, G_MAXUINT32);
	g_assert_true(kmt_number_set_contains(&set, G_MAXUINT32));
	for (i = 0; i < RANGE; i++)
		g_assert_cmpint(kmt_number_set_contains(&set, i), ==,
				is_added[i]);
	kmt_number_set_clear(&set);
}

int main(int argc, char **argv)
{
	guint i;

	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/record-filter/number-set", test_number_set);
	for (i = 0; i < G_N_ELEMENTS(kinds); i++) {
		g_autofree char *path = g_strdup_printf("/record-filter/%u", i);

		g_test_add_data_func(path, &kinds[i], test_random_records);
	}
	return g_test_run();
}
