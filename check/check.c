// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "check/check-private.h"

KmtCheck *kmt_check_new(const KmtInputCapture *capture, gboolean across_files,
			gint64 tolerance_ns, guint64 max_errors)
{
	KmtCheck *check = g_new0(KmtCheck, 1);

	check->capture = capture;
	check->across_files = across_files;
	check->tolerance_ns = tolerance_ns;
	check->max_errors = max_errors;
	check->errors = g_array_new(FALSE, FALSE, sizeof(KmtError));
	check->notes = g_ptr_array_new_with_free_func(g_free);
	check->usable = g_new0(guint64, capture->files->len);
	check->tables = kmt_input_tables_new(capture);
	check->tags = kmt_input_tag_table_new(capture);
	kmt_check_files(check);
	if (across_files)
		kmt_check_across(check);
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
