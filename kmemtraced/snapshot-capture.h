/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saving a snapshot that the kernel has taken, while tracing goes on. */
#ifndef KMEMTRACED_SNAPSHOT_CAPTURE_H
#define KMEMTRACED_SNAPSHOT_CAPTURE_H

#include "kmemtraced/capture-session.h"

/*
 * Saves the snapshot as a capture of its own.  Another kmemtraced may record
 * meanwhile: what is traced, and how, stays as it is.  As kmtd_session_run(),
 * but if a new snapshot takes the place of this one nothing is left.
 */
gboolean kmtd_snapshot_save(const KmtdSessionOptions *options,
			    const KmtdSessionUi *ui, KmtdSummary *summary,
			    GPtrArray *errors);

#endif
