// SPDX-License-Identifier: GPL-2.0-or-later
/* The values of a group: their texts, and the functions of call sites and
 * stacks. */
#include "config.h"

#include "report/diff-private.h"

#include <string.h>

static const char *intern(const KmtDiff *diff, const char *text)
{
	return text ? g_string_chunk_insert_const(diff->strings, text) : NULL;
}

/* Describe a call site as a frame. If @text is not NULL, set this buffer to the
 * text that the report prints for the call site. */
static KmtDiffFrame frame_of(const KmtDiff *diff,
			     const KmtSymbolizer *symbolizer,
			     const KmtSymSite *site, GString *text)
{
	KmtDiffFrame frame = {.position = site->address};
	KmtSymSourceLine source;
	KmtSymbol symbol;
	gboolean has_source;

	if (!kmt_symbolizer_symbol(symbolizer, site, &symbol)) {
		/* All builds have the address 0 in common. */
		if (!site->address)
			frame.function = intern(diff, "(caller not recorded)");
		if (text && frame.function)
			g_string_assign(text, frame.function);
		else if (text)
			g_string_printf(text, "0x%016" G_GINT64_MODIFIER "x",
					site->address);
		return frame;
	}
	has_source = kmt_symbolizer_source(symbolizer, site, &source);
	frame.function = intern(diff, symbol.name);
	frame.module = intern(diff, symbol.module);
	frame.position = symbol.line ? symbol.line : symbol.offset;
	if (has_source && source.file) {
		g_autofree char *line =
			g_strdup_printf("%s:%u", source.file, source.line);

		frame.source = intern(diff, line);
	}
	if (text) {
		g_string_truncate(text, 0);
		kmt_symbolizer_append(text, &symbol,
				      has_source ? &source : NULL);
	}
	return frame;
}

/* Return the distance of a function in the kernel itself from _stext, or 0 if
 * it is unknown or the frame is in a module. */
static guint64 start_of(const KmtSymbolizer *symbolizer, const KmtSymSite *site,
			const KmtDiffFrame *frame)
{
	guint64 stext = kmt_symbolizer_stext(symbolizer);

	/* An allocation tag has a source line as position, which distinguishes
	 * functions of one name. */
	return stext && site->address && frame->function && !frame->module &&
			       !site->tag
		       ? site->address - frame->position - stext
		       : 0;
}

/* Describe the text of the dimension function or owner, "name [module]", as a
 * frame. */
static KmtDiffFrame function_frame(const KmtDiff *diff, const char *text)
{
	const char *bracket = strstr(text, " [");
	KmtDiffFrame frame = {0};
	g_autofree char *name = NULL, *module = NULL;

	if (g_str_has_prefix(text, "0x")) {
		frame.position = g_ascii_strtoull(text, NULL, 16);
		return frame;
	}
	name = bracket ? g_strndup(text, (gsize)(bracket - text))
		       : g_strdup(text);
	frame.function = intern(diff, name);
	if (bracket) {
		module = g_strndup(bracket + 2, strcspn(bracket + 2, "]"));
		frame.module = intern(diff, module);
	}
	return frame;
}

/* Return the location of a call chain. */
static KmtDiffBuildLocation *add_stack(KmtDiffRows *rows,
				       const KmtReport *report,
				       const KmtChain *chain, guint i,
				       guint build)
{
	g_autofree KmtDiffFrame *frames = g_new0(KmtDiffFrame, chain->n);
	guint64 start = 0;
	guint j;

	for (j = 0; j < chain->n; j++) {
		KmtSymSite site =
			kmt_groups_frame(report->aggregate->groups, chain, j);

		frames[j] =
			frame_of(rows->diff, report->symbolizer, &site, NULL);
		if (j == 0)
			start = start_of(report->symbolizer, &site, &frames[0]);
	}
	return kmt_diff_locations_add(rows->locations[i], build, frames,
				      chain->n, start);
}

/* Return the location of the call site of a group, and set rows->text. */
static KmtDiffBuildLocation *add_site(KmtDiffRows *rows,
				      const KmtReport *report,
				      const KmtGroup *group, guint i,
				      guint build)
{
	KmtDiffFrame frame;
	KmtSymSite site;

	kmt_groups_site(report->aggregate->groups, group, &site);
	frame = frame_of(rows->diff, report->symbolizer, &site, rows->text);
	return kmt_diff_locations_add(
		rows->locations[i], build, &frame, 1,
		start_of(report->symbolizer, &site, &frame));
}

/* Set the text and the location of a value. The captures of a build share the
 * text, unless only one of them has allocation tags. */
static void set_location(const KmtDiffRows *rows, KmtDiffRow *row, guint i,
			 const char *text, KmtDiffBuildLocation *location)
{
	KmtDiffLocation *shared = &location->location;

	row->locations[i] = shared;
	if (shared->text && strcmp(shared->text, text) == 0) {
		row->texts[i] = shared->text;
		return;
	}
	row->texts[i] = kmt_arena_strdup(rows->diff->arena, text);
	if (!shared->text)
		shared->text = row->texts[i];
}

void kmt_diff_rows_add_value(KmtDiffRows *rows, const KmtReport *report,
			     const KmtGroup *group, guint i, guint build,
			     KmtDiffRow *row)
{
	const KmtGroups *groups = report->aggregate->groups;
	KmtDimension dimension = rows->diff->by->dimensions[i];
	KmtDiffBuildLocation *location;
	g_autofree char *text = NULL;
	KmtDiffFrame frame;

	if (dimension == KMT_BY_CALLSITE) {
		location = add_site(rows, report, group, i, build);
		set_location(rows, row, i, rows->text->str, location);
		return;
	}
	text = kmt_groups_value(groups, group, i);
	if (!rows->locations[i]) {
		row->texts[i] = intern(rows->diff, text);
		return;
	}
	if (dimension == KMT_BY_STACK) {
		location =
			add_stack(rows, report,
				  kmt_groups_chain(groups, group, i), i, build);
	} else {
		frame = function_frame(rows->diff, text);
		location = kmt_diff_locations_add(rows->locations[i], build,
						  &frame, 1, 0);
	}
	set_location(rows, row, i, text, location);
}
