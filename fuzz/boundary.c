// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "fuzz/boundary.h"

#include <stddef.h>
#include <string.h>

#define POWER(n) (G_GUINT64_CONSTANT(1) << (n))

const guint64 kmt_boundaries[] = {
	0,
	1,
	2,
	3,
	7,
	8,
	9,
	55,
	56,
	63,
	64,
	72,
	99,
	100,
	255,
	256,
	4096,
	65534,
	65535,
	65536,
	POWER(31) - 1,
	POWER(31),
	POWER(32) - 1,
	POWER(32),
	POWER(53) + 1,
	POWER(56),
	POWER(61) + 1,
	POWER(62) - 1,
	POWER(62),
	POWER(62) + 1,
	POWER(63) - 1,
	POWER(63),
	POWER(63) + 1,
	G_MAXUINT64 / 10,
	G_MAXUINT64 / 3 + 1,
	G_MAXUINT64 - 1,
	G_MAXUINT64,
};
const guint kmt_n_boundaries = G_N_ELEMENTS(kmt_boundaries);

char *kmt_boundary_text(guint index)
{
	static const char *const invalid_texts[] = {
		"-1",  "-9223372036854775808",
		"",    "18446744073709551616",
		"+1",  "340282366920938463463374607431768211456",
		"0x1", "1e3",
		"07",  " 1",
		"1 ",  "1.5",
		"x",   "99999999999999999999999999999999999999999999999999",
	};

	index %= kmt_n_boundaries + G_N_ELEMENTS(invalid_texts);
	if (index >= kmt_n_boundaries)
		return g_strdup(invalid_texts[index - kmt_n_boundaries]);
	return g_strdup_printf("%" G_GUINT64_FORMAT, kmt_boundaries[index]);
}

#define FIELD(member)                                                          \
	{                                                                      \
		offsetof(struct kmemtrace_event_v2s, member),                  \
			sizeof(((struct kmemtrace_event_v2s *)NULL)->member)   \
	}

void kmt_boundary_set(void *record, KmtBoundaryField field, guint64 boundary)
{
	static const struct {
		gsize offset, size;
	} fields[KMT_BOUNDARY_N_FIELDS] = {
		[KMT_BOUNDARY_BYTES_REQ] = FIELD(v2.v1.bytes_req),
		[KMT_BOUNDARY_BYTES_ALLOC] = FIELD(v2.v1.bytes_alloc),
		[KMT_BOUNDARY_TIMESTAMP] = FIELD(v2.v1.timestamp),
		[KMT_BOUNDARY_PTR] = FIELD(v2.v1.ptr),
		[KMT_BOUNDARY_CALL_SITE] = FIELD(v2.v1.call_site),
		[KMT_BOUNDARY_GFP_FLAGS] = FIELD(v2.v1.gfp_flags),
		[KMT_BOUNDARY_NODE] = FIELD(v2.v1.node),
		[KMT_BOUNDARY_EVENT_ID] = FIELD(v2.v1.event_id),
		[KMT_BOUNDARY_TYPE_ID] = FIELD(v2.v1.type_id),
		[KMT_BOUNDARY_EVENT_SIZE] = FIELD(v2.v1.event_size),
		[KMT_BOUNDARY_PID] = FIELD(v2.pid),
		[KMT_BOUNDARY_CACHE_AND_FLAGS] =
			{offsetof(struct kmemtrace_event_v2s, v2.cache),
			 sizeof(guint32)},
		[KMT_BOUNDARY_STACK] = FIELD(stack),
	};
	gsize size = fields[field].size;
	gsize skip = G_BYTE_ORDER == G_BIG_ENDIAN ? sizeof(boundary) - size : 0;

	memcpy((guint8 *)record + fields[field].offset,
	       (const guint8 *)&boundary + skip, size);
}
