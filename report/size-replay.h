/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replays the requests of kmalloc() against sets of sizes: the waste of each
 * set at every moment, and the slabs that its classes would hold. Waste alone
 * does not decide between two sets, because each further class has partly empty
 * slabs of its own.
 */
#ifndef KMEMTRACE_REPORT_SIZE_REPLAY_H
#define KMEMTRACE_REPORT_SIZE_REPLAY_H

#include "lib/slab/slab-geometry.h"
#include "report/replay.h"
#include "report/size-sets.h"

/* What a set costs, in bytes. Peaks and averages are those in the time of the
 * report. */
typedef struct {
	guint64 waste_at_peak; /* at the peak of the bytes of kmalloc() */
	guint64 waste_at_end;
	guint64 waste_largest; /* at any moment */
	double waste_average;
	guint64 slabs_at_peak; /* at the peak of the bytes of kmalloc() */
	guint64 slabs_at_end;
	guint64 slabs_largest; /* at any moment */
} KmtSizeResult;

/*
 * Replay with each set of an array of KmtSizeSet, and return the results, an
 * array of KmtSizeResult in the same order, which the caller frees. kernel has
 * the layout of the slabs.
 */
GArray *kmt_size_replay_run(const KmtReplayOptions *options,
			    const KmtSlabKernel *kernel, const GArray *sets);

#endif
