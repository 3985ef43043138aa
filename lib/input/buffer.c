// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/input/buffer.h"

KmtInputBuffer *kmt_input_buffer_new(gsize n)
{
	KmtInputBuffer *buffer = g_malloc(sizeof(KmtInputBuffer) + n);

	buffer->refs = 1;
	return buffer;
}

KmtInputBuffer *kmt_input_buffer_ref(KmtInputBuffer *buffer)
{
	g_atomic_int_inc(&buffer->refs);
	return buffer;
}

void kmt_input_buffer_unref(KmtInputBuffer *buffer)
{
	if (buffer && g_atomic_int_dec_and_test(&buffer->refs))
		g_free(buffer);
}
