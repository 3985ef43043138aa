/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparison of captures: the base side against the new side, with one or more
 * captures on each side. The captures are read one after the other, and only
 * the figures of their groups stay in memory.
 *
 * A line is a group in all captures. Groups match by kind and by the texts of
 * their values. Call sites and stacks match across builds: see diff-location.h.
 * docs/definitions.md defines the terms.
 */
#ifndef KMEMTRACE_REPORT_DIFF_H
#define KMEMTRACE_REPORT_DIFF_H

#include <sys/stat.h>

#include "report/arena.h"
#include "report/capture-report.h"
#include "report/diff-noise.h"

/* A function in a call site or in a stack. The KmtDiff owns the strings. */
typedef struct {
	/* NULL: the function is unknown, and @position is the address. */
	const char *function;
	const char *module; /* NULL: the kernel itself */
	/* Offset of the return address from the start of the function; the
	 * source line if the symbol comes from an allocation tag. */
	guint64 position;
	const char *source; /* "mm/slab.c:123", or NULL */
} KmtDiffFrame;

/* The value of the dimension callsite, stack, function or owner. A function or
 * an owner has the position 0. */
typedef struct {
	guint n;		    /* number of frames; 1 for a call site */
	const KmtDiffFrame *frames; /* the innermost function first */
	const char *text;	    /* as the report prints the value */
} KmtDiffLocation;

/* How a line was found in both sides. */
typedef enum {
	/* The values of the dimensions are equal, and call sites have the same
	 * offset in the same build. */
	KMT_DIFF_SAME,
	/* A call site or stack of another build, matched by the names of the
	 * functions and by the order of the call sites within each function, or
	 * a function whose name has another suffix of the compiler. */
	KMT_DIFF_ALIGNED,
	KMT_DIFF_REMOVED, /* no capture of the new side has the line */
	KMT_DIFF_ADDED,	  /* no capture of the base side has the line */
} KmtDiffMatch;

/* Return "same", "aligned", "removed" or "added". */
const char *kmt_diff_match_name(KmtDiffMatch match);

/* A field of a line in all captures. */
typedef struct {
	/* For each capture, in the order of KmtDiff.captures, the figure after
	 * the division by --per. If the capture does not have the line, a field
	 * that counts is 0, and any other field is NONE. */
	const KmtFigure *values;
	/* Median of each side; NONE if all values of the side are NONE. */
	KmtFigure base, new;
	double base_spread, new_spread; /* see kmt_noise_spread() */
	KmtFigure difference;		/* new - base; exact for integers */
	/* new / base; NAN if either is NONE or base is 0. */
	double ratio;
	KmtNoise noise;
	double p; /* two-sided p-value; NAN if noise is UNKNOWN */
	/* Missing events in a capture of the side could have changed this
	 * figure. */
	gboolean doubtful_base, doubtful_new;
} KmtDiffCell;

typedef struct KmtDiffLine KmtDiffLine;

/* A group in all captures, or the sum of several groups. */
struct KmtDiffLine {
	KmtKind kind;
	KmtDiffMatch match;
	/* For each dimension the value as text in the side that has the line;
	 * the new side if both have it. NULL in a sum. */
	const char *const *texts;
	/* For each dimension the value on each side; NULL if the dimension is
	 * none of callsite, stack, function and owner, or the side does not
	 * have the line. */
	const KmtDiffLocation *const *base_locations, *const *new_locations;
	/* For each dimension the text on the base side; equal to @texts unless
	 * the match is ALIGNED. */
	const char *const *base_texts;
	/* The line is memory in which an allocator keeps objects of the kind
	 * @objects: see allocator-memory.h. */
	gboolean holds_objects;
	KmtKind objects;
	/* A line of the other side that may be the same code: an ADDED line for
	 * a REMOVED one, and the reverse. This is a guess, so the figures of
	 * both lines stay separate. NULL: none. */
	const KmtDiffLine *guess;
	const char *guess_reason; /* static; NULL without a guess */
	KmtDiffCell *cells;	  /* one for each of KmtDiff.fields */
	/* Number of captures of each side in which the line is a leak
	 * candidate; 0 unless the plan has the windows of --leaks. */
	guint base_leaks, new_leaks;
};

