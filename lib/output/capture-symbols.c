// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/input/tag-table.h"
#include "lib/output/capture-symbols.h"

static char *meta_string(const KmtInputCapture *capture, const char *key)
{
	if (!capture->meta)
		return NULL;
	return g_key_file_get_string(capture->meta, "capture", key, NULL);
}

/*
 * Copy the call sites of the table into an array, whose strings belong to the
 * table, and copy the warnings. The caller frees the array.
 */
static KmtSymTag *tags_of(const KmtInputTagTable *table, guint *n,
			  GPtrArray *warnings)
{
	const GPtrArray *texts = kmt_input_tag_table_warnings(table);
	const KmtInputTag *from = kmt_input_tag_table_get(table, n);
	KmtSymTag *tags = g_new(KmtSymTag, MAX(*n, 1));
	guint i;

	for (i = 0; i < *n; i++)
		tags[i] = (KmtSymTag){
			.address = from[i].address,
			.went = from[i].went,
			.function = from[i].function,
			.module = *from[i].module ? from[i].module : NULL,
			.file = from[i].file,
			.line = from[i].line,
		};
	for (i = 0; i < texts->len; i++)
		g_ptr_array_add(warnings, g_strdup(texts->pdata[i]));
	return tags;
}

KmtSymbolizer *kmt_output_open_symbols(const KmtInputCapture *capture,
				       const KmtSymbolizerOptions *user_options,
				       GPtrArray *warnings, GError **error)
{
	g_autofree char *kallsyms = kmt_input_capture_path(capture, "kallsyms");
	g_autofree char *modules = kmt_input_capture_path(capture, "modules");
	g_autofree char *build_id = meta_string(capture, "build_id");
	g_autofree char *release = meta_string(capture, "kernel_release");
	g_autofree char *name = NULL;
	g_autoptr(KmtInputTagTable) table = kmt_input_tag_table_new(capture);
	KmtSymbolizerOptions options = *user_options;
	g_autofree KmtSymTag *tags = NULL;

	if (kallsyms)
		name = kmt_input_capture_display_path(capture, kallsyms);
	options.captured_kallsyms = kallsyms;
	options.captured_name = name;
	options.captured_modules = modules;
	options.build_id = build_id;
	options.release = release;
	tags = tags_of(table, &options.n_tags, warnings);
	options.tags = tags;
	return kmt_symbolizer_open(&options, warnings, error);
}
