// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/deferred.h"

/* If the kind's live bytes reached a new peak since the last call, set at_peak
 * to the deferred bytes, which have not changed since that peak. Called before
 * each change of the deferred bytes, and at the end. */
static void save_peak(KmtDeferred *deferred, guint64 epoch)
{
	if (deferred->epoch == epoch)
		return;
	deferred->epoch = epoch;
	deferred->at_peak = deferred->bytes;
}

void kmt_deferred_begin(KmtDeferred *deferred, guint64 epoch, guint64 bytes)
{
	save_peak(deferred, epoch);
	deferred->bytes += bytes;
	deferred->objects++;
	deferred->peak = MAX(deferred->peak, deferred->bytes);
}

void kmt_deferred_end(KmtDeferred *deferred, guint64 epoch, guint64 bytes)
{
	save_peak(deferred, epoch);
	deferred->bytes -= bytes;
	deferred->objects--;
}

void kmt_deferred_free(KmtDeferred *deferred, guint64 time)
{
	deferred->frees++;
	kmt_histogram_add(&deferred->times, time, 1);
	deferred->time_max = MAX(deferred->time_max, time);
}

void kmt_deferred_age(KmtDeferred *deferred, guint64 age)
{
	kmt_histogram_add(&deferred->ages, age, 1);
	deferred->age_max = MAX(deferred->age_max, age);
}

void kmt_deferred_restart(KmtDeferred *deferred)
{
	deferred->peak = deferred->bytes;
}

void kmt_deferred_finish(KmtDeferred *deferred, guint64 epoch)
{
	save_peak(deferred, epoch);
}

static void add(guint64 *sum, guint64 value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = G_MAXUINT64;
}

void kmt_deferred_add(KmtDeferred *sum, const KmtDeferred *other)
{
	add(&sum->bytes, other->bytes);
	add(&sum->objects, other->objects);
	add(&sum->frees, other->frees);
}

void kmt_deferred_clear(KmtDeferred *deferred)
{
	kmt_histogram_clear(&deferred->times);
	kmt_histogram_clear(&deferred->ages);
}
