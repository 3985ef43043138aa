// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <sys/mman.h>

#include "lib/capture/locked-buffer.h"

bool kmt_capture_buffer_allocate(KmtCaptureBuffer *buffer, gsize n_bytes,
				 bool is_locked)
{
	void *data = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS |
				  (is_locked ? MAP_POPULATE : 0),
			  -1, 0);

	if (data == MAP_FAILED)
		return false;
	*buffer = (KmtCaptureBuffer){data, n_bytes};
	/* A failure is ignored: an ordinary user may not be allowed to lock
	 * this much memory. */
	if (is_locked)
		(void)mlock(data, n_bytes);
	return true;
}

int kmt_capture_buffer_resize(KmtCaptureBuffer *buffer, gsize n_bytes)
{
	void *data =
		mremap(buffer->data, buffer->capacity, n_bytes, MREMAP_MAYMOVE);

	if (data == MAP_FAILED)
		return -errno;
	*buffer = (KmtCaptureBuffer){data, n_bytes};
	return 0;
}

void kmt_capture_buffer_free(KmtCaptureBuffer *buffer)
{
	if (buffer->data)
		munmap(buffer->data, buffer->capacity);
	*buffer = (KmtCaptureBuffer){NULL, 0};
}
