/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Process a capture with lib/input and lib/match in several ways.
 * kmt_exercise() aborts if two ways return different results, or if counts do
 * not add up.
 */
#ifndef KMEMTRACE_FUZZ_EXERCISE_H
#define KMEMTRACE_FUZZ_EXERCISE_H

#include "lib/input/capture.h"

/*
 * Process a capture opened for random access. @stop_ns is described in
 * KmtMatchPipelineOptions. If @threads, each shard of the complete runs has its
 * own thread, which takes ten times as long and is not deterministic; the runs
 * until @stop_ns have one job.
 */
void kmt_exercise(const KmtInputCapture *capture, gint64 tolerance_ns,
		  gint64 stop_ns, gboolean threads);

/*
 * Read the capture, which may be a stream, once. Return a digest of all
 * decisions of the matcher and of the live objects. The caller frees the
 * string.
 */
char *kmt_exercise_digest(const KmtInputCapture *capture, gint64 tolerance_ns);

/*
 * Prepare the process for one input: the hash seed is fixed, so that a failure
 * can be repeated. Call this function for each input.
 */
void kmt_exercise_begin(void);

#endif
