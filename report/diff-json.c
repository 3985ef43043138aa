// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/diff-output.h"
#include "report/report-json-private.h"

#include <math.h>

/* The state of the document while it is written. */
typedef struct {
	const KmtDiff *diff;
	KmtJson *json;
	GPtrArray
		*lines; /* const KmtDiffLine *, in the order of the document */
	GHashTable *index; /* line -> its index in @lines + 1 */
} Document;

/* ---- captures ---- */

static const char *per_name(const KmtDiff *diff)
{
	switch (diff->plan->diff.per) {
	case KMT_DIFF_PER_SECOND:
		return "second";
	case KMT_DIFF_PER_MARK:
		return "mark";
	default:
		return NULL;
	}
}

static void add_capture(Document *document, const KmtDiffCapture *capture)
{
	KmtJson *json = document->json;
	const KmtDiff *diff = document->diff;
	guint i;

	kmt_json_begin_object(json, NULL);
	kmt_json_path(json, "path", capture->path);
	kmt_json_text(json, "kernel_release", capture->release);
	kmt_json_text(json, "build_id", capture->build_id);
	kmt_json_u64(json, "cpus", capture->cpus);
	kmt_json_u64(json, "sample", capture->sample);
	kmt_json_u64(json, "span_ns", capture->span_ns);
	kmt_json_known_u64(json, "occurrences",
			   diff->plan->diff.per == KMT_DIFF_PER_MARK,
			   capture->occurrences);
	kmt_json_text(json, "loss", kmt_loss_name(capture->loss));
	kmt_json_u64(json, "lost_events", capture->lost);
	kmt_json_flag(json, "incomplete", capture->is_incomplete);
	kmt_json_begin_array(json, "not_exact");
	for (i = 0; i < diff->fields->len; i++)
		if (capture->doubtful[i])
			kmt_json_text(
				json, NULL,
				kmt_report_field_name(diff->fields->pdata[i]));
	kmt_json_end_array(json);
	kmt_json_u64(json, "unnamed_groups", capture->unnamed);
	kmt_json_end_object(json);
}

static void add_captures(Document *document, const char *key, guint first,
			 guint n)
{
	guint i;

	kmt_json_begin_array(document->json, key);
	for (i = first; i < first + n; i++)
		add_capture(document, document->diff->captures->pdata[i]);
	kmt_json_end_array(document->json);
}

static void add_noise(Document *document)
{
	const KmtDiffSplits *splits = document->diff->splits;
	double error_rate = document->diff->plan->diff.error_rate;
	double smallest = kmt_diff_splits_smallest_p(splits, TRUE);
	KmtJson *json = document->json;

	kmt_json_begin_object(json, "noise");
	kmt_json_flag(json, "known",
		      kmt_noise_judge(splits, 1, error_rate) !=
			      KMT_NOISE_UNKNOWN);
	kmt_json_double(json, "error_rate", error_rate);
	if (splits->n_base > 1 && splits->n_new > 1)
		kmt_json_double(json, "smallest_p", smallest);
	else
		kmt_json_null(json, "smallest_p");
	kmt_json_u64(json, "splits", splits->n_splits);
	kmt_json_flag(json, "all_splits", splits->is_exact);
	kmt_json_end_object(json);
}

/* ---- cells ---- */

static void add_values(KmtJson *json, const char *key, const KmtFigure *values,
		       guint n)
{
	guint i;

	kmt_json_begin_array(json, key);
	for (i = 0; i < n; i++)
		kmt_report_json_add_figure(json, NULL, &values[i]);
	kmt_json_end_array(json);
}

/* Add the figures of a field of a line or a sum. */
static void add_cell(Document *document, const char *key,
		     const KmtDiffCell *cell)
{
	const KmtDiff *diff = document->diff;
	KmtJson *json = document->json;

	kmt_json_begin_object(json, key);
	kmt_report_json_add_figure(json, "base", &cell->base);
	kmt_report_json_add_figure(json, "new", &cell->new);
	kmt_report_json_add_figure(json, "difference", &cell->difference);
	kmt_json_double(json, "ratio", cell->ratio);
	kmt_json_flag(json, "base_exact", !cell->doubtful_base);
	kmt_json_flag(json, "new_exact", !cell->doubtful_new);
	kmt_json_text(json, "noise", kmt_noise_name(cell->noise));
	kmt_json_double(json, "p", cell->p);
	if (diff->n_base > 1 || diff->n_new > 1) {
		add_values(json, "base_values", cell->values, diff->n_base);
		add_values(json, "new_values", cell->values + diff->n_base,
			   diff->n_new);
		kmt_json_double(json, "base_spread", cell->base_spread);
		kmt_json_double(json, "new_spread", cell->new_spread);
	}
	kmt_json_end_object(json);
}

