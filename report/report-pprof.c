// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/input/name-tables.h"
#include "report/pprof-locations.h"
#include "report/report-pprof.h"

/* The values of a sample. */
enum {
	ALLOC_OBJECTS,
	ALLOC_SPACE,
	INUSE_OBJECTS,
	INUSE_SPACE,
	WASTED_SPACE,
	N_VALUES
};

static const struct {
	const char *type;
	const char *unit;
} value_types[N_VALUES] = {
	[ALLOC_OBJECTS] = {"alloc_objects", "count"},
	[ALLOC_SPACE] = {"alloc_space", "bytes"},
	[INUSE_OBJECTS] = {"inuse_objects", "count"},
	[INUSE_SPACE] = {"inuse_space", "bytes"},
	[WASTED_SPACE] = {"wasted_space", "bytes"},
};

/* The profile that is being written. */
typedef struct {
	const KmtReport *report;
	KmtPprofStream *stream;
	KmtPprofLocations *locations;
	gboolean is_cut; /* a figure exceeds the range of the format */
} KmtPprofOutput;

const char *kmt_report_pprof_by(const KmtInputCapture *capture)
{
	if (kmt_input_capture_has_stacks(capture))
		return "stack,kind,cache,comm,cpu,node";
	if (kmt_input_capture_has_owners(capture))
		return "callsite,kind,cache,comm,cpu,node";
	return "callsite,kind,cache,cpu,node";
}

/* ---- samples ---- */

/* Return a figure as a signed number. */
static gint64 signed_value(KmtPprofOutput *output, gboolean negative,
			   guint64 magnitude)
{
	if (magnitude > G_MAXINT64) {
		output->is_cut = TRUE;
		magnitude = G_MAXINT64;
	}
	return negative ? -(gint64)magnitude : (gint64)magnitude;
}

/* Set the values of a group. Return whether any value is not 0. */
static gboolean set_values(KmtPprofOutput *output, const KmtTotals *t,
			   gint64 values[N_VALUES])
{
	KmtWaste waste = kmt_totals_wasted(t);
	guint i;

	values[ALLOC_OBJECTS] = signed_value(output, FALSE, t->allocs);
	values[ALLOC_SPACE] = signed_value(output, FALSE, t->bytes_alloc);
	values[INUSE_OBJECTS] = signed_value(output, FALSE, t->live_objects);
	values[INUSE_SPACE] = signed_value(output, FALSE, t->live_bytes_alloc);
	values[WASTED_SPACE] =
		signed_value(output, waste.negative, waste.bytes);
	for (i = 0; i < N_VALUES; i++)
		if (values[i])
			return TRUE;
	return FALSE;
}

/* Append the locations of a group to @ids (guint64), the innermost first. */
static void add_locations(const KmtPprofOutput *output, const KmtGroup *group,
			  GArray *ids)
{
	const KmtGroups *groups = output->report->aggregate->groups;
	const KmtChain *chain;
	KmtSymSite site;
	guint64 id;
	guint i;

	if (kmt_groups_site(groups, group, &site)) {
		id = kmt_pprof_locations_site(output->locations, &site);
		g_array_append_val(ids, id);
		id = kmt_pprof_locations_directory(output->locations, &site);
		if (id)
			g_array_append_val(ids, id);
		return;
	}
	/* Without a call site, the first dimension is the stack. */
	chain = kmt_groups_chain(groups, group, 0);
	for (i = 0; i < chain->n; i++) {
		site = kmt_groups_frame(groups, chain, i);
		id = kmt_pprof_locations_site(output->locations, &site);
		g_array_append_val(ids, id);
	}
}

/* Set the label of a group in dimension @i. Return FALSE if the dimension has
 * no label. */
static gboolean set_label(const KmtPprofOutput *output, const KmtGroup *group,
			  guint i, KmtPprof__Label *label)
{
	KmtDimension dimension = output->report->by->dimensions[i];
	const char *name = kmt_dimension_name(dimension);
	gboolean is_number =
		dimension == KMT_BY_CPU ||
		(dimension == KMT_BY_NODE && (gint64)group->values[i] >= 0);
	g_autofree char *text = NULL;

	if (dimension == KMT_BY_STACK || dimension == KMT_BY_CALLSITE)
		return FALSE;
	kmt_pprof__label__init(label);
	label->key = kmt_pprof_stream_string(output->stream, name);
	if (is_number) {
		label->num = (gint64)group->values[i];
		/* Readers ignore the number 0 if it has no unit. */
		label->num_unit = label->key;
		return TRUE;
	}
	text = kmt_groups_value(output->report->aggregate->groups, group, i);
	label->str = kmt_pprof_stream_string(output->stream, text);
	return TRUE;
}

