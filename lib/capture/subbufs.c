// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/capture/subbufs.h"

guint64 kmt_capture_enough_subbufs(guint64 n, guint64 subbuf_bytes,
				   guint64 record_bytes, guint64 lost)
{
	guint64 records_each = subbuf_bytes / record_bytes;
	guint64 twice, enough;

	if (!n || !records_each || __builtin_add_overflow(n, n, &twice) ||
	    __builtin_add_overflow(n, lost / records_each, &enough) ||
	    enough == G_MAXUINT64)
		return 0;
	enough++;
	return MAX(twice, enough);
}
