/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes of a file that may end anywhere, or lie about what follows. */
#ifndef KMEMTRACE_IMPORT_BYTE_SPAN_H
#define KMEMTRACE_IMPORT_BYTE_SPAN_H

#include <glib.h>
#include <string.h>

/* The largest number in place of a sum that does not fit. */
static inline guint64 kmt_add_saturating(guint64 a, guint64 b)
{
	guint64 sum;

	return __builtin_add_overflow(a, b, &sum) ? G_MAXUINT64 : sum;
}

/* Once something was not there, nothing is any more: next is NULL. */
typedef struct {
	const guint8 *next;
	gsize left;
} KmtByteSpan;

static inline gboolean kmt_byte_span_ok(const KmtByteSpan *b)
{
	return b->next != NULL;
}

/* n_bytes of it, or NULL. */
static inline const guint8 *kmt_byte_span_take(KmtByteSpan *b, guint64 n_bytes)
{
	const guint8 *taken = b->next;

	if (!taken || n_bytes > b->left) {
		b->next = NULL;
		b->left = 0;
		return NULL;
	}
	b->next += n_bytes;
	b->left -= n_bytes;
	return taken;
}

/* Numbers in the host's byte order, 0 if they are not there. */
static inline guint32 kmt_byte_span_32(KmtByteSpan *b)
{
	const guint8 *p = kmt_byte_span_take(b, sizeof(guint32));
	guint32 value = 0;

	if (p)
		memcpy(&value, p, sizeof(value));
	return value;
}

static inline guint64 kmt_byte_span_64(KmtByteSpan *b)
{
	const guint8 *p = kmt_byte_span_take(b, sizeof(guint64));
	guint64 value = 0;

	if (p)
		memcpy(&value, p, sizeof(value));
	return value;
}

/* A string that ends with a NUL, or NULL. */
static inline const char *kmt_byte_span_string(KmtByteSpan *b)
{
	const guint8 *end = b->next ? memchr(b->next, '\0', b->left) : NULL;

	return (const char *)kmt_byte_span_take(
		b, end ? (guint64)(end - b->next) + 1 : G_MAXUINT64);
}

#endif
