/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The annotations (marks) in the records of a capture: kmemtrace_mark() in the
 * kernel, and lines that user space wrote to the file marker. A mark consists
 * of a record KMEMTRACE_EVENT_MARK and the records KMEMTRACE_EVENT_MORE that
 * follow it.
 */
#ifndef KMEMTRACE_INPUT_MARK_READER_H
#define KMEMTRACE_INPUT_MARK_READER_H

#include "lib/input/name-tables.h"

/* Limits of the number of stored marks, and of the bytes of all payloads.
 * Further marks are only counted. */
#define KMT_INPUT_MAX_MARKS	 (1U << 20)
#define KMT_INPUT_MAX_MARK_BYTES (1U << 28)

/* Defects of the records of a mark. */
typedef enum {
	/* A MORE record that does not follow its MARK, or follows in the wrong
	 * order. */
	KMT_INPUT_MARK_ORPHAN_PART,
	/* A MARK without all of its MORE records. */
	KMT_INPUT_MARK_MISSING_PART,
	/* The number of records does not fit the size of the payload. */
	KMT_INPUT_MARK_BAD_SIZE,
	/* No annotation has the number of the mark. */
	KMT_INPUT_MARK_UNKNOWN,
	/* The payload does not fit the types of the annotation's arguments. */
	KMT_INPUT_MARK_BAD_VALUES,
	KMT_INPUT_N_MARK_DEFECTS
} KmtInputMarkDefect;

typedef struct {
	gint64 time;	/* timestamp in ns */
	guint file;	/* index in capture->files */
	guint64 index;	/* index of the MARK record in its file */
	guint32 number; /* number of the annotation */
	guint32 pid;
	guint16 flags;	/* KMEMTRACE_FLAG_... */
	gboolean whole; /* the payload is complete */
	/* Descriptor of the annotation; NULL if its number is unknown. */
	const KmtInputMarkKind *kind;
	guint payload_size; /* bytes */
	gsize payload;	    /* offset of the payload in all payloads */
} KmtInputMark;

typedef struct KmtInputMarks KmtInputMarks;

/* Called for each defective record, in the order in which records are added. */
typedef void (*KmtInputMarkDefectFunc)(gpointer user, KmtInputMarkDefect defect,
				       const KmtInputCpuFile *file,
				       guint64 index);

/* Create a reader of marks. capture must outlive it. on_defect may be NULL. */
KmtInputMarks *kmt_input_marks_new(const KmtInputCapture *capture,
				   KmtInputMarkDefectFunc on_defect,
				   gpointer user);
void kmt_input_marks_free(KmtInputMarks *marks);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputMarks, kmt_input_marks_free)

/* Return whether a record of this size belongs to a mark. */
static inline gboolean kmt_input_is_mark(const struct kmemtrace_event *event,
					 guint record_size)
{
	return (event->event_id == KMEMTRACE_EVENT_MARK ||
		event->event_id == KMEMTRACE_EVENT_MORE) &&
	       record_size >= KMEMTRACE_EVENT_SIZE_V2;
}

/* Read the marks of all files, none of which may be a stream. */
void kmt_input_marks_scan(KmtInputMarks *marks);

/*
 * Finish after all records were added: sort the marks by time, CPU and index.
 * tables may be NULL; it must outlive the marks.
 */
void kmt_input_marks_finish(KmtInputMarks *marks, const KmtInputTables *tables);

/* ---- functions for finished marks ---- */

guint kmt_input_marks_count(const KmtInputMarks *marks);
const KmtInputMark *kmt_input_marks_get(const KmtInputMarks *marks, guint i);

/* Return the number of marks that exceeded the limits. */
guint64 kmt_input_marks_dropped(const KmtInputMarks *marks);

/* Return the number of defects. */
guint64 kmt_input_marks_count_defects(const KmtInputMarks *marks);

/* Return the name of an address, for the format "%pS"; NULL if it has none. The
 * caller frees the string. */
typedef char *(*KmtInputSymbolizeFunc)(gpointer user, guint64 address);

/*
 * Return the text of a mark: its format with the values of the arguments. The
 * text may contain any bytes but NUL. "..." follows a truncated string, and "?"
 * replaces a missing value. name may be NULL. The caller frees the string.
 */
char *kmt_input_mark_text(const KmtInputMarks *marks, const KmtInputMark *mark,
			  KmtInputSymbolizeFunc name, gpointer user);

/*
 * Return the name of a mark; "mark <number>" if the number is unknown. The
 * caller frees the string.
 */
char *kmt_input_mark_name(const KmtInputMark *mark);

/* Return whether a mark is a line that user space wrote. */
gboolean kmt_input_mark_is_marker(const KmtInputMark *mark);

/* The value of an argument: an integer in word, or a string in bytes. */
typedef struct {
	char type; /* type letter as in KmtInputMarkKind */
	guint64 word;
	const guint8 *bytes; /* content of a string; word is its length */
	gboolean truncated;
} KmtInputMarkValue;

/*
 * Get argument i, counted from 0, of a mark with a known annotation. Return
 * FALSE if the argument is missing or invalid. value->bytes points into marks.
 */
gboolean kmt_input_mark_value(const KmtInputMarks *marks,
			      const KmtInputMark *mark, guint i,
			      KmtInputMarkValue *value);

#endif
