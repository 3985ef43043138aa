/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures of deferred memory: memory whose free waits for a grace period.
 * docs/definitions.md defines the terms.
 */
#ifndef KMEMTRACE_REPORT_DEFERRED_H
#define KMEMTRACE_REPORT_DEFERRED_H

#include "report/histogram.h"

/* Figures of a group or a kind. Without a DEFER record, all are zero. */
typedef struct {
	guint64 bytes;	 /* allocated bytes of the deferred objects */
	guint64 objects; /* deferred objects */
	guint64 peak;	 /* largest value of bytes */
	guint64 at_peak; /* deferred bytes at the peak of the kind's live bytes
			  */
	guint64 epoch;	 /* while records are read: epoch of the kind to which
			  * at_peak belongs; see KmtCounters */
	guint64 frees;	 /* frees of deferred objects */
	KmtHistogram times; /* of each of these frees: time from the DEFER to
			     * the FREE, ns */
	guint64 time_max;
	KmtHistogram ages; /* of each object that is deferred at the end of the
			    * span: time since the DEFER, ns */
	guint64 age_max;
} KmtDeferred;

/*
 * Add or remove a deferred object of this many allocated bytes. epoch is that
 * of the kind.
 */
void kmt_deferred_begin(KmtDeferred *deferred, guint64 epoch, guint64 bytes);
void kmt_deferred_end(KmtDeferred *deferred, guint64 epoch, guint64 bytes);

/* Count the free of an object that was deferred for this time in ns. */
void kmt_deferred_free(KmtDeferred *deferred, guint64 time);
/* Count an object that is deferred at the end of the span. @age is the time
 * since its DEFER in ns. */
void kmt_deferred_age(KmtDeferred *deferred, guint64 age);

/* Restart the peak at the bytes that are deferred at the start of the span. The
 * caller has counted no free before. */
void kmt_deferred_restart(KmtDeferred *deferred);
/* Complete at_peak after the last record. epoch is that of the kind. */
void kmt_deferred_finish(KmtDeferred *deferred, guint64 epoch);

/* Add bytes, objects and frees of @other to @sum. A sum above G_MAXUINT64
 * becomes G_MAXUINT64. Peaks, times and ages are not added. */
void kmt_deferred_add(KmtDeferred *sum, const KmtDeferred *other);

/* Free the histograms. */
void kmt_deferred_clear(KmtDeferred *deferred);

#endif
