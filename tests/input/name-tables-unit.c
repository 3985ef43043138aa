// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of caches and tasks, cgroups, and stacks, from valid and invalid tables
 * (lib/input/name-tables.c); owners and losses in records.
 */
#include "config.h"

#include <string.h>

#include "lib/input/name-tables.h"
#include "tests/input/capture-fixture.h"

#define META "[capture]\nabi_version=2\nrecord_size=64\nbyte_order=little\n"
#define META_STACKS                                                            \
	"[capture]\nabi_version=2\nrecord_size=72\nbyte_order=little\n"
#define CACHES                                                                 \
	"# kmemtrace: caches\n"                                                \
	"# columns: number object_size size created destroyed name\n"          \
	"# unnumbered: 0\n"
#define TASKS                                                                  \
	"# kmemtrace: tasks\n"                                                 \
	"# columns: pid until name\n"

#define CGROUPS                                                                \
	"# kmemtrace: cgroups\n"                                               \
	"# columns: pid until path\n"

typedef struct {
	char *directory;
	KmtInputCapture *capture;
	KmtInputTables *tables;
} TablesFixture;

/*
 * Write a capture with the given files and open the capture. NULL omits a file.
 */
static void set_up(TablesFixture *f, const char *meta, const char *caches,
		   const char *tasks)
{
	f->directory = fixture_new();
	fixture_put(f->directory, "kmemtrace.meta", meta, -1);
	fixture_put(f->directory, "caches", caches, -1);
	fixture_put(f->directory, "tasks", tasks, -1);
	f->capture = fixture_open(f->directory);
	f->tables = kmt_input_tables_new(f->capture);
}

static void tear_down(TablesFixture *f)
{
	kmt_input_tables_free(f->tables);
	kmt_input_capture_free(f->capture);
	fixture_remove(f->directory);
}

static guint n_warnings(const TablesFixture *f)
{
	return kmt_input_tables_warnings(f->tables)->len;
}

static guint n_caches(const TablesFixture *f)
{
	guint number, n = 0;

	for (number = 0; number <= G_MAXUINT16; number++)
		n += kmt_input_tables_cache(f->tables, number) != NULL;
	return n;
}

static void test_caches(void)
{
	const KmtInputCache *cache;
	TablesFixture f;

	set_up(&f, META,
	       CACHES "65535 18446744073709551615 8 5 - last one\n"
		      "3 100 128 0 9223372036854775807 \n"
		      "1 10 16 1 2 a\\040b\\134\\377\n",
	       NULL);
	g_assert_cmpuint(n_warnings(&f), ==, 0);
	g_assert_true(kmt_input_tables_has_caches(f.tables));
	g_assert_false(kmt_input_tables_has_tasks(f.tables));
	g_assert_cmpuint(n_caches(&f), ==, 3);
	cache = kmt_input_tables_cache(f.tables, 1);
	g_assert_cmpstr(cache->name, ==, "a b\\\377");
	g_assert_cmpint(cache->created, ==, 1);
	g_assert_cmpint(cache->destroyed, ==, 2);
	cache = kmt_input_tables_cache(f.tables, 3);
	g_assert_cmpstr(cache->name, ==, "");
	g_assert_cmpuint(cache->object_size, ==, 100);
	g_assert_cmpuint(cache->size, ==, 128);
	cache = kmt_input_tables_cache(f.tables, 65535);
	g_assert_cmpstr(cache->name, ==, "last one");
	g_assert_cmpuint(cache->object_size, ==, G_MAXUINT64);
	g_assert_cmpint(cache->destroyed, ==, G_MAXINT64);
	g_assert_null(kmt_input_tables_cache(f.tables, 0));
	g_assert_null(kmt_input_tables_cache(f.tables, 2));
	g_assert_null(kmt_input_tables_cache(f.tables, 4));
	g_assert_null(kmt_input_tables_cache(f.tables, 65536));
	tear_down(&f);
}

static void expect_task(const TablesFixture *f, guint32 pid, gint64 time,
			const char *name, KmtInputNameConfidence class)
{
	KmtInputNameConfidence found;

	g_assert_cmpstr(
		kmt_input_tables_task_name(f->tables, pid, time, &found), ==,
		name);
	g_assert_cmpint(found, ==, class);
	g_assert_cmpstr(kmt_input_tables_task_name(f->tables, pid, time, NULL),
			==, name);
}

