/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The name tables of a capture (tasks, cgroups, caches, annotations, stacks),
 * and the fields of a record that refer to these tables.
 *
 * A KmtInputTables does not change after its creation, so any thread may read
 * it without a lock.
 */
#ifndef KMEMTRACE_INPUT_NAME_TABLES_H
#define KMEMTRACE_INPUT_NAME_TABLES_H

#include "lib/input/capture.h"

/*
 * The fields that version 2 added to the record, in the byte order of this
 * host.
 */
typedef struct {
	guint32 pid;
	guint16 cache; /* number of the cache; KMEMTRACE_CACHE_NONE if none */
	guint16 flags; /* flags KMEMTRACE_FLAG_... */
} KmtInputRecordOwner;

/*
 * Return whether the records of the capture have at least version 2 and
 * therefore owner fields. A capture without kmemtrace.meta has none, because
 * the meaning of the bytes beyond version 1 is then unknown. Code that depends
 * on a field of version 2 calls this function; code that depends only on the
 * event id or the type id compares the record size with
 * KMEMTRACE_EVENT_SIZE_V2.
 */
gboolean kmt_input_capture_has_owners(const KmtInputCapture *capture);

/*
 * Copy the owner fields of a record, in the byte order of this host.
 * kmt_input_capture_has_owners() must be TRUE. swapped: the byte order of the
 * record differs from this host; file->swapped for a record from
 * kmt_input_cpu_file_copy(), FALSE for a record from a KmtInputReader. A LOST
 * record gets an owner with all fields 0; the owner of a mark has no cache.
 */
void kmt_input_record_owner(const guint8 *record, gboolean swapped,
			    KmtInputRecordOwner *owner);

/*
 * kmt_input_capture_has_stacks() returns whether the records have a stack
 * number. kmt_input_record_stack() returns the stack number of such a record,
 * which is a key for kmt_input_tables_stack(). swapped has the same meaning as
 * for kmt_input_record_owner().
 */
gboolean kmt_input_capture_has_stacks(const KmtInputCapture *capture);
guint32 kmt_input_record_stack(const guint8 *record, gboolean swapped);

/* Return whether a record is a LOST record. record_size is in bytes. */
static inline gboolean kmt_input_is_loss(const struct kmemtrace_event *event,
					 guint record_size)
{
	return event->event_id == KMEMTRACE_EVENT_LOST &&
	       record_size >= KMEMTRACE_EVENT_SIZE_V2;
}

/*
 * Decode a LOST record: kmt_input_loss_events() returns the number of lost
 * events; kmt_input_loss_since() returns the timestamp at which the loss began.
 */
static inline guint64 kmt_input_loss_events(const struct kmemtrace_event *event)
{
	return event->bytes_req;
}

static inline gint64 kmt_input_loss_since(const struct kmemtrace_event *event)
{
	return (gint64)event->bytes_alloc;
}

/* Return whether a record is a STOP record. record_size is in bytes. */
static inline gboolean kmt_input_is_stop(const struct kmemtrace_event *event,
					 guint record_size)
{
	return event->event_id == KMEMTRACE_EVENT_STOP &&
	       record_size >= KMEMTRACE_EVENT_SIZE_V2;
}

typedef struct {
	guint number; /* number of the cache in the records, 1 to 65535 */
	guint64 object_size; /* usable bytes of an object */
	guint64 size;	     /* bytes that an object occupies in its slab */
	gint64 created;	     /* time of creation in ns; 0 if before tracing was
			      * first enabled */
	gint64 destroyed;    /* time of destruction in ns; G_MAXINT64 if the
			      * cache was not destroyed */
	const char *name;    /* name of the cache; any bytes but NUL */
} KmtInputCache;

/*
 * An annotation with the properties that are necessary to decode its records.
 */
typedef struct {
	guint32 number;	 /* number of the annotation in the records, greater
			  * than 0 */
	gint64 appeared; /* time in ns when the module was loaded; 0 for the
			  * kernel itself */
	gint64 removed;	 /* time in ns when the module was unloaded; G_MAXINT64
			  * if it was not */
	const char *module; /* name of the kernel module, or "" for the kernel
			     * itself */
	const char *types;  /* type letters, one for each argument; see
			     * kmemtrace_abi.h */
	const char *name;   /* name of the annotation: letters, digits and _ */
	const char *format; /* format of the text, as for printk(); any bytes
			     * but NUL */
} KmtInputMarkKind;

