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

static inline gint64 dat_clock_ns(const DatClock *clock, guint64 time)
{
	guint64 ns = time;

	if (clock->mult != 1 || clock->shift)
		ns = (guint64)((__extension__(unsigned __int128) time *
				clock->mult) >>
			       clock->shift);
	return (gint64)(ns + (guint64)clock->offset);
}

#endif