/* A capture of a comparison. */
typedef struct {
	char *path;	     /* as the user named the capture */
	char *release;	     /* kernel_release of kmemtrace.meta, or NULL */
	char *build_id;	     /* of the kernel, or NULL */
	GKeyFile *meta;	     /* kmemtrace.meta, or NULL */
	guint cpus;	     /* number of CPU files */
	guint64 sample;	     /* factor of the sample; 1: all events */
	guint64 span_ns;     /* length of the time of the figures */
	guint64 occurrences; /* of the mark of --per in this time, else 0 */
	KmtLoss loss;
	guint64 lost;	   /* events lost in the time of the figures, or at an
			    * unknown time */
	gboolean is_lossy; /* see kmt_report_is_lossy() */
	gboolean is_incomplete;	  /* see KmtInputCapture.incomplete */
	gboolean has_blind_spots; /* see KmtInputCapture.has_blind_spots */
	guint frees_not_recorded; /* see KmtInputCapture */
	gboolean *doubtful;	  /* for each field: kmt_report_is_doubtful() */
	gboolean kinds[KMT_N_KINDS]; /* kinds that the capture can have */
	/* Groups whose call site or stack has an unknown function. Such a group
	 * matches only within the same build. */
	guint unnamed;
	GPtrArray *warnings; /* char *: the warnings of its report */
} KmtDiffCapture;

/* Return the value of a key of kmemtrace.meta, or NULL. The caller frees the
 * string. */
static inline char *kmt_diff_capture_value(const KmtDiffCapture *capture,
					   const char *key)
{
	return capture->meta ? g_key_file_get_string(capture->meta, "capture",
						     key, NULL)
			     : NULL;
}

/* A comparison. */
typedef struct {
	const KmtPlan *plan;	 /* its options; not owned */
	const KmtBy *by;	 /* of the plan */
	const GPtrArray *fields; /* of the plan: const KmtReportField * */
	GPtrArray *captures;	 /* KmtDiffCapture: base side first */
	guint n_base, n_new;
	KmtDiffSplits *splits;
	GPtrArray *lines; /* KmtDiffLine, in the order of kind and texts */
	/* Sums of each kind, as in the first section of the report. Only cells
	 * are set. A field without a sum has NONE values. */
	KmtDiffLine kinds[KMT_N_KINDS];
	guint n_matches[KMT_DIFF_ADDED + 1]; /* lines of each KmtDiffMatch */
	GPtrArray *warnings; /* char *, each with the path of the capture */
	/* Private: */
	GStringChunk *strings; /* functions, modules, and texts that occur in
				* many lines; equal strings are the same */
	KmtArena *arena;       /* the lines with all that they point to */
} KmtDiff;

/* Return whether a path, where "-" is standard input, is a pipe, which can be
 * read only once. *status receives the status of the file. */
gboolean kmt_diff_is_pipe(const char *path, struct stat *status);

/*
 * Read the captures of the NULL-terminated lists and compare them with the
 * options of @report: --by, --fields, filters, --time, --per and --error-rate.
 * The plan of @report must outlive the result. @program begins the progress
 * lines, or is NULL. Return NULL if a capture cannot be read or does not fit
 * the options; the error names the capture. The caller frees the result.
 */
KmtDiff *kmt_diff_read(KmtCaptureReport *report, const char *const *base,
		       const char *const *new, const char *program,
		       GError **error);
void kmt_diff_free(KmtDiff *diff);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtDiff, kmt_diff_free)

/* The lines of one field in the order of a list, and the sums of the rest. */
typedef struct {
	/* const KmtDiffLine *: lines with a figure that is not 0 in a capture.
	 * Lines that exceed noise are first, then lines sort by descending
	 * absolute difference. Of a line that holds objects, the difference of
	 * their kind is subtracted, because the objects have lines. */
	GPtrArray *lines;
	guint n_shown; /* the others are summed in @rest */
	/* For each kind the number and the sums of the lines that are not
	 * shown. Only one field is set; a field without a sum is NONE. */
	guint n_rest[KMT_N_KINDS];
	KmtDiffCell rest[KMT_N_KINDS];
	KmtFigure *rest_values; /* private */
	/* Lines whose values are all known and not all equal. If nothing
	 * changed, at most error_rate * n_varying of them exceed noise by
	 * chance. */
	guint n_varying;
	guint n_exceeds; /* lines that exceed noise */
} KmtDiffList;

/* Sort the lines by field number @field, and show at most @max_lines; 0: all.
 * The caller frees the list. */
KmtDiffList *kmt_diff_list_new(const KmtDiff *diff, guint field,
			       guint64 max_lines);
/* Show at most @max_lines of the list of field number @field, and sum the
 * others. */
void kmt_diff_list_limit(const KmtDiff *diff, KmtDiffList *list, guint field,
			 guint max_lines);
void kmt_diff_list_free(KmtDiffList *list);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtDiffList, kmt_diff_list_free)

/* Return whether --per divides the field: it counts, and is no state such as
 * live bytes. */
gboolean kmt_diff_is_divided(const KmtDiff *diff, guint field);

/* Print the comparison to @out as text. The caller checks ferror(out). */
void kmt_diff_text(const KmtDiff *diff, FILE *out);

#endif
