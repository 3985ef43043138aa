/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of names beside a capture, and the fields of version 2 that refer
 * to them: task, cache, context and stack of a record.
 *
 * A KmtInputTables does not change after its creation; any thread may read it.
 */
#ifndef KMEMTRACE_INPUT_NAME_TABLES_H
#define KMEMTRACE_INPUT_NAME_TABLES_H

#include "lib/input/capture.h"

/*
 * The fields at the end of a record of version 2, in the byte order of this
 * host.
 */
typedef struct {
	guint32 pid;
	guint16 cache; /* KMEMTRACE_CACHE_NONE: no cache */
	guint16 flags; /* KMEMTRACE_FLAG_... */
} KmtInputRecordOwner;

/*
 * Return whether the records of the capture are of version 2 and have an owner.
 * Without kmemtrace.meta, the meaning of the bytes beyond version 1 is unknown.
 */
gboolean kmt_input_capture_has_owners(const KmtInputCapture *capture);

/*
 * Get the owner of a record of a capture with owners. swapped is that of the
 * record's file. The owner of a LOST record is all 0; that of a mark has no
 * cache.
 */
void kmt_input_record_owner(const guint8 *record, gboolean swapped,
			    KmtInputRecordOwner *owner);

/*
 * Return whether the records have a stack, and the number of a record's stack
 * in the table of stacks.
 */
gboolean kmt_input_capture_has_stacks(const KmtInputCapture *capture);
guint32 kmt_input_record_stack(const guint8 *record, gboolean swapped);

/* Return whether a record of this size is a LOST record. */
static inline gboolean kmt_input_is_loss(const struct kmemtrace_event *event,
					 guint record_size)
{
	return event->event_id == KMEMTRACE_EVENT_LOST &&
	       record_size >= KMEMTRACE_EVENT_SIZE_V2;
}

/*
 * Return the number of events that a LOST record reports, and the time since
 * which they were lost.
 */
static inline guint64 kmt_input_loss_events(const struct kmemtrace_event *event)
{
	return event->bytes_req;
}

static inline gint64 kmt_input_loss_since(const struct kmemtrace_event *event)
{
	return (gint64)event->bytes_alloc;
}

/* Return whether a record of this size is a STOP record. */
static inline gboolean kmt_input_is_stop(const struct kmemtrace_event *event,
					 guint record_size)
{
	return event->event_id == KMEMTRACE_EVENT_STOP &&
	       record_size >= KMEMTRACE_EVENT_SIZE_V2;
}

typedef struct {
	guint number;	     /* 1 to 65535 */
	guint64 object_size; /* bytes that the user of an object may use */
	guint64 size;	     /* bytes that an object occupies */
	gint64 created;	     /* timestamp in ns; 0: before the trace */
	gint64 destroyed;    /* timestamp in ns; G_MAXINT64: not destroyed */
	const char *name;    /* arbitrary bytes but NUL */
} KmtInputCache;

/* An annotation, with the properties that are needed to decode its records. */
typedef struct {
	guint32 number;	    /* greater than 0 */
	gint64 appeared;    /* timestamp in ns; 0: before the trace */
	gint64 removed;	    /* timestamp in ns; G_MAXINT64: not removed */
	const char *module; /* "" for the kernel itself */
	const char *types;  /* one letter per argument; see kmemtrace_abi.h */
	const char *name;   /* letters, digits and _ */
	const char *format; /* arbitrary bytes but NUL */
} KmtInputMarkKind;

/* Reliability of a task name. */
typedef enum {
	KMT_INPUT_NAME_CERTAIN,
	/* The table was full: the name may belong to a later task. */
	KMT_INPUT_NAME_UNCERTAIN,
	/* There is no name; NULL. */
	KMT_INPUT_NAME_UNKNOWN,
} KmtInputNameConfidence;

typedef struct KmtInputTables KmtInputTables;

/*
 * Read the tables beside a capture. The function never fails: missing tables
 * and invalid lines are omitted and reported as warnings. The caller frees the
 * result.
 */
KmtInputTables *kmt_input_tables_new(const KmtInputCapture *capture);
void kmt_input_tables_free(KmtInputTables *tables);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputTables, kmt_input_tables_free)

/* Return whether a table exists and all of its lines are valid. */
gboolean kmt_input_tables_has_caches(const KmtInputTables *tables);
gboolean kmt_input_tables_has_tasks(const KmtInputTables *tables);
/*
 * Return whether the table of tasks is valid and must contain every task of a
 * record.
 */
gboolean kmt_input_tables_has_all_tasks(const KmtInputTables *tables);
gboolean kmt_input_tables_has_stacks(const KmtInputTables *tables);

/*
 * Return why a table of this name is missing: a capture from tracepoints has no
 * such table, or the table should exist. The caller frees the string.
 */
char *kmt_input_tables_missing_reason(const KmtInputCapture *capture,
				      const char *name);

/* Return the cache with this number; NULL if there is none in the table. */
const KmtInputCache *kmt_input_tables_cache(const KmtInputTables *tables,
					    guint number);

/*
 * Return whether the table of annotations is valid, and the annotation with a
 * number, or NULL.
 */
gboolean kmt_input_tables_has_marks(const KmtInputTables *tables);
const KmtInputMarkKind *kmt_input_tables_mark_kind(const KmtInputTables *tables,
						   guint32 number);

/*
 * Return the addresses of a stack, innermost first, and set *n to their number.
 * The tables own the array. Return NULL, with *n 0, if the number is unknown.
 */
const guint64 *kmt_input_tables_stack(const KmtInputTables *tables,
				      guint32 number, guint *n);

/*
 * Return the name that a task had at a time: the name in the first entry of the
 * pid that ends at or after that time, or in the last entry. The name of pid 0
 * is "idle". The name has arbitrary bytes but NUL; the tables own it. *class is
 * set to its reliability; class may be NULL.
 */
const char *kmt_input_tables_task_name(const KmtInputTables *tables,
				       guint32 pid, gint64 time,
				       KmtInputNameConfidence *class);

/* Return the warnings about the tables, of char *, a line each. */
const GPtrArray *kmt_input_tables_warnings(const KmtInputTables *tables);

#endif
