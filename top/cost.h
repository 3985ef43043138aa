/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processor time of kmemtrace-top and of kmemtraced. */
#ifndef KMEMTRACE_TOP_COST_H
#define KMEMTRACE_TOP_COST_H

#include <glib.h>

typedef struct {
	gint64 wall_ns;	  /* monotonic time of the measurement */
	gint64 own_ns;	  /* processor time of this process, all threads */
	gint64 daemon_ns; /* processor time of kmemtraced; 0: unknown */
} KmtTopCost;

void kmt_top_cost_measure(KmtTopCost *cost, gint64 daemon_ns);

/* Return the time between two measurements in percent of one CPU; negative:
 * unknown. The time of kmemtraced is that of interval_s seconds of the stream.
 */
double kmt_top_cost_own(const KmtTopCost *from, const KmtTopCost *to);
double kmt_top_cost_daemon(const KmtTopCost *from, const KmtTopCost *to,
			   double interval_s);

#endif
