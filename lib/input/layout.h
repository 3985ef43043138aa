/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record layouts that different kernels have had under the name kmemtrace,
 * and the conversion of older layouts to records of version 1; see
 * kmemtrace(5).
 */
#ifndef KMEMTRACE_INPUT_LAYOUT_H
#define KMEMTRACE_INPUT_LAYOUT_H

#include <glib.h>
#include <kmemtrace_abi.h>

typedef enum {
	KMT_INPUT_LAYOUT_UNKNOWN, /* not known yet */
	KMT_INPUT_LAYOUT_A,	  /* 56 bytes, 16-bit ids, no size */
	KMT_INPUT_LAYOUT_B,	  /* kmemtrace_abi.h */
	KMT_INPUT_LAYOUT_C, /* 24 or 48 bytes, sequence numbers for time */
	KMT_INPUT_LAYOUT_D, /* native words; all CPUs in one file */
	KMT_INPUT_N_LAYOUTS
} KmtInputLayout;

/* Return "A" to "D". */
const char *kmt_input_layout_name(KmtInputLayout layout);

/*
 * Parse the name of a layout. NULL is UNKNOWN. The error message lists the
 * valid names.
 */
gboolean kmt_input_layout_parse(const char *text, KmtInputLayout *layout,
				GError **error);

/*
 * A layout with the properties of the machine that wrote it. For layout B, the
 * record size is detected separately.
 */
typedef struct {
	KmtInputLayout layout;
	gboolean swapped;	  /* another byte order than this host */
	gboolean has_32bit_words; /* D: words of 32 bits */
} KmtInputLayoutVariant;

/* Converts consecutive records of layout A, C or D to version 1. */
typedef struct {
	KmtInputLayoutVariant variant;
	/* C: the last sequence number, extended from 32 to 64 bits. */
	gboolean has_sequence;
	gint64 sequence;
} KmtInputDecoder;

typedef enum {
	KMT_INPUT_DECODE_OK,
	KMT_INPUT_DECODE_PARTIAL, /* the record is incomplete */
	KMT_INPUT_DECODE_INVALID, /* not a record; the start of the next record
				   * is unknown */
} KmtInputDecodeResult;

/*
 * Convert the record at from, of which n bytes are available. *used is set to
 * its length.
 */
KmtInputDecodeResult kmt_input_decoder_next(KmtInputDecoder *decoder,
					    const guint8 *from, gsize n,
					    struct kmemtrace_event *event,
					    guint *cpu, guint *used);

/*
 * Return whether the first records have layout A, C or D, and set *variant.
 * wanted restricts the search to one layout, unless it is UNKNOWN. kmemtrace(5)
 * describes how reliable the detection is.
 */
gboolean kmt_input_layout_detect(const guint8 *data, gsize n,
				 KmtInputLayout wanted,
				 KmtInputLayoutVariant *variant);

#endif