static const char *field_name(const KmtDiff *diff, guint field)
{
	return kmt_report_field_name(diff->fields->pdata[field]);
}

static void add_cells(Document *document, const KmtDiffCell *cells)
{
	guint i;

	for (i = 0; i < document->diff->fields->len; i++)
		add_cell(document, field_name(document->diff, i), &cells[i]);
}

/* ---- fields ---- */

/* Add the sums of the lines that --lines omits from the list of a field. */
static void add_rest(Document *document, const KmtDiffList *list)
{
	KmtJson *json = document->json;
	guint i;

	kmt_json_begin_object(json, "left_out");
	for (i = 0; i < KMT_N_KINDS; i++) {
		if (!list->n_rest[i])
			continue;
		kmt_json_begin_object(json, kmt_kind_name((KmtKind)i));
		kmt_json_u64(json, "lines", list->n_rest[i]);
		add_cell(document, "sum", &list->rest[i]);
		kmt_json_end_object(json);
	}
	kmt_json_end_object(json);
}

/* Add a field with the order of its lines. */
static void add_field(Document *document, guint field)
{
	const KmtDiff *diff = document->diff;
	KmtJson *json = document->json;
	g_autoptr(KmtDiffList) list =
		kmt_diff_list_new(diff, field, diff->plan->report.max_lines);
	guint i;

	kmt_json_begin_object(json, NULL);
	kmt_json_text(json, "field", field_name(diff, field));
	kmt_json_flag(json, "divided", kmt_diff_is_divided(diff, field));
	kmt_json_u64(json, "lines", list->lines->len);
	kmt_json_u64(json, "varying", list->n_varying);
	kmt_json_u64(json, "exceeding", list->n_exceeds);
	kmt_json_double(json, "exceeding_by_chance",
			list->n_varying * diff->plan->diff.error_rate);
	kmt_json_begin_array(json, "order");
	for (i = 0; i < list->n_shown; i++)
		kmt_json_u64(json, NULL,
			     GPOINTER_TO_UINT(g_hash_table_lookup(
				     document->index, list->lines->pdata[i])) -
				     1);
	kmt_json_end_array(json);
	add_rest(document, list);
	kmt_json_end_object(json);
}

static void add_fields(Document *document)
{
	guint i;

	kmt_json_begin_array(document->json, "fields");
	for (i = 0; i < document->diff->fields->len; i++)
		add_field(document, i);
	kmt_json_end_array(document->json);
}

/* ---- lines ---- */

/* Add the frames of dimension @number of a side; null if the side does not have
 * the line. */
