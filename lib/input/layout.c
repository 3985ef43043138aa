// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/input/capture.h"
#include "lib/input/layout.h"

/*
 * Maximum number of records at the start of a file that the detection examines.
 */
#define DETECT_RECORDS 64

/*
 * Highest valid CPU number in a record of layout D. A larger number means that
 * the record is damaged.
 */
#define MAX_CPU 4095

/*
 * Event ids of layouts C and D. The event ids of layouts A and B begin with 1.
 */
enum { LEGACY_ALLOC = 0, LEGACY_FREE = 1 };

static const char *const names[KMT_INPUT_N_LAYOUTS] = {
	[KMT_INPUT_LAYOUT_A] = "A",
	[KMT_INPUT_LAYOUT_B] = "B",
	[KMT_INPUT_LAYOUT_C] = "C",
	[KMT_INPUT_LAYOUT_D] = "D",
};

const char *kmt_input_layout_name(KmtInputLayout layout)
{
	return names[layout];
}

gboolean kmt_input_layout_parse(const char *text, KmtInputLayout *layout,
				GError **error)
{
	KmtInputLayout l;

	*layout = KMT_INPUT_LAYOUT_UNKNOWN;
	if (!text)
		return TRUE;
	for (l = KMT_INPUT_LAYOUT_A; l < KMT_INPUT_N_LAYOUTS; l++) {
		if (g_ascii_strcasecmp(text, names[l]) == 0) {
			*layout = l;
			return TRUE;
		}
	}
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
		    "--layout '%s': not known; the layouts are A, B, C and D",
		    text);
	return FALSE;
}

/* ---- unaligned numbers ---- */

static guint16 get16(const KmtInputLayoutVariant *v, const guint8 *p)
{
	guint16 x;

	memcpy(&x, p, sizeof(x));
	return v->swapped ? GUINT16_SWAP_LE_BE(x) : x;
}

static guint32 get32(const KmtInputLayoutVariant *v, const guint8 *p)
{
	guint32 x;

	memcpy(&x, p, sizeof(x));
	return v->swapped ? GUINT32_SWAP_LE_BE(x) : x;
}

static guint64 get64(const KmtInputLayoutVariant *v, const guint8 *p)
{
	guint64 x;

	memcpy(&x, p, sizeof(x));
	return v->swapped ? GUINT64_SWAP_LE_BE(x) : x;
}

/*
 * Return element i of an array at p whose elements are an unsigned long of the
 * traced machine.
 */
static guint64 get_word(const KmtInputLayoutVariant *v, const guint8 *p,
			guint i)
{
	return v->has_32bit_words ? get32(v, p + 4 * (gsize)i)
				  : get64(v, p + 8 * (gsize)i);
}

/* ---- decoders ---- */

/*
 * Decode a record of layout A: u16 event_id, u16 type_id, then the fields of
 * version 1 from offset 4 on.
 */
static KmtInputDecodeResult decode_a(KmtInputDecoder *d, const guint8 *from,
				     gsize n, struct kmemtrace_event *event,
				     guint *used)
{
	guint id, type;

	if (n < KMEMTRACE_EVENT_SIZE_V1)
		return KMT_INPUT_DECODE_PARTIAL;
	id = get16(&d->variant, from);
	type = get16(&d->variant, from + 2);
	memcpy(event, from, sizeof(*event));
	if (d->variant.swapped)
		kmt_input_swap_event(event);
	/* Version 1 has only 8 bits for an id. Convert a larger id to
	 * G_MAXUINT8, which is invalid, too. */
	event->event_id = (guint8)MIN(id, G_MAXUINT8);
	event->type_id = (guint8)MIN(type, G_MAXUINT8);
	event->event_size = KMEMTRACE_EVENT_SIZE_V1;
	*used = KMEMTRACE_EVENT_SIZE_V1;
	return KMT_INPUT_DECODE_OK;
}

