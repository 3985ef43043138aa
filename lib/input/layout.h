/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layouts of records that kernels have had under the name kmemtrace, and
 * how the older ones become records of version 1 (see kmemtrace(5)).
 */
#ifndef KMEMTRACE_INPUT_LAYOUT_H
#define KMEMTRACE_INPUT_LAYOUT_H

#include <glib.h>
#include <kmemtrace_abi.h>

typedef enum {
	KMT_LAYOUT_UNKNOWN, /* to be found out */
	KMT_LAYOUT_A,	    /* 56 bytes, 16-bit ids, no size */
	KMT_LAYOUT_B,	    /* kmemtrace_abi.h */
	KMT_LAYOUT_C,	    /* 24 or 48 bytes, sequence numbers for time */
	KMT_LAYOUT_D,	    /* native words; all CPUs in one file */
	KMT_N_LAYOUTS
} KmtLayout;

/* "A" to "D". */
const char *kmt_layout_name(KmtLayout layout);

/* text NULL is UNKNOWN.  The error lists those that there are. */
gboolean kmt_layout_parse(const char *text, KmtLayout *layout, GError **error);

/* A layout as one machine writes it; B's record size is known elsewhere. */
typedef struct {
	KmtLayout layout;
	gboolean swapped; /* other byte order than this host's */
	gboolean narrow;  /* D: words of 32 bits */
} KmtVariant;

/* No record is longer, and no header. */

/* Turns records of A, C or D, one after the other, into version 1. */
typedef struct {
	KmtVariant variant;
	/* C: its numbers have 32 bits; the last one with those that lack. */
	gboolean has_sequence;
	gint64 sequence;
} KmtDecoder;

typedef enum {
	KMT_DECODED,
	KMT_DECODE_MORE,   /* the record is not whole */
	KMT_DECODE_BROKEN, /* no record; where the next one is, is unknown */
} KmtDecode;

/* The record at from, of which n bytes are there.  *used: its length. */
KmtDecode kmt_decoder_step(KmtDecoder *decoder, const guint8 *from, gsize n,
			   struct kmemtrace_event *event, guint *cpu,
			   guint *used);

/*
 * Whether the first records are of layout A, C or D (of wanted only, unless
 * that is UNKNOWN), and which variant.  See kmemtrace(5) for how sure it is.
 */
gboolean kmt_layout_detect(const guint8 *data, gsize n, KmtLayout wanted,
			   KmtVariant *variant);

#endif
