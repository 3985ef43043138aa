/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The progress of a long operation, as one line on stderr. The line appears
 * after a second, only if stderr is a terminal, and is erased at the end. One
 * thread at a time may call these functions. Until kmt_progress_begin() runs,
 * all other functions do nothing.
 */
#ifndef KMEMTRACE_CLI_PROGRESS_H
#define KMEMTRACE_CLI_PROGRESS_H

#include <glib.h>

/* An operation on events. */
typedef struct {
	const char *program; /* begins the line */
	const char *verb;    /* what is done to the events, such as "read" */
	guint64 total;	     /* number of events; 0: unknown */
	guint passes;	     /* number of times that each event is counted */
} KmtProgressTask;

/* Begin to measure the time of *task, whose strings must be static. */
void kmt_progress_begin(const KmtProgressTask *task);

/*
 * Report the number of events that were counted since the beginning, or add to
 * this number. The line is drawn five times a second at most.
 */
void kmt_progress_show(guint64 events);
void kmt_progress_add(guint64 events);

/* Erase the line, and end the operation. */
void kmt_progress_end(void);

/*
 * Erase a line that a child process may have drawn, which shared the terminal
 * and was killed, and end the operation.
 */
void kmt_progress_end_of_child(void);

#endif