/*
 * Decode the common start of a record of layout C or D: u8 event_id, u8
 * type_id, u16 event_size. free_size and alloc_size are the fixed sizes of a
 * free and of an allocation in bytes. event_size must equal the size that
 * belongs to the event id.
 */
static KmtInputDecodeResult decode_start(const KmtInputLayoutVariant *v,
					 const guint8 *from, gsize n,
					 guint free_size, guint alloc_size,
					 struct kmemtrace_event *event,
					 guint *used)
{
	if (n < 4)
		return KMT_INPUT_DECODE_PARTIAL;
	*used = from[0] == LEGACY_ALLOC ? alloc_size : free_size;
	if (from[0] > LEGACY_FREE || get16(v, from + 2) != *used)
		return KMT_INPUT_DECODE_INVALID;
	if (n < *used)
		return KMT_INPUT_DECODE_PARTIAL;
	memset(event, 0, sizeof(*event));
	event->event_id = from[0] == LEGACY_ALLOC ? KMEMTRACE_EVENT_ALLOC
						  : KMEMTRACE_EVENT_FREE;
	event->type_id = from[1];
	event->event_size = KMEMTRACE_EVENT_SIZE_V1;
	event->node = KMEMTRACE_NODE_NONE;
	return KMT_INPUT_DECODE_OK;
}

/*
 * Extend a 32-bit sequence number to 64 bits. The difference to the number of
 * the previous record is interpreted as signed, so that a wraparound continues
 * the sequence.
 */
static gint64 unwrap(KmtInputDecoder *d, guint32 number)
{
	if (d->has_sequence)
		d->sequence += (gint32)(number - (guint32)d->sequence);
	else
		d->sequence = number;
	d->has_sequence = TRUE;
	return d->sequence;
}

/* Decode a record of layout C. After the common start: s32 seq_num, u64
 * call_site, u64 ptr. An allocation continues with u64 bytes_req, u64
 * bytes_alloc, u32 gfp_flags, s32 node. */
static KmtInputDecodeResult decode_c(KmtInputDecoder *d, const guint8 *from,
				     gsize n, struct kmemtrace_event *event,
				     guint *used)
{
	const KmtInputLayoutVariant *v = &d->variant;
	KmtInputDecodeResult result =
		decode_start(v, from, n, 24, 48, event, used);

	if (result != KMT_INPUT_DECODE_OK)
		return result;
	event->timestamp = unwrap(d, get32(v, from + 4));
	event->call_site = get64(v, from + 8);
	event->ptr = get64(v, from + 16);
	if (event->event_id == KMEMTRACE_EVENT_FREE)
		return KMT_INPUT_DECODE_OK;
	event->bytes_req = get64(v, from + 24);
	event->bytes_alloc = get64(v, from + 32);
	event->gfp_flags = get32(v, from + 40);
	event->node = (gint32)get32(v, from + 44);
	return KMT_INPUT_DECODE_OK;
}

/* Decode a record of layout D. After the common start: u32 cpu, u64 timestamp,
 * ulong call_site, ulong ptr. An allocation continues with ulong bytes_req,
 * ulong bytes_alloc, u32 gfp_flags, s32 node. */
static KmtInputDecodeResult decode_d(KmtInputDecoder *d, const guint8 *from,
				     gsize n, struct kmemtrace_event *event,
				     guint *cpu, guint *used)
{
	const KmtInputLayoutVariant *v = &d->variant;
	guint word = v->has_32bit_words ? 4 : 8;
	guint free_size = 16 + 2 * word, alloc_size = 24 + 4 * word;
	KmtInputDecodeResult result =
		decode_start(v, from, n, free_size, alloc_size, event, used);

	if (result != KMT_INPUT_DECODE_OK)
		return result;
	*cpu = get32(v, from + 4);
	if (*cpu > MAX_CPU)
		return KMT_INPUT_DECODE_INVALID;
	event->timestamp = (gint64)get64(v, from + 8);
	event->call_site = get_word(v, from + 16, 0);
	event->ptr = get_word(v, from + 16, 1);
	if (event->event_id == KMEMTRACE_EVENT_FREE)
		return KMT_INPUT_DECODE_OK;
	event->bytes_req = get_word(v, from + free_size, 0);
	event->bytes_alloc = get_word(v, from + free_size, 1);
	event->gfp_flags = get32(v, from + alloc_size - 8);
	event->node = (gint32)get32(v, from + alloc_size - 4);
	return KMT_INPUT_DECODE_OK;
}

