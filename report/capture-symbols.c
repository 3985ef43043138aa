// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/capture-symbols.h"

static char *meta_string(const KmtInputCapture *capture, const char *key)
{
	if (!capture->meta)
		return NULL;
	return g_key_file_get_string(capture->meta, "capture", key, NULL);
}

KmtSymbolizer *kmt_report_open_symbols(const KmtInputCapture *capture,
				       const KmtSymbolizerOptions *user_options,
				       GPtrArray *warnings, GError **error)
{
	g_autofree char *kallsyms = kmt_input_capture_path(capture, "kallsyms");
	g_autofree char *modules = kmt_input_capture_path(capture, "modules");
	g_autofree char *build_id = meta_string(capture, "build_id");
	g_autofree char *release = meta_string(capture, "kernel_release");
	g_autofree char *name = NULL;
	KmtSymbolizerOptions options = *user_options;

	if (kallsyms)
		name = kmt_input_capture_display_path(capture, kallsyms);
	options.captured_kallsyms = kallsyms;
	options.captured_name = name;
	options.captured_modules = modules;
	options.build_id = build_id;
	options.release = release;
	return kmt_symbolizer_open(&options, warnings, error);
}
