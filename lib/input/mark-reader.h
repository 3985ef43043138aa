/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reader of the annotations (marks) in the records of a capture. A mark comes
 * from kmemtrace_mark() in the kernel, or from a line that user space wrote to
 * the debugfs file marker. A mark consists of one record KMEMTRACE_EVENT_MARK
 * and the records KMEMTRACE_EVENT_MORE after it.
 *
 * Usage: call kmt_input_marks_scan(), then kmt_input_marks_finish(), then read
 * the marks. One thread at a time may use a KmtInputMarks.
 */
#ifndef KMEMTRACE_INPUT_MARK_READER_H
#define KMEMTRACE_INPUT_MARK_READER_H

#include "lib/input/name-tables.h"

/* Limits that bound the memory: the number of stored marks, and the total bytes
 * of their payloads. Marks beyond a limit are counted but not stored. */
#define KMT_INPUT_MAX_MARKS	 (1U << 20)
#define KMT_INPUT_MAX_MARK_BYTES (1U << 28)

/* Defects in the records of a mark. */
typedef enum {
	/* A MORE record does not follow its MARK directly, or the MORE records
	 * are in the wrong order. */
	KMT_INPUT_MARK_ORPHAN_PART,
	/* MORE records of a MARK are missing. */
	KMT_INPUT_MARK_MISSING_PART,
	/* The payload size in the MARK contradicts the number of MORE records,
	 * is not a multiple of 8, or exceeds the limit of the kernel. */
	KMT_INPUT_MARK_BAD_SIZE,
	/*
	 * The table of annotations has no entry with the number of the mark, or
	 * the number is 0.
	 */
	KMT_INPUT_MARK_UNKNOWN,
	/* The payload does not match the argument types of the annotation. */
	KMT_INPUT_MARK_BAD_VALUES,
	KMT_INPUT_N_MARK_DEFECTS
} KmtInputMarkDefect;

typedef struct {
	gint64 time;	/* timestamp in ns */
	guint file;	/* index of the file in capture->files */
	guint64 index;	/* index of the MARK record in the file */
	guint32 number; /* number of the annotation */
	guint32 pid;
	guint16 flags;	/* flags KMEMTRACE_FLAG_... */
	gboolean whole; /* TRUE if the payload is complete and has a valid size
			 */
	/* The annotation, which the tables own; NULL if its number is unknown.
	 */
	const KmtInputMarkKind *kind;
	guint payload_size; /* size of the stored payload in bytes */
	gsize payload;	    /* offset of the payload in the common payload
			     * array, in bytes */
} KmtInputMark;

/* All marks of a capture. */
typedef struct KmtInputMarks KmtInputMarks;

/*
 * Callback for each defect of a record. kmt_input_marks_scan() reports defects
 * in the order of the records of each file; kmt_input_marks_finish() then
 * reports incomplete last marks of files, and UNKNOWN and BAD_VALUES in the
 * order of the sorted marks. index is the number of the record in file; user is
 * the pointer passed to kmt_input_marks_new().
 */
typedef void (*KmtInputMarkDefectFunc)(gpointer user, KmtInputMarkDefect defect,
				       const KmtInputCpuFile *file,
				       guint64 index);

/*
 * Create an empty reader of marks. capture must remain valid until
 * kmt_input_marks_finish() returns. on_defect may be NULL; otherwise the reader
 * calls on_defect(user, ...) for each defect. If the capture has lost records,
 * ORPHAN_PART and MISSING_PART are neither reported nor counted. The caller
 * frees the reader.
 */
KmtInputMarks *kmt_input_marks_new(const KmtInputCapture *capture,
				   KmtInputMarkDefectFunc on_defect,
				   gpointer user);
void kmt_input_marks_free(KmtInputMarks *marks);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputMarks, kmt_input_marks_free)

/* Return whether a record is a part of a mark. record_size is in bytes. */
static inline gboolean kmt_input_is_mark(const struct kmemtrace_event *event,
					 guint record_size)
{
	return (event->event_id == KMEMTRACE_EVENT_MARK ||
		event->event_id == KMEMTRACE_EVENT_MORE) &&
	       record_size >= KMEMTRACE_EVENT_SIZE_V2;
}

/* Read the marks of all files of the capture. No file may be a stream. */
void kmt_input_marks_scan(KmtInputMarks *marks);

/*
 * Call once after kmt_input_marks_scan(): look up the annotations in tables and
 * sort the marks by time, CPU and index. tables may be NULL; otherwise tables
 * must outlive marks.
 */
void kmt_input_marks_finish(KmtInputMarks *marks, const KmtInputTables *tables);

/* ---- functions that require kmt_input_marks_finish() ---- */

/*
 * kmt_input_marks_count() returns the number of stored marks.
 * kmt_input_marks_get() returns mark i, counted from 0; the reader owns the
 * mark.
 */
guint kmt_input_marks_count(const KmtInputMarks *marks);
const KmtInputMark *kmt_input_marks_get(const KmtInputMarks *marks, guint i);

/* Return the number of marks that were not stored because of the limits. */
guint64 kmt_input_marks_dropped(const KmtInputMarks *marks);

/* Return the number of defects of all kinds. */
guint64 kmt_input_marks_count_defects(const KmtInputMarks *marks);

/*
 * Callback that converts an address to the symbol text for formats such as
 * "%pS". Return NULL if the address has no symbol. The caller of the callback
 * frees the string.
 */
typedef char *(*KmtInputSymbolizeFunc)(gpointer user, guint64 address);

/*
 * Return the text of a mark: the annotation's format with the argument values;
 * "" if the annotation is unknown. The text may contain any byte but NUL. "..."
 * marks a truncated string, and "?" replaces a missing value. name converts
 * addresses to symbols and is called with user; name may be NULL. The caller
 * frees the string.
 */
char *kmt_input_mark_text(const KmtInputMarks *marks, const KmtInputMark *mark,
			  KmtInputSymbolizeFunc name, gpointer user);

/*
 * Return the name of a mark's annotation, or "mark <number>" if the number is
 * unknown. The caller frees the string.
 */
char *kmt_input_mark_name(const KmtInputMark *mark);

/* Return whether user space wrote the mark through the debugfs file marker. */
gboolean kmt_input_mark_is_marker(const KmtInputMark *mark);

/*
 * The value of a mark argument: either an integer in word or a string in bytes.
 */
typedef struct {
	char type; /* type letter, as in KmtInputMarkKind.types */
	guint64 word;
	const guint8 *bytes; /* bytes of a string without a final NUL; word is
			      * the length in bytes */
	gboolean truncated; /* the kernel recorded only the start of a string */
} KmtInputMarkValue;

/*
 * Decode argument i, counted from 0, of a mark whose annotation is known.
 * Return FALSE if the argument is missing or invalid. value->bytes points into
 * marks.
 */
gboolean kmt_input_mark_value(const KmtInputMarks *marks,
			      const KmtInputMark *mark, guint i,
			      KmtInputMarkValue *value);

#endif
