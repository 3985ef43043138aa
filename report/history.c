// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/history.h"
#include "lib/base/hash.h"

#include <stdlib.h>
#include <string.h>

#define NO_GROUP G_MAXUINT32

KmtHistory *kmt_history_new(guint n_files)
{
	KmtHistory *history = g_new0(KmtHistory, 1);
	guint i;

	history->seed = kmt_hash_seed();
	history->block = MAX(1, (n_files + KMT_HISTORY_MAX_ROWS - 1) /
					KMT_HISTORY_MAX_ROWS);
	history->n_rows = (n_files + history->block - 1) / history->block;
	history->rows = g_new(guint8, MAX(1, n_files));
	for (i = 0; i < n_files; i++)
		history->rows[i] = (guint8)(i / history->block);
	history->matrix = g_new0(guint64, history->n_rows * history->n_rows);
	history->n_slots = 1024;
	history->pairs = g_new0(KmtHistoryPair, history->n_slots);
	for (i = 0; i < KMT_N_KINDS; i++)
		history->rest[i].kind = (guint8)i;
	return history;
}

static gboolean is_shared(const KmtHistory *history, const KmtSeries *series)
{
	return series >= history->rest && series < history->rest + KMT_N_KINDS;
}

void kmt_history_free(KmtHistory *history)
{
	guint32 i;

	if (!history)
		return;
	for (i = 0; i < history->n_series; i++) {
		KmtSeries *series = history->series[i];

		if (!series || is_shared(history, series))
			continue;
		kmt_series_clear(series);
		g_free(series);
	}
	for (i = 0; i < KMT_N_KINDS; i++) {
		kmt_series_clear(&history->rest[i]);
		kmt_series_clear(&history->free_records[i]);
	}
	g_free(history->series);
	g_free(history->classes);
	g_free(history->pairs);
	g_free(history->rows);
	g_free(history->matrix);
	g_free(history);
}

/* ---- classes ---- */

KmtHistoryClass *kmt_history_class(KmtHistory *history, guint32 class_id)
{
	guint32 n = MAX(1024, history->n_classes), i;

	if (G_LIKELY(class_id < history->n_classes))
		return &history->classes[class_id];
	while (n <= class_id)
		n += n / 4;
	history->classes = g_renew(KmtHistoryClass, history->classes, n);
	memset(history->classes + history->n_classes, 0,
	       (n - history->n_classes) * sizeof(KmtHistoryClass));
	for (i = history->n_classes; i < n; i++)
		history->classes[i].group = NO_GROUP;
	history->n_classes = n;
	return &history->classes[class_id];
}

/* ---- series ---- */

static int compare_u64(guint64 a, guint64 b)
{
	return a < b ? -1 : a > b;
}

static guint64 allocated(const KmtSeries *series)
{
	guint64 sum = 0;
	guint i;

	for (i = 0; i < series->n; i++)
		sum += series->entries[i].bytes_alloc;
	return sum;
}

/* Compare the series of two groups by live bytes, then by allocated bytes. */
static int compare_series(gconstpointer a, gconstpointer b, gpointer user)
{
	const KmtHistory *history = user;
	guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
	const KmtSeries *x = history->series[i], *y = history->series[j];
	int order = compare_u64(x->live, y->live);

	if (!order)
		order = compare_u64(allocated(x), allocated(y));
	return order ? order : compare_u64(i, j);
}

/* Let the half of the groups with the least memory share a series. */
static void share_half(KmtHistory *history)
{
	g_autofree guint32 *groups = g_new(guint32, history->n_series);
	guint32 n = 0, i;

	for (i = 0; i < history->n_series; i++)
		if (history->series[i] &&
		    !is_shared(history, history->series[i]))
			groups[n++] = i;
	g_qsort_with_data(groups, (gint)n, sizeof(*groups), compare_series,
			  history);
	for (i = 0; i < n / 2; i++) {
		KmtSeries *series = history->series[groups[i]];
		KmtSeries *rest = &history->rest[series->kind];

		history->n_entries -= series->capacity;
		kmt_series_add(rest, series, &history->timeline);
		kmt_series_clear(series);
		g_free(series);
		history->series[groups[i]] = rest;
		history->n_shared++;
	}
}

