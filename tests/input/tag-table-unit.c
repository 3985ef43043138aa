// SPDX-License-Identifier: GPL-2.0-or-later
/* Call sites of valid and invalid tables of tags (lib/input/tag-table.c). */
#include "config.h"

#include <string.h>

#include "lib/input/tag-table.h"
#include "tests/input/capture-fixture.h"

#define META "[capture]\nabi_version=3\nrecord_size=64\nbyte_order=little\n"
#define HEAD                                                                   \
	"# kmemtrace: tags\n"                                                  \
	"# columns: address went module line function file\n"                  \
	"# dropped: 0\n"

typedef struct {
	char *directory;
	KmtInputCapture *capture;
	KmtInputTagTable *table;
	const KmtInputTag *tags;
	guint n;
	guint n_warnings;
} TagsFixture;

/* Write a capture with the table, and read the table. NULL omits the file. */
static void set_up(TagsFixture *f, const char *meta, const char *table)
{
	f->directory = fixture_new();
	fixture_put(f->directory, "kmemtrace.meta", meta, -1);
	fixture_put(f->directory, "tags", table, -1);
	f->capture = fixture_open(f->directory);
	f->table = kmt_input_tag_table_new(f->capture);
	f->tags = kmt_input_tag_table_get(f->table, &f->n);
	f->n_warnings = kmt_input_tag_table_warnings(f->table)->len;
}

static void tear_down(TagsFixture *f)
{
	kmt_input_tag_table_free(f->table);
	kmt_input_capture_free(f->capture);
	fixture_remove(f->directory);
}

static void expect(const TagsFixture *f, guint i, guint64 address, guint line,
		   const char *module, const char *function, const char *file)
{
	g_assert_cmpuint(i, <, f->n);
	g_assert_cmphex(f->tags[i].address, ==, address);
	g_assert_cmpuint(f->tags[i].line, ==, line);
	g_assert_cmpstr(f->tags[i].module, ==, module);
	g_assert_cmpstr(f->tags[i].function, ==, function);
	g_assert_cmpstr(f->tags[i].file, ==, file);
}

/* Check that one call site was read, with one warning that contains @text. */
static void expect_warning(const TagsFixture *f, const char *text)
{
	g_assert_cmpuint(f->n_warnings, ==, 1);
	g_assert_nonnull(
		strstr(kmt_input_tag_table_warnings(f->table)->pdata[0], text));
	g_assert_cmpuint(f->n, ==, 1);
}

static void test_sorted(void)
{
	TagsFixture f;

	set_up(&f, META,
	       HEAD "ffffffffffffffff - - 4294967295 last mm/last.c\n"
		    "c0de1234 77 card 12 card_open a\\040b\\134\\377.c\n"
		    "1 - - 1 f.cold$1 ../x y.c\n");
	g_assert_cmpuint(f.n_warnings, ==, 0);
	g_assert_cmpuint(f.n, ==, 3);
	expect(&f, 0, 1, 1, "", "f.cold$1", "../x y.c");
	expect(&f, 1, 0xc0de1234, 12, "card", "card_open", "a b\\\377.c");
	g_assert_cmpint(f.tags[1].went, ==, 77);
	expect(&f, 2, G_MAXUINT64, G_MAXUINT, "", "last", "mm/last.c");
	g_assert_cmpint(f.tags[2].went, ==, G_MAXINT64);
	tear_down(&f);
}

/* An address has a call site for each module that was there. */
static void test_replaced_module(void)
{
	TagsFixture f;

	set_up(&f, META,
	       HEAD "10 5 one 1 first a.c\n10 - two 2 second b.c\n"
		    "10 7 three 3 third c.c\n20 9 four 4 late d.c\n"
		    "20 8 five 5 early e.c\n");
	g_assert_cmpuint(f.n_warnings, ==, 0);
	g_assert_cmpuint(f.n, ==, 5);
	expect(&f, 0, 0x10, 1, "one", "first", "a.c");
	expect(&f, 1, 0x10, 3, "three", "third", "c.c");
	g_assert_cmpint(f.tags[1].went, ==, 7);
	expect(&f, 2, 0x10, 2, "two", "second", "b.c");
	expect(&f, 3, 0x20, 5, "five", "early", "e.c");
	expect(&f, 4, 0x20, 4, "four", "late", "d.c");
	tear_down(&f);
}

static void test_duplicates(void)
{
	TagsFixture f;

	/* Equal lines are possible while the kernel changes the table. */
	set_up(&f, META, HEAD "10 - - 1 f a.c\n10 - - 1 f a.c\n");
	g_assert_cmpuint(f.n_warnings, ==, 0);
	g_assert_cmpuint(f.n, ==, 1);
	tear_down(&f);
	set_up(&f, META,
	       HEAD "10 - - 1 f a.c\n10 - - 2 f a.c\n10 - - 3 f a.c\n");
	expect_warning(&f, " 1 address has ");
	tear_down(&f);
	/* An address counts once, even if this happens at several times. */
	set_up(&f, META,
	       HEAD "10 4 - 1 f a.c\n10 4 - 2 f a.c\n"
		    "10 5 - 1 f a.c\n10 5 - 2 f a.c\n");
	g_assert_cmpuint(f.n_warnings, ==, 1);
	g_assert_cmpuint(f.n, ==, 2);
	expect(&f, 0, 0x10, 1, "", "f", "a.c");
	expect(&f, 1, 0x10, 1, "", "f", "a.c");
	tear_down(&f);
}

