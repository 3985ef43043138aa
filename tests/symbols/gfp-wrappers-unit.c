// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of gfp flags, and lists of functions that allocate for their callers.
 */
#include "config.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/symbols/gfp-flags.h"
#include "lib/symbols/wrapper-functions.h"

static char *write_temporary(const char *text)
{
	char *path;
	int fd = g_file_open_tmp("symbols-XXXXXX", &path, NULL);

	g_assert_cmpint(fd, >=, 0);
	close(fd);
	g_assert_true(g_file_set_contents(path, text, -1, NULL));
	return path;
}

static char *source_path(const char *name)
{
	const char *top = g_getenv("top_srcdir");

	return g_build_filename(top ? top : ".", name, NULL);
}

static void assert_gfp(const KmtSymGfp *gfp, guint64 flags, const char *wanted)
{
	g_autofree char *got = kmt_sym_gfp_format(gfp, flags);

	g_assert_cmpstr(got, ==, wanted);
}

/*
 * Compare the names with a list that was extracted from the kernel's headers.
 */
static void test_gfp_table(void)
{
	g_autofree char *path =
		source_path("tests/symbols/fixtures/gfp-6.1.list");
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	const KmtSymGfp *gfp = kmt_sym_gfp_of_release("6.1.0-9-amd64");
	guint64 all = 0;
	guint i, n = 0;

	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	lines = g_strsplit(text, "\n", -1);
	for (i = 0; lines[i]; i++) {
		g_auto(GStrv) words = NULL;
		guint64 flags;

		if (!*lines[i] || *lines[i] == '#')
			continue;
		words = g_strsplit(lines[i], " ", 2);
		flags = g_ascii_strtoull(words[0], NULL, 16);
		assert_gfp(gfp, flags, words[1]);
		all |= flags;
		n++;
	}
	g_assert_cmpuint(n, >, 40);
	/* A bit without a line in the table is printed as a number. */
	assert_gfp(gfp, ~all & G_MAXUINT32, "0xf0000000");
}

static void test_gfp_releases(void)
{
	static const char *const known[] = {"6.1", "6.1.0-9-amd64",
					    "6.1.192-kmemtrace", "6.1-rc3"};
	static const char *const unknown[] = {"6.10.0", "6.0.19", "6.2.0",
					      "5.1.0",	"16.1",	  "6",
					      "6.",	"",	  "x6.1"};
	guint i;

	for (i = 0; i < G_N_ELEMENTS(known); i++)
		assert_gfp(kmt_sym_gfp_of_release(known[i]), 0xdc0,
			   "GFP_KERNEL|__GFP_ZERO");
	for (i = 0; i < G_N_ELEMENTS(unknown); i++)
		assert_gfp(kmt_sym_gfp_of_release(unknown[i]), 0xdc0, "0xdc0");
	g_assert_null(kmt_sym_gfp_of_release(NULL));
	assert_gfp(NULL, 0, "none");
	assert_gfp(NULL, G_MAXUINT64, "0xffffffffffffffff");
	assert_gfp(kmt_sym_gfp_of_release("6.1"),
		   G_GUINT64_CONSTANT(0x8000000000000cc0),
		   "GFP_KERNEL|0x8000000000000000");
}

static void test_wrapper_list(void)
{
	static const char *const wrappers[] = {
		"kmem_cache_alloc",  "kmem_cache_alloc_node",
		"__kmalloc",	     "xas_alloc.isra.0",
		"krealloc",	     "kvmalloc_node",
		"kstrdup_const",     "kmemdup",
		"mempool_alloc",     "alloc_skb_with_frags",
		"__alloc_skb",	     "xas_alloc",
		"__alloc_pages",     "__get_free_pages",
		"devm_kmalloc",	     "kasprintf",
		"mempool_alloc_slab"};
	static const char *const others[] = {
		"ext4_alloc_inode", "copy_process", "kfree",	"alloc_file",
		"kmem_cache_free",  "do_sys_open",  "skb_free", ""};
	g_autofree char *path = source_path("lib/symbols/wrappers.list");
	g_autoptr(KmtSymWrappers) set = kmt_sym_wrappers_new();
	g_autoptr(GError) error = NULL;
	guint i;

	kmt_sym_wrappers_load(set, path, &error);
	g_assert_no_error(error);
	for (i = 0; i < G_N_ELEMENTS(wrappers); i++)
		g_assert_true(kmt_sym_wrappers_matches(set, wrappers[i]));
	for (i = 0; i < G_N_ELEMENTS(others); i++)
		g_assert_false(kmt_sym_wrappers_matches(set, others[i]));
	kmt_sym_wrappers_add(set, "ext4_alloc_*");
	g_assert_true(kmt_sym_wrappers_matches(set, "ext4_alloc_inode"));
}

static void test_wrapper_list_errors(void)
{
	g_autofree char *path = write_temporary("a # one\n\n b c\n");
	g_autoptr(KmtSymWrappers) set = kmt_sym_wrappers_new();
	g_autoptr(GError) error = NULL;

	g_assert_false(kmt_sym_wrappers_load(set, path, &error));
	g_assert_error(error, KMT_SYM_WRAPPERS_ERROR,
		       KMT_SYM_WRAPPERS_ERROR_LINE);
	g_assert_nonnull(strstr(error->message, "line 3"));
	g_assert_false(kmt_sym_wrappers_matches(set, "a"));
	g_clear_error(&error);
	unlink(path);
	g_assert_false(kmt_sym_wrappers_load(set, path, &error));
	g_assert_error(error, KMT_SYM_WRAPPERS_ERROR,
		       KMT_SYM_WRAPPERS_ERROR_READ);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/gfp/table", test_gfp_table);
	g_test_add_func("/gfp/releases", test_gfp_releases);
	g_test_add_func("/wrappers/list", test_wrapper_list);
	g_test_add_func("/wrappers/errors", test_wrapper_list_errors);
	return g_test_run();
}
