/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saves a snapshot of the kernel; tracing may continue meanwhile. */
#ifndef KMEMTRACED_SNAPSHOT_CAPTURE_H
#define KMEMTRACED_SNAPSHOT_CAPTURE_H

#include "kmemtraced/capture-session.h"

/*
 * Save the snapshot as a separate capture. Another kmemtraced may record
 * meanwhile: the state of tracing does not change. Parameters and result are
 * those of kmtd_session_run(). After an error, for example because a newer
 * snapshot has replaced this one, the files of the capture are removed.
 */
gboolean kmtd_snapshot_save(const KmtdSessionOptions *options,
			    const KmtdSessionUi *ui, KmtdSummary *summary,
			    GPtrArray *errors);

#endif
