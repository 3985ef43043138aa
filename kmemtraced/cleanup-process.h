/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cleanup process: a child that sleeps until kmemtraced has ended.
 *
 * If kmemtraced ends without kmtd_cleanup_end(), for example killed by a
 * signal, the child restores the kernel (KmtdSourceClass.clean_up). Tracing
 * stays off if kmemtraced had already disabled it. The child also cuts each
 * cpu<n>.out back to whole records, because the kernel may end a write() of a
 * killed process at any page. The child holds the lock of the capture directory
 * until all of this is done.
 *
 * The child is started before the source changes anything in the kernel, and
 * again if it is killed. It blocks every signal and has its own session, so
 * that a signal to the process group of kmemtraced, from a terminal or kill(2),
 * does not reach it. Only a SIGKILL to its process number ends it early.
 */
#ifndef KMEMTRACED_CLEANUP_PROCESS_H
#define KMEMTRACED_CLEANUP_PROCESS_H

#include <glib.h>

#include "kmemtraced/event-source.h"

typedef struct kmtd_cleanup KmtdCleanup;

/*
 * Start the child and wait until it is ready. Call before
 * source->class->prepare. @dir_fd is the directory of the capture. @dir_fd and
 * @source must outlive the result. Return NULL and set an error on failure.
 */
KmtdCleanup *kmtd_cleanup_start(int dir_fd, KmtdSource *source, GError **error);

/*
 * Start a new child if the previous one has ended. The call is cheap and may be
 * made after each SIGCHLD. Return FALSE and set an error if there is no child
 * now; a later call tries again.
 */
gboolean kmtd_cleanup_restart(KmtdCleanup *cleanup, GError **error);

/*
 * End the child without a cleanup, because nothing is left to restore, and free
 * @cleanup. NULL is ignored.
 */
void kmtd_cleanup_end(KmtdCleanup *cleanup);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdCleanup, kmtd_cleanup_end)

#endif
