/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A directory of our own in tracefs/instances: a ring buffer and switches that
 * leave the machine's other tracing alone.
 */
#ifndef KMEMTRACED_TRACEFS_INSTANCE_H
#define KMEMTRACED_TRACEFS_INSTANCE_H

#include <glib.h>

typedef struct kmtd_instance KmtdInstance;

/* The warning after a removal. */
#define KMTD_INSTANCE_REMOVED                                                  \
	"removed what a kmemtraced that was killed had left in tracefs"

/*
 * Remove the instance of a kmemtraced that was killed, if there is one.  Return
 * whether one was removed.  error is set if it cannot be removed.  tracefs: as
 * in kmtd_instance_open().
 *
 * An instance is stale if nobody holds the lock of the directory of instances.
 * Each kmemtraced takes that lock before it makes its instance, and shares it
 * with its cleanup process.  The kernel drops the lock when both have ended,
 * and not before, so that neither a stopped process nor a number of a process
 * that was given again can mislead.
 */
gboolean kmtd_instance_remove_stale(const char *tracefs, GError **error);

/*
 * Finds tracefs (NULL: where it usually is).  No other kmemtraced can have it
 * open at the same time.
 */
KmtdInstance *kmtd_instance_open(const char *tracefs, GError **error);

/*
 * Text of a file of tracefs itself, without the last newline.  NULL: error is
 * set, or the file does not exist.
 */
char *kmtd_instance_read_top(KmtdInstance *instance, const char *name,
			     GError **error);

/*
 * Makes the directory.  *was_left: a kmemtraced that was killed had left one,
 * and it was removed.
 */
gboolean kmtd_instance_make(KmtdInstance *instance, gboolean *was_left,
			    GError **error);

/* Removes it, for which nobody may have a file of it open. */
void kmtd_instance_close(KmtdInstance *instance);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdInstance, kmtd_instance_close)

/* In the cleanup process: close the directory. */
void kmtd_instance_disown(KmtdInstance *instance);

/*
 * In the cleanup process: remove the directory if there is one.  Wait while
 * files of it are open.
 */
void kmtd_instance_clean_up(KmtdInstance *instance);

const char *kmtd_instance_path(const KmtdInstance *instance);

gboolean kmtd_instance_has(KmtdInstance *instance, const char *name);

/* Text of a file, without the last newline. */
char *kmtd_instance_read(KmtdInstance *instance, const char *name,
			 GError **error);

/* What the kernel does not take is an error. */
gboolean kmtd_instance_write(KmtdInstance *instance, const char *name,
			     const char *text, GError **error);

/* Opens a file; -1 and an error. */
int kmtd_instance_open_file(KmtdInstance *instance, const char *name, int flags,
			    GError **error);

#endif
