/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KMEMTRACE_FUZZ_CHECK_OUTPUT_H
#define KMEMTRACE_FUZZ_CHECK_OUTPUT_H

#include "check/check.h"

/* Print the result of a check as JSON and as text, and check both outputs. */
void kmt_check_output(const KmtCheck *check);

#endif