/* A name of more than 1024 bytes is invalid, because it would fill a report. */
static void test_long_names(void)
{
	g_autofree char *longest = g_strnfill(1024, 'f');
	g_autofree char *module =
		g_strdup_printf(HEAD "10 - %sf 1 f a.c\n", longest);
	g_autofree char *function =
		g_strdup_printf(HEAD "10 - - 1 %sf a.c\n", longest);
	g_autofree char *valid =
		g_strdup_printf(HEAD "10 - %s 1 %s a.c\n", longest, longest);
	TagsFixture f;

	set_up(&f, META, module);
	g_assert_cmpuint(f.n_warnings, ==, 1);
	g_assert_cmpuint(f.n, ==, 0);
	tear_down(&f);
	set_up(&f, META, function);
	g_assert_cmpuint(f.n_warnings, ==, 1);
	g_assert_cmpuint(f.n, ==, 0);
	tear_down(&f);
	set_up(&f, META, valid);
	g_assert_cmpuint(f.n_warnings, ==, 0);
	g_assert_cmpuint(f.n, ==, 1);
	tear_down(&f);
}

static void test_dropped(void)
{
	TagsFixture f;

	set_up(&f, META, "# kmemtrace: tags\n# dropped: 8\n10 - - 1 f a.c\n");
	expect_warning(&f, " 8 allocations ");
	tear_down(&f);
}

static void test_newer_columns(void)
{
	TagsFixture f;

	set_up(&f, META,
	       "# columns: address went module line function color file\n"
	       "10 - - 1 f red a.c\n11 - - 1 f a.c\n");
	g_assert_cmpuint(f.n_warnings, ==, 1);
	g_assert_cmpuint(f.n, ==, 1);
	expect(&f, 0, 0x10, 1, "", "f", "a.c");
	tear_down(&f);
}

static void test_bad_lines(void)
{
	static const char *const lines[] = {
		"\n",
		"0 - - 1 f a.c\n",
		"0x10 - - 1 f a.c\n",
		"10000000000000000 - - 1 f a.c\n",
		"xyz - - 1 f a.c\n",
		"-1 - - 1 f a.c\n",
		"10 x - 1 f a.c\n",
		"10 -5 - 1 f a.c\n",
		"10 9223372036854775808 - 1 f a.c\n",
		"10 - - 0 f a.c\n",
		"10 - - 4294967296 f a.c\n",
		"10 - - one f a.c\n",
		"10 - - 1 f()  a.c\n",
		"10 - - 1 \033[31m a.c\n",
		"10 - - 1 f \n",
		"10 - - 1 f\n",
		"10 -  1 f a.c\n",
		"10 - - 1 f a\\9.c\n",
		"10 - - 1 f cut off",
	};
	guint i;

	for (i = 0; i < G_N_ELEMENTS(lines); i++) {
		g_autofree char *text =
			g_strconcat(HEAD "20 - - 3 good b.c\n", lines[i], NULL);
		TagsFixture f;

		set_up(&f, META, text);
		g_test_message("line %u", i);
		g_assert_cmpuint(f.n_warnings, ==, 1);
		g_assert_cmpuint(f.n, ==, 1);
		expect(&f, 0, 0x20, 3, "", "good", "b.c");
		tear_down(&f);
	}
}

/* A file name of more than 1024 bytes is invalid: it would fill a report. */
static void test_long_file(void)
{
	g_autofree char *name = g_strnfill(1024, 'x');
	g_autofree char *text = g_strdup_printf(
		HEAD "10 - - 1 f %s\n11 - - 1 f %sx\n", name, name);
	TagsFixture f;

	set_up(&f, META, text);
	g_assert_cmpuint(f.n_warnings, ==, 1);
	g_assert_cmpuint(f.n, ==, 1);
	expect(&f, 0, 0x10, 1, "", "f", name);
	tear_down(&f);
}

static void test_missing(void)
{
	TagsFixture f;

	set_up(&f, META, NULL);
	g_assert_cmpuint(f.n_warnings, ==, 0);
	g_assert_cmpuint(f.n, ==, 0);
	tear_down(&f);
	/* A capture of version 1 has no tables. */
	set_up(&f,
	       "[capture]\nabi_version=1\nrecord_size=56\n"
	       "byte_order=little\n",
	       HEAD "10 - - 1 f a.c\n");
	g_assert_cmpuint(f.n, ==, 0);
	tear_down(&f);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/tags/sorted", test_sorted);
	g_test_add_func("/tags/replaced-module", test_replaced_module);
	g_test_add_func("/tags/duplicates", test_duplicates);
	g_test_add_func("/tags/long-names", test_long_names);
	g_test_add_func("/tags/dropped", test_dropped);
	g_test_add_func("/tags/newer-columns", test_newer_columns);
	g_test_add_func("/tags/bad-lines", test_bad_lines);
	g_test_add_func("/tags/long-file", test_long_file);
	g_test_add_func("/tags/missing", test_missing);
	return g_test_run();
}
