/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The annotations in the records of a capture: kmemtrace_mark() in the kernel,
 * and lines that user space wrote to the file marker.  A mark is a record of
 * KMEMTRACE_EVENT_MARK and those of KMEMTRACE_EVENT_MORE behind it.
 */
#ifndef KMEMTRACE_INPUT_MARKS_H
#define KMEMTRACE_INPUT_MARKS_H

#include "lib/input/name-tables.h"

/* So many are kept, with so many bytes of payload in all; of more, only how
 * many there were. */
#define KMT_MAX_MARKS	   (1U << 20)
#define KMT_MAX_MARK_BYTES (1U << 28)

/* What may be wrong with records of marks. */
typedef enum {
	/* A MORE that does not follow its MARK, or is not its next one. */
	KMT_MARK_STRAY,
	/* A MARK that lacks some of its MORE. */
	KMT_MARK_SHORT,
	/* Records and bytes of the payload do not go together. */
	KMT_MARK_SIZE,
	/* No annotation has its number. */
	KMT_MARK_UNKNOWN,
	/* The payload is not what the types of the annotation make of it. */
	KMT_MARK_VALUES,
	KMT_N_MARK_DEFECTS
} KmtMarkDefect;

typedef struct {
	gint64 time;	/* its timestamp, ns */
	guint file;	/* index in capture->files */
	guint64 index;	/* of the MARK in its file */
	guint32 number; /* of the annotation */
	guint32 pid;
	guint16 flags;	/* KMEMTRACE_FLAG_... */
	gboolean whole; /* all of the payload is there */
	/* NULL: no annotation of kmt_record_tables_new() has its number. */
	const KmtMarkKind *kind;
	guint payload_size; /* bytes */
	gsize payload;	    /* where in the payloads it is */
} KmtMark;

typedef struct KmtMarks KmtMarks;

/* A record that has a defect, in the order of adding. */
typedef void (*KmtMarkDefectFunc)(gpointer user, KmtMarkDefect defect,
				  const KmtCpuFile *file, guint64 index);

/* capture must live as long.  on_defect may be NULL. */
KmtMarks *kmt_marks_new(const KmtCapture *capture, KmtMarkDefectFunc on_defect,
			gpointer user);
void kmt_marks_free(KmtMarks *marks);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtMarks, kmt_marks_free)

/* Whether a record of so many bytes is of a mark. */
static inline gboolean kmt_is_mark(const struct kmemtrace_event *event,
				   guint record_size)
{
	return (event->event_id == KMEMTRACE_EVENT_MARK ||
		event->event_id == KMEMTRACE_EVENT_MORE) &&
	       record_size >= KMEMTRACE_EVENT_SIZE_V2;
}

/* Takes those of all files, none of which is a stream. */
void kmt_marks_scan(KmtMarks *marks);

/*
 * All were added: orders them by time, CPU and index.  tables, which may be
 * NULL, must live as long.
 */
void kmt_marks_finish(KmtMarks *marks, const KmtRecordTables *tables);

/* ---- Of finished ones ---- */

guint kmt_marks_n(const KmtMarks *marks);
const KmtMark *kmt_marks_at(const KmtMarks *marks, guint i);

/* Those that there was no room for. */
guint64 kmt_marks_dropped(const KmtMarks *marks);

/* How many records, or marks, have a defect. */
guint64 kmt_marks_defects(const KmtMarks *marks);

/* The name of an address, for a "%pS"; NULL: it has none.  Owned by the caller.
 */
typedef char *(*KmtNameAddress)(gpointer user, guint64 address);

/*
 * What the annotation says, by its format: any bytes but NUL, and of a string
 * that was longer with "..." behind it.  A value that is not there is "?".
 * name may be NULL.  Owned by the caller.
 */
char *kmt_marks_text(const KmtMarks *marks, const KmtMark *mark,
		     KmtNameAddress name, gpointer user);

/* Its name; "mark <number>" without a table.  Owned by the caller. */
char *kmt_marks_name(const KmtMark *mark);

/* Whether it is a line that user space wrote. */
gboolean kmt_marks_is_marker(const KmtMark *mark);

/* Of an argument: integers as 64 bits, strings as bytes, below. */
typedef struct {
	char type; /* as in KmtMarkKind */
	guint64 word;
	const guint8 *bytes; /* of a string, word of them */
	gboolean cut;
} KmtMarkValue;

/*
 * Argument i, from 0, of a mark that has a kind; FALSE if it is not there or
 * makes no sense.  bytes points into marks.
 */
gboolean kmt_marks_value(const KmtMarks *marks, const KmtMark *mark, guint i,
			 KmtMarkValue *value);

#endif
