// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/cost.h"

#include <time.h>

static gint64 clock_ns(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t) < 0)
		return 0;
	return (gint64)t.tv_sec * 1000000000 + t.tv_nsec;
}

void kmt_top_cost_measure(KmtTopCost *cost, gint64 daemon_ns)
{
	cost->wall_ns = clock_ns(CLOCK_MONOTONIC);
	cost->own_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	cost->daemon_ns = daemon_ns;
}

double kmt_top_cost_own(const KmtTopCost *from, const KmtTopCost *to)
{
	double wall = (double)(to->wall_ns - from->wall_ns);

	return wall > 0 ? 100 * (double)(to->own_ns - from->own_ns) / wall : -1;
}

double kmt_top_cost_daemon(const KmtTopCost *from, const KmtTopCost *to,
			   double interval_s)
{
	double used = (double)to->daemon_ns - (double)from->daemon_ns;

	if (!to->daemon_ns || !(interval_s > 0) || used < 0)
		return -1;
	return 100 * used / (interval_s * 1e9);
}
