/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A CPU's records where the kernel wrote them: the calls of kmemtrace_ioctl.h.
 *
 * One thread at a time.
 */
#ifndef KMEMTRACED_BUFFER_MAPPING_H
#define KMEMTRACED_BUFFER_MAPPING_H

#include <glib.h>

#include "kmemtraced/event-source.h"

typedef struct kmtd_mapping KmtdMapping;

/* fd stays the caller's.  NULL, and errno: the kernel cannot, or refuses. */
KmtdMapping *kmtd_mapping_open(int fd);
void kmtd_mapping_close(KmtdMapping *mapping);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdMapping, kmtd_mapping_close)

/*
 * As KmtdCpuStreamClass has them.  take, without all: only up to the end of a
 * full sub-buffer, and nothing of one that is not full yet.
 */
gssize kmtd_mapping_acquire(KmtdMapping *mapping, KmtdCpuStreamPart *part,
			    gboolean all);
int kmtd_mapping_release(KmtdMapping *mapping, const KmtdCpuStreamPart *part);

#endif
