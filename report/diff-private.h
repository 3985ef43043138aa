/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data of a comparison while its captures are read and matched. */
#ifndef KMEMTRACE_REPORT_DIFF_PRIVATE_H
#define KMEMTRACE_REPORT_DIFF_PRIVATE_H

#include "report/diff-location.h"

/* A group of one capture. */
typedef struct {
	guint capture; /* index in KmtDiff.captures */
	KmtKind kind;
	gboolean holds_objects; /* see KmtDiffLine */
	KmtKind objects;
	gboolean is_leak; /* a leak candidate */
	guint n;	  /* number of dimensions */
	const char *
		*texts; /* one for each dimension; equal texts of a
			 * dimension without locations are the same string */
	/* For each dimension a member of its KmtDiffLocations, or NULL. */
	const KmtDiffLocation **locations;
	KmtFigure *figures;   /* one for each field, divided by --per */
	KmtDiffTraits traits; /* figures of the group */
} KmtDiffRow;

/* The rows of all captures that were read. */
typedef struct {
	KmtDiff *diff;
	GArray *rows; /* KmtDiffRow */
	/* For each dimension of --by its locations, or NULL. */
	KmtDiffLocations *locations[KMT_N_DIMENSIONS];
	/* char *: build ID or boot ID. A capture without both has an entry of
	 * its own, NULL. */
	GPtrArray *builds;
	/* For each capture and field, the figure of a line that the capture
	 * does not have. */
	GPtrArray *absent; /* KmtFigure[], one for each field */
	KmtArena *arena;   /* the figures */
	GString *text;	   /* a buffer */
} KmtDiffRows;

/* Create the rows of @diff, which must outlive them. */
KmtDiffRows *kmt_diff_rows_new(KmtDiff *diff);
void kmt_diff_rows_free(KmtDiffRows *rows);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtDiffRows, kmt_diff_rows_free)

/* Set the text and, if the dimension has locations, the location of value @i of
 * a group of @build. */
void kmt_diff_rows_add_value(KmtDiffRows *rows, const KmtReport *report,
			     const KmtGroup *group, guint i, guint build,
			     KmtDiffRow *row);

/*
 * Add the groups of the capture that @report has read, and its description to
 * diff->captures. @path names the capture. Return FALSE if --per has no divisor
 * for this capture.
 */
gboolean kmt_diff_rows_add(KmtDiffRows *rows, const KmtCaptureReport *report,
			   const char *path, GError **error);

typedef struct KmtDiffLineState KmtDiffLineState;

/* A line and the data that matches it. */
struct KmtDiffLineState {
	KmtDiffLine line;   /* the first member */
	KmtFigure *values;  /* for each field the values in all captures */
	guint next_capture; /* number of the last capture that has the line,
			     * plus 1 */
	KmtDiffLineState *next_equal; /* the next line with an equal key */
	KmtDiffTraits base, new;      /* of the captures of each side */
};

/* Combine the rows of all captures to lines, and set diff->lines. */
void kmt_diff_match_rows(KmtDiffRows *rows);

/* Set the guesses of the removed and added lines in diff->lines, whose elements
 * are KmtDiffLineState. */
void kmt_diff_guess(KmtDiff *diff);

/* Collect the warnings of all captures in diff->warnings, and warn about
 * captures that are hardly comparable. */
void kmt_diff_add_warnings(KmtDiff *diff);

/* Set the cells of all lines and kinds from their values. */
void kmt_diff_compute_cells(KmtDiff *diff);

#endif
