/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: the log of tasks, which the files tasks and cgroups show. */
#ifndef _MM_KMEMTRACE_TASKS_H
#define _MM_KMEMTRACE_TASKS_H

#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/types.h>

/* The tables that the log makes. */
enum kmemtrace_task_table {
	KMEMTRACE_TABLE_TASKS,
	KMEMTRACE_TABLE_CGROUPS,
	KMEMTRACE_TASK_TABLES
};

/* An entry of the log, or a living task. */
struct kmemtrace_task {
	u64		until;	/* timestamp; 0: the task is alive */
	u64		cgroup;	/* cgroup_id() in the hierarchy of version 2; 0: the root */
	pid_t		pid;
	u32		tables;	/* BIT() of each table that shows the entry */
	char		comm[TASK_COMM_LEN];
};

/* Number of entries of the log.  It does not change after boot. */
extern unsigned int kmemtrace_n_tasks;

/*
 * Copy the first entry of the log whose position is at least *@pos to @task, and store
 * its position in *@pos.  The position of the first entry is 1.  Return false if there
 * is no such entry.  Any context but NMI.
 */
bool kmemtrace_next_logged(loff_t *pos, struct kmemtrace_task *task);

/*
 * Functions for the struct seq_operations of a table.  m->private begins with a struct
 * kmemtrace_task, to which kmemtrace_tasks_start() and kmemtrace_tasks_next() copy the
 * entry.  They return SEQ_START_TOKEN for the head, and otherwise m->private, for all
 * entries of all tables.  Sleep.
 */
void *kmemtrace_tasks_start(struct seq_file *m, loff_t *pos);
void *kmemtrace_tasks_next(struct seq_file *m, void *v, loff_t *pos);
void kmemtrace_tasks_stop(struct seq_file *m, void *v);

/*
 * Print the head of a table.  @omitted: number of entries that are in the log, but not
 * in the table; @omitted_until: the member until of the last one.
 */
void kmemtrace_tasks_put_head(struct seq_file *m, enum kmemtrace_task_table table,
			      u64 omitted, u64 omitted_until);

#endif /* _MM_KMEMTRACE_TASKS_H */
