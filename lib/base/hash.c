// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/base/hash.h"

guint kmt_str_hash(gconstpointer text)
{
	static gsize seed; /* random seed, because GLib's hash functions have
			    * none */
	gsize length = strlen(text);
	const char *at = text;
	guint64 hash, word;

	if (g_once_init_enter(&seed))
		g_once_init_leave(&seed, (gsize)kmt_hash_odd_seed());
	hash = kmt_hash(seed, length);
	for (; length >= sizeof(word); length -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = kmt_hash(hash, word);
		at += sizeof(word);
	}
	word = 0;
	memcpy(&word, at, length);
	return (guint)kmt_hash(hash, word);
}
