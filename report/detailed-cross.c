// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares the CPU that allocates an object with the memory's node and with the
 * CPU that frees the object. */
#include "config.h"

#include "report/detailed-private.h"

gboolean kmt_detailed_is_remote(const KmtAccounting *accounting,
				guint32 class_id, guint16 file)
{
	KmtMatchKey key =
		kmt_match_keys_of_class(accounting->aggregate->keys, class_id);
	const KmtInputCpuFile *f = accounting->capture->files->pdata[file];

	return key.node >= 0 && f->node >= 0 && key.node != f->node;
}

void kmt_detailed_count_pair(KmtAccounting *accounting,
			     const KmtClassStats *stats, guint64 free_site)
{
	guint32 class_id = (guint32)(stats - accounting->class_stats);
	KmtCrossCpu *cross = accounting->aggregate->cross;
	KmtFindingSite alloc;
	gboolean overflow;

	if (!kmt_cross_cpu_add_recent(cross, class_id, free_site,
				      stats->bytes_alloc, &overflow)) {
		alloc = kmt_detailed_site(accounting, class_id);
		overflow = kmt_cross_cpu_add_pair(
			cross, class_id, &alloc, free_site, stats->bytes_alloc);
	}
	accounting->aggregate->overflowed |= overflow;
}
