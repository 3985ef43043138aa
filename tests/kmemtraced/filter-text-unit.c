// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of the cgroups that the option --cgroup selects. */
#include "config.h"

#include "kmemtraced/filter-text.h"

static void test_cgroups(void)
{
	static const struct {
		const char *globs[3];
		const char *path;
		gboolean has;
	} cases[] = {
		{{"/a"}, "/a", TRUE},
		{{"/a"}, "/a/b/c", TRUE},
		{{"/a/b"}, "/a", FALSE},
		{{"/a"}, "/ab", FALSE},
		{{"/a"}, "/b/a", FALSE},
		{{"/a"}, "/", FALSE},
		{{"/"}, "/", TRUE},
		{{"/"}, "/a/b", TRUE},
		{{"/*"}, "/a/b", TRUE},
		{{"/a/*"}, "/a", FALSE},
		{{"/a/*"}, "/a/b", TRUE},
		{{"/*b"}, "/a/b/c", TRUE},
		{{"/?b"}, "/ab/c", TRUE},
		{{"/x", "/a"}, "/a/b", TRUE},
		{{"/x", "/y"}, "/a/b", FALSE},
		{{NULL}, "/a", FALSE},
	};

	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GPtrArray) globs = g_ptr_array_new();

		for (guint j = 0; cases[i].globs[j]; j++)
			g_ptr_array_add(globs, (gpointer)cases[i].globs[j]);
		g_test_message("%s in %s...", cases[i].path,
			       cases[i].globs[0] ? cases[i].globs[0] : "none");
		g_assert_cmpint(kmtd_filter_has_cgroup(globs, cases[i].path),
				==, cases[i].has);
	}
}

static void test_text(void)
{
	const char *globs[] = {"/a", "/b/*", NULL};
	KmtdSourceOptions options = {.proc = "/proc"};
	g_autofree char *none = NULL, *cgroups = NULL, *both = NULL;

	g_assert_true(kmtd_filter_text(&options, &none, NULL));
	g_assert_null(none);
	options.cgroups = (char *const *)globs;
	g_assert_true(kmtd_filter_text(&options, &cgroups, NULL));
	g_assert_cmpstr(cgroups, ==, "cgroup=/a,/b/*");
	options.filter = "size=1-";
	g_assert_true(kmtd_filter_text(&options, &both, NULL));
	g_assert_cmpstr(both, ==, "size=1- cgroup=/a,/b/*");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/filter/cgroups", test_cgroups);
	g_test_add_func("/filter/text", test_text);
	return g_test_run();
}
