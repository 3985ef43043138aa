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

void kmt_detailed_count_cross(KmtAccounting *accounting,
			      const KmtClassStats *stats, guint32 class_id,
			      guint16 alloc_file, guint16 free_file,
			      guint64 free_site)
{
	KmtFindingSite alloc = kmt_detailed_site(accounting, class_id);

	accounting->aggregate->overflowed |= kmt_cross_cpu_add(
		accounting->aggregate->cross, &alloc, alloc_file, free_site,
		free_file, stats->bytes_alloc);
}
