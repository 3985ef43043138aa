// SPDX-License-Identifier: GPL-2.0-only
/* kmemtrace: the definitions of the tracepoints of <trace/events/kmemtrace.h>. */

#include <linux/mm_types.h>

#define CREATE_TRACE_POINTS
#include <trace/events/kmemtrace.h>
