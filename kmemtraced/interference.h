/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detects that another program changes a tracefs instance that is being
 * recorded.
 *
 * inotify reports writes to the files in the instance's directories that
 * contain settings. The values of the settings are also compared with the
 * values at the start: after a reported write, periodically, and at the end.
 * The comparison finds changes without inotify. inotify finds changes that are
 * undone before a comparison.
 */
#ifndef KMEMTRACED_INTERFERENCE_H
#define KMEMTRACED_INTERFERENCE_H

#include <glib.h>

#include "kmemtraced/tracefs-instance.h"

typedef struct kmtd_interference KmtdInterference;

/*
 * Start watching @instance. Call before tracing is switched on, so that no
 * change is missed. All settings except tracing_on must be final, and the
 * caller must not write to any other file of the instance from now on.
 * @follows_children: the kernel itself changes set_event_pid as processes start
 * and end. @instance must outlive the result.
 */
KmtdInterference *kmtd_interference_new(KmtdInstance *instance,
					gboolean follows_children);

/*
 * Accept the caller's write of 1 to tracing_on. All other changes count as
 * interference.
 */
void kmtd_interference_begin(KmtdInterference *interference);

/*
 * Return a descriptor that is readable when kmtd_interference_poll() has work
 * to do, or -1 without inotify.
 */
int kmtd_interference_fd(const KmtdInterference *interference);

/* Process the reported writes. @now: compare all values in any case. */
void kmtd_interference_poll(KmtdInterference *interference, gboolean now);

/*
 * Stop watching and close all descriptors. Call before the caller writes to the
 * instance, and before the instance is removed. NULL is ignored.
 */
void kmtd_interference_stop(KmtdInterference *interference);

/* Record a change of the file @name that was detected by other means. */
void kmtd_interference_add(KmtdInterference *interference, const char *name);

/*
 * Write the detected changes to [capture] of @meta: "interference", "not_seen"
 * and, as the source "relay" does, "events_off", "filter" and "filter_changed".
 * Return FALSE and set an error that names the files if there were changes.
 */
gboolean kmtd_interference_conclude(const KmtdInterference *interference,
				    GKeyFile *meta, GError **error);

/* Stop watching and free @interference. NULL is ignored. */
void kmtd_interference_free(KmtdInterference *interference);

#endif
