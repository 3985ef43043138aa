// SPDX-License-Identifier: GPL-2.0-or-later
/* lib/symbols/kallsyms.c: symbol tables with valid and invalid lines. */
#include "config.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/symbols/kallsyms.h"

static char *write_temporary(const char *text, gsize size)
{
	char *path;
	int fd = g_file_open_tmp("symbols-XXXXXX", &path, NULL);

	g_assert_cmpint(fd, >=, 0);
	g_assert_cmpint(write(fd, text, size), ==, size);
	close(fd);
	return path;
}

static KmtSymTable *load_bytes(const char *text, gsize size,
			       const char *modules, GError **error)
{
	g_autofree char *path = write_temporary(text, size);
	g_autofree char *modules_path =
		modules ? write_temporary(modules, strlen(modules)) : NULL;
	KmtSymTable *symbols = kmt_sym_table_load(path, modules_path, error);

	unlink(path);
	if (modules_path)
		unlink(modules_path);
	return symbols;
}

static KmtSymTable *load(const char *text)
{
	g_autoptr(GError) error = NULL;
	KmtSymTable *symbols = load_bytes(text, strlen(text), NULL, &error);

	g_assert_no_error(error);
	return symbols;
}

static void assert_refused(const char *text, gsize size, int code)
{
	g_autoptr(GError) error = NULL;

	g_assert_null(load_bytes(text, size, NULL, &error));
	g_assert_error(error, KMT_SYM_TABLE_ERROR, code);
}

/*
 * Expect "name+0x1f [module]" as the name of an address; NULL: the address has
 * no name.
 */
static void assert_name(const KmtSymTable *symbols, guint64 address,
			const char *wanted)
{
	g_autofree char *got = NULL;
	KmtSymbol symbol;

	if (kmt_sym_table_lookup(symbols, address, &symbol))
		got = g_strdup_printf("%s+0x%" G_GINT64_MODIFIER "x%s%s%s",
				      symbol.name, symbol.offset,
				      symbol.module ? " [" : "",
				      symbol.module ? symbol.module : "",
				      symbol.module ? "]" : "");
	g_assert_cmpstr(got, ==, wanted);
}

#define AT(low) (G_GUINT64_CONSTANT(0xffffffff00000000) + 0x##low)

static void test_nothing(void)
{
	static const char nuls[8192];

	assert_refused("", 0, KMT_SYM_TABLE_ERROR_FORMAT);
	assert_refused("\n\n\n", 3, KMT_SYM_TABLE_ERROR_FORMAT);
	assert_refused(nuls, sizeof(nuls), KMT_SYM_TABLE_ERROR_FORMAT);
	assert_refused("ffffffff81000000", 16, KMT_SYM_TABLE_ERROR_FORMAT);
	assert_refused("ffffffff81000000 T", 18, KMT_SYM_TABLE_ERROR_FORMAT);
	assert_refused("ffffffff81000000 T ", 19, KMT_SYM_TABLE_ERROR_FORMAT);
	assert_refused("0 T a\n0 t b\n", 12, KMT_SYM_TABLE_ERROR_HIDDEN);
	assert_refused("0000000000000000 A x", 20, KMT_SYM_TABLE_ERROR_HIDDEN);
}

static void test_no_such_file(void)
{
	g_autoptr(GError) error = NULL;

	g_assert_null(kmt_sym_table_load("/nowhere/kallsyms", NULL, &error));
	g_assert_error(error, KMT_SYM_TABLE_ERROR, KMT_SYM_TABLE_ERROR_READ);
	g_assert_nonnull(strstr(error->message, "/nowhere/kallsyms"));
	g_clear_error(&error);
	g_assert_null(kmt_sym_table_load("/", NULL, &error));
	g_assert_error(error, KMT_SYM_TABLE_ERROR, KMT_SYM_TABLE_ERROR_READ);
}

/*
 * Files of each size around a page, without a final newline: the parser reads
 * no byte after the end of the file.
 */
static void test_no_newline_at_the_end(void)
{
	gsize page = (gsize)sysconf(_SC_PAGESIZE), size;

	for (size = page - 2; size <= page + 2; size++) {
		static const char line[] = "ffffffff81000100 T last";
		g_autofree char *text = g_strnfill(size, '\n');
		g_autoptr(KmtSymTable) symbols = NULL;

		memcpy(text, "ffffffff81000000 T f", 20);
		memcpy(text + size - strlen(line), line, strlen(line));
		symbols = load_bytes(text, size, NULL, NULL);
		g_assert_nonnull(symbols);
		g_assert_cmpuint(kmt_sym_table_count(symbols), ==, 2);
		assert_name(symbols, AT(81000010), "f+0x10");
		assert_name(symbols, AT(81000110), "last+0x10");
		assert_name(symbols, AT(81000110), "last+0x10");
	}
	{
		static const char module[] = "ffffffff81000100 T f\t[m]";
		g_autoptr(KmtSymTable) symbols = load(module);

		assert_name(symbols, AT(81000110), "f+0x10 [m]");
	}
}

