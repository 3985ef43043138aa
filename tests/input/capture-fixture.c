// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <glib/gstdio.h>

#include "tests/input/capture-fixture.h"

char *fixture_new(void)
{
	char *directory = g_dir_make_tmp("capture-XXXXXX", NULL);

	g_assert_nonnull(directory);
	fixture_put(directory, "cpu0.out", "", 0);
	return directory;
}

void fixture_put(const char *directory, const char *name, const char *text,
		 gssize length)
{
	g_autofree char *path = g_build_filename(directory, name, NULL);

	if (text)
		g_assert_true(g_file_set_contents(path, text, length, NULL));
}

KmtInputCapture *fixture_open(const char *directory)
{
	const char *const operands[] = {directory, NULL};
	g_autoptr(GError) error = NULL;
	KmtInputCapture *capture =
		kmt_input_capture_open(operands, NULL, &error);

	g_assert_no_error(error);
	return capture;
}

void fixture_remove(char *directory)
{
	g_autoptr(GDir) files = g_dir_open(directory, 0, NULL);
	const char *name;

	while ((name = g_dir_read_name(files))) {
		g_autofree char *path = g_build_filename(directory, name, NULL);

		g_unlink(path);
	}
	g_assert_cmpint(g_rmdir(directory), ==, 0);
	g_free(directory);
}
