// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the groups of a capture into rows of a comparison. */
#include "config.h"

#include "report/allocator-memory.h"
#include "report/diff-private.h"
#include "report/figure-arithmetic.h"
#include "report/leaks.h"

static void free_capture(gpointer data)
{
	KmtDiffCapture *c = data;

	g_free(c->path);
	g_free(c->release);
	g_free(c->build_id);
	if (c->meta)
		g_key_file_unref(c->meta);
	g_free(c->doubtful);
	g_ptr_array_unref(c->warnings);
	g_free(c);
}

/* Return whether the values of a dimension are locations. */
static gboolean has_locations(KmtDimension dimension)
{
	return dimension == KMT_BY_CALLSITE || dimension == KMT_BY_STACK ||
	       dimension == KMT_BY_FUNCTION || dimension == KMT_BY_OWNER;
}

KmtDiffRows *kmt_diff_rows_new(KmtDiff *diff)
{
	KmtDiffRows *rows = g_new0(KmtDiffRows, 1);
	guint i;

	g_ptr_array_set_free_func(diff->captures, free_capture);
	rows->diff = diff;
	rows->rows = g_array_new(FALSE, TRUE, sizeof(KmtDiffRow));
	rows->builds = g_ptr_array_new_with_free_func(g_free);
	rows->absent = g_ptr_array_new_with_free_func(g_free);
	rows->arena = kmt_arena_new();
	rows->text = g_string_new(NULL);
	for (i = 0; i < diff->by->n; i++) {
		KmtDimension dimension = diff->by->dimensions[i];

		/* A function may allocate memory of several kinds. */
		if (has_locations(dimension))
			rows->locations[i] = kmt_diff_locations_new(
				dimension == KMT_BY_CALLSITE ||
					dimension == KMT_BY_STACK,
				diff->arena, diff->strings);
	}
	return rows;
}

void kmt_diff_rows_free(KmtDiffRows *rows)
{
	guint i;

	if (!rows)
		return;
	for (i = 0; i < KMT_N_DIMENSIONS; i++)
		kmt_diff_locations_free(rows->locations[i]);
	g_ptr_array_unref(rows->builds);
	g_ptr_array_unref(rows->absent);
	g_array_unref(rows->rows);
	kmt_arena_free(rows->arena);
	g_string_free(rows->text, TRUE);
	g_free(rows);
}

/* ---- the capture ---- */

/* Return the number of the build of a capture. Captures of one boot have one
 * build, too. */
static guint number_of_build(KmtDiffRows *rows, const KmtInputCapture *capture,
			     const char *build_id)
{
	g_autofree char *boot_id = kmt_report_meta_value(capture, "boot_id");
	g_autofree char *build = NULL;
	guint i;

	if (build_id)
		build = g_strconcat("build ", build_id, NULL);
	else if (boot_id)
		build = g_strconcat("boot ", boot_id, NULL);
	for (i = 0; build && i < rows->builds->len; i++)
		if (g_strcmp0(rows->builds->pdata[i], build) == 0)
			return i;
	g_ptr_array_add(rows->builds, g_steal_pointer(&build));
	return rows->builds->len - 1;
}

/* Count the marks of --per in the time of the figures. A mark at STOP begins
 * what follows, and does not count. */
static guint64 count_marks(const KmtPlan *plan)
{
	const KmtSpan *span = &plan->aggregate.span;
	gint64 origin = kmt_report_origin(&plan->report), until;
	gint64 from = span->start ? origin + span->start : G_MININT64;

	if (!plan->stop.given ||
	    __builtin_add_overflow(origin, span->stop, &until))
		until = G_MAXINT64;
	return kmt_phases_count(plan->phases, plan->diff.mark, from, until);
}

/* Set *factor to the reciprocal of the divisor of --per. */
static gboolean find_factor(const KmtPlan *plan, KmtDiffCapture *capture,
			    double *factor, GError **error)
{
	*factor = 1;
	if (plan->diff.per == KMT_DIFF_PER_SECOND) {
		*factor = 1e9 / (double)capture->span_ns;
		if (capture->span_ns)
			return TRUE;
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "%s: --per second: the time of the figures has no "
			    "length",
			    capture->path);
		return FALSE;
	}
	if (plan->diff.per != KMT_DIFF_PER_MARK)
		return TRUE;
	capture->occurrences = count_marks(plan);
	*factor = 1 / (double)capture->occurrences;
	if (capture->occurrences)
		return TRUE;
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
		    "%s: --per mark: there is no mark '%s' in the time of the "
		    "figures; --marks lists the marks of a capture",
		    capture->path, plan->diff.mark);
	return FALSE;
}

