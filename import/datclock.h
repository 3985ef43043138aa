/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times of a trace.dat in nanoseconds, whatever clock was selected. */
#ifndef KMEMTRACE_IMPORT_DATCLOCK_H
#define KMEMTRACE_IMPORT_DATCLOCK_H

#include "import/datfile.h"

/* ns = (time * mult >> shift) + offset */
typedef struct {
	const char *name; /* of the kernel's clock, or NULL */
	guint64 mult;
	guint shift;
	gint64 offset;
} DatClock;

/*
 * name as trace_clock has it; NULL: nanoseconds.  FALSE and an error: the clock
 * does not measure time, or the file does not say how.
 */
gboolean dat_clock_init(DatClock *clock, const DatFile *dat, const char *name,
			GError **error);

/* Damaged times saturate; the extreme values of gint64 have other meanings. */
static inline gint64 dat_clock_ns(const DatClock *clock, guint64 time)
{
	__extension__ unsigned __int128 product =
		(unsigned __int128)time * clock->mult;
	guint64 ns = MIN(product >> clock->shift, (guint64)G_MAXINT64);
	gint64 sum;

	if (__builtin_add_overflow((gint64)ns, clock->offset, &sum))
		sum = clock->offset < 0 ? G_MININT64 : G_MAXINT64;
	return CLAMP(sum, G_MININT64 + 1, G_MAXINT64 - 1);
}

#endif