KmtInputDecodeResult kmt_input_decoder_next(KmtInputDecoder *decoder,
					    const guint8 *from, gsize n,
					    struct kmemtrace_event *event,
					    guint *cpu, guint *used)
{
	*cpu = 0;
	switch (decoder->variant.layout) {
	case KMT_INPUT_LAYOUT_A:
		return decode_a(decoder, from, n, event, used);
	case KMT_INPUT_LAYOUT_C:
		return decode_c(decoder, from, n, event, used);
	case KMT_INPUT_LAYOUT_D:
		return decode_d(decoder, from, n, event, cpu, used);
	default:
		g_return_val_if_reached(KMT_INPUT_DECODE_INVALID);
	}
}

/* ---- detection ---- */

static gboolean is_plausible(const struct kmemtrace_event *event)
{
	return (event->event_id == KMEMTRACE_EVENT_ALLOC ||
		event->event_id == KMEMTRACE_EVENT_FREE) &&
	       event->type_id <= KMEMTRACE_TYPE_PAGES && event->ptr != 0;
}

/*
 * Return whether the data begins with records of a layout variant. wanted: the
 * user requested the layout, so damaged records are acceptable.
 *
 * A free has the same size in layout C and in 32-bit layout D. Without a
 * request, at least one allocation is therefore necessary to distinguish the
 * two layouts. The data may end within a record.
 */
static gboolean try_variant(const KmtInputLayoutVariant *variant,
			    const guint8 *data, gsize n, gboolean wanted)
{
	KmtInputDecoder decoder = {.variant = *variant};
	struct kmemtrace_event event;
	gboolean is_distinct = wanted || variant->layout == KMT_INPUT_LAYOUT_A;
	KmtInputDecodeResult result = KMT_INPUT_DECODE_OK;
	guint i, cpu, used, sound = 0;
	gint64 last = 0;

	for (i = 0; i < DETECT_RECORDS; i++) {
		result = kmt_input_decoder_next(&decoder, data, n, &event, &cpu,
						&used);
		if (result != KMT_INPUT_DECODE_OK)
			break;
		if (is_plausible(&event) && event.timestamp >= last)
			sound++;
		else if (!wanted)
			return FALSE;
		is_distinct |= event.event_id == KMEMTRACE_EVENT_ALLOC;
		last = event.timestamp;
		data += used;
		n -= used;
	}
	/* If the user requested the layout, half of the records may be damaged,
	 * and an invalid record may end the search. */
	return i > 0 && is_distinct && sound * 2 >= i &&
	       (wanted || result != KMT_INPUT_DECODE_INVALID);
}

gboolean kmt_input_layout_detect(const guint8 *data, gsize n,
				 KmtInputLayout wanted,
				 KmtInputLayoutVariant *variant)
{
	static const KmtInputLayoutVariant variants[] = {
		{.layout = KMT_INPUT_LAYOUT_A},
		{.layout = KMT_INPUT_LAYOUT_C},
		{.layout = KMT_INPUT_LAYOUT_D},
		{.layout = KMT_INPUT_LAYOUT_D, .has_32bit_words = TRUE},
	};
	guint i, swapped;

	for (i = 0; i < G_N_ELEMENTS(variants); i++) {
		for (swapped = 0; swapped < 2; swapped++) {
			KmtInputLayoutVariant v = variants[i];

			if (wanted && v.layout != wanted)
				continue;
			v.swapped = swapped;
			if (!try_variant(&v, data, n, wanted != 0))
				continue;
			*variant = v;
			return TRUE;
		}
	}
	return FALSE;
}
