/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Annotations (marks) of a capture. Marks are named moments and divide the
 * capture into phases: phase 0 lasts to the first mark, which is mark 0, and
 * phase n from mark (n - 1) to mark n.
 */
#ifndef KMEMTRACE_REPORT_PHASES_H
#define KMEMTRACE_REPORT_PHASES_H

#include "lib/symbols/symbolizer.h"
#include "lib/input/mark-reader.h"

/* The marks of a capture in order of time. */
typedef struct {
	KmtInputTables *tables;
	KmtInputMarks *marks;
	const KmtInputCapture *capture;
	const KmtSymbolizer *symbolizer;
	GArray *starts;	       /* gint64: time of each mark, ns, ascending */
	GPtrArray *mark_names; /* char *: name of each mark */
	GArray *ordinals;      /* guint: rank among marks of one name, from 1 */
} KmtPhases;

/*
 * Read the marks, up to the limits in lib/input/mark-reader.h. No file of
 * @capture may be a stream. @capture and @symbolizer must outlive the phases.
 * The caller frees the result.
 */
KmtPhases *kmt_phases_new(const KmtInputCapture *capture,
			  const KmtSymbolizer *symbolizer);
void kmt_phases_free(KmtPhases *phases);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtPhases, kmt_phases_free)

/*
 * Return the text of mark @i as kmt_input_mark_text() formats it, made
 * printable. The caller frees the string.
 */
char *kmt_phases_text(const KmtPhases *phases, guint i);

/*
 * Return the label of a phase. Phase 0 is "(start)"; phase n has the label of
 * mark n - 1. The label of a mark is its name; for a line that user space
 * wrote, "marker:" and the line. The second mark of the same name gets the
 * suffix ":2". The caller frees the string.
 */
char *kmt_phases_label(const KmtPhases *phases, guint64 phase);

/*
 * Set *time to the time of mark @wanted, in ns. @wanted is a name, which
 * selects the first mark of that name later than @after, or a name with the
 * suffix ":N", which selects mark number N of that name at any time. The name
 * "marker" matches any line of user space. Return FALSE if there is no such
 * mark; the error lists names.
 */
gboolean kmt_phases_find(const KmtPhases *phases, const char *wanted,
			 gint64 after, gint64 *time, GError **error);

/*
 * Return the number of marks of this name from @from on and before @until, in
 * ns. @wanted is a name as for kmt_phases_find(), without the suffix ":N".
 */
guint64 kmt_phases_count(const KmtPhases *phases, const char *wanted,
			 gint64 from, gint64 until);

/* Append warnings (char *) about the marks to @warnings. */
void kmt_phases_warn(const KmtPhases *phases, GPtrArray *warnings);

#endif
