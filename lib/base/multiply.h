/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A multiplication with a result of 128 bits, also on machines of 32 bits. */
#ifndef KMEMTRACE_BASE_MULTIPLY_H
#define KMEMTRACE_BASE_MULTIPLY_H

#include <glib.h>

/* Return the lower 64 bits of a * b, and set *high to the upper 64 bits. */
static inline guint64 kmt_multiply(guint64 a, guint64 b, guint64 *high)
{
	guint64 a_low = (guint32)a, a_high = a >> 32;
	guint64 b_low = (guint32)b, b_high = b >> 32;
	guint64 low = a_low * b_low;
	guint64 middle = a_high * b_low + (low >> 32);
	guint64 other = a_low * b_high + (guint32)middle;

	*high = a_high * b_high + (middle >> 32) + (other >> 32);
	return other << 32 | (guint32)low;
}

#endif
