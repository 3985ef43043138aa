/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The annotations in the records of a capture: kmemtrace_mark() in the kernel,
 * and lines that user space wrote to the file marker.  A mark is a record of
 * KMEMTRACE_EVENT_MARK and those of KMEMTRACE_EVENT_MORE behind it.
 */
#ifndef KMEMTRACE_INPUT_MARK_READER_H
#define KMEMTRACE_INPUT_MARK_READER_H

#include "lib/input/name-tables.h"

/* So many are kept, with so many bytes of payload in all; of more, only how
 * many there were. */
#define KMT_INPUT_MAX_MARKS	 (1U << 20)
#define KMT_INPUT_MAX_MARK_BYTES (1U << 28)

/* What may be wrong with records of marks. */
typedef enum {
	/* A MORE that does not follow its MARK, or is not its next one. */
	KMT_INPUT_MARK_ORPHAN_PART,
	/* A MARK that lacks some of its MORE. */
	KMT_INPUT_MARK_MISSING_PART,
	/* Records and bytes of the payload do not go together. */
	KMT_INPUT_MARK_BAD_SIZE,
	/* No annotation has its number. */
	KMT_INPUT_MARK_UNKNOWN,
	/* The payload is not what the types of the annotation make of it. */
	KMT_INPUT_MARK_BAD_VALUES,
	KMT_INPUT_N_MARK_DEFECTS
} KmtInputMarkDefect;

typedef struct {
	gint64 time;	/* its timestamp, ns */
	guint file;	/* index in capture->files */
	guint64 index;	/* of the MARK in its file */
	guint32 number; /* of the annotation */
	guint32 pid;
	guint16 flags;	/* KMEMTRACE_FLAG_... */
	gboolean whole; /* all of the payload is there */
	/* NULL: no annotation of kmt_input_tables_new() has its number. */
	const KmtInputMarkKind *kind;
	guint payload_size; /* bytes */
	gsize payload;	    /* where in the payloads it is */
} KmtInputMark;

typedef struct KmtInputMarks KmtInputMarks;

/* A record that has a defect, in the order of adding. */
typedef void (*KmtInputMarkDefectFunc)(gpointer user, KmtInputMarkDefect defect,
				       const KmtInputCpuFile *file,
				       guint64 index);

/* capture must live as long.  on_defect may be NULL. */
KmtInputMarks *kmt_input_marks_new(const KmtInputCapture *capture,
				   KmtInputMarkDefectFunc on_defect,
				   gpointer user);
void kmt_input_marks_free(KmtInputMarks *marks);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputMarks, kmt_input_marks_free)

/* Whether a record of so many bytes is of a mark. */
static inline gboolean kmt_input_is_mark(const struct kmemtrace_event *event,
					 guint record_size)
{
	return (event->event_id == KMEMTRACE_EVENT_MARK ||
		event->event_id == KMEMTRACE_EVENT_MORE) &&
	       record_size >= KMEMTRACE_EVENT_SIZE_V2;
}

/* Takes those of all files, none of which is a stream. */
void kmt_input_marks_scan(KmtInputMarks *marks);

/*
 * All were added: orders them by time, CPU and index.  tables, which may be
 * NULL, must live as long.
 */
void kmt_input_marks_finish(KmtInputMarks *marks, const KmtInputTables *tables);

/* ---- Of finished ones ---- */

guint kmt_input_marks_count(const KmtInputMarks *marks);
const KmtInputMark *kmt_input_marks_get(const KmtInputMarks *marks, guint i);

/* Those that there was no room for. */
guint64 kmt_input_marks_dropped(const KmtInputMarks *marks);

/* How many records, or marks, have a defect. */
guint64 kmt_input_marks_count_defects(const KmtInputMarks *marks);

/* The name of an address, for a "%pS"; NULL: it has none.  Owned by the caller.
 */
typedef char *(*KmtInputSymbolizeFunc)(gpointer user, guint64 address);

/*
 * What the annotation says, by its format: any bytes but NUL, and of a string
 * that was longer with "..." behind it.  A value that is not there is "?".
 * name may be NULL.  Owned by the caller.
 */
char *kmt_input_mark_text(const KmtInputMarks *marks, const KmtInputMark *mark,
			  KmtInputSymbolizeFunc name, gpointer user);

/* Its name; "mark <number>" without a table.  Owned by the caller. */
char *kmt_input_mark_name(const KmtInputMark *mark);

/* Whether it is a line that user space wrote. */
gboolean kmt_input_mark_is_marker(const KmtInputMark *mark);

/* Of an argument: integers as 64 bits, strings as bytes, below. */
typedef struct {
	char type; /* as in KmtInputMarkKind */
	guint64 word;
	const guint8 *bytes; /* of a string, word of them */
	gboolean truncated;
} KmtInputMarkValue;

/*
 * Argument i, from 0, of a mark that has a kind; FALSE if it is not there or
 * makes no sense.  bytes points into marks.
 */
gboolean kmt_input_mark_value(const KmtInputMarks *marks,
			      const KmtInputMark *mark, guint i,
			      KmtInputMarkValue *value);

#endif
