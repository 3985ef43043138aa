// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/field.h"

/*
 * The data that a field is computed from. @group is NULL for a sum of groups.
 * @group and @totals are NULL in kmt_report_field_deferred().
 */
typedef struct {
	const KmtAggregate *aggregate;
	const KmtTotals *totals;
	const KmtGroup *group;
	const KmtDeferred *deferred; /* never NULL */
} FieldInput;

struct KmtReportField {
	const char *name;
	const char *title;
	KmtFigure (*get)(const FieldInput *s);
	/* Whether kmt_report_field_sum() computes the field of a sum of groups,
	 * such as the line of the groups that --lines omits. */
	gboolean sums;
	gboolean lifetimes; /* see kmt_report_field_needs_lifetimes() */
	gboolean state;	    /* see kmt_report_field_is_state() */
};

static KmtFigure integer(guint64 value)
{
	return (KmtFigure){.type = KMT_FIGURE_INTEGER, .integer = value};
}

static KmtFigure ns(guint64 value)
{
	return (KmtFigure){.type = KMT_FIGURE_NS, .integer = value};
}

static KmtFigure none(void)
{
	return (KmtFigure){.type = KMT_FIGURE_NONE};
}

#define GET_TOTAL(member)                                                      \
	static KmtFigure get_##member(const FieldInput *s)                     \
	{                                                                      \
		return integer(s->totals->member);                             \
	}

GET_TOTAL(allocs)
GET_TOTAL(frees)
GET_TOTAL(bytes_req)
GET_TOTAL(bytes_alloc)
GET_TOTAL(cross_cpu_frees)
GET_TOTAL(remote_node_allocs)
GET_TOTAL(live_objects)
GET_TOTAL(live_bytes_req)
GET_TOTAL(live_bytes_alloc)

/* Return the number of objects that were allocated but are neither freed nor
 * live, because their address was allocated again. If the figures begin after
 * the first record, the number is unknown: objects allocated before that time
 * count in frees and live_objects, but not in allocs. */
static KmtFigure get_reused(const FieldInput *s)
{
	const KmtTotals *t = s->totals;
	guint64 known;

	/* If scaling saturated a figure, the sum may overflow or exceed allocs.
	 */
	if (s->aggregate->groups->options.filter->starts_later ||
	    __builtin_add_overflow(t->frees, t->live_objects, &known) ||
	    t->allocs < known)
		return none();
	return integer(t->allocs - known);
}

static KmtFigure waste(KmtWaste w)
{
	KmtFigure figure = integer(w.bytes);

	figure.negative = w.negative;
	return figure;
}

static KmtFigure get_wasted(const FieldInput *s)
{
	return waste(kmt_totals_wasted(s->totals));
}

static KmtFigure get_fragmentation(const FieldInput *s)
{
	return (KmtFigure){.type = KMT_FIGURE_RATIO,
			   .real = kmt_totals_fragmentation(s->totals)};
}

static KmtTotals live_totals(const FieldInput *s)
{
	return (KmtTotals){.bytes_req = s->totals->live_bytes_req,
			   .bytes_alloc = s->totals->live_bytes_alloc};
}

static KmtFigure get_live_wasted(const FieldInput *s)
{
	KmtTotals live = live_totals(s);

	return waste(kmt_totals_wasted(&live));
}

static KmtFigure get_live_fragmentation(const FieldInput *s)
{
	KmtTotals live = live_totals(s);

	return (KmtFigure){.type = KMT_FIGURE_RATIO,
			   .real = kmt_totals_fragmentation(&live)};
}

static KmtFigure get_peak_time(const FieldInput *s)
{
	if (!s->totals->peak_bytes_alloc ||
	    (s->aggregate &&
	     (s->aggregate->has_sequence_times || !s->aggregate->has_peaks)))
		return none();
	return (KmtFigure){.type = KMT_FIGURE_TIME,
			   .integer = (guint64)s->totals->peak_timestamp};
}

static KmtFigure get_peak(const FieldInput *s)
{
	return s->aggregate->has_peaks ? integer(s->totals->peak_bytes_alloc)
				       : none();
}

static KmtFigure get_at_peak(const FieldInput *s)
{
	return s->aggregate->has_peaks ? integer(s->group->at_peak) : none();
}

static KmtFigure percentile(const KmtHistogram *h, guint percent)
{
	return h->n ? ns(kmt_histogram_percentile(h, percent)) : none();
}

static KmtFigure get_median(const FieldInput *s)
{
	return percentile(&s->group->detail->lifetimes, 50);
}

static KmtFigure get_p99(const FieldInput *s)
{
	return percentile(&s->group->detail->lifetimes, 99);
}

static KmtFigure get_age(const FieldInput *s)
{
	return percentile(&s->group->detail->ages, 50);
}

static KmtFigure get_churn(const FieldInput *s)
{
	guint64 length = s->aggregate->span_ns;

	if (!length)
		return none();
	return (KmtFigure){.type = KMT_FIGURE_RATE,
			   .real = (double)s->group->detail->short_lived * 1e9 /
				   (double)length};
}

