/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the symbols of a capture. */
#ifndef KMEMTRACE_REPORT_CAPTURE_SYMBOLS_H
#define KMEMTRACE_REPORT_CAPTURE_SYMBOLS_H

#include "lib/input/capture.h"
#include "lib/symbols/symbolizer.h"

/*
 * Call kmt_symbolizer_open() with the paths in @user_options and the kallsyms,
 * modules, build id and release of the capture. Those four fields of
 * @user_options are ignored. Return NULL on error. The caller frees the result.
 */
KmtSymbolizer *kmt_report_open_symbols(const KmtInputCapture *capture,
				       const KmtSymbolizerOptions *user_options,
				       GPtrArray *warnings, GError **error);

#endif
