/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kmemtraced that kmemtrace-top starts, as a child process. */
#ifndef KMEMTRACE_TOP_DAEMON_H
#define KMEMTRACE_TOP_DAEMON_H

#include <glib.h>

typedef struct KmtTopDaemon KmtTopDaemon;

/*
 * Start kmemtraced with --stream and these arguments (NULL-terminated, or
 * NULL). Its messages are collected instead of printed. Return NULL and set
 * *error if the program cannot be started.
 */
KmtTopDaemon *kmt_top_daemon_new(const char *const *args, GError **error);

/* Return the descriptor of the stream, which the daemon owns. */
int kmt_top_daemon_fd(const KmtTopDaemon *daemon);

/* Ask kmemtraced to end the recording. The stream then ends. */
void kmt_top_daemon_stop(KmtTopDaemon *daemon);

/* Close the stream. kmemtraced then ends the recording. */
void kmt_top_daemon_close(KmtTopDaemon *daemon);

/*
 * Wait until kmemtraced has ended. Return FALSE and set *error, with its
 * messages, if it has failed. Close the stream, or read it to its end, before,
 * since kmemtraced waits for that.
 */
gboolean kmt_top_daemon_wait(KmtTopDaemon *daemon, GError **error);

/* Stop kmemtraced, close the stream, wait, and free; NULL is allowed. */
void kmt_top_daemon_free(KmtTopDaemon *daemon);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtTopDaemon, kmt_top_daemon_free)

#endif
