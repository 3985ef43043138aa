/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bounds-checked reads from untrusted file contents. A file may be truncated,
 * and its length fields may be wrong.
 */
#ifndef KMEMTRACE_IMPORT_BYTE_SPAN_H
#define KMEMTRACE_IMPORT_BYTE_SPAN_H

#include <glib.h>
#include <string.h>

/* Return a + b, or G_MAXUINT64 if the sum overflows. */
static inline guint64 kmt_add_saturating(guint64 a, guint64 b)
{
	guint64 sum;

	return __builtin_add_overflow(a, b, &sum) ? G_MAXUINT64 : sum;
}

/*
 * The unread bytes of a buffer. A read beyond the end sets next to NULL and
 * left to 0, and then every further read fails, so a caller can check
 * kmt_byte_span_ok() once after several reads.
 */
typedef struct {
	const guint8 *next;
	gsize left;
} KmtByteSpan;

/* Return whether no read has failed so far. */
static inline gboolean kmt_byte_span_ok(const KmtByteSpan *b)
{
	return b->next != NULL;
}

/*
 * Consume n_bytes. Returns a pointer to the first consumed byte, or NULL if
 * fewer than n_bytes are left.
 */
static inline const guint8 *kmt_byte_span_consume(KmtByteSpan *b,
						  guint64 n_bytes)
{
	const guint8 *consumed = b->next;

	if (!consumed || n_bytes > b->left) {
		b->next = NULL;
		b->left = 0;
		return NULL;
	}
	b->next += n_bytes;
	b->left -= n_bytes;
	return consumed;
}

/*
 * Consume n_bytes and copy them. If fewer than n_bytes are left, nothing is
 * copied.
 */
static inline void kmt_byte_span_copy(KmtByteSpan *b, gpointer to,
				      gsize n_bytes)
{
	const guint8 *from = kmt_byte_span_consume(b, n_bytes);

	if (from)
		memcpy(to, from, n_bytes);
}

/*
 * Consume a 32-bit integer in the host's byte order. Returns 0 if too few bytes
 * are left.
 */
static inline guint32 kmt_byte_span_32(KmtByteSpan *b)
{
	guint32 value = 0;

	kmt_byte_span_copy(b, &value, sizeof(value));
	return value;
}

/*
 * Consume a 64-bit integer in the host's byte order. Returns 0 if too few bytes
 * are left.
 */
static inline guint64 kmt_byte_span_64(KmtByteSpan *b)
{
	guint64 value = 0;

	kmt_byte_span_copy(b, &value, sizeof(value));
	return value;
}

/*
 * Consume a string with its terminating NUL. Returns the string, which stays in
 * the buffer, or NULL if the span contains no NUL.
 */
static inline const char *kmt_byte_span_string(KmtByteSpan *b)
{
	const guint8 *end = b->next ? memchr(b->next, '\0', b->left) : NULL;

	return (const char *)kmt_byte_span_consume(
		b, end ? (guint64)(end - b->next) + 1 : G_MAXUINT64);
}

#endif