static KmtSeries *add_series(KmtHistory *history, guint32 group, guint8 kind)
{
	KmtSeries *series = g_new0(KmtSeries, 1);
	guint32 n = MAX(256, history->n_series);

	series->kind = kind;
	if (group >= history->n_series) {
		while (n <= group)
			n += n / 4;
		history->series = g_renew(KmtSeries *, history->series, n);
		memset(history->series + history->n_series, 0,
		       (n - history->n_series) * sizeof(KmtSeries *));
		history->n_series = n;
	}
	history->series[group] = series;
	return series;
}

static KmtSeries *series_of(KmtHistory *history, const KmtHistoryEvent *event)
{
	KmtSeries *series = event->group < history->n_series
				    ? history->series[event->group]
				    : NULL;

	return G_LIKELY(series != NULL)
		       ? series
		       : add_series(history, event->group, event->kind);
}

/* Return the entry of the current window in the series of a group. */
static KmtSeriesEntry *entry_of(KmtHistory *history, KmtSeries *series)
{
	guint16 capacity = series->capacity;
	KmtSeriesEntry *entry = kmt_series_entry(series, &history->timeline);

	if (G_UNLIKELY(series->capacity != capacity) &&
	    !is_shared(history, series))
		history->n_entries += series->capacity - capacity;
	return entry;
}

/* Store the state of a series in the entry of the current window. */
static void save_state(KmtHistory *history, KmtSeries *series, gboolean inside)
{
	KmtSeriesEntry *entry;

	if (!inside)
		return;
	entry = entry_of(history, series);
	entry->live = series->live;
	entry->deferred = series->deferred;
}

void kmt_history_limit(KmtHistory *history)
{
	if (G_UNLIKELY(kmt_history_is_full(history)))
		share_half(history);
}

KmtSeries *kmt_history_series(const KmtHistory *history, guint32 group)
{
	KmtSeries *series =
		group < history->n_series ? history->series[group] : NULL;

	return series && !is_shared(history, series) ? series : NULL;
}

/* ---- events ---- */

void kmt_history_enter(KmtHistory *history, const KmtHistoryEvent *event)
{
	KmtHistoryClass *class = kmt_history_class(history, event->class_id);
	KmtSeries *series = series_of(history, event);

	class->group = event->group;
	class->kind = event->kind;
	/* The first entry needs the live bytes before the event. */
	if (event->inside)
		entry_of(history, series);
}

void kmt_history_add(KmtHistory *history, const KmtHistoryEvent *event,
		     guint64 allocs, guint64 frees)
{
	KmtSeries *series = series_of(history, event);
	KmtSeriesEntry *entry =
		event->inside ? entry_of(history, series) : NULL;

	series->live += (allocs - frees) * event->bytes_alloc;
	if (!entry)
		return;
	history->classes[event->class_id].allocs += allocs;
	entry->live = series->live;
	entry->allocs += allocs;
	entry->frees += frees;
	entry->bytes_req += allocs * event->bytes_req;
	entry->bytes_alloc += allocs * event->bytes_alloc;
}

void kmt_history_alloc(KmtHistory *history, const KmtHistoryEvent *event)
{
	kmt_history_enter(history, event);
	kmt_history_change(&history->classes[event->class_id], event->epoch, 1);
	kmt_history_add(history, event, 1, 0);
	kmt_history_limit(history);
}

void kmt_history_close(KmtHistory *history, const KmtHistoryEvent *event)
{
	KmtSeries *series;

	kmt_history_enter(history, event);
	kmt_history_change(&history->classes[event->class_id], event->epoch,
			   -G_GUINT64_CONSTANT(1));
	series = series_of(history, event);
	series->live -= event->bytes_alloc;
	save_state(history, series, event->inside);
	kmt_history_limit(history);
}

