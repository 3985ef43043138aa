/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the symbols of a capture. */
#ifndef KMEMTRACE_REPORT_CAPTURE_SYMBOLS_H
#define KMEMTRACE_REPORT_CAPTURE_SYMBOLS_H

#include "lib/input/capture.h"
#include "lib/symbols/symbolizer.h"

/*
 * Calls kmt_names_open() with the paths in user_options and the facts of
 * capture; the facts in user_options are ignored.
 */
KmtNames *kmt_capture_names(const KmtInputCapture *capture,
			    const KmtNamesOptions *user_options,
			    GPtrArray *warnings, GError **error);

#endif
