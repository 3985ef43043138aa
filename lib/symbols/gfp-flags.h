/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gfp flags by name.  The bits differ from one version of the kernel to the
 * next, so a table belongs to a range of versions.
 */
#ifndef KMEMTRACE_SYMBOLS_GFP_FLAGS_H
#define KMEMTRACE_SYMBOLS_GFP_FLAGS_H

#include <glib.h>

typedef struct KmtSymGfp KmtSymGfp;

/*
 * The table of a kernel, by what uname -r says there ("6.1.0-9-amd64"); static.
 * NULL: none is known, or release is NULL.
 */
const KmtSymGfp *kmt_sym_gfp_of_release(const char *release);

/*
 * "GFP_KERNEL|__GFP_ZERO", as the kernel prints it in its trace events; "none"
 * for 0; bits without a name in hexadecimal.  With gfp NULL all is hexadecimal.
 * The caller frees it.
 */
char *kmt_sym_gfp_format(const KmtSymGfp *gfp, guint64 flags);

#endif
