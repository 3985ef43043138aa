/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cleanup process: a child that sleeps until kmemtraced has ended.
 *
 * If kmemtraced ends without kmtd_cleanup_end(), because a signal killed it,
 * the child undoes what kmemtraced did to the kernel
 * (KmtdSourceClass.clean_up).  It also cuts each cpu<n>.out back to whole
 * records, because the kernel may end a write() of a killed process at any
 * page.  The child holds the lock of the directory until then.
 *
 * It is started before the source changes anything in the kernel, and again if
 * it is killed.  It blocks every signal and has a session of its own: a signal
 * that a terminal or kill(2) sends to the process group of kmemtraced does not
 * reach it.  Only a SIGKILL to its own number ends it early.
 */
#ifndef KMEMTRACED_CLEANUP_PROCESS_H
#define KMEMTRACED_CLEANUP_PROCESS_H

#include <glib.h>

#include "kmemtraced/event-source.h"

typedef struct kmtd_cleanup KmtdCleanup;

/*
 * Start it and wait until it is ready.  Call before source->class->prepare.
 * dir_fd: the directory of the capture.  dir_fd and source must outlive guard.
 */
KmtdCleanup *kmtd_cleanup_start(int dir_fd, KmtdSource *source, GError **error);

/*
 * Start another one if it has ended.  Cheap, so that it can be called whenever
 * a SIGCHLD comes.  FALSE: there is none now; a later call tries again.
 */
gboolean kmtd_cleanup_keep(KmtdCleanup *guard, GError **error);

/* Nothing is left to clean up: end the child, and free guard. */
void kmtd_cleanup_end(KmtdCleanup *guard);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdCleanup, kmtd_cleanup_end)

#endif
