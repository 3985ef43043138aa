/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: the format of an annotation. */
#ifndef _MM_KMEMTRACE_MARK_FORMAT_H
#define _MM_KMEMTRACE_MARK_FORMAT_H

#include <linux/types.h>

struct kmemtrace_mark;

/*
 * Derive the types of an annotation's arguments from its format.  @types: receives a
 * letter for each argument, see <linux/kmemtrace_abi.h>.  @string_max: receives the
 * bytes that may be read of each string argument.  Return false if the format cannot
 * be recorded.
 */
bool kmemtrace_mark_types(const struct kmemtrace_mark *mark, char *types,
			  u16 *string_max);

#endif /* _MM_KMEMTRACE_MARK_FORMAT_H */
