// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls functions of the allocators a known number of times and prints the
 * records that a complete trace must contain.  Each call is in a separate
 * function that is never inlined, so that the call sites differ.  Lines:
 *
 *   kmt_gap: alloc FUNCTION TYPE COUNT BYTES_REQ GFP
 *	FUNCTION made COUNT allocations of BYTES_REQ bytes in total, each with
 *	the gfp flags GFP ("-": any)
 *   kmt_gap: freed FUNCTION TYPE COUNT BY
 *	the function BY freed COUNT of the allocations that FUNCTION made ("*":
 *	any function; "A|B": A and B together, as inlining and the version of
 *	the kernel decide)
 *   kmt_gap: defer FUNCTION TYPE COUNT
 *	FUNCTION passed COUNT of its allocations to kfree_rcu()
 *   kmt_gap: pages ADDRESS...
 *	functions of the kernel allocated and freed each of these pages
 *   kmt_gap: range ADDRESS COUNT
 *	functions of the kernel allocated and freed COUNT pages, each as one
 *	page
 *   kmt_gap: path ADDRESS...
 *	the task that loads the module allocated and freed objects with these
 *	addresses; the following lines up to the next such line describe what
 *	happened until the next mark
 *   kmt_gap: within ADDRESS COUNT
 *	the pages of this path are among these COUNT pages; the kernel allocates
 *	and frees other ones meanwhile
 *   kmt_gap: base ADDRESS
 *	the address of the page with the frame number 0
 *   kmt_gap: lost MIN MAX
 *	MIN to MAX events occurred in NMI context
 * The scenario, vm/scenarios/gap.sh, adds:
 *   kmt_gap: huge BYTES COUNT
 *	hugetlb allocated and freed COUNT pages of BYTES bytes
 *   kmt_gap: split COUNT
 *	COUNT folios were split since boot
 *   kmt_gap: migrated COUNT
 *	COUNT pages were migrated since boot
 */
#include "kmt_gap.h"

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

static int nmi_events;
module_param(nmi_events, int, 0400);
MODULE_PARM_DESC(nmi_events, "Do nothing but so many events in NMI context");

static bool nmi_storm;
module_param(nmi_storm, bool, 0400);
MODULE_PARM_DESC(nmi_storm, "NMIs interrupt the allocators at random points");

/* At the first call, destroy the cache whose sheaves still have objects. */
static int gap_finish(const char *text, const struct kernel_param *param)
{
	static atomic_t finished;

	if (!atomic_xchg(&finished, 1))
		gap_sheaves_end();
	return 0;
}

static const struct kernel_param_ops gap_finish_ops = { .set = gap_finish };
module_param_cb(finish, &gap_finish_ops, NULL, 0200);
MODULE_PARM_DESC(finish, "Write 1 to destroy the caches of the module");

noinline void mark_path(void)
{
	void *objects[MARK_OBJECTS];
	int i;

	for (i = 0; i < MARK_OBJECTS; i++)
		objects[i] = kmalloc(MARK_BYTES, GFP_KERNEL);
	pr_info("path %#lx %#lx %#lx\n", (unsigned long)objects[0],
		(unsigned long)objects[1], (unsigned long)objects[2]);
	for (i = 0; i < MARK_OBJECTS; i++)
		kfree(objects[i]);
}

static int __init gap_init(void)
{
	int err;

	if (nmi_events)
		return gap_nmis(nmi_events, nmi_storm);

	pr_info("base %#lx\n", (unsigned long)PAGE_OFFSET);
	err = gap_slab();
	if (err)
		return err;
	err = gap_rcus();
	if (err) {
		gap_slab_end();
		return err;
	}
	err = gap_sheaves();
	if (err) {
		gap_slab_end();
		gap_rcus_end();
		return err;
	}
	gap_pages();
	gap_contig();
	gap_vmallocs();
	gap_percpus();
	gap_contexts();
	/* The end of the last path. */
	mark_path();
	gap_slab_end();
	gap_rcus_end();
	pr_info("done\n");
	return 0;
}

static void __exit gap_exit(void)
{
	gap_finish(NULL, NULL);
}

module_init(gap_init);
module_exit(gap_exit);
MODULE_DESCRIPTION("Takes each path of the allocators a known number of times");
MODULE_LICENSE("GPL");
