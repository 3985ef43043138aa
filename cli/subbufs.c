// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "cli/subbufs.h"

guint64 kmt_enough_subbufs(guint64 n, guint64 subbuf_bytes,
			   guint64 record_bytes, guint64 lost)
{
	guint64 records_each = subbuf_bytes / record_bytes;

	if (!n || !records_each)
		return 0;
	return MAX(2 * n, n + lost / records_each + 1);
}
