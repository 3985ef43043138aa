// SPDX-License-Identifier: GPL-2.0-or-later
/* Accounts for the objects whose free is deferred. */
#include "config.h"

#include "report/detailed-private.h"

/* The figures of a group, of its kind and, if the kind is kmalloc or cache, of
 * slab. epochs[i] is KmtCounters.epoch of the kind for figures[i]. */
typedef struct {
	KmtDeferred *figures[3];
	guint64 epochs[3];
	guint n;
} Targets;

static void add_kind(Targets *t, KmtAccounting *accounting, KmtKind kind)
{
	t->figures[t->n] = &accounting->aggregate->deferred[kind];
	t->epochs[t->n++] = accounting->kinds[kind].epoch;
}

/* Return the figures that include the objects of a class. */
static Targets targets_of(KmtAccounting *accounting, const KmtClassStats *stats)
{
	const KmtClassInfo *info = kmt_accounting_info(accounting, stats);
	Targets t = {.n = 1};

	t.figures[0] = kmt_groups_add_deferred(accounting->aggregate->groups,
					       info->group);
	t.epochs[0] = stats->counters->parent->epoch;
	add_kind(&t, accounting, (KmtKind)info->kind);
	if (kmt_kind_is_slab(info->kind))
		add_kind(&t, accounting, KMT_KIND_SLAB);
	return t;
}

static void begin(KmtAccounting *accounting, const KmtClassStats *stats)
{
	Targets t = targets_of(accounting, stats);
	guint i;

	for (i = 0; i < t.n; i++)
		kmt_deferred_begin(t.figures[i], t.epochs[i],
				   stats->bytes_alloc);
}

void kmt_detailed_defer(KmtAccounting *accounting, KmtClassStats *stats)
{
	/* With a lifetime filter, an object is counted only when it is freed
	 * or at the end of the span, when its lifetime is known. */
	if (accounting->options->filter->lifetime)
		return;
	kmt_detailed_touch(accounting, stats);
	if (accounting->aggregate->history)
		kmt_detailed_history_defer(accounting, stats, TRUE);
	begin(accounting, stats);
}

void kmt_detailed_close_deferred(KmtAccounting *accounting,
				 KmtClassStats *stats)
{
	Targets t;
	guint i;

	if (accounting->options->filter->lifetime)
		return;
	kmt_detailed_touch(accounting, stats);
	if (accounting->aggregate->history)
		kmt_detailed_history_defer(accounting, stats, FALSE);
	t = targets_of(accounting, stats);
	for (i = 0; i < t.n; i++)
		kmt_deferred_end(t.figures[i], t.epochs[i], stats->bytes_alloc);
}

static guint64 time_between(gint64 since, gint64 now)
{
	return now > since ? (guint64)now - (guint64)since : 0;
}

void kmt_detailed_free_deferred(KmtAccounting *accounting,
				const KmtClassStats *stats, gint64 since,
				gint64 now)
{
	Targets t = targets_of(accounting, stats);
	guint i;

	for (i = 0; i < t.n; i++)
		kmt_deferred_free(t.figures[i], time_between(since, now));
}

void kmt_detailed_deferred_at_end(KmtAccounting *accounting,
				  KmtClassStats *stats, gint64 since,
				  gint64 end)
{
	Targets t = targets_of(accounting, stats);
	guint i;

	if (accounting->options->filter->lifetime)
		begin(accounting, stats);
	for (i = 0; i < t.n; i++)
		kmt_deferred_age(t.figures[i], time_between(since, end));
}

static void count_at_end(gpointer user, const KmtMatchObject *object)
{
	KmtAccounting *accounting = user;
	KmtClassStats *stats =
		kmt_accounting_class(accounting, object->class_id);

	if (stats->counters)
		kmt_detailed_deferred_at_end(
			accounting, stats, object->defer.time,
			accounting->aggregate->last_timestamp);
}

void kmt_detailed_finish_deferred(KmtAccounting *accounting,
				  KmtMatchPipeline *pipeline)
{
	kmt_match_pipeline_foreach_deferred(pipeline, count_at_end, accounting);
}
