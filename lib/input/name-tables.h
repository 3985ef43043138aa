/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What version 2 of the records says beyond version 1: the task, the cache and
 * the context of each record, and the tables that give these numbers names.
 *
 * A KmtInputTables does not change once it is made: any thread may ask it.
 */
#ifndef KMEMTRACE_INPUT_NAME_TABLES_H
#define KMEMTRACE_INPUT_NAME_TABLES_H

#include "lib/input/capture.h"

/* The end of a record of version 2, in the host's byte order. */
typedef struct {
	guint32 pid;
	guint16 cache; /* KMEMTRACE_CACHE_NONE: none */
	guint16 flags; /* KMEMTRACE_FLAG_... */
} KmtInputRecordOwner;

/*
 * Whether the records of capture are of version 2, so that they have an owner.
 * Without a kmemtrace.meta nothing tells what the bytes beyond version 1 are.
 */
gboolean kmt_input_capture_has_owners(const KmtInputCapture *capture);

/*
 * The owner that record, of kmt_input_capture_has_owners(), tells; swapped as
 * in KmtInputCpuFile.  That of a KMEMTRACE_EVENT_LOST is all 0, that of a mark
 * has no cache.
 */
void kmt_input_record_owner(const guint8 *record, gboolean swapped,
			    KmtInputRecordOwner *owner);

/* Likewise, whether they have a stack, and which: its number in the table. */
gboolean kmt_input_capture_has_stacks(const KmtInputCapture *capture);
guint32 kmt_input_record_stack(const guint8 *record, gboolean swapped);

/* Whether a record of so many bytes may be a KMEMTRACE_EVENT_LOST. */
static inline gboolean kmt_input_is_loss(const struct kmemtrace_event *event,
					 guint record_size)
{
	return event->event_id == KMEMTRACE_EVENT_LOST &&
	       record_size >= KMEMTRACE_EVENT_SIZE_V2;
}

/* Of such a record: how many events were lost, and since when. */
static inline guint64 kmt_input_loss_events(const struct kmemtrace_event *event)
{
	return event->bytes_req;
}

static inline gint64 kmt_input_loss_since(const struct kmemtrace_event *event)
{
	return (gint64)event->bytes_alloc;
}

/* Whether a record of so many bytes may be a KMEMTRACE_EVENT_STOP. */
static inline gboolean kmt_input_is_stop(const struct kmemtrace_event *event,
					 guint record_size)
{
	return event->event_id == KMEMTRACE_EVENT_STOP &&
	       record_size >= KMEMTRACE_EVENT_SIZE_V2;
}

typedef struct {
	guint number;	     /* 1 to 65535 */
	guint64 object_size; /* bytes that the user of an object has */
	guint64 size;	     /* bytes that an object takes */
	gint64 created;	     /* ns, as timestamps; 0: from the start */
	gint64 destroyed;    /* likewise; G_MAXINT64: it was not */
	const char *name;    /* as the kernel has it: any bytes but NUL */
} KmtInputCache;

/* An annotation: what its records have to be read by. */
typedef struct {
	guint32 number;	    /* never 0 */
	gint64 appeared;    /* ns, as timestamps; 0: from the start */
	gint64 removed;	    /* likewise; G_MAXINT64: it did not */
	const char *module; /* "": of the kernel itself */
	const char *types;  /* a letter for each argument, as the ABI has it */
	const char *name;   /* letters, digits and _ */
	const char *format; /* of any bytes but NUL */
} KmtInputMarkKind;

/* How sure the name of a task is. */
typedef enum {
	KMT_INPUT_NAME_CERTAIN,
	/* The table had no room for all: it may be a later task's name. */
	KMT_INPUT_NAME_UNCERTAIN,
	/* No name, NULL. */
	KMT_INPUT_NAME_UNKNOWN,
} KmtInputNameConfidence;

typedef struct KmtInputTables KmtInputTables;

/*
 * Reads the tables beside capture.  Never fails: of a table that is not there,
 * or lines of one that make no sense, nothing is known; and the warnings say
 * so.
 */
KmtInputTables *kmt_input_tables_new(const KmtInputCapture *capture);
void kmt_input_tables_free(KmtInputTables *tables);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputTables, kmt_input_tables_free)

/* Whether there is such a table, in which all lines make sense. */
gboolean kmt_input_tables_has_caches(const KmtInputTables *tables);
gboolean kmt_input_tables_has_tasks(const KmtInputTables *tables);
/* And besides, whether each task of a record has to be in it. */
gboolean kmt_input_tables_has_all_tasks(const KmtInputTables *tables);
gboolean kmt_input_tables_has_stacks(const KmtInputTables *tables);

/*
 * In words, why a table of that name is of no use: a capture of tracepoints
 * does not have it, or it should be there.  The caller frees it.
 */
char *kmt_input_tables_missing_reason(const KmtInputCapture *capture,
				      const char *name);

/* NULL: no cache has that number, as far as is known. */
const KmtInputCache *kmt_input_tables_cache(const KmtInputTables *tables,
					    guint number);

/* Likewise for annotations. */
gboolean kmt_input_tables_has_marks(const KmtInputTables *tables);
const KmtInputMarkKind *kmt_input_tables_mark_kind(const KmtInputTables *tables,
						   guint32 number);

/*
 * The addresses of a stack, the innermost first, and how many; owned by tables.
 * NULL, and 0: no stack has that number, as far as is known.
 */
const guint64 *kmt_input_tables_stack(const KmtInputTables *tables,
				      guint32 number, guint *n);

/*
 * The name that task pid had at a time: that of the first entry of the pid
 * whose time is not before it, or else of the last one.  pid 0 is "idle".  The
 * name may have any bytes but NUL; owned by tables.  class may be NULL.
 */
const char *kmt_input_tables_task_name(const KmtInputTables *tables,
				       guint32 pid, gint64 time,
				       KmtInputNameConfidence *class);

/* What is wrong with the tables, of char *, a line each. */
const GPtrArray *kmt_input_tables_warnings(const KmtInputTables *tables);

#endif
