/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: the parser of the format string of an annotation. */
#ifndef _MM_KMEMTRACE_MARK_FORMAT_H
#define _MM_KMEMTRACE_MARK_FORMAT_H

#include <linux/types.h>

struct kmemtrace_mark;

/*
 * Derive the types of an annotation's arguments from its format.  Store one letter for
 * each argument and a terminating NUL in @types: see <linux/kmemtrace_abi.h>.  Store
 * the maximum number of bytes to read of each string argument in @string_max.  Return
 * false if the format has a conversion that is not supported, or does not match the
 * number of arguments.
 */
bool kmemtrace_mark_types(const struct kmemtrace_mark *mark, char *types,
			  u16 *string_max);

#endif /* _MM_KMEMTRACE_MARK_FORMAT_H */
