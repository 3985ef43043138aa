/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tracefs instance of kmemtraced's own: a ring buffer and settings that do
 * not affect other tracing on the machine.
 */
#ifndef KMEMTRACED_TRACEFS_INSTANCE_H
#define KMEMTRACED_TRACEFS_INSTANCE_H

#include <glib.h>

typedef struct kmtd_instance KmtdInstance;

/* Warning after the removal of a stale instance. */
#define KMTD_INSTANCE_REMOVED                                                  \
	"removed the tracefs instance of a killed kmemtraced"

/*
 * Remove the instance of a kmemtraced that was killed, if there is one. Return
 * whether an instance was removed. Set an error if it cannot be removed.
 * @tracefs has the same meaning as in kmtd_instance_open().
 *
 * An instance is stale if no process holds the lock of the directory of
 * instances. Each kmemtraced acquires that lock before it creates its instance,
 * and shares the lock with its cleanup process. The kernel drops the lock only
 * when both have ended. Neither a stopped process nor a reused process number
 * can therefore lead to a wrong result.
 */
gboolean kmtd_instance_remove_stale(const char *tracefs, GError **error);

/*
 * Open the directory of instances in @tracefs and acquire its lock, so that no
 * other kmemtraced uses the instance at the same time. NULL selects the usual
 * mount points. kmtd_instance_create() creates the instance itself. Return NULL
 * and set an error on failure.
 */
KmtdInstance *kmtd_instance_open(const char *tracefs, GError **error);

/*
 * Return the text of a file of tracefs itself, without trailing white space,
 * newly allocated. Return NULL if the file does not exist, or NULL and set an
 * error if it cannot be read.
 */
char *kmtd_instance_read_top(KmtdInstance *instance, const char *name,
			     GError **error);

/*
 * Create the directory of the instance. *was_stale is set to whether a stale
 * instance had to be removed first. Return FALSE and set an error on failure.
 */
gboolean kmtd_instance_create(KmtdInstance *instance, gboolean *was_stale,
			      GError **error);

/*
 * Remove the instance and free @instance. The caller must have closed all files
 * of the instance. NULL is ignored.
 */
void kmtd_instance_close(KmtdInstance *instance);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdInstance, kmtd_instance_close)

/* Close the directory. For the cleanup process. */
void kmtd_instance_close_inherited(KmtdInstance *instance);

/*
 * Switch tracing off and remove the instance if there is one. Wait a limited
 * time while its files are open. For the cleanup process.
 */
void kmtd_instance_clean_up(KmtdInstance *instance);

/* Return the path of the instance. It belongs to @instance. */
const char *kmtd_instance_path(const KmtdInstance *instance);

/* Return whether the instance has a file @name. */
gboolean kmtd_instance_has(KmtdInstance *instance, const char *name);

/*
 * Return the text of a file of the instance, without trailing white space,
 * newly allocated. Return NULL and set an error on failure.
 */
char *kmtd_instance_read(KmtdInstance *instance, const char *name,
			 GError **error);

/*
 * Write @text to a file of the instance. Return FALSE and set an error if the
 * file cannot be opened or the kernel refuses the text.
 */
gboolean kmtd_instance_write(KmtdInstance *instance, const char *name,
			     const char *text, GError **error);

/*
 * Open a file of the instance. Return the descriptor, or -1 and set an error.
 */
int kmtd_instance_open_file(KmtdInstance *instance, const char *name, int flags,
			    GError **error);

#endif
