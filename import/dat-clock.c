// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "import/dat-clock.h"
#include "import/import.h"

/*
 * The trace clock "uptime" counts jiffies of USER_HZ, which is 100 on all
 * common machines.
 */
#define NS_PER_UPTIME_TICK G_GUINT64_CONSTANT(10000000)

static const char *const ns_clocks[] = {"local",    "global", "perf", "mono",
					"mono_raw", "boot",   "tai"};

static gboolean is_ns(const char *name)
{
	for (gsize i = 0; i < G_N_ELEMENTS(ns_clocks); i++)
		if (g_str_equal(name, ns_clocks[i]))
			return TRUE;
	return FALSE;
}

gboolean kmt_dat_clock_init(KmtDatClock *clock, const KmtDatFile *dat,
			    const char *name, GError **error)
{
	*clock = (KmtDatClock){name, 1, 0, dat->time_shift};
	/* The file contains the rate of TSC cycles if trace-cmd could determine
	 * the rate. */
	if (dat->tsc_mult && dat->tsc_shift < 64 &&
	    (!name || g_str_equal(name, "x86-tsc") ||
	     g_str_equal(name, "tsc2nsec"))) {
		clock->mult = dat->tsc_mult;
		clock->shift = (guint)dat->tsc_shift;
		return TRUE;
	}
	if (!name || is_ns(name))
		return TRUE;
	if (g_str_equal(name, "uptime")) {
		clock->mult = NS_PER_UPTIME_TICK;
		return TRUE;
	}
	g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
		    "its clock '%.32s' does not count nanoseconds, and the "
		    "file does not contain its rate: record again with "
		    "trace-cmd record -C mono",
		    name);
	return FALSE;
}
