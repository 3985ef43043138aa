/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's tracepoints of tasks that come and that change their name. */
#ifndef KMEMTRACE_TRACEPOINTS_TASK_EVENTS_H
#define KMEMTRACE_TRACEPOINTS_TASK_EVENTS_H

#include "lib/tracepoints/tracepoint-format.h"

#define KMT_TASK_SYSTEM "task"

/* TASK_COMM_LEN of the kernel; the last byte is 0. */
#define KMT_TASK_NAME_BYTES 16

enum {
	KMT_TASK_NEW,
	KMT_TASK_RENAME,
	KMT_TRACEPOINT_N_TASKS,
};

/* Their names, below events/task. */
extern const char *const kmt_tracepoint_task_names[KMT_TRACEPOINT_N_TASKS];

/* A name in the data of an event. */
typedef struct {
	guint16 offset;
	guint16 n_bytes;
} KmtTracepointTaskField;

typedef struct {
	guint min_bytes; /* all fields are within these; 0: there is none */
	guint16 id;
	KmtTracepointSlot pid;
	KmtTracepointTaskField name;
	KmtTracepointTaskField old_name; /* KMT_TASK_RENAME */
} KmtTracepointTask;

/* A task came with that name, or has it from now on. */
typedef struct {
	gint64 time; /* ns */
	guint32 pid;
	gboolean renamed;
	char name[KMT_TASK_NAME_BYTES];
	char old_name[KMT_TASK_NAME_BYTES]; /* renamed */
} KmtTracepointTaskChange;

/*
 * Looks up the fields.  FALSE, and a point that there is none: the event lacks
 * one, or has it in a way that is not known.  Newer kernels tell of a rename by
 * common_pid whose it is.
 */
gboolean kmt_tracepoint_task_read(KmtTracepointTask *point, guint kind,
				  struct tep_event *event);

/* data has at least point->min_bytes. */
void kmt_tracepoint_task_convert(const KmtTracepointTask *point, guint kind,
				 const guint8 *data, gint64 time,
				 KmtTracepointTaskChange *change);

#endif