static void add_location(KmtJson *json, const char *key,
			 const KmtDiffLocation *const *locations, guint number)
{
	const KmtDiffLocation *location = locations ? locations[number] : NULL;
	guint i;

	if (!location) {
		kmt_json_null(json, key);
		return;
	}
	kmt_json_begin_array(json, key);
	for (i = 0; i < location->n; i++) {
		const KmtDiffFrame *frame = &location->frames[i];

		kmt_json_begin_object(json, NULL);
		kmt_json_text(json, "function", frame->function);
		kmt_json_text(json, "module", frame->module);
		kmt_json_hex(json, "position", frame->position, 1);
		kmt_json_text(json, "source", frame->source);
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
}

/* Add the values of a line. @texts are those of one side. */
static void add_texts(Document *document, const KmtDiffLine *line,
		      const char *const *texts)
{
	const KmtBy *by = document->diff->by;
	guint i;

	kmt_json_text(document->json, "kind", kmt_kind_name(line->kind));
	for (i = 0; i < by->n; i++)
		if (by->dimensions[i] != KMT_BY_KIND)
			kmt_json_text(document->json,
				      kmt_dimension_name(by->dimensions[i]),
				      texts[i]);
}

/* Add the frames of both sides of a dimension, if --by has the dimension. */
static void add_locations(Document *document, const char *key,
			  KmtDimension dimension, const KmtDiffLine *line)
{
	const KmtBy *by = document->diff->by;
	guint i;

	for (i = 0; i < by->n && by->dimensions[i] != dimension; i++)
		;
	if (i == by->n)
		return;
	kmt_json_begin_object(document->json, key);
	add_location(document->json, "base", line->base_locations, i);
	add_location(document->json, "new", line->new_locations, i);
	kmt_json_end_object(document->json);
}

static void add_guess(Document *document, const KmtDiffLine *line)
{
	KmtJson *json = document->json;

	if (!line->guess) {
		kmt_json_null(json, "possible_match");
		return;
	}
	kmt_json_begin_object(json, "possible_match");
	add_texts(document, line->guess, line->guess->texts);
	kmt_json_text(json, "reason", line->guess_reason);
	kmt_json_end_object(json);
}

static void add_line(Document *document, const KmtDiffLine *line)
{
	KmtJson *json = document->json;

	kmt_json_begin_object(json, NULL);
	add_texts(document, line, line->texts);
	kmt_json_text(json, "match", kmt_diff_match_name(line->match));
	if (line->match == KMT_DIFF_ALIGNED) {
		kmt_json_begin_object(json, "base_values");
		add_texts(document, line, line->base_texts);
		kmt_json_end_object(json);
	}
	add_locations(document, "callsite_frames", KMT_BY_CALLSITE, line);
	add_locations(document, "stack_frames", KMT_BY_STACK, line);
	kmt_json_text(json, "objects_of",
		      line->holds_objects ? kmt_kind_name(line->objects)
					  : NULL);
	add_guess(document, line);
	kmt_json_begin_object(json, "figures");
	add_cells(document, line->cells);
	kmt_json_end_object(json);
	kmt_json_end_object(json);
}

static void add_lines(Document *document)
{
	const KmtBy *by = document->diff->by;
	gboolean sites = by->n == 1 && by->dimensions[0] == KMT_BY_CALLSITE;
	guint i;

	kmt_json_begin_array(document->json, sites ? "callsites" : "groups");
	for (i = 0; i < document->lines->len; i++)
		add_line(document, document->lines->pdata[i]);
	kmt_json_end_array(document->json);
}

/* ---- document ---- */

static void add_kinds(Document *document)
{
	const KmtDiff *diff = document->diff;
	guint i, j;

	kmt_json_begin_object(document->json, "kinds");
	for (i = 0; i < KMT_N_KINDS; i++) {
		gboolean exists = FALSE;

		for (j = 0; j < diff->captures->len; j++) {
			const KmtDiffCapture *capture =
				diff->captures->pdata[j];

			exists |= capture->kinds[i];
		}
		if (!exists)
			continue;
		kmt_json_begin_object(document->json,
				      kmt_kind_name((KmtKind)i));
		add_cells(document, diff->kinds[i].cells);
		kmt_json_end_object(document->json);
	}
	kmt_json_end_object(document->json);
}

static void add_matches(Document *document)
{
	guint i;

	kmt_json_begin_object(document->json, "matches");
	for (i = 0; i < G_N_ELEMENTS(document->diff->n_matches); i++)
		kmt_json_u64(document->json,
			     kmt_diff_match_name((KmtDiffMatch)i),
			     document->diff->n_matches[i]);
	kmt_json_end_object(document->json);
}

static void add_document(Document *document)
{
	const KmtDiff *diff = document->diff;
	KmtJson *json = document->json;
	guint i;

	kmt_json_begin_object(json, NULL);
	kmt_json_text(json, "format", "kmemtrace-diff");
	kmt_json_u64(json, "version", 1);
	add_captures(document, "base", 0, diff->n_base);
	add_captures(document, "new", diff->n_base, diff->n_new);
	kmt_json_text(json, "per", per_name(diff));
	kmt_json_text(json, "per_mark", diff->plan->diff.mark);
	add_noise(document);
	add_matches(document);
	add_kinds(document);
	add_fields(document);
	add_lines(document);
	kmt_json_begin_array(json, "warnings");
	for (i = 0; i < diff->warnings->len; i++)
		kmt_json_text(json, NULL, diff->warnings->pdata[i]);
	kmt_json_end_array(json);
	kmt_json_end_object(json);
}

void kmt_diff_json(const KmtDiff *diff, FILE *out)
{
	g_autoptr(KmtJson) json = kmt_json_new(out, 1);
	g_autoptr(GPtrArray) lines = kmt_diff_shown_lines(diff);
	g_autoptr(GHashTable) index = g_hash_table_new(NULL, NULL);
	Document document = {diff, json, lines, index};
	guint i;

	for (i = 0; i < lines->len; i++)
		g_hash_table_insert(index, lines->pdata[i],
				    GUINT_TO_POINTER(i + 1));
	add_document(&document);
}
