/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Iterator over the ring buffer pages of one CPU in a trace.dat file. Each page
 * is validated before its events are used.
 *
 * A page is intact if its length is valid, its events fill exactly this length,
 * each event has all fields of its format, and the rest of the page is zero,
 * because the kernel clears the rest. The number of events that were lost
 * before the page may precede the zeros. import/dat-page-order.h checks the
 * timestamps.
 */
#ifndef KMEMTRACE_IMPORT_DAT_PAGES_H
#define KMEMTRACE_IMPORT_DAT_PAGES_H

#include "import/dat-file.h"
#include "lib/tracepoints/ring-event.h"

/*
 * Value of KmtDatPage.missed: the kernel lost an unknown number of events
 * before a page.
 */
#define KMT_DAT_MISSED_UNKNOWN G_MAXUINT64

/*
 * A page of the ring buffer. If intact is FALSE, the fields from time to events
 * are not valid.
 */
typedef struct {
	gboolean intact;   /* FALSE: damage of this page, or of a compressed
			    * chunk of several pages */
	guint64 time;	   /* time of the first event, in the file's clock */
	guint64 last_time; /* time of the last event, in the file's clock */
	guint64 missed;	   /* number of events lost before the page, or
			    * KMT_DAT_MISSED_UNKNOWN */
	guint64 n_events;  /* number of events in the page */
	KmtTracepointCursor events; /* positioned at the first event */
	guint8 *copy;		    /* copy of the page, owned */
} KmtDatPage;

/*
 * Return whether an event of n_bytes is long enough for the format of its
 * tracepoint.
 */
typedef gboolean (*KmtDatEventFunc)(gconstpointer user, const guint8 *data,
				    gsize n_bytes);

typedef struct KmtDatPages KmtDatPages;

/*
 * Create an iterator; free it with kmt_dat_pages_free(). dat and buffer must
 * outlive the iterator. is_complete receives user.
 */
KmtDatPages *kmt_dat_pages_new(const KmtDatFile *dat,
			       const KmtDatBuffer *buffer, const KmtDatCpu *cpu,
			       KmtDatEventFunc is_complete, gconstpointer user);
void kmt_dat_pages_free(KmtDatPages *pages);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtDatPages, kmt_dat_pages_free)

/*
 * Return the next page, which is valid until the next call, or NULL at the end.
 */
const KmtDatPage *kmt_dat_pages_next(KmtDatPages *pages);

#endif