static KmtDiffCapture *describe_capture(const KmtDiffRows *rows,
					const KmtReport *report,
					const char *path)
{
	const KmtInputCapture *input = report->capture;
	const GPtrArray *fields = rows->diff->fields;
	KmtDiffCapture *c = g_new0(KmtDiffCapture, 1);
	guint i;

	c->path = g_strdup(path);
	c->release = kmt_report_meta_value(input, "kernel_release");
	c->build_id = kmt_report_meta_value(input, "build_id");
	c->meta = input->meta ? g_key_file_ref(input->meta) : NULL;
	c->cpus = input->files->len;
	c->sample = input->sample;
	c->span_ns = report->aggregate->span_ns;
	c->loss = kmt_report_loss_state(report);
	c->lost = report->lost.within;
	c->is_lossy = kmt_report_is_lossy(report);
	c->is_incomplete = input->incomplete;
	c->has_blind_spots = input->has_blind_spots;
	c->frees_not_recorded = input->frees_not_recorded;
	c->doubtful = g_new0(gboolean, fields->len);
	for (i = 0; i < fields->len; i++)
		c->doubtful[i] =
			kmt_report_is_doubtful(report, fields->pdata[i]);
	for (i = 0; i < KMT_N_KINDS; i++)
		c->kinds[i] = kmt_report_can_have_kind(report, (KmtKind)i);
	c->warnings = g_ptr_array_new_with_free_func(g_free);
	for (i = 0; i < report->warnings->len; i++)
		g_ptr_array_add(c->warnings,
				g_strdup(report->warnings->pdata[i]));
	return c;
}

/* ---- the figures ---- */

/* Divide a figure of field number @field by the divisor of --per. */
static KmtFigure divide(const KmtDiff *diff, guint field, KmtFigure figure,
			double factor)
{
	return kmt_diff_is_divided(diff, field)
		       ? kmt_figure_times(&figure, factor)
		       : figure;
}

/* Return the figures of a group without objects. */
static KmtFigure *absent_figures(const KmtDiff *diff,
				 const KmtAggregate *aggregate, double factor)
{
	static const KmtGroup empty;
	KmtFigure *figures = g_new0(KmtFigure, diff->fields->len);
	guint i;

	for (i = 0; i < diff->fields->len; i++) {
		const KmtReportField *field = diff->fields->pdata[i];

		if (kmt_report_field_is_count(field))
			figures[i] = divide(
				diff, i,
				kmt_report_field_get(field, aggregate, &empty),
				factor);
	}
	return figures;
}

/* Store the figures of all kinds in the values of diff->kinds. */
static void read_kinds(KmtDiff *diff, const KmtAggregate *aggregate,
		       const KmtDiffCapture *capture, guint number,
		       double factor)
{
	guint kind, i;

	for (kind = 0; kind < KMT_N_KINDS; kind++)
		for (i = 0; i < diff->fields->len && capture->kinds[kind]; i++)
			((KmtFigure *)diff->kinds[kind]
				 .cells[i]
				 .values)[number] =
				divide(diff, i,
				       kmt_report_field_kind(
					       diff->fields->pdata[i],
					       aggregate, (KmtKind)kind),
				       factor);
}

/* ---- the rows ---- */

/* Numbers that all rows of a capture have in common. */
typedef struct {
	guint capture;
	guint build;
	double factor;
	GHashTable *leaks; /* const KmtGroup *: leak candidates */
} RowsOfCapture;

/* Set row->holds_objects from the function that allocated. */
static void set_objects(const KmtReport *report, KmtDimension dimension,
			const KmtDiffLocation *location, KmtDiffRow *row)
{
	/* An owner called the allocating function. */
	if (dimension != KMT_BY_OWNER && location->frames[0].function)
		row->holds_objects = kmt_allocator_memory_of_function(
			report->aggregate, location->frames[0].function,
			row->kind, TRUE, &row->objects);
}

/* Allocate the arrays of a row. */
static void allocate_row(KmtDiffRows *rows, KmtDiffRow *row)
{
	const KmtDiff *diff = rows->diff;

	row->n = diff->by->n;
	row->figures = kmt_arena_alloc0(
		rows->arena, diff->fields->len * sizeof(*row->figures));
	/* Lines keep the texts and the locations. */
	row->texts =
		kmt_arena_alloc0(diff->arena, row->n * sizeof(*row->texts));
	row->locations =
		kmt_arena_alloc0(diff->arena, row->n * sizeof(*row->locations));
}

