/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record layouts of different kernels with a kmemtrace, and the conversion
 * of the older layouts A, C and D to version 1 records. kmemtrace(5) describes
 * the layouts.
 */
#ifndef KMEMTRACE_INPUT_LAYOUT_H
#define KMEMTRACE_INPUT_LAYOUT_H

#include <glib.h>
#include <kmemtrace_abi.h>

typedef enum {
	KMT_INPUT_LAYOUT_UNKNOWN, /* not detected yet */
	KMT_INPUT_LAYOUT_A, /* 56 bytes with 16-bit ids and no event_size */
	KMT_INPUT_LAYOUT_B, /* the current layout of kmemtrace_abi.h */
	KMT_INPUT_LAYOUT_C, /* 24 or 48 bytes, with sequence numbers instead of
			     * timestamps */
	KMT_INPUT_LAYOUT_D, /* sizes depend on the word size of the machine; one
			     * file contains all CPUs */
	KMT_INPUT_N_LAYOUTS
} KmtInputLayout;

/* Return the name of a layout, "A" to "D". layout must not be UNKNOWN. */
const char *kmt_input_layout_name(KmtInputLayout layout);

/*
 * Parse the name of a layout into *layout. text may be NULL, which means
 * UNKNOWN. For an invalid name, return FALSE and set *error to a message that
 * lists the valid names.
 */
gboolean kmt_input_layout_parse(const char *text, KmtInputLayout *layout,
				GError **error);

/*
 * A layout together with the properties of the machine that wrote the records.
 * For layout B only layout is set, because record-format.c stores its record
 * size and byte order separately.
 */
typedef struct {
	KmtInputLayout layout;
	gboolean swapped;	  /* the byte order differs from this host */
	gboolean has_32bit_words; /* layout D only: a word has 32 bits instead
				   * of 64 */
} KmtInputLayoutVariant;

/*
 * State of the conversion of consecutive records from layout A, C or D to
 * version 1. A decoder that is zeroed except for variant is at the start of a
 * file.
 */
typedef struct {
	KmtInputLayoutVariant variant;
	/* Layout C only: the sequence number of the record decoded before,
	 * extended from 32 to 64 bits. Valid if has_sequence. */
	gboolean has_sequence;
	gint64 sequence;
} KmtInputDecoder;

typedef enum {
	KMT_INPUT_DECODE_OK,
	KMT_INPUT_DECODE_PARTIAL, /* the bytes end within the record */
	KMT_INPUT_DECODE_INVALID, /* The bytes are not a record. The start of
				   * the next record cannot be determined. */
} KmtInputDecodeResult;

/*
 * Convert the record at from, of which n bytes are available, to version 1 in
 * the byte order of this host. On success set *event, *cpu (0 unless the layout
 * is D) and *used, the length of the original record in bytes.
 */
KmtInputDecodeResult kmt_input_decoder_next(KmtInputDecoder *decoder,
					    const guint8 *from, gsize n,
					    struct kmemtrace_event *event,
					    guint *cpu, guint *used);

/*
 * Return whether the n bytes at data begin with records of layout A, C or D,
 * and set *variant. If wanted is not UNKNOWN, the function tries only that
 * layout. kmemtrace(5) describes how reliable the detection is.
 */
gboolean kmt_input_layout_detect(const guint8 *data, gsize n,
				 KmtInputLayout wanted,
				 KmtInputLayoutVariant *variant);

#endif
