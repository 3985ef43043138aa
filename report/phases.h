/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The annotations of a capture, as moments of it that have a name, and as what
 * divides it into phases: one before the first mark, and one from each mark on.
 */
#ifndef KMEMTRACE_REPORT_PHASES_H
#define KMEMTRACE_REPORT_PHASES_H

#include "lib/symbols/symbolizer.h"
#include "lib/input/mark-reader.h"

typedef struct {
	KmtInputTables *tables;
	KmtInputMarks *marks;
	const KmtInputCapture *capture;
	const KmtSymbolizer *names;
	GArray *starts;	     /* of gint64: when each mark was, ns; in order */
	GPtrArray *names_of; /* of each mark, of char *: see below */
	GArray *ordinals;    /* of guint, likewise, from 1 */
} KmtPhases;

/* No file of capture may be a stream.  These must live as long. */
KmtPhases *kmt_phases_new(const KmtInputCapture *capture,
			  const KmtSymbolizer *names);
void kmt_phases_free(KmtPhases *phases);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtPhases, kmt_phases_free)

/* What mark i says, as kmt_input_mark_text(), to be shown on a terminal. */
char *kmt_phases_text(const KmtPhases *phases, guint i);

/*
 * What a mark is called: its name, of a line that user space wrote "marker:"
 * and the line; and behind it ":2" for the second that is called so.  Phase 0,
 * which is before all marks, is "(start)", phase n that of mark n - 1.
 */
char *kmt_phases_label(const KmtPhases *phases, guint64 phase);

/*
 * When a mark was: wanted is its label, or the name alone, which is then the
 * first one that is later than after.  "marker" is any line of user space.
 */
gboolean kmt_phases_find(const KmtPhases *phases, const char *wanted,
			 gint64 after, gint64 *time, GError **error);

/* Adds what is odd about the marks, of char *. */
void kmt_phases_warn(const KmtPhases *phases, GPtrArray *warnings);

#endif