static void test_tasks(void)
{
	TablesFixture f;

	set_up(&f, META, NULL,
	       TASKS "# dropped: 0\n"
		     "7 100 fork\n"
		     "9 150 nine\n"
		     "7 200 exec\n"
		     "7 500 again\n"
		     "4294967295 - last\n"
		     "1 - init\n");
	g_assert_cmpuint(n_warnings(&f), ==, 0);
	g_assert_true(kmt_input_tables_has_tasks(f.tables));
	expect_task(&f, 0, 5, "idle", KMT_INPUT_NAME_CERTAIN);
	expect_task(&f, 1, 0, "init", KMT_INPUT_NAME_CERTAIN);
	expect_task(&f, 1, G_MAXINT64, "init", KMT_INPUT_NAME_CERTAIN);
	expect_task(&f, 7, G_MININT64, "fork", KMT_INPUT_NAME_CERTAIN);
	expect_task(&f, 7, 100, "fork", KMT_INPUT_NAME_CERTAIN);
	expect_task(&f, 7, 101, "exec", KMT_INPUT_NAME_CERTAIN);
	expect_task(&f, 7, 201, "again", KMT_INPUT_NAME_CERTAIN);
	expect_task(&f, 7, 501, "again", KMT_INPUT_NAME_CERTAIN);
	expect_task(&f, 8, 100, NULL, KMT_INPUT_NAME_UNKNOWN);
	expect_task(&f, 9, 151, "nine", KMT_INPUT_NAME_CERTAIN);
	expect_task(&f, G_MAXUINT32, 5, "last", KMT_INPUT_NAME_CERTAIN);
	expect_task(&f, G_MAXUINT32 - 1, 5, NULL, KMT_INPUT_NAME_UNKNOWN);
	tear_down(&f);
}

static void test_dropped(void)
{
	TablesFixture f;

	set_up(&f, META, NULL,
	       TASKS "# dropped: 12\n# exact_after: 300\n# newer: thing\n"
		     "7 400 name\n");
	g_assert_cmpuint(n_warnings(&f), ==, 1);
	g_assert_nonnull(strstr(kmt_input_tables_warnings(f.tables)->pdata[0],
				"12 names"));
	g_assert_true(kmt_input_tables_has_tasks(f.tables));
	expect_task(&f, 7, 300, "name", KMT_INPUT_NAME_UNCERTAIN);
	expect_task(&f, 7, 301, "name", KMT_INPUT_NAME_CERTAIN);
	expect_task(&f, 8, 300, NULL, KMT_INPUT_NAME_UNKNOWN);
	expect_task(&f, 0, 300, "idle", KMT_INPUT_NAME_CERTAIN);
	tear_down(&f);
}

/* Write a capture with a table of cgroups. */
static void set_up_cgroups(TablesFixture *f, const char *meta,
			   const char *cgroups)
{
	set_up(f, meta, NULL, TASKS "7 - name\n");
	fixture_put(f->directory, "cgroups", cgroups, -1);
	kmt_input_tables_free(f->tables);
	f->tables = kmt_input_tables_new(f->capture);
}

static void expect_cgroup(const TablesFixture *f, guint32 pid, gint64 time,
			  const char *path)
{
	KmtInputNameSpan span = {G_MININT64, G_MAXINT64}, same = span;

	g_assert_cmpstr(
		kmt_input_tables_lasting_cgroup(f->tables, pid, time, &span),
		==, path);
	g_assert_cmpint(span.from, <=, time);
	g_assert_cmpint(span.until, >=, time);
	/* The path is the same at both ends of the span. */
	g_assert_cmpstr(kmt_input_tables_lasting_cgroup(f->tables, pid,
							span.from, &same),
			==, path);
	g_assert_cmpstr(kmt_input_tables_lasting_cgroup(f->tables, pid,
							span.until, &same),
			==, path);
}

static void test_cgroups(void)
{
	TablesFixture f;

	set_up_cgroups(&f, META,
		       CGROUPS "# dropped: 0\n"
			       "7 100 /init.scope\n"
			       "9 150 /a\\040b\\012c d\n"
			       "7 200 /system.slice/docker-1234.scope\n"
			       "7 500 /again\n"
			       "4294967295 - /last\n");
	g_assert_cmpuint(n_warnings(&f), ==, 0);
	g_assert_true(kmt_input_tables_has_cgroups(f.tables));
	expect_cgroup(&f, 0, 5, "/");
	expect_cgroup(&f, 7, G_MININT64, "/init.scope");
	expect_cgroup(&f, 7, 100, "/init.scope");
	expect_cgroup(&f, 7, 101, "/system.slice/docker-1234.scope");
	expect_cgroup(&f, 7, 200, "/system.slice/docker-1234.scope");
	expect_cgroup(&f, 7, 501, "/again");
	expect_cgroup(&f, 8, 100, NULL);
	expect_cgroup(&f, 9, 151, "/a b\nc d");
	expect_cgroup(&f, G_MAXUINT32, 5, "/last");
	expect_task(&f, 7, 100, "name", KMT_INPUT_NAME_CERTAIN);
	expect_task(&f, 9, 100, NULL, KMT_INPUT_NAME_UNKNOWN);
	tear_down(&f);
}

