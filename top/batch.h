/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The batch mode: prints one view after the other. */
#ifndef KMEMTRACE_TOP_BATCH_H
#define KMEMTRACE_TOP_BATCH_H

#include "top/top-options.h"

/*
 * Print the views until their number is reached, the stream ends, a signal
 * stops the program, or stdout fails, which kmt_cli_close_stdout() reports. If
 * the stream is damaged or kmemtraced fails, print a last view of the records
 * so far, return FALSE, and set *error.
 */
gboolean kmt_top_batch_run(KmtTopEngine *engine, const KmtTopOptions *options,
			   GError **error);

#endif
