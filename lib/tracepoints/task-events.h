/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's tracepoints for new tasks and for changed task names. */
#ifndef KMEMTRACE_TRACEPOINTS_TASK_EVENTS_H
#define KMEMTRACE_TRACEPOINTS_TASK_EVENTS_H

#include "lib/tracepoints/tracepoint-format.h"

#define KMT_TASK_SYSTEM "task"

/* TASK_COMM_LEN of the kernel, including the terminating NUL. */
#define KMT_TASK_NAME_BYTES 16

enum {
	KMT_TASK_NEW,
	KMT_TASK_RENAME,
	KMT_TRACEPOINT_N_TASKS,
};

/* Names of the tracepoints in events/task. */
extern const char *const kmt_tracepoint_task_names[KMT_TRACEPOINT_N_TASKS];

/* Location of a task name in the data of an event. */
typedef struct {
	guint16 offset;
	guint16 n_bytes;
} KmtTracepointTaskField;

/* A task tracepoint and the locations of its fields. */
typedef struct {
	guint min_bytes; /* minimum size of an event's data; 0: unusable */
	guint16 id;
	KmtTracepointSlot pid;
	KmtTracepointTaskField name;
	KmtTracepointTaskField old_name; /* KMT_TASK_RENAME only */
} KmtTracepointTask;

/* A new task with this name, or a new name of an existing task. */
typedef struct {
	gint64 time; /* ns */
	guint32 pid;
	gboolean renamed;
	char name[KMT_TASK_NAME_BYTES];
	char old_name[KMT_TASK_NAME_BYTES]; /* valid if renamed */
} KmtTracepointTaskChange;

/*
 * Find the fields of a task tracepoint in its format. kind is KMT_TASK_NEW or
 * KMT_TASK_RENAME. Returns FALSE and clears *point if the format lacks a field
 * or is not supported. Newer kernels report the renamed task in common_pid.
 */
gboolean kmt_tracepoint_task_read(KmtTracepointTask *point, guint kind,
				  struct tep_event *event);

/*
 * Convert an event to *change. data has at least point->min_bytes; time is in
 * ns.
 */
void kmt_tracepoint_task_convert(const KmtTracepointTask *point, guint kind,
				 const guint8 *data, gint64 time,
				 KmtTracepointTaskChange *change);

#endif