/* A path may be longer than a name, but has a limit, too. */
static void test_long_cgroups(void)
{
	g_autofree char *path = g_strnfill(4097, 'x');
	g_autofree char *text = g_strconcat(CGROUPS "7 - ", path + 1, "\n8 - ",
					    path, "\n", NULL);
	TablesFixture f;

	set_up_cgroups(&f, META, text);
	expect_cgroup(&f, 7, 0, path + 1);
	expect_cgroup(&f, 8, 0, NULL);
	g_assert_cmpuint(n_warnings(&f), ==, 1);
	g_assert_false(kmt_input_tables_has_cgroups(f.tables));
	tear_down(&f);
}

/* Missing cgroups and missing names of tasks do not affect each other. */
static void test_dropped_cgroups(void)
{
	TablesFixture f;

	set_up_cgroups(&f, META,
		       CGROUPS "# dropped: 12\n# exact_after: 300\n7 400 /a\n");
	g_assert_cmpuint(n_warnings(&f), ==, 1);
	g_assert_cmpstr(kmt_input_tables_warnings(f.tables)->pdata[0], ==,
			"12 cgroups of tasks are missing");
	g_assert_true(kmt_input_tables_has_cgroups(f.tables));
	g_assert_true(kmt_input_tables_has_all_tasks(f.tables));
	expect_cgroup(&f, 7, 300, "/a");
	expect_task(&f, 7, 300, "name", KMT_INPUT_NAME_CERTAIN);
	tear_down(&f);
}

/* A capture without the table is not damaged, unless its recorder wrote one. */
static void test_no_cgroups(void)
{
	static const char damaged[] =
		"the file cgroups of the capture is missing or damaged";
	static const struct {
		const char *meta, *cgroups, *reason;
	} cases[] = {
		{META, NULL, "the capture has no file cgroups"},
		{META "source=bpf\n", NULL, "the capture has no file cgroups"},
		{META "cgroups=tracked\n", NULL, damaged},
		{META, CGROUPS "7 100\n", damaged},
	};
	guint i;

	for (i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *reason = NULL;
		TablesFixture f;

		set_up_cgroups(&f, cases[i].meta, cases[i].cgroups);
		g_assert_false(kmt_input_tables_has_cgroups(f.tables));
		g_assert_cmpuint(n_warnings(&f), ==, cases[i].cgroups != NULL);
		expect_cgroup(&f, 7, 0, NULL);
		reason = kmt_input_tables_missing_reason(f.capture, "cgroups");
		g_assert_cmpstr(reason, ==, cases[i].reason);
		tear_down(&f);
	}
}

/* The number of each key belongs to one kind of table. */
static void test_keys_of_other_tables(void)
{
	static const char keys[] = "# unnumbered: 5\n# dropped: 6\n"
				   "# exact_after: 7\n# lost: 8\n";
	g_autofree char *caches = g_strconcat(CACHES, keys, NULL);
	const GPtrArray *warnings;
	TablesFixture f;

	set_up(&f, META, caches, TASKS "1 - init\n");
	fixture_put(f.directory, "marks", keys, -1);
	kmt_input_tables_free(f.tables);
	f.tables = kmt_input_tables_new(f.capture);
	g_assert_true(kmt_input_tables_has_all_tasks(f.tables));
	expect_task(&f, 1, 0, "init", KMT_INPUT_NAME_CERTAIN);
	warnings = kmt_input_tables_warnings(f.tables);
	g_assert_cmpuint(warnings->len, ==, 2);
	g_assert_true(g_str_has_prefix(warnings->pdata[0], "5 caches "));
	g_assert_true(g_str_has_prefix(warnings->pdata[1], "5 annotations "));
	tear_down(&f);
}

/*
 * A newer version may add columns before the name; the name remains the last
 * column.
 */
