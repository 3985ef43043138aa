/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detects that somebody else changes an instance of tracefs that is recorded.
 *
 * inotify reports each write to a file of the instance.  The values of the
 * settings are compared with those of the start as well: when a write was
 * reported, now and then, and at the end.  So a change is found without
 * inotify, and a change that is taken back at once is found without a
 * comparison.
 */
#ifndef KMEMTRACED_INTERFERENCE_H
#define KMEMTRACED_INTERFERENCE_H

#include <glib.h>

#include "kmemtraced/tracefs-instance.h"

typedef struct kmtd_interference KmtdInterference;

/*
 * Begin to watch, before tracing is switched on, so that no change is missed.
 * The other settings must be as they shall stay, and the caller must not write
 * to a file of the instance from now on, except to tracing_on.
 * follows_children: the kernel itself changes set_event_pid, as processes start
 * and end.
 */
KmtdInterference *kmtd_interference_new(KmtdInstance *instance,
					gboolean follows_children);

/*
 * The caller has written 1 to tracing_on.  That is the only change which does
 * not count.
 */
void kmtd_interference_begin(KmtdInterference *interference);

/* Readable when kmtd_interference_poll() has something to do; -1: never. */
int kmtd_interference_fd(const KmtdInterference *interference);

/* Take what was reported.  now: compare all values too. */
void kmtd_interference_poll(KmtdInterference *interference, gboolean now);

/*
 * Stop to watch.  Needed before the caller writes to the instance and before
 * the instance is removed.
 */
void kmtd_interference_stop(KmtdInterference *interference);

/* A change that was found by other means. */
void kmtd_interference_add(KmtdInterference *interference, const char *name);

/*
 * Write what was found into [capture] of meta: interference, and, as the source
 * relay does, events_off, filter and filter_changed.  Return FALSE and set an
 * error that names the files if there was anything.
 */
gboolean kmtd_interference_conclude(const KmtdInterference *interference,
				    GKeyFile *meta, GError **error);

void kmtd_interference_free(KmtdInterference *interference);

#endif
