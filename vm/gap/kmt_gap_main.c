// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls each function of the allocators a known number of times and prints the
 * records that a complete trace must contain.  Each call is in a separate
 * function that is never inlined, so that the call sites differ.  Lines:
 *
 *   kmt_gap: alloc FUNCTION TYPE COUNT BYTES_REQ GFP
 *	FUNCTION made COUNT allocations of BYTES_REQ bytes in total, each with
 *	these gfp flags ("-": any)
 *   kmt_gap: freed FUNCTION TYPE COUNT BY
 *	the function BY freed COUNT of these ("*": any function; "A|B": B, if
 *	the compiler has inlined it into A)
 *   kmt_gap: pages ADDRESS...
 *	functions of the kernel allocated and freed each of these pages
 *   kmt_gap: lost COUNT
 *	COUNT events occurred in NMI context
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