static void test_newer_columns(void)
{
	TablesFixture f;

	set_up(&f, META, NULL,
	       "# kmemtrace: tasks\n# columns: pid until tgid cpu name\n"
	       "7 400 3 4 a name\n8 400 3\n");
	expect_task(&f, 7, 300, "a name", KMT_INPUT_NAME_CERTAIN);
	expect_task(&f, 8, 300, NULL, KMT_INPUT_NAME_UNKNOWN);
	g_assert_cmpuint(n_warnings(&f), ==, 1);
	tear_down(&f);
}

static void test_bad_lines(void)
{
	static const char *const lines[] = {
		"\n",
		"1\n",
		"1 2 3 4\n",
		"1 2 3 4 5\n",
		" 1 2 3 4 5 name\n",
		"1  2 3 4 5 name\n",
		"0 2 3 4 5 zero\n",
		"65536 2 3 4 5 large\n",
		"-1 2 3 4 5 minus\n",
		"+1 2 3 4 5 plus\n",
		"1 2 3 9223372036854775808 5 late\n",
		"1 18446744073709551616 3 4 5 large\n",
		"1 2 3 4 5 cut off",
		"1 2 3 4 5 bad\\\n",
		"1 2 3 4 5 bad\\1\n",
		"1 2 3 4 5 bad\\08\n",
		"1 2 3 4 5 bad\\000\n",
		"1 2 3 4 5 bad\\777\n",
		"#\n",
		"# kmemtrace: tasks\n",
		"# columns: number\n",
		"# unnumbered: -1\n",
	};
	guint i;

	for (i = 0; i < G_N_ELEMENTS(lines); i++) {
		g_autofree char *text =
			g_strconcat(CACHES "2 1 1 0 - good\n", lines[i], NULL);
		TablesFixture f;

		set_up(&f, META, text, NULL);
		g_assert_false(kmt_input_tables_has_caches(f.tables));
		g_assert_cmpuint(n_warnings(&f), ==, 1);
		g_assert_cmpuint(n_caches(&f), ==, 1);
		g_assert_cmpstr(kmt_input_tables_cache(f.tables, 2)->name, ==,
				"good");
		tear_down(&f);
	}
}

/* The valid stack is found, and contains no address of an invalid line. */
static void test_bad_stacks(void)
{
	static const struct {
		const char *columns, *good, *bad;
	} texts[] = {
		{"number", "2 ff", "0 11\n"},
		{"number", "2 ff", "4294967296 11\n"},
		{"number", "2 ff", "x 11\n"},
		{"number", "2 ff", "3 11,xy\n"},
		{"number", "2 ff", "3 11,,12\n"},
		{"number", "2 ff", "3 11,\n"},
		{"number newer", "2 new ff", "3 11\n"},
	};
	guint i, n;

	for (i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autofree char *text = g_strdup_printf(
			"# kmemtrace: stacks\n# columns: %s addresses\n"
			"# dropped: 0\n%s%s\n",
			texts[i].columns, texts[i].bad, texts[i].good);
		const guint64 *addresses;
		TablesFixture f;

		set_up(&f, META_STACKS, NULL, NULL);
		kmt_input_tables_free(f.tables);
		fixture_put(f.directory, "stacks", text, -1);
		f.tables = kmt_input_tables_new(f.capture);
		g_assert_false(kmt_input_tables_has_stacks(f.tables));
		g_assert_cmpuint(n_warnings(&f), ==, 1);
		addresses = kmt_input_tables_stack(f.tables, 2, &n);
		g_assert_cmpuint(n, ==, 1);
		g_assert_cmphex(addresses[0], ==, 0xff);
		g_assert_null(kmt_input_tables_stack(f.tables, 3, &n));
		tear_down(&f);
	}
}

/*
 * A NUL byte in a line does not end the line; the line is invalid, and the next
 * line is read.
 */
static void test_nul(void)
{
	const char text[] = CACHES "1 2 3 4 5 na\0me\n2 2 3 4 5 good\n";
	KmtInputTables *tables;
	TablesFixture f;

	set_up(&f, META, "", NULL);
	fixture_put(f.directory, "caches", text, sizeof(text) - 1);
	tables = kmt_input_tables_new(f.capture);
	g_assert_null(kmt_input_tables_cache(tables, 1));
	g_assert_nonnull(kmt_input_tables_cache(tables, 2));
	kmt_input_tables_free(tables);
	tear_down(&f);
}

static void test_same_number(void)
{
	TablesFixture f;

	set_up(&f, META, CACHES "1 2 3 4 5 first\n1 2 3 4 5 second\n", NULL);
	g_assert_cmpuint(n_warnings(&f), ==, 1);
	g_assert_false(kmt_input_tables_has_caches(f.tables));
	g_assert_cmpuint(n_caches(&f), ==, 1);
	tear_down(&f);
}

