// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes each way through the allocators a known number of times and prints what
 * a complete trace must show of it.  Every way is a function of its own, never
 * inlined, so that call_site tells them apart.  Lines:
 *
 *   kmt_gap: alloc FUNCTION TYPE COUNT BYTES_REQ GFP
 *	FUNCTION made COUNT allocations for BYTES_REQ bytes in all, each with
 *	these gfp flags ("-": of no interest)
 *   kmt_gap: freed FUNCTION TYPE COUNT BY
 *	of these, COUNT were freed by the function BY ("*": by anyone; "A|B":
 *	by B if the compiler has put it inline into A)
 *   kmt_gap: pages ADDRESS...
 *	each of these pages was allocated and freed, by functions of the kernel
 *   kmt_gap: lost COUNT
 *	so many events happened in NMI context
 */
#include "kmt_gap.h"

#include <linux/module.h>

static int nmi_events;
module_param(nmi_events, int, 0400);
MODULE_PARM_DESC(nmi_events, "Do nothing but so many events in NMI context");

static int __init gap_init(void)
{
	int err;

	if (nmi_events)
		return gap_nmis(nmi_events);

	err = gap_slab();
	if (err)
		return err;
	gap_pages();
	gap_vmallocs();
	gap_percpus();
	gap_contexts();
	gap_slab_end();
	pr_info("done\n");
	return 0;
}

static void __exit gap_exit(void)
{
}

module_init(gap_init);
module_exit(gap_exit);
MODULE_DESCRIPTION("Takes each path of the allocators a known number of times");
MODULE_LICENSE("GPL");
