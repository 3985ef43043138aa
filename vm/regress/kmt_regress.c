// SPDX-License-Identifier: GPL-2.0-only
/*
 * A driver with a table that it fills when it is loaded and holds until it is
 * unloaded. A larger parameter "size" has the effect of a patch that adds fields
 * to the structure of an entry: the same call site then holds more memory.
 */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>

static unsigned int entries = 128;
module_param(entries, uint, 0444);
MODULE_PARM_DESC(entries, "number of entries in the table (default: 128)");

static unsigned int size = 512;
module_param(size, uint, 0444);
MODULE_PARM_DESC(size, "size of an entry in bytes (default: 512)");

static LIST_HEAD(regress_table);

/* The function is not inlined, so that a report names it. */
static noinline int regress_add_entry(void)
{
	struct list_head *entry = kzalloc(size, GFP_KERNEL);

	if (!entry)
		return -ENOMEM;
	list_add(entry, &regress_table);
	return 0;
}

static void regress_clear(void)
{
	struct list_head *entry, *next;

	list_for_each_safe(entry, next, &regress_table)
		kfree(entry);
}

static int __init regress_init(void)
{
	unsigned int i;
	int err;

	if (size < sizeof(struct list_head))
		return -EINVAL;
	for (i = 0; i < entries; i++) {
		err = regress_add_entry();
		if (err) {
			regress_clear();
			return err;
		}
	}
	return 0;
}

static void __exit regress_exit(void)
{
	regress_clear();
}

module_init(regress_init);
module_exit(regress_exit);
MODULE_DESCRIPTION("A driver whose table grows");
MODULE_LICENSE("GPL");
