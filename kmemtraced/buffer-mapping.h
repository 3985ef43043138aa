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

typedef struct kmt_mapping KmtMapping;

/* fd stays the caller's.  NULL, and errno: the kernel cannot, or refuses. */
KmtMapping *kmt_mapping_open(int fd);
void kmt_mapping_close(KmtMapping *mapping);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtMapping, kmt_mapping_close)

/*
 * As KmtFeedClass has them.  take, without all: only up to the end of a
 * full sub-buffer, and nothing of one that is not full yet.
 */
gssize kmt_mapping_take(KmtMapping *mapping, KmtFeedPart *part, gboolean all);
int kmt_mapping_give(KmtMapping *mapping, const KmtFeedPart *part);

#endif
