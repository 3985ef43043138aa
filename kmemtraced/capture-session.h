/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording session: it creates one capture, from the first check to the last
 * byte on the disk.
 */
#ifndef KMEMTRACED_CAPTURE_SESSION_H
#define KMEMTRACED_CAPTURE_SESSION_H

#include <glib.h>

#include "kmemtraced/command.h"
#include "kmemtraced/initramfs.h"
#include "kmemtraced/summary.h"

typedef struct {
	const char *directory;
	gboolean has_directory; /* -D is given; otherwise directory is "." */
	const char *source;	/* name of the source; NULL: the best one */
	int stream_fd; /* write a stream there, not a directory; -1: no */
	const char *debugfs;
	const char *tracefs;
	guint64 buffer_kb;
	const char *reader; /* see KmtdSourceOptions */
	const gint *pids;
	guint n_pids;
	gboolean children;
	const char *filter;
	char *const *cgroups; /* see KmtdSourceOptions */
	gboolean keep_own;
	gboolean no_recover;
	gboolean stacks;
	guint stack_depth;
	KmtdCommand *command;	  /* its exit ends the recording; NULL: none */
	KmtdInitramfs *initramfs; /* NULL: does not begin in an initramfs */
	const KmtCliSignals *signals; /* blocked by main() */
	const char *proc;
	const char *sys;
	double seconds;	    /* time to record; 0: no limit */
	gboolean force;	    /* replace an existing capture */
	int compress_level; /* of zstd; 0: write uncompressed files */
	gboolean snapshot;  /* save a snapshot; see snapshot-capture.h */
	gboolean quiet;	    /* draw no live line */
} KmtdSessionOptions;

/*
 * Functions that print messages while the session runs. The text is one line
 * without a newline.
 */
typedef struct {
	void (*warning)(const char *text);
	void (*note)(const char *text);
} KmtdSessionUi;

/*
 * Record a capture. options->signals must be blocked, and no other thread may
 * exist. Errors (GError *) are appended to @errors; everything that can still
 * be saved is saved. Return TRUE if there is a capture. *summary, which the
 * caller has initialised, then describes this capture.
 */
gboolean kmtd_session_run(const KmtdSessionOptions *options,
			  const KmtdSessionUi *ui, KmtdSummary *summary,
			  GPtrArray *errors);

#endif