/* Reliability of a task name. */
typedef enum {
	KMT_INPUT_NAME_CERTAIN,
	/* The recorder had no room for some names, so this name may be that of
	 * another task, which had the same pid at another time. */
	KMT_INPUT_NAME_UNCERTAIN,
	/* The table has no name for the task, and kmt_input_tables_task_name()
	 * returns NULL. */
	KMT_INPUT_NAME_UNKNOWN,
} KmtInputNameConfidence;

/* The parsed name tables of a capture. */
typedef struct KmtInputTables KmtInputTables;

/*
 * Read the name tables of a capture. The function never fails. A missing table
 * stays empty. Invalid lines are skipped, and a warning for each table reports
 * them. The caller frees the result.
 */
KmtInputTables *kmt_input_tables_new(const KmtInputCapture *capture);
void kmt_input_tables_free(KmtInputTables *tables);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputTables, kmt_input_tables_free)

/*
 * kmt_input_tables_has_caches(), kmt_input_tables_has_tasks(),
 * kmt_input_tables_has_cgroups() and kmt_input_tables_has_stacks() return
 * whether the table exists, all of its lines are valid, and no cache number
 * occurs twice.
 */
gboolean kmt_input_tables_has_caches(const KmtInputTables *tables);
gboolean kmt_input_tables_has_tasks(const KmtInputTables *tables);
gboolean kmt_input_tables_has_cgroups(const KmtInputTables *tables);
/*
 * kmt_input_tables_has_all_tasks() returns whether the table of tasks is valid
 * and also complete. If TRUE, a record whose task has no entry is a defect.
 */
gboolean kmt_input_tables_has_all_tasks(const KmtInputTables *tables);
gboolean kmt_input_tables_has_stacks(const KmtInputTables *tables);

/*
 * Return the reason why the table called name is missing or damaged. The
 * capture must have kmemtrace.meta. A capture from tracepoints or from
 * kmemtrace-import never has some of the tables, and no capture must have the
 * table cgroups; any other missing table is a defect. The caller frees the
 * string.
 */
char *kmt_input_tables_missing_reason(const KmtInputCapture *capture,
				      const char *name);

/*
 * Return the cache with this number, or NULL if the table has no such number.
 * The tables own the cache.
 */
const KmtInputCache *kmt_input_tables_cache(const KmtInputTables *tables,
					    guint number);

/*
 * kmt_input_tables_has_marks() returns whether the table of annotations exists,
 * all of its lines are valid, and no number occurs twice.
 * kmt_input_tables_mark_kind() returns the annotation with this number, or NULL
 * if the table has no such number. The tables own the annotation.
 */
gboolean kmt_input_tables_has_marks(const KmtInputTables *tables);
const KmtInputMarkKind *kmt_input_tables_mark_kind(const KmtInputTables *tables,
						   guint32 number);

/*
 * Return the addresses of the stack with this number, innermost call first, and
 * set *n to their count. The tables own the array. If the number is unknown,
 * return NULL and set *n to 0.
 */
const guint64 *kmt_input_tables_stack(const KmtInputTables *tables,
				      guint32 number, guint *n);

/*
 * Return the name that a task had at a time. The result is the first name of
 * the pid whose validity ends at or after that time, or else the last name. pid
 * 0 is always "idle". The name may contain any byte but NUL, and the tables own
 * it. The function stores the reliability of the name in *class, unless class
 * is NULL.
 */
const char *kmt_input_tables_task_name(const KmtInputTables *tables,
				       guint32 pid, gint64 time,
				       KmtInputNameConfidence *class);

/* A span of time in ns, both ends inclusive. */
typedef struct {
	gint64 from, until;
} KmtInputNameSpan;

/*
 * Return the name that a task had at a time, by the rules of
 * kmt_input_tables_task_name(), and narrow *span, which contains the time, to
 * times at which the task had this name.
 */
const char *kmt_input_tables_lasting_task_name(const KmtInputTables *tables,
					       guint32 pid, gint64 time,
					       KmtInputNameSpan *span);

/*
 * Return the path of the cgroup that a task was in at a time, by the rules of
 * kmt_input_tables_task_name(), or NULL if the table has none of the task. pid
 * 0 is always in "/". The path may contain any byte but NUL, and the tables own
 * it. Narrow *span, which contains the time, to times at which the task was in
 * this cgroup.
 */
const char *kmt_input_tables_lasting_cgroup(const KmtInputTables *tables,
					    guint32 pid, gint64 time,
					    KmtInputNameSpan *span);

/*
 * Return the warnings about the tables, an array of char * with one line each.
 * The tables own the array.
 */
const GPtrArray *kmt_input_tables_warnings(const KmtInputTables *tables);

#endif
