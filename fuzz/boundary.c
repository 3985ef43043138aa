// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "fuzz/boundary.h"

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
