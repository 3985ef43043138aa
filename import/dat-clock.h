/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conversion of a trace.dat file's timestamps to nanoseconds. */
#ifndef KMEMTRACE_IMPORT_DAT_CLOCK_H
#define KMEMTRACE_IMPORT_DAT_CLOCK_H

#include "import/dat-file.h"
#include "lib/base/multiply.h"

/* ns = (time * mult >> shift) + offset */
typedef struct {
	const char *name; /* the kernel's trace clock, or NULL if unknown */
	guint64 mult;
	guint shift;
	gint64 offset;
} KmtDatClock;

/*
 * Prepare *clock for timestamps of dat. name is the trace clock in the kernel's
 * spelling and must outlive *clock; NULL selects TSC cycles if the file
 * contains their rate, otherwise nanoseconds. Returns FALSE and sets *error if
 * the clock does not measure time or the file does not contain its rate.
 */
gboolean kmt_dat_clock_init(KmtDatClock *clock, const KmtDatFile *dat,
			    const char *name, GError **error);

/*
 * Convert a timestamp to ns. The result saturates for damaged timestamps.
 * G_MININT64 and G_MAXINT64 are never returned, because the import uses them as
 * special values.
 */
static inline gint64 kmt_dat_clock_ns(const KmtDatClock *clock, guint64 time)
{
	guint64 high, ns = kmt_multiply(time, clock->mult, &high);
	gint64 sum;

	if (high >> clock->shift)
		ns = G_MAXUINT64;
	else if (clock->shift)
		ns = high << (64 - clock->shift) | ns >> clock->shift;
	ns = MIN(ns, (guint64)G_MAXINT64);

	if (__builtin_add_overflow((gint64)ns, clock->offset, &sum))
		sum = clock->offset < 0 ? G_MININT64 : G_MAXINT64;
	return CLAMP(sum, G_MININT64 + 1, G_MAXINT64 - 1);
}

#endif
