// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "kmemtraced/other-files.h"
#include "lib/base/printable.h"
#include "lib/capture/names.h"

/* Return whether a program that writes captures creates files of this name. */
static gboolean is_of_capture(const char *name)
{
	return kmt_capture_file(name) != KMT_CAPTURE_FILE_OTHER ||
	       kmt_capture_is_new(name) ||
	       g_str_equal(name, KMT_CAPTURE_LOCK) ||
	       g_str_equal(name, KMT_CAPTURE_COMPLETE) ||
	       g_str_has_prefix(name, KMT_CAPTURE_LEFT);
}

void kmtd_other_files_warn(const KmtdSessionOptions *options,
			   const KmtdSessionUi *ui)
{
	g_autoptr(GDir) dir = NULL;
	const char *name;

	if (options->has_directory)
		return;
	dir = g_dir_open(options->directory, 0, NULL);
	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *printable = NULL;
		g_autofree char *text = NULL;

		if (is_of_capture(name))
			continue;
		printable = kmt_printable(name);
		text = g_strdup_printf(
			"the capture is written into the current directory, "
			"beside other files such as '%s': to write it into a "
			"directory of its own, run kmemtraced -D capture",
			printable);
		ui->warning(text);
		return;
	}
}
