/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the symbols of a capture. */
#ifndef KMEMTRACE_OUTPUT_CAPTURE_SYMBOLS_H
#define KMEMTRACE_OUTPUT_CAPTURE_SYMBOLS_H

#include "lib/input/capture.h"
#include "lib/symbols/symbolizer.h"

/*
 * Call kmt_symbolizer_open() with the options of the user in @user_options and
 * the properties of the capture: kallsyms, modules, build id, release and tags,
 * whose fields in @user_options are ignored. Append the warnings about the tags
 * to @warnings as well. Return NULL on error. The caller frees the result.
 */
KmtSymbolizer *kmt_output_open_symbols(const KmtInputCapture *capture,
				       const KmtSymbolizerOptions *user_options,
				       GPtrArray *warnings, GError **error);

#endif