#define GET_DEFERRED(member)                                                   \
	static KmtFigure get_deferred_##member(const FieldInput *s)            \
	{                                                                      \
		return integer(s->deferred->member);                           \
	}

GET_DEFERRED(bytes)
GET_DEFERRED(objects)
GET_DEFERRED(frees)

static KmtFigure get_deferred_peak(const FieldInput *s)
{
	return s->aggregate->has_peaks ? integer(s->deferred->peak) : none();
}

static KmtFigure get_deferred_at_peak(const FieldInput *s)
{
	return s->aggregate->has_peaks ? integer(s->deferred->at_peak) : none();
}

static KmtFigure get_deferred_median(const FieldInput *s)
{
	return percentile(&s->deferred->times, 50);
}

static KmtFigure get_deferred_p99(const FieldInput *s)
{
	return percentile(&s->deferred->times, 99);
}

static KmtFigure get_deferred_max(const FieldInput *s)
{
	return s->deferred->times.n ? ns(s->deferred->time_max) : none();
}

static KmtFigure get_deferred_age(const FieldInput *s)
{
	return percentile(&s->deferred->ages, 50);
}

static KmtFigure get_deferred_age_max(const FieldInput *s)
{
	return s->deferred->ages.n ? ns(s->deferred->age_max) : none();
}

static const KmtReportField fields[] = {
	{"wasted", "wasted", get_wasted, TRUE, FALSE, FALSE},
	{"frag", "frag%", get_fragmentation, TRUE, FALSE, FALSE},
	{"requested", "requested", get_bytes_req, TRUE, FALSE, FALSE},
	{"allocated", "allocated", get_bytes_alloc, TRUE, FALSE, FALSE},
	{"allocs", "allocs", get_allocs, TRUE, FALSE, FALSE},
	{"frees", "frees", get_frees, TRUE, FALSE, FALSE},
	{"live", "live", get_live_bytes_alloc, TRUE, FALSE, TRUE},
	{"live-objects", "objects", get_live_objects, TRUE, FALSE, TRUE},
	{"live-requested", "live req", get_live_bytes_req, TRUE, FALSE, TRUE},
	{"live-wasted", "live waste", get_live_wasted, TRUE, FALSE, TRUE},
	{"live-frag", "live frag%", get_live_fragmentation, TRUE, FALSE, TRUE},
	{"reused", "reused", get_reused, TRUE, FALSE, TRUE},
	{"peak", "peak", get_peak, FALSE, FALSE, TRUE},
	{"peak-time", "peak at", get_peak_time, FALSE, FALSE, TRUE},
	{"at-peak", "at peak", get_at_peak, FALSE, FALSE, TRUE},
	{"cross-cpu", "cross-CPU", get_cross_cpu_frees, TRUE, FALSE, FALSE},
	{"remote-node", "remote", get_remote_node_allocs, TRUE, FALSE, FALSE},
	{"lifetime-median", "median life", get_median, FALSE, TRUE, FALSE},
	{"lifetime-p99", "99% life", get_p99, FALSE, TRUE, FALSE},
	{"age-median", "median age", get_age, FALSE, TRUE, TRUE},
	{"churn", "churn/s", get_churn, FALSE, TRUE, FALSE},
	{"deferred", "deferred", get_deferred_bytes, TRUE, FALSE, TRUE},
	{"deferred-objects", "def objects", get_deferred_objects, TRUE, FALSE,
	 TRUE},
	{"deferred-peak", "def peak", get_deferred_peak, FALSE, FALSE, TRUE},
	{"deferred-at-peak", "def at peak", get_deferred_at_peak, FALSE, FALSE,
	 TRUE},
	{"deferred-frees", "def frees", get_deferred_frees, TRUE, FALSE, FALSE},
	{"deferred-median", "median def", get_deferred_median, FALSE, FALSE,
	 FALSE},
	{"deferred-p99", "99% def", get_deferred_p99, FALSE, FALSE, FALSE},
	{"deferred-max", "max def", get_deferred_max, FALSE, FALSE, FALSE},
	{"deferred-age-median", "median def age", get_deferred_age, FALSE,
	 FALSE, TRUE},
	{"deferred-age-max", "max def age", get_deferred_age_max, FALSE, FALSE,
	 TRUE},
};

/* Fields that count neither bytes, objects nor events. Fields that need
 * lifetimes are not listed here: none of them is a count either. */
static KmtFigure (*const not_counts[])(const FieldInput *s) = {
	get_fragmentation,   get_live_fragmentation, get_peak_time,
	get_deferred_median, get_deferred_p99,	     get_deferred_max,
	get_deferred_age,    get_deferred_age_max,
};

/* Other names of fields that users of older tools type. */
static const struct {
	const char *alias;
	const char *name;
} aliases[] = {
	{"bytes", "allocated"},
	{"hit", "allocs"},
	{"pingpong", "cross-cpu"},
};

