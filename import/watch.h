/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits for the process that reads a file with libraries of other projects:
 * its memory, and the time without progress.
 */
#ifndef KMEMTRACE_IMPORT_WATCH_H
#define KMEMTRACE_IMPORT_WATCH_H

#include <glib.h>
#include <sys/types.h>

/* State shared by the reader process and its parent. */
typedef struct KmtImportWatch KmtImportWatch;

/*
 * Create the shared state; call the function before fork(). Returns NULL if
 * there is no memory or no pipe. The parent frees the state with
 * kmt_import_watch_free().
 */
KmtImportWatch *kmt_import_watch_new(void);
void kmt_import_watch_free(KmtImportWatch *watch);

/* Called first in the reader process. */
void kmt_import_watch_begin(KmtImportWatch *watch);

/*
 * Limit the memory of this process in proportion to the size of the input.
 * Return the limit in bytes, or 0 if a limit that is not larger was already in
 * force or the limit cannot be set.
 */
guint64 kmt_import_watch_limit_memory(guint64 input_bytes);

/* Report progress from the reader process. */
void kmt_import_watch_tick(KmtImportWatch *watch);

/*
 * End the time limit. The reader process calls the function when it no longer
 * uses libraries for the input.
 */
void kmt_import_watch_end(KmtImportWatch *watch);

/* Value of *status if the exit status of the reader process is not known. */
#define KMT_IMPORT_WATCH_NO_STATUS (-1)

/*
 * Wait in the parent until the reader process ends, and reap it. Returns FALSE
 * if the function killed the reader because it made no progress for cpu_seconds
 * of processor time, or for seconds of real time.
 *
 * *reader is set to 0 while all signals are blocked, so that no signal handler
 * can signal a process that has been reaped. *status is the status of
 * waitpid(), or KMT_IMPORT_WATCH_NO_STATUS with errno set.
 */
gboolean kmt_import_watch_wait(KmtImportWatch *watch, volatile pid_t *reader,
			       guint cpu_seconds, guint seconds, int *status);

/*
 * Return the size in bytes of a file, or of all files in a directory tree. The
 * search is bounded in depth and in the number of entries.
 */
guint64 kmt_import_watch_input_bytes(const char *path);

#endif