static void add_sample(KmtPprofOutput *output, const KmtGroup *group)
{
	KmtPprof__Label labels[KMT_N_DIMENSIONS], *list[KMT_N_DIMENSIONS];
	KmtPprof__Sample sample = KMT_PPROF__SAMPLE__INIT,
			 *samples[] = {&sample};
	KmtPprof__Profile part = KMT_PPROF__PROFILE__INIT;
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(guint64));
	gint64 values[N_VALUES];
	guint i;

	if (!set_values(output, &group->totals, values))
		return;
	add_locations(output, group, ids);
	for (i = 0; i < output->report->by->n; i++)
		if (set_label(output, group, i, &labels[sample.n_label])) {
			list[sample.n_label] = &labels[sample.n_label];
			sample.n_label++;
		}
	sample.label = list;
	sample.n_location_id = ids->len;
	sample.location_id = (uint64_t *)ids->data;
	sample.n_value = N_VALUES;
	sample.value = (int64_t *)values;
	part.n_sample = 1;
	part.sample = samples;
	kmt_pprof_stream_add(output->stream, &part);
}

/* ---- the profile as a whole ---- */

/* Return the Unix time at which the recording began, in ns; 0 if unknown. */
static gint64 start_time(const KmtReport *report)
{
	g_autofree char *text =
		kmt_report_meta_value(report->capture, "start_time");
	g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
	g_autoptr(GDateTime) time =
		text ? g_date_time_new_from_iso8601(text, utc) : NULL;

	return time ? g_date_time_to_unix(time) * 1000000000 +
			       g_date_time_get_microsecond(time) *
				       G_GINT64_CONSTANT(1000)
		    : 0;
}

/* Append the number of a comment to @comments (gint64). */
static void add_comment(const KmtPprofOutput *output, GArray *comments,
			const char *text)
{
	gint64 number = kmt_pprof_stream_string(output->stream, text);

	g_array_append_val(comments, number);
}

static GArray *comments_of(const KmtPprofOutput *output)
{
	const KmtReport *report = output->report;
	GArray *comments = g_array_new(FALSE, FALSE, sizeof(gint64));
	g_autofree char *release =
		kmt_report_meta_value(report->capture, "kernel_release");
	guint i;

	add_comment(output, comments, "kmemtrace-report " VERSION);
	if (release) {
		g_autofree char *text = g_strconcat("kernel ", release, NULL);

		add_comment(output, comments, text);
	}
	add_comment(output, comments,
		    "Slab objects, per-CPU memory and vmalloc areas lie in "
		    "pages: look at one kind at a time, as with "
		    "-tagfocus=kind=pages.");
	if (output->is_cut)
		add_comment(output, comments,
			    "Figures above 2^63-1 are shown as 2^63-1.");
	for (i = 0; i < report->warnings->len; i++)
		add_comment(output, comments, report->warnings->pdata[i]);
	return comments;
}

static void set_type(const KmtPprofOutput *output, KmtPprof__ValueType *type,
		     guint i)
{
	kmt_pprof__value_type__init(type);
	type->type =
		kmt_pprof_stream_string(output->stream, value_types[i].type);
	type->unit =
		kmt_pprof_stream_string(output->stream, value_types[i].unit);
}

/* Write the types of the values, the times, and the comments. */
static void add_header(const KmtPprofOutput *output)
{
	const KmtReport *report = output->report;
	KmtPprof__ValueType types[N_VALUES], *list[N_VALUES], period;
	KmtPprof__Profile part = KMT_PPROF__PROFILE__INIT;
	g_autoptr(GArray) comments = comments_of(output);
	guint i;

	for (i = 0; i < N_VALUES; i++) {
		set_type(output, &types[i], i);
		list[i] = &types[i];
	}
	set_type(output, &period, ALLOC_OBJECTS);
	part.n_sample_type = N_VALUES;
	part.sample_type = list;
	part.default_sample_type = types[INUSE_SPACE].type;
	part.period_type = &period;
	part.period = (gint64)MAX(report->capture->sample, 1);
	part.time_nanos = start_time(report);
	if (!report->aggregate->has_sequence_times)
		part.duration_nanos =
			(gint64)MIN(report->aggregate->span_ns, G_MAXINT64);
	part.n_comment = comments->len;
	part.comment = (int64_t *)comments->data;
	kmt_pprof_stream_add(output->stream, &part);
}

void kmt_report_pprof(const KmtReport *report, FILE *out)
{
	g_autoptr(KmtTable) table = kmt_report_table_new(report);
	g_autoptr(KmtPprofStream) stream = kmt_pprof_stream_new(out);
	g_autoptr(KmtPprofLocations) locations =
		kmt_pprof_locations_new(stream, report->symbolizer);
	g_autofree char *build_id =
		kmt_report_meta_value(report->capture, "build_id");
	KmtPprofOutput output = {report, stream, locations, FALSE};
	guint i;

	for (i = 0; i < table->n_rows; i++)
		add_sample(&output, table->rows[i]);
	kmt_pprof_locations_end(locations, build_id);
	add_header(&output);
	kmt_pprof_stream_end(stream);
}
