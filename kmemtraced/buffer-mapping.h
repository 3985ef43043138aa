/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a CPU's records from the kernel's buffer without a copy, by the calls
 * of kmemtrace_ioctl.h.
 *
 * One thread at a time may use a KmtdMapping.
 */
#ifndef KMEMTRACED_BUFFER_MAPPING_H
#define KMEMTRACED_BUFFER_MAPPING_H

#include <glib.h>

#include "kmemtraced/event-source.h"

typedef struct kmtd_mapping KmtdMapping;

/*
 * Map the buffer of a CPU. @fd is the file of the CPU; it belongs to the caller
 * and must outlive the mapping. Return NULL and set errno if the kernel has no
 * mappings or refuses this one.
 */
KmtdMapping *kmtd_mapping_open(int fd);

/* Unmap the buffer and free @mapping. NULL is ignored. */
void kmtd_mapping_close(KmtdMapping *mapping);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdMapping, kmtd_mapping_close)

/*
 * Acquire records, as KmtdCpuStreamClass.acquire specifies. Without @all, the
 * records end at the end of a full sub-buffer, and an incomplete sub-buffer
 * supplies none.
 */
gssize kmtd_mapping_acquire(KmtdMapping *mapping, KmtdCpuStreamBatch *batch,
			    gboolean all);

/* Release acquired records, as KmtdCpuStreamClass.release specifies. */
int kmtd_mapping_release(KmtdMapping *mapping, const KmtdCpuStreamBatch *batch);

#endif
