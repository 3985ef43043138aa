// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/diff-output.h"
#include "report/folded-frame.h"

/* Return the frames of the new side, or of the base side if the new one does
 * not have the line. */
static const KmtDiffLocation *location_of(const KmtDiffLine *line,
					  guint dimension)
{
	return line->new_locations ? line->new_locations[dimension]
				   : line->base_locations[dimension];
}

/* Print the frames of a stack, the outermost caller first. */
static void print_stack(const KmtDiffLocation *location, FILE *out)
{
	guint n = location->n;

	while (n--) {
		const KmtDiffFrame *frame = &location->frames[n];
		g_autofree char *text =
			frame->function
				? kmt_folded_function(frame->function,
						      frame->module)
				: g_strdup_printf("0x%016" G_GINT64_MODIFIER
						  "x",
						  frame->position);

		kmt_folded_frame(out, text);
	}
}

static void print_frames(const KmtDiff *diff, const KmtDiffLine *line,
			 FILE *out)
{
	guint i;

	fputs(kmt_kind_name(line->kind), out);
	for (i = 0; i < diff->by->n; i++) {
		g_autofree char *text = NULL;

		if (diff->by->dimensions[i] == KMT_BY_KIND)
			continue;
		if (diff->by->dimensions[i] == KMT_BY_STACK) {
			print_stack(location_of(line, i), out);
			continue;
		}
		text = g_strdup(line->texts[i]);
		kmt_folded_frame(out, text);
	}
}

/* Return whether a flame graph shows the figure; a negative width does not
 * exist. */
static gboolean has_width(const KmtFigure *figure)
{
	switch (figure->type) {
	case KMT_FIGURE_INTEGER:
		return figure->integer > 0 && !figure->negative;
	case KMT_FIGURE_RATE:
		return figure->real > 0;
	default:
		return FALSE;
	}
}

/* Print a figure without an exponent, which flamegraph.pl does not read. */
static void print_width(FILE *out, const KmtFigure *figure)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	if (!has_width(figure))
		fputs(" 0", out);
	else if (figure->type == KMT_FIGURE_INTEGER)
		fprintf(out, " %" G_GUINT64_FORMAT, figure->integer);
	else
		fprintf(out, " %s",
			g_ascii_formatd(text, sizeof(text), "%.6f",
					figure->real));
}

static void print_widths(FILE *out, const KmtDiffCell *cell)
{
	print_width(out, &cell->base);
	print_width(out, &cell->new);
	fputc('\n', out);
}

void kmt_diff_folded(const KmtDiff *diff, FILE *out)
{
	g_autoptr(KmtDiffList) list =
		kmt_diff_list_new(diff, 0, diff->plan->report.max_lines);
	guint i;

	for (i = 0; i < list->n_shown; i++) {
		const KmtDiffLine *line = list->lines->pdata[i];
		const KmtDiffCell *cell = &line->cells[0];

		if (!has_width(&cell->base) && !has_width(&cell->new))
			continue;
		print_frames(diff, line, out);
		print_widths(out, cell);
	}
	/* Print the sums of the lines that --lines omits, so that the others
	 * keep their width. */
	for (i = 0; i < KMT_N_KINDS; i++) {
		if (!has_width(&list->rest[i].base) &&
		    !has_width(&list->rest[i].new))
			continue;
		fprintf(out, "%s;(others)", kmt_kind_name((KmtKind)i));
		print_widths(out, &list->rest[i]);
	}
}
