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
	KMT_N_TASK_POINTS,
};

/* Their names, below events/task. */
extern const char *const kmt_task_point_names[KMT_N_TASK_POINTS];

/* A name in the data of an event. */
typedef struct {
	guint16 offset;
	guint16 n_bytes;
} KmtTaskNameField;

typedef struct {
	guint min_bytes; /* all fields are within these; 0: there is none */
	guint16 id;
	KmtField pid;
	KmtTaskNameField name;
	KmtTaskNameField old_name; /* KMT_TASK_RENAME */
} KmtTaskPoint;

/* A task came with that name, or has it from now on. */
typedef struct {
	gint64 time; /* ns */
	guint32 pid;
	gboolean renamed;
	char name[KMT_TASK_NAME_BYTES];
	char old_name[KMT_TASK_NAME_BYTES]; /* renamed */
} KmtTaskChange;

/*
 * Looks up the fields.  FALSE, and a point that there is none: the event lacks
 * one, or has it in a way that is not known.  Newer kernels tell of a rename by
 * common_pid whose it is.
 */
gboolean kmt_task_point_read(KmtTaskPoint *point, guint kind,
			     struct tep_event *event);

/* data has at least point->min_bytes. */
void kmt_task_point_convert(const KmtTaskPoint *point, guint kind,
			    const guint8 *data, gint64 time,
			    KmtTaskChange *change);

#endif
