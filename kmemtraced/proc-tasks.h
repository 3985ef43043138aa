/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a file of each task from /proc. */
#ifndef KMEMTRACED_PROC_TASKS_H
#define KMEMTRACED_PROC_TASKS_H

#include <glib.h>

/* Maximum size of the file of a task in bytes; the rest of a file is ignored.
 */
#define KMTD_PROC_FILE_MAX 8192

/* @text: the content of the file without the last newline; may be modified. */
typedef void (*KmtdProcTaskFunc)(gpointer user, guint32 tgid, guint32 pid,
				 char *text);

/*
 * Call @seen with the file @name of each thread. @proc is the mount point of
 * procfs. A thread that /proc does not show, or whose file cannot be read, is
 * left out.
 */
void kmtd_proc_tasks_read(const char *proc, const char *name,
			  KmtdProcTaskFunc seen, gpointer user);

#endif
