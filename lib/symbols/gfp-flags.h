/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Format gfp flags by name. The bits differ between kernel versions, so each
 * table belongs to a range of versions.
 */
#ifndef KMEMTRACE_SYMBOLS_GFP_FLAGS_H
#define KMEMTRACE_SYMBOLS_GFP_FLAGS_H

#include <glib.h>

typedef struct KmtSymGfp KmtSymGfp;

/*
 * Return the flag names of the kernel with this release, in the form of uname
 * -r ("6.1.0-9-amd64"). Return NULL if no table covers the release or if
 * @release is NULL. The result is static.
 */
const KmtSymGfp *kmt_sym_gfp_of_release(const char *release);

/*
 * Format @flags as the kernel prints them in its trace events:
 * "GFP_KERNEL|__GFP_ZERO". The result is "none" for 0. Bits without a name are
 * hexadecimal; if @gfp is NULL, all bits are. The caller frees the string.
 */
char *kmt_sym_gfp_format(const KmtSymGfp *gfp, guint64 flags);

#endif
