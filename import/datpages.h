/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pages of one CPU's ring buffer in a trace.dat file, each of them checked
 * before an event of it is used.
 *
 * A page is whole if its length fits, its events fill exactly this length, and
 * the rest of it is zero, as the kernel leaves it.  Its times are for
 * import/datorder.h to check.
 */
#ifndef KMEMTRACE_IMPORT_DATPAGES_H
#define KMEMTRACE_IMPORT_DATPAGES_H

#include "import/datfile.h"
#include "lib/tracepoints/ring-event.h"

/* The kernel lost events before a page, and the page does not say how many. */
#define DAT_MISSED_UNKNOWN G_MAXUINT64

typedef struct {
	gboolean whole;	   /* FALSE: one or more pages that are damaged */
	guint64 time;	   /* of the first event, by the clock of the file */
	guint64 last_time; /* of the last event */
	guint64 missed;	   /* events lost before the page */
	guint64 n_events;  /* in it */
	KmtTracepointCursor events; /* at the first one */
	guint8 *copy;		    /* of its bytes */
} DatPage;

/* Whether an event's data can be what its tracepoint's format describes. */
typedef gboolean (*DatEventFunc)(gconstpointer user, const guint8 *data,
				 gsize n_bytes);

typedef struct DatPages DatPages;

/* dat and buffer must live longer. */
DatPages *dat_pages_new(const DatFile *dat, const DatBuffer *buffer,
			const DatCpu *cpu, DatEventFunc is_whole,
			gconstpointer user);
void dat_pages_free(DatPages *pages);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DatPages, dat_pages_free)

/* The next page, valid until the next call; NULL at the end. */
const DatPage *dat_pages_next(DatPages *pages);

#endif
