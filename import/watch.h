/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bounds for the process that reads a file through libraries of other projects:
 * its memory, and the time that it may take without progress.
 */
#ifndef KMEMTRACE_IMPORT_WATCH_H
#define KMEMTRACE_IMPORT_WATCH_H

#include <glib.h>
#include <sys/types.h>

/* Shared by the reading process and the one that watches it. */
typedef struct KmtImportWatch KmtImportWatch;

/* Before fork().  NULL: there is no memory, or no pipe. */
KmtImportWatch *kmt_import_watch_new(void);
void kmt_import_watch_free(KmtImportWatch *watch);

/* In the reading process, at its beginning. */
void kmt_import_watch_begin(KmtImportWatch *watch);

/*
 * Bound the memory of this process by that of an input of so many bytes.
 * Returns the bound in bytes; 0: a smaller limit was in force before, or none
 * can be set.
 */
guint64 kmt_import_watch_limit_memory(guint64 input_bytes);

/* In the reading process: progress. */
void kmt_import_watch_tick(KmtImportWatch *watch);

/* In the reading process: what follows uses no library and has no bound. */
void kmt_import_watch_end(KmtImportWatch *watch);

/* The exit status of the reading process is not known. */
#define KMT_IMPORT_WATCH_NO_STATUS (-1)

/*
 * In the other process: wait until the reading one ends, and reap it.  FALSE:
 * it was killed, since it made no progress for cpu_seconds of its processor
 * time, or for seconds of real time.
 *
 * *reader becomes 0 with all signals blocked, so that no signal handler can
 * send a signal to a process that has been reaped.  *status is that of
 * waitpid(), or KMT_IMPORT_WATCH_NO_STATUS with errno set.
 */
gboolean kmt_import_watch_wait(KmtImportWatch *watch, volatile pid_t *reader,
			       guint cpu_seconds, guint seconds, int *status);

/* Bytes of a file, or of all files in a directory and those in it. */
guint64 kmt_import_watch_input_bytes(const char *path);

#endif