static void add_row(KmtDiffRows *rows, const KmtReport *report,
		    const KmtGroup *group, const RowsOfCapture *common)
{
	const KmtDiff *diff = rows->diff;
	const KmtTotals *t = &group->totals;
	guint i;
	KmtDiffRow row = {.capture = common->capture, .kind = group->kind};
	gboolean is_unnamed = FALSE;

	row.is_leak = g_hash_table_contains(common->leaks, group);
	row.traits = (KmtDiffTraits){.kinds = 1U << group->kind,
				     .allocs = t->allocs,
				     .bytes_req = t->bytes_req,
				     .bytes_alloc = t->bytes_alloc};
	allocate_row(rows, &row);
	for (i = 0; i < row.n; i++) {
		const KmtDiffLocation *location;

		kmt_diff_rows_add_value(rows, report, group, i, common->build,
					&row);
		location = row.locations[i];
		if (!location)
			continue;
		kmt_diff_traits_add(&kmt_diff_location_whole(location)->traits,
				    &row.traits, row.capture);
		is_unnamed |= kmt_diff_location_is_unnamed(location);
		set_objects(report, diff->by->dimensions[i], location, &row);
	}
	for (i = 0; i < diff->fields->len; i++)
		row.figures[i] =
			divide(diff, i,
			       kmt_report_field_get(diff->fields->pdata[i],
						    report->aggregate, group),
			       common->factor);
	((KmtDiffCapture *)diff->captures->pdata[common->capture])->unnamed +=
		is_unnamed ? 1 : 0;
	g_array_append_val(rows->rows, row);
}

/* A group that the options select. */
typedef struct {
	guint64 rank; /* kmt_groups_rank(), which decides most comparisons */
	const KmtGroup *group;
} SelectedGroup;

static gint compare_groups(gconstpointer a, gconstpointer b, gpointer user)
{
	const SelectedGroup *x = a, *y = b;
	gint order;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	order = kmt_groups_compare(user, x->group, y->group);
	return order ? order : (gint)x->group->kind - (gint)y->group->kind;
}

/* Add a row for each group that the options select. */
static void add_rows(KmtDiffRows *rows, const KmtReport *report,
		     const RowsOfCapture *common)
{
	const KmtGroups *groups = report->aggregate->groups;
	g_autoptr(GArray) selected =
		g_array_new(FALSE, FALSE, sizeof(SelectedGroup));
	guint32 i;

	for (i = 0; i < groups->n_groups; i++) {
		SelectedGroup entry = {.group = kmt_groups_at(groups, i)};

		if (!kmt_report_is_selected(entry.group, report))
			continue;
		entry.rank = kmt_groups_rank(groups, entry.group);
		g_array_append_val(selected, entry);
	}
	g_array_sort_with_data(selected, compare_groups, (gpointer)groups);
	for (i = 0; i < selected->len; i++)
		add_row(rows, report,
			g_array_index(selected, SelectedGroup, i).group,
			common);
}

/* Return the set of the leak candidates. The caller frees the set. */
static GHashTable *leaks_of(const KmtReport *report)
{
	GHashTable *set = g_hash_table_new(NULL, NULL);
	g_autoptr(GArray) leaks = NULL;
	guint i;

	if (!report->shows_leaks)
		return set;
	leaks = kmt_leaks_find(report->aggregate, kmt_report_is_selected,
			       report);
	for (i = 0; i < leaks->len; i++) {
		const KmtLeak *leak = &g_array_index(leaks, KmtLeak, i);

		if (leak->doubt == KMT_LEAK_LIKELY)
			g_hash_table_add(set, (gpointer)leak->group);
	}
	return set;
}

gboolean kmt_diff_rows_add(KmtDiffRows *rows, const KmtCaptureReport *read,
			   const char *path, GError **error)
{
	KmtDiff *diff = rows->diff;
	const KmtReport *report = &read->plan.report;
	KmtDiffCapture *capture = describe_capture(rows, report, path);
	RowsOfCapture common = {.capture = diff->captures->len};

	g_ptr_array_add(diff->captures, capture);
	if (!find_factor(&read->plan, capture, &common.factor, error))
		return FALSE;
	common.build =
		number_of_build(rows, report->capture, capture->build_id);
	common.leaks = leaks_of(report);
	g_ptr_array_add(rows->absent,
			absent_figures(diff, report->aggregate, common.factor));
	read_kinds(diff, report->aggregate, capture, common.capture,
		   common.factor);
	add_rows(rows, report, &common);
	g_hash_table_unref(common.leaks);
	return TRUE;
}
