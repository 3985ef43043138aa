/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saves a snapshot that the kernel has taken, while tracing continues. */
#ifndef KMEMTRACED_SNAPSHOT_CAPTURE_H
#define KMEMTRACED_SNAPSHOT_CAPTURE_H

#include "kmemtraced/capture-session.h"

/*
 * Save the snapshot as a separate capture. Another kmemtraced may record
 * meanwhile: the state of tracing does not change. Parameters and result are
 * those of kmtd_session_run(). If a new snapshot replaces this one before the
 * end, the files of the new capture are removed.
 */
gboolean kmtd_snapshot_save(const KmtdSessionOptions *options,
			    const KmtdSessionUi *ui, KmtdSummary *summary,
			    GPtrArray *errors);

#endif