/*
 * A capture of version 1, without a version, or with the records of version 1
 * has no owners: the tables beside its cpu files are ignored.
 */
static void test_other_versions(void)
{
	static const char *const metas[] = {
		NULL,
		"[capture]\nabi_version=1\nrecord_size=64\nbyte_order=little\n",
		"[capture]\nabi_version=2\nrecord_size=56\nbyte_order=little\n",
		"[capture]\nrecord_size=64\nbyte_order=little\n",
	};
	guint i;

	for (i = 0; i < G_N_ELEMENTS(metas); i++) {
		TablesFixture f;

		set_up(&f, metas[i], CACHES "1 2 3 4 5 one\n", TASKS);
		g_assert_false(kmt_input_capture_has_owners(f.capture));
		g_assert_false(kmt_input_tables_has_caches(f.tables));
		g_assert_null(kmt_input_tables_cache(f.tables, 1));
		g_assert_cmpuint(n_warnings(&f), ==, 0);
		tear_down(&f);
	}
}

static void test_owner(void)
{
	struct kmemtrace_event_v2 event = {
		.pid = 0x01020304, .cache = 0x0506, .flags = 0x0708};
	KmtInputRecordOwner owner;

	kmt_input_record_owner((const guint8 *)&event, FALSE, &owner);
	g_assert_cmpuint(owner.pid, ==, 0x01020304);
	g_assert_cmpuint(owner.cache, ==, 0x0506);
	g_assert_cmpuint(owner.flags, ==, 0x0708);
	kmt_input_record_owner((const guint8 *)&event, TRUE, &owner);
	g_assert_cmpuint(owner.pid, ==, 0x04030201);
	g_assert_cmpuint(owner.cache, ==, 0x0605);
	g_assert_cmpuint(owner.flags, ==, 0x0807);
}

static void test_lost(void)
{
	const struct kmemtrace_event_lost lost = {
		.event_id = KMEMTRACE_EVENT_LOST, .events = 5, .since = -6};
	struct kmemtrace_event event;

	memcpy(&event, &lost, sizeof(event));
	g_assert_true(kmt_input_is_loss(&event, 64));
	g_assert_false(kmt_input_is_loss(&event, 56));
	g_assert_cmpuint(kmt_input_loss_events(&event), ==, 5);
	g_assert_cmpint(kmt_input_loss_since(&event), ==, -6);
	event.event_id = KMEMTRACE_EVENT_FREE;
	g_assert_false(kmt_input_is_loss(&event, 64));
}

static void test_newer_version(void)
{
	const char *operands[] = {NULL, NULL};
	g_autoptr(GError) error = NULL;
	KmtInputCapture *capture;
	TablesFixture f;

	set_up(&f, META, NULL, NULL);
	fixture_put(f.directory, "kmemtrace.meta",
		    "[capture]\nabi_version=4\nkernel_release=9.9\n", -1);
	operands[0] = f.directory;
	capture = kmt_input_capture_open(operands, NULL, &error);
	g_assert_null(capture);
	g_assert_nonnull(strstr(error->message, "version 4, by Linux 9.9"));
	g_assert_nonnull(strstr(error->message, "versions up to 3"));
	tear_down(&f);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/tables/caches", test_caches);
	g_test_add_func("/tables/tasks", test_tasks);
	g_test_add_func("/tables/dropped", test_dropped);
	g_test_add_func("/tables/cgroups", test_cgroups);
	g_test_add_func("/tables/long-cgroups", test_long_cgroups);
	g_test_add_func("/tables/dropped-cgroups", test_dropped_cgroups);
	g_test_add_func("/tables/no-cgroups", test_no_cgroups);
	g_test_add_func("/tables/keys-of-other-tables",
			test_keys_of_other_tables);
	g_test_add_func("/tables/newer-columns", test_newer_columns);
	g_test_add_func("/tables/bad-lines", test_bad_lines);
	g_test_add_func("/tables/bad-stacks", test_bad_stacks);
	g_test_add_func("/tables/nul", test_nul);
	g_test_add_func("/tables/same-number", test_same_number);
	g_test_add_func("/tables/other-versions", test_other_versions);
	g_test_add_func("/tables/owner", test_owner);
	g_test_add_func("/tables/lost", test_lost);
	g_test_add_func("/tables/newer-version", test_newer_version);
	return g_test_run();
}