static void test_nul_ends_a_line(void)
{
	static const char text[] = "ffffffff81000000 T a\0"
				   "ffffffff81000100 T b\t[m]\0\0"
				   "ffffffff810\0"
				   "ffffffff81000200 T c";
	g_autoptr(KmtSymTable) symbols =
		load_bytes(text, sizeof(text) - 1, NULL, NULL);

	assert_name(symbols, AT(81000001), "a+0x1");
	assert_name(symbols, AT(81000101), "b+0x1 [m]");
	assert_name(symbols, AT(81000201), "c+0x1");
	g_assert_cmpuint(kmt_sym_table_count(symbols), ==, 3);
}

/*
 * A name of the largest valid length, a name longer by one, and a line of a
 * megabyte.
 */
static void test_huge_lines(void)
{
	g_autofree char *longest = g_strnfill(1024, 'x');
	g_autofree char *huge = g_strnfill(1 << 20, 'f');
	g_autofree char *wanted = g_strconcat(longest, "+0x1", NULL);
	g_autofree char *text = g_strconcat(
		huge, "\nffffffff81000000 T ", longest, "\nffffffff81000100 T ",
		longest, "y\nffffffff81000200 T ", huge,
		"\nffffffff81000300 T z\t[", huge, "]\nffffffff81000400 ", huge,
		" z\nffffffff81000500 T end ", huge, huge, "\n", NULL);
	g_autoptr(KmtSymTable) symbols = load(text);

	g_assert_cmpuint(kmt_sym_table_count(symbols), ==, 1);
	assert_name(symbols, AT(81000001), wanted);
}

static void test_extremes(void)
{
	g_autoptr(KmtSymTable) symbols =
		load("ffffffffffffffff T last\n"
		     "00000000000000001 T first\n"
		     "7fffffffffffffff t middle\n"
		     "8000000000000000 t upper\n"
		     "10000000000000000 T too_large\n"
		     "1ffffffff81000700 T too_large\n"
		     "0x1000 T prefixed\n"
		     "-1 T negative\n"
		     "  ABCDEF  T  upper_case  \r\n"
		     "abcdef0g T not_hex\n"
		     "`00000000 T before_a\n"
		     "/00000000 T before_0\n"
		     ":00000000 T after_9\n"
		     "g00000000 T after_f\n"
		     "000000000000000o T low_nibble\n");

	g_assert_cmpuint(kmt_sym_table_count(symbols), ==, 5);
	assert_name(symbols, 0, NULL);
	assert_name(symbols, 1, "first+0x0");
	/* An address is a return address, so the byte before it selects the
	 * function. The byte before 0xabcdef is too far behind the symbol
	 * "first" to belong to "first"; the byte before 0x8000000000000000
	 * belongs to "middle". */
	assert_name(symbols, 0xabcdef, "upper_case+0x0");
	assert_name(symbols, 0xabcdf0, "upper_case+0x1");
	assert_name(symbols, G_GUINT64_CONSTANT(0x8000000000000000),
		    "middle+0x1");
	assert_name(symbols, G_GUINT64_CONSTANT(0x8000000000000001),
		    "upper+0x1");
	/* The symbol at the largest address covers only that address. */
	assert_name(symbols, G_MAXUINT64, "last+0x0");
}

/*
 * Each digit but 0 at each of the sixteen positions, in two forms: sixteen
 * lower-case digits, which the parser converts at once; and upper case without
 * leading zeros. The parser converts the second form digit by digit, except
 * sixteen digits without a letter.
 */
static void test_digits(void)
{
	guint place, digit, i;

	for (place = 0; place < 16; place++) {
		g_autoptr(GString) text = g_string_new(NULL);
		g_autoptr(KmtSymTable) symbols = NULL;

		for (digit = 1; digit < 16; digit++) {
			guint64 address = (guint64)digit << (4 * place);

			g_string_append_printf(
				text, "%016" G_GINT64_MODIFIER "x T a\n",
				address);
			g_string_append_printf(
				text, "%" G_GINT64_MODIFIER "X T b\n", address);
		}
		symbols = load(text->str);
		g_assert_cmpuint(kmt_sym_table_count(symbols), ==, 15);
		for (i = 0; i < 15; i++) {
			KmtSymEntry entry;

			kmt_sym_table_get(symbols, i, &entry);
			g_assert_cmphex(entry.address, ==,
					(guint64)(i + 1) << (4 * place));
			g_assert_cmpstr(entry.name, ==, "a");
		}
	}
}

