// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <kmemtrace_ioctl.h>

#include "kmemtraced/buffer-mapping.h"

struct kmtd_mapping {
	int fd;
	const guint8 *start; /* NULL: not mapped */
	gsize n_bytes;
	gsize subbuf_size;  /* distance between two sub-buffers */
	gsize subbuf_bytes; /* bytes of the records in a full sub-buffer */
	guint64 generation;
};

static void unmap(KmtdMapping *mapping)
{
	if (mapping->start)
		munmap((void *)mapping->start, mapping->n_bytes);
	mapping->start = NULL;
}

/*
 * Map the current buffer of the CPU, instead of an earlier one. Return 0 or
 * -errno.
 */
static int map(KmtdMapping *mapping)
{
	struct kmemtrace_ioctl_info info;
	void *start;

	unmap(mapping);
	if (ioctl(mapping->fd, KMEMTRACE_IOC_INFO, &info) < 0)
		return -errno;
	if (info.record_size == 0 || info.subbuf_size < info.record_size)
		return -EPROTO;
	start = mmap(NULL, info.map_bytes, PROT_READ, MAP_SHARED, mapping->fd,
		     0);
	if (start == MAP_FAILED)
		return -errno;
	/* A cleanup process that is forked later must not keep the buffer in
	 * use. */
	(void)madvise(start, info.map_bytes, MADV_DONTFORK);
	mapping->start = start;
	mapping->n_bytes = info.map_bytes;
	mapping->subbuf_size = info.subbuf_size;
	mapping->subbuf_bytes =
		info.subbuf_size - info.subbuf_size % info.record_size;
	mapping->generation = info.generation;
	return 0;
}

KmtdMapping *kmtd_mapping_open(int fd)
{
	g_autoptr(KmtdMapping) mapping = g_new0(KmtdMapping, 1);
	int r;

	mapping->fd = fd;
	r = map(mapping);
	if (r == 0)
		return g_steal_pointer(&mapping);
	errno = -r;
	return NULL;
}

void kmtd_mapping_close(KmtdMapping *mapping)
{
	if (!mapping)
		return;
	unmap(mapping);
	g_free(mapping);
}

/*
 * Acquire records from the kernel. If the kernel has replaced the buffer
 * (ESTALE), map the new buffer and retry. Return 0 or -errno.
 */
static int take(KmtdMapping *mapping, struct kmemtrace_ioctl_take *take)
{
	for (;;) {
		int r;

		*take = (struct kmemtrace_ioctl_take){
			.generation = mapping->generation,
		};
		if (mapping->start &&
		    ioctl(mapping->fd, KMEMTRACE_IOC_TAKE, take) == 0)
			return 0;
		if (mapping->start && errno == EINTR)
			continue;
		if (mapping->start && errno != ESTALE)
			return -errno;
		r = map(mapping);
		if (r < 0)
			return r;
	}
}

gssize kmtd_mapping_acquire(KmtdMapping *mapping, KmtdCpuStreamBatch *batch,
			    gboolean all)
{
	struct kmemtrace_ioctl_take taken;
	int r = take(mapping, &taken);

	if (r < 0)
		return r;
	if (taken.offset > mapping->n_bytes ||
	    taken.bytes > mapping->n_bytes - taken.offset)
		return -EPROTO;
	*batch = (KmtdCpuStreamBatch){
		.from = mapping->start + taken.offset,
		.n_bytes = taken.bytes,
		.position = taken.position,
		.lost_events = taken.lost_events,
		.lost_since = taken.lost_since,
		.lost_timestamp = taken.lost_timestamp,
	};
	return all || taken.offset % mapping->subbuf_size + taken.bytes ==
				       mapping->subbuf_bytes
		       ? (gssize)taken.bytes
		       : 0;
}

int kmtd_mapping_release(KmtdMapping *mapping, const KmtdCpuStreamBatch *batch)
{
	const struct kmemtrace_ioctl_give give = {
		.position = batch->position,
		.bytes = batch->n_bytes,
	};

	while (ioctl(mapping->fd, KMEMTRACE_IOC_GIVE, &give) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}
