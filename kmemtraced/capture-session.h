/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One capture, from the first check to the last byte on the disk. */
#ifndef KMEMTRACED_CAPTURE_SESSION_H
#define KMEMTRACED_CAPTURE_SESSION_H

#include <glib.h>

#include "kmemtraced/command.h"
#include "kmemtraced/summary.h"

typedef struct {
	const char *directory;
	const char *source; /* NULL: the best there is */
	const char *debugfs;
	const char *tracefs;
	guint64 buffer_kb;
	const char *reader; /* as in KmtdSourceOptions */
	const gint *pids;
	guint n_pids;
	gboolean children;
	const char *filter;
	gboolean keep_own;
	KmtdCommand *command;	      /* to be recorded, or NULL */
	const KmtCliSignals *signals; /* taken by main() */
	const char *proc;
	const char *sys;
	double seconds;	   /* how long to record; 0: until told */
	gboolean force;	   /* replace a capture */
	gboolean snapshot; /* save that: see kmemtraced/snapshot-capture.h */
	gboolean quiet;	   /* no live line */
} KmtdSessionOptions;

/* How a session speaks while it runs; text is one line without a newline. */
typedef struct {
	void (*warning)(const char *text);
	void (*note)(const char *text);
} KmtdSessionUi;

/*
 * Records a capture.  options->signals must be blocked, and no other thread
 * exist.  Errors (GError) are added to errors; what could be
 * saved in spite of them is.  TRUE: there is a capture, and *summary, which the
 * caller has initialised, tells of it.
 */
gboolean kmtd_session_run(const KmtdSessionOptions *options,
			  const KmtdSessionUi *ui, KmtdSummary *summary,
			  GPtrArray *errors);

#endif