/* Mapping symbols and local labels are skipped in every form of a line. */
static void test_mapping_symbols(void)
{
	g_autoptr(KmtSymTable) symbols =
		load("ffffffff00000100 t $x\t[mod]\n"
		     "ffffffff00000100 t alloc\t[mod]\n"
		     "ffffffff00000140 t $d.7\t[mod]\n"
		     "ffffffff00000150 t .LC0\t[mod]\n"
		     "ffffffff00000160 t L0^A\t[mod]\n"
		     "ffffffff00000200 T start\n"
		     "ffffffff00000210 t $a\n"
		     "ffffffff00000220 T Last\n");

	assert_name(symbols, AT(120), "alloc+0x20 [mod]");
	assert_name(symbols, AT(170), "alloc+0x70 [mod]");
	assert_name(symbols, AT(218), "start+0x18");
	assert_name(symbols, AT(221), "Last+0x1");
}

/*
 * A byte that is no hexadecimal digit makes the address invalid at each
 * position.
 */
static void test_no_digits(void)
{
	char line[] = "ffffffff81000000 T name\n";
	guint c, place;

	for (c = 1; c < 256; c++) {
		if (g_ascii_isxdigit((char)c) || strchr(" \t\r\n", (int)c))
			continue;
		for (place = 0; place < 16; place++) {
			char saved = line[place];

			line[place] = (char)c;
			/* The parser rejects the file, because no line is
			 * valid. */
			assert_refused(line, strlen(line),
				       KMT_SYM_TABLE_ERROR_FORMAT);
			line[place] = saved;
		}
	}
}

static void test_unsorted(void)
{
	const guint n = 5000;
	g_autoptr(GString) text = g_string_new("ffffffff80000000 T start\n");
	g_autoptr(KmtSymTable) symbols = NULL;
	guint64 last = 0;
	guint i;

	/* Two symbols for each address, in descending order, since i * 4999 is
	 * -i modulo 5000. */
	for (i = 0; i < 2 * n; i++)
		g_string_append_printf(
			text, "%" G_GINT64_MODIFIER "x t f%u_%u\t[m%u]\n",
			AT(80001000) + (guint64)(i * 4999 % n) * 0x10000,
			i * 4999 % n, i / n, i % 7);
	/* An address below all others comes last in the file. */
	g_string_append(text, "1000 t low\n");
	symbols = load(text->str);
	g_assert_cmpuint(kmt_sym_table_count(symbols), ==, n + 2);
	for (i = 0; i < n + 2; i++) {
		KmtSymEntry entry;

		kmt_sym_table_get(symbols, i, &entry);
		g_assert_cmphex(entry.address, >, last);
		last = entry.address;
	}
	for (i = 0; i < n; i++) {
		g_autofree char *wanted = g_strdup_printf("f%u_0", i);
		KmtSymbol symbol;

		g_assert_true(kmt_sym_table_lookup(
			symbols, AT(80001008) + (guint64)i * 0x10000, &symbol));
		g_assert_cmpstr(symbol.name, ==, wanted);
		g_assert_cmphex(symbol.offset, ==, 8);
	}
}

static void test_too_many_modules(void)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(KmtSymTable) symbols = NULL;
	guint i;

	for (i = 0; i < 70000; i++)
		g_string_append_printf(text, "%x t f\t[m%u]\n", 0x1000 + i * 16,
				       i);
	symbols = load(text->str);
	g_assert_cmpuint(kmt_sym_table_count(symbols), ==, G_MAXUINT16);
	assert_name(symbols, 0x1000 + 65534 * 16 + 1, "f+0x1 [m65534]");
}

static void count_entry(const KmtSymEntry *entry, gpointer user)
{
	g_assert_cmpstr(entry->module, ==, "a");
	(*(guint *)user)++;
}

static void test_modules(void)
{
	g_autoptr(KmtSymTable) symbols =
		load_bytes("ffffffffc0000000 t f\t[a]\nffffffffc0001000 t g\t"
			   "[b]\nffffffffc0000100 d h\t[a]\n",
			   75, "a 8192 0 - Live 0xffffffffc0000000\n", NULL);
	guint n = 0;

	g_assert_nonnull(symbols);
	kmt_sym_table_foreach_of_module(symbols, "a", count_entry, &n);
	g_assert_cmpuint(n, ==, 2);
	kmt_sym_table_foreach_of_module(symbols, "c", count_entry, &n);
	g_assert_cmpuint(n, ==, 2);
	g_assert_cmphex(kmt_sym_table_module_start(symbols, "a"), ==,
			AT(c0000000));
	g_assert_cmphex(kmt_sym_table_module_start(symbols, "b"), ==, 0);
	g_assert_cmphex(kmt_sym_table_module_start(symbols, "c"), ==, 0);
}