void kmt_history_defer(KmtHistory *history, const KmtHistoryEvent *event,
		       gboolean begins)
{
	KmtSeries *series = series_of(history, event);

	if (event->inside)
		entry_of(history, series);
	series->deferred += begins ? event->bytes_alloc : -event->bytes_alloc;
	save_state(history, series, event->inside);
}

/* ---- frees ---- */

static guint64 hash_pair(const KmtHistory *history, guint32 group, guint64 site)
{
	return kmt_hash(kmt_hash(history->seed, group), site);
}

/* Return the slot of a pair, or the empty slot for it. */
static KmtHistoryPair *find_pair(const KmtHistory *history, guint32 group,
				 guint64 site)
{
	guint64 i = hash_pair(history, group, site);

	for (;; i++) {
		KmtHistoryPair *pair =
			&history->pairs[i & (history->n_slots - 1)];

		if (!pair->frees ||
		    (pair->site == site && pair->group == group))
			return pair;
	}
}

static void grow_pairs(KmtHistory *history)
{
	g_autofree KmtHistoryPair *old = history->pairs;
	guint32 n = history->n_slots, i;

	history->n_slots *= 2;
	history->pairs = g_new0(KmtHistoryPair, history->n_slots);
	for (i = 0; i < n; i++)
		if (old[i].frees)
			*find_pair(history, old[i].group, old[i].site) = old[i];
}

guint32 kmt_history_count_pair(KmtHistory *history, guint32 group, guint64 site)
{
	KmtHistoryPair *pair = find_pair(history, group, site);
	guint32 slot = (guint32)(pair - history->pairs);

	if (G_LIKELY(pair->frees)) {
		pair->frees++;
		return slot;
	}
	if (history->n_pairs == KMT_HISTORY_MAX_PAIRS) {
		history->unpaired++;
		return slot;
	}
	*pair = (KmtHistoryPair){site, 1, group};
	if (++history->n_pairs * 2 > history->n_slots)
		grow_pairs(history);
	return slot;
}

void kmt_history_free_object(KmtHistory *history, guint32 group, guint8 kind,
			     guint alloc_file, guint free_file, guint64 site)
{
	const KmtHistoryEvent event = {.group = group, .kind = kind};

	entry_of(history, series_of(history, &event))->frees++;
	kmt_history_count_free(history, group, alloc_file, free_file, site);
}

void kmt_history_free_records(KmtHistory *history, const guint64 *numbers)
{
	guint i;

	for (i = 0; i < KMT_N_KINDS; i++) {
		guint64 n = numbers[i] - history->n_free_records[i];

		history->n_free_records[i] = numbers[i];
		if (n)
			kmt_series_entry(&history->free_records[i],
					 &history->timeline)
				->frees += n;
	}
}

/* ---- the span ---- */

void kmt_history_begin(KmtHistory *history, gint64 start)
{
	kmt_timeline_begin(&history->timeline, start);
}

/* Refer all series to the width of the timeline. */
static void fold_all(KmtHistory *history)
{
	guint32 i;

	for (i = 0; i < history->n_series; i++)
		if (history->series[i])
			kmt_series_fold(history->series[i], &history->timeline);
	for (i = 0; i < KMT_N_KINDS; i++) {
		kmt_series_fold(&history->rest[i], &history->timeline);
		kmt_series_fold(&history->free_records[i], &history->timeline);
	}
}

void kmt_history_double(KmtHistory *history)
{
	kmt_timeline_double(&history->timeline);
	fold_all(history);
}

void kmt_history_finish(KmtHistory *history, const guint64 *epochs)
{
	guint32 i;

	for (i = 0; i < history->n_classes; i++) {
		KmtHistoryClass *class = &history->classes[i];

		if (class->epoch != epochs[class->kind])
			class->at_peak = class->live;
	}
	fold_all(history);
}
