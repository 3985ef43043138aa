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
	KMT_INPUT_LAYOUT_UNKNOWN, /* to be found out */
	KMT_INPUT_LAYOUT_A,	  /* 56 bytes, 16-bit ids, no size */
	KMT_INPUT_LAYOUT_B,	  /* kmemtrace_abi.h */
	KMT_INPUT_LAYOUT_C, /* 24 or 48 bytes, sequence numbers for time */
	KMT_INPUT_LAYOUT_D, /* native words; all CPUs in one file */
	KMT_INPUT_N_LAYOUTS
} KmtInputLayout;

/* "A" to "D". */
const char *kmt_input_layout_name(KmtInputLayout layout);

/* text NULL is UNKNOWN.  The error lists those that there are. */
gboolean kmt_input_layout_parse(const char *text, KmtInputLayout *layout,
				GError **error);

/* A layout as one machine writes it; B's record size is known elsewhere. */
typedef struct {
	KmtInputLayout layout;
	gboolean swapped;	  /* other byte order than this host's */
	gboolean has_32bit_words; /* D: words of 32 bits */
} KmtInputLayoutVariant;

/* No record is longer, and no header. */

/* Turns records of A, C or D, one after the other, into version 1. */
typedef struct {
	KmtInputLayoutVariant variant;
	/* C: its numbers have 32 bits; the last one with those that lack. */
	gboolean has_sequence;
	gint64 sequence;
} KmtInputDecoder;

typedef enum {
	KMT_INPUT_DECODE_OK,
	KMT_INPUT_DECODE_PARTIAL, /* the record is not whole */
	KMT_INPUT_DECODE_INVALID, /* no record; where the next one is, is
				     unknown */
} KmtInputDecodeResult;

/* The record at from, of which n bytes are there.  *used: its length. */
KmtInputDecodeResult kmt_input_decoder_next(KmtInputDecoder *decoder,
					    const guint8 *from, gsize n,
					    struct kmemtrace_event *event,
					    guint *cpu, guint *used);

/*
 * Whether the first records are of layout A, C or D (of wanted only, unless
 * that is UNKNOWN), and which variant.  See kmemtrace(5) for how sure it is.
 */
gboolean kmt_input_layout_detect(const guint8 *data, gsize n,
				 KmtInputLayout wanted,
				 KmtInputLayoutVariant *variant);

#endif