static gpointer ask_all(gpointer user)
{
	const KmtSymTable *symbols = user;
	guint i;

	for (i = 0; i < 1000; i++) {
		g_autofree char *wanted =
			g_strdup_printf("function_%u+0x8 [mod]", i);

		assert_name(symbols, 0x100008 + i * 0x100, wanted);
	}
	return NULL;
}

static void test_threads(void)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(KmtSymTable) symbols = NULL;
	GThread *threads[4];
	guint i;

	for (i = 0; i < 1000; i++)
		g_string_append_printf(text, "%x t function_%u\t[mod]\n",
				       0x100000 + i * 0x100, i);
	symbols = load(text->str);
	for (i = 0; i < G_N_ELEMENTS(threads); i++)
		threads[i] = g_thread_new("ask", ask_all, symbols);
	for (i = 0; i < G_N_ELEMENTS(threads); i++)
		g_thread_join(threads[i]);
}

/* A pipe, such as the output of zcat, can be read. */
static void test_pipe(void)
{
	g_autofree char *path = NULL;
	g_autoptr(KmtSymTable) symbols = NULL;
	static const char text[] = "ffffffff81000000 T f\n";
	int ends[2];

	g_assert_cmpint(pipe(ends), ==, 0);
	g_assert_cmpint(write(ends[1], text, strlen(text)), ==, strlen(text));
	close(ends[1]);
	path = g_strdup_printf("/dev/fd/%d", ends[0]);
	symbols = kmt_sym_table_load(path, NULL, NULL);
	close(ends[0]);
	g_assert_nonnull(symbols);
	assert_name(symbols, AT(81000001), "f+0x1");
}

/* Random damage to a valid file causes neither a crash nor an endless loop. */
static void test_damage(void)
{
	g_autoptr(GString) good = g_string_new(NULL);
	const char *given = g_getenv("KMT_SEED");
	guint32 seed = given ? (guint32)g_ascii_strtoull(given, NULL, 10) : 1;
	GRand *random = g_rand_new_with_seed(seed);
	guint i, j;

	g_test_message("seed %u; KMT_SEED=N takes N", seed);
	for (i = 0; i < 200; i++)
		g_string_append_printf(good, "ffffffff81%06x %c f%u%s\n",
				       i * 64, "tTdwA"[i % 5], i,
				       i > 100 ? "\t[module]" : "");
	for (i = 0; i < 500; i++) {
		g_autofree char *text = g_memdup2(good->str, good->len);
		g_autoptr(KmtSymTable) symbols = NULL;
		KmtSymbol symbol;

		for (j = 0; j < 50; j++)
			text[g_rand_int_range(random, 0, (gint)good->len)] =
				(char)g_rand_int_range(random, 0, 256);
		symbols = load_bytes(text, good->len, NULL, NULL);
		for (j = 0; symbols && j < 250; j++)
			kmt_sym_table_lookup(symbols, AT(81000000) + j * 60,
					     &symbol);
	}
	g_rand_free(random);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/kallsyms/nothing", test_nothing);
	g_test_add_func("/kallsyms/no-such-file", test_no_such_file);
	g_test_add_func("/kallsyms/no-newline-at-the-end",
			test_no_newline_at_the_end);
	g_test_add_func("/kallsyms/nul-ends-a-line", test_nul_ends_a_line);
	g_test_add_func("/kallsyms/huge-lines", test_huge_lines);
	g_test_add_func("/kallsyms/extremes", test_extremes);
	g_test_add_func("/kallsyms/digits", test_digits);
	g_test_add_func("/kallsyms/mapping-symbols", test_mapping_symbols);
	g_test_add_func("/kallsyms/no-digits", test_no_digits);
	g_test_add_func("/kallsyms/unsorted", test_unsorted);
	g_test_add_func("/kallsyms/too-many-modules", test_too_many_modules);
	g_test_add_func("/kallsyms/modules", test_modules);
	g_test_add_func("/kallsyms/threads", test_threads);
	g_test_add_func("/kallsyms/pipe", test_pipe);
	g_test_add_func("/kallsyms/damage", test_damage);
	return g_test_run();
}
