/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes a capture through all of lib/input and lib/match in each way that there
 * is, and aborts where two ways differ, or where what must add up does not.
 */
#ifndef KMEMTRACE_FUZZ_EXERCISE_H
#define KMEMTRACE_FUZZ_EXERCISE_H

#include "lib/input/capture.h"

/*
 * stop_ns: see KmtMatchPipelineOptions.  threads: shards have threads of their
 * own, which takes ten times as long, and what the threads do is not the same
 * each time.
 */
void kmt_exercise(const KmtInputCapture *capture, gint64 tolerance_ns,
		  gint64 stop_ns, gboolean threads);

/* Reads the capture once, which may be a stream; what the matcher told. */
char *kmt_exercise_digest(const KmtInputCapture *capture, gint64 tolerance_ns);

/* Tables are hashed as in the run that failed.  For each input. */
void kmt_exercise_begin(void);

#endif