/*
 * Return whether @typed equals @name, ignoring case. @typed may omit "%" and
 * have "-" in place of a blank.
 */
static gboolean matches_name(const char *name, const char *typed)
{
	for (; *name; name++) {
		if (*name == '%' && *typed != '%')
			continue;
		if (g_ascii_tolower(*name) != g_ascii_tolower(*typed) &&
		    !(*name == ' ' && *typed == '-'))
			return FALSE;
		typed++;
	}
	return !*typed;
}

const KmtReportField *kmt_report_field_find(const char *name)
{
	guint i;

	for (i = 0; i < G_N_ELEMENTS(aliases); i++)
		if (matches_name(aliases[i].alias, name))
			name = aliases[i].name;
	/* No title equals the name of another field, so one loop can compare
	 * both. */
	for (i = 0; i < G_N_ELEMENTS(fields); i++)
		if (matches_name(fields[i].name, name) ||
		    matches_name(fields[i].title, name))
			return &fields[i];
	return NULL;
}

const char *kmt_report_field_name(const KmtReportField *field)
{
	return field->name;
}

const char *kmt_report_field_title(const KmtReportField *field)
{
	return field->title;
}

gboolean kmt_report_field_needs_lifetimes(const KmtReportField *field)
{
	return field->lifetimes;
}

gboolean kmt_report_field_is_state(const KmtReportField *field)
{
	return field->state;
}

gboolean kmt_report_field_is_scaled(const KmtReportField *field)
{
	return kmt_report_field_is_count(field) || field->get == get_churn;
}

gboolean kmt_report_field_is_count(const KmtReportField *field)
{
	guint i;

	for (i = 0; i < G_N_ELEMENTS(not_counts); i++)
		if (field->get == not_counts[i])
			return FALSE;
	return !field->lifetimes;
}

gboolean kmt_report_field_has_sum(const KmtReportField *field)
{
	return field->sums && kmt_report_field_is_count(field);
}

char *kmt_report_field_names(void)
{
	GString *names = g_string_new(NULL);
	guint i;

	for (i = 0; i < G_N_ELEMENTS(fields); i++)
		g_string_append_printf(names, "%s%s", i ? ", " : "",
				       fields[i].name);
	return g_string_free(names, FALSE);
}

GPtrArray *kmt_fields_parse(const char *text, GError **error)
{
	g_auto(GStrv) words = g_strsplit(*text ? text : ",", ",", -1);
	g_autoptr(GPtrArray) list = g_ptr_array_new();
	guint i;

	for (i = 0; words[i]; i++) {
		const KmtReportField *field = kmt_report_field_find(words[i]);
		g_autofree char *names = NULL;

		if (field) {
			g_ptr_array_add(list, (gpointer)field);
			continue;
		}
		names = kmt_report_field_names();
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "--fields '%s': the fields are %s", words[i],
			    names);
		return NULL;
	}
	return g_steal_pointer(&list);
}

KmtFigure kmt_report_field_get(const KmtReportField *field,
			       const KmtAggregate *aggregate,
			       const KmtGroup *group)
{
	static const KmtDeferred no_deferred;
	FieldInput s = {aggregate, &group->totals, group,
			group->deferred ? group->deferred : &no_deferred};

	return field->lifetimes && !group->detail ? none() : field->get(&s);
}

KmtFigure kmt_report_field_sum(const KmtReportField *field,
			       const KmtAggregate *aggregate,
			       const KmtTotals *sum,
			       const KmtDeferred *deferred)
{
	FieldInput s = {aggregate, sum, NULL, deferred};

	return field->sums ? field->get(&s) : none();
}

KmtFigure kmt_report_field_kind(const KmtReportField *field,
				const KmtAggregate *aggregate, KmtKind kind)
{
	FieldInput s = {aggregate, &aggregate->kinds[kind], NULL,
			&aggregate->deferred[kind]};

	/* The functions of these fields need a group. */
	return field->lifetimes || field->get == get_at_peak ? none()
							     : field->get(&s);
}

KmtFigure kmt_report_field_deferred(const KmtReportField *field,
				    const KmtAggregate *aggregate,
				    const KmtDeferred *deferred)
{
	FieldInput s = {aggregate, NULL, NULL, deferred};

	return field->get(&s);
}

int kmt_figure_compare(const KmtFigure *a, const KmtFigure *b)
{
	gint64 x, y;

	if (a->type == KMT_FIGURE_NONE || b->type == KMT_FIGURE_NONE)
		return (a->type != KMT_FIGURE_NONE) -
		       (b->type != KMT_FIGURE_NONE);
	if (a->type == KMT_FIGURE_RATIO || a->type == KMT_FIGURE_RATE)
		return a->real < b->real ? -1 : a->real > b->real;
	if (a->type == KMT_FIGURE_TIME) {
		x = (gint64)a->integer;
		y = (gint64)b->integer;
		return x < y ? -1 : x > y;
	}
	return kmt_waste_compare((KmtWaste){a->negative, a->integer},
				 (KmtWaste){b->negative, b->integer});
}
