// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: call sites from allocation tags, and the table tags, which has the source
 * line of each call site.  <linux/kmemtrace_abi.h> describes the file.
 *
 * With CONFIG_MEM_ALLOC_PROFILING most calls of allocation functions are inside of
 * alloc_hooks(), which defines a tag (file, line, and function) and, while profiling is
 * on, stores it in current->alloc_tag for the time of the call.
 *
 * Which call site a record has
 * ----------------------------
 * The return address is in the function that called the allocator.  If the tag names
 * this function, the record has the return address, and the table assigns the line of
 * the tag to it.  If the tag names another function, the return address is in a
 * function that allocates for its callers, such as kmemdup(), and the record has the
 * address of the tag.  A return address keeps the first tag that is assigned to it; an
 * allocation at the same return address with another tag has the address of that tag.
 * Each address therefore has one line for all of its records.
 *
 * When a tag is not used
 * ----------------------
 * In an interrupt, current->alloc_tag is that of the interrupted task if the interrupt
 * allocates without alloc_hooks().  In an interrupt, a tag that names another function
 * than that of the return address is therefore not used.  An event without gfp flags
 * may report memory that was allocated before, such as a part of a split page, and gets
 * no tag.  An event in NMI context is counted as lost and has no tag.
 *
 * The hash table
 * --------------
 * An event only reads the table, without a lock.  The first event of a call site adds
 * an entry.  An entry stays until its code is freed: when the module is unloaded or,
 * for init code, after the module's init.  A new session does not remove entries,
 * because an event may have found its entry before and may record its call site
 * afterwards.
 *
 * One unit: events, the table, and modules share the slots and their locking rules.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/alloc_tag.h>
#include <linux/bits.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/overflow.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "clock.h"
#include "features.h"
#include "file_util.h"
#include "format.h"
#include "guard.h"
#include "tags.h"

/* Lowest version of the records whose call sites may be tags. */
#define KMEMTRACE_TAGS_ABI	3

/*
 * Number of slots.  A kernel of a distribution has about 10000 tags with its modules,
 * of which a machine uses a part, and a call site takes one or two slots.
 */
#define KMEMTRACE_TAG_BITS	15
#define KMEMTRACE_TAG_SLOTS	BIT(KMEMTRACE_TAG_BITS)
/* Number of slots in use at which no more are filled, so that searches stay short. */
#define KMEMTRACE_TAGS_MAX	(KMEMTRACE_TAG_SLOTS / 4 * 3)

/* Values of the member address of a slot that contains no call site. */
#define KMEMTRACE_SLOT_UNUSED	0UL
#define KMEMTRACE_SLOT_REMOVED	1UL

struct kmemtrace_tag_slot {
	/* A return address, or the address of the tag; stored after tag. */
	unsigned long		address;
	/* NULL: the records at this return address have the addresses of their tags. */
	const struct alloc_tag	*tag;
};

/* A line of the table whose code was freed, with its module or after its init. */
struct kmemtrace_gone_tag {
	struct list_head	list;
	u64			went;
	unsigned long		address;
	unsigned int		line;
	const char		*function;	/* in module[], after the name */
	const char		*file;		/* in module[], after function */
	char			module[];
};

/*
 * The slots, allocated for the first session and never moved.  A slot is changed with
 * the lock held, in a guarded section, and read without it.
 */
static struct kmemtrace_tag_slot *kmemtrace_tag_slots;
static DEFINE_RAW_SPINLOCK(kmemtrace_tags_lock);
static unsigned int kmemtrace_n_tag_slots;	/* that are or were in use */
static unsigned long kmemtrace_tags_dropped;	/* allocations; in this session */

/*
 * Protects kmemtrace_gone_tags.  While the mutex is held, the tags of all slots exist:
 * before the tag of a slot is freed, the slot is removed with the mutex held.
 */
static DEFINE_MUTEX(kmemtrace_tags_mutex);
static LIST_HEAD(kmemtrace_gone_tags);

/* --- Events ---------------------------------------------------------------------- */

/* Return the slot of an address, or NULL.  Any context. */
static struct kmemtrace_tag_slot *
kmemtrace_find_slot(struct kmemtrace_tag_slot *slots, unsigned long address)
{
	unsigned int i = hash_long(address, KMEMTRACE_TAG_BITS);
	unsigned long found;

	/* At least a quarter of the slots is unused, so the loop ends. */
	for (;; i = (i + 1) % KMEMTRACE_TAG_SLOTS) {
		/* Pairs with smp_store_release() in kmemtrace_fill_slot(). */
		found = smp_load_acquire(&slots[i].address);
		if (found == address)
			return &slots[i];
		if (found == KMEMTRACE_SLOT_UNUSED)
			return NULL;
	}
}
NOKPROBE_SYMBOL(kmemtrace_find_slot);

/* Fill a slot, or return NULL if too many are in use.  Context: the lock is held. */
static struct kmemtrace_tag_slot *
kmemtrace_fill_slot(struct kmemtrace_tag_slot *slots, unsigned long address,
		    const struct alloc_tag *tag)
{
	unsigned int i = hash_long(address, KMEMTRACE_TAG_BITS);

	while (slots[i].address != KMEMTRACE_SLOT_UNUSED &&
	       slots[i].address != KMEMTRACE_SLOT_REMOVED)
		i = (i + 1) % KMEMTRACE_TAG_SLOTS;
	if (slots[i].address == KMEMTRACE_SLOT_UNUSED) {
		if (kmemtrace_n_tag_slots == KMEMTRACE_TAGS_MAX)
			return NULL;
		kmemtrace_n_tag_slots++;
	}
	WRITE_ONCE(slots[i].tag, tag);
	/* An event that reads the address also reads the tag. */
	smp_store_release(&slots[i].address, address);
	return &slots[i];
}
NOKPROBE_SYMBOL(kmemtrace_fill_slot);

/*
 * Return whether an address is in a module that is being unloaded.  Context: the lock
 * is held.
 */
static bool kmemtrace_is_in_going_module(unsigned long address)
{
#ifdef CONFIG_MODULES
	const struct module *module = __module_address(address);

	return module && module->state == MODULE_STATE_GOING;
#else
	return false;
#endif
}
NOKPROBE_SYMBOL(kmemtrace_is_in_going_module);

/*
 * Return the slot of an address.  If there is none, fill one with @tag; return NULL if
 * too many are in use, or if the module of the address or of the tag is being unloaded:
 * asynchronous functions of that module may still run after kmemtrace_retire_slots().
 * Context: any but NMI, outside of a guarded section.
 */
static struct kmemtrace_tag_slot *
kmemtrace_get_slot(struct kmemtrace_tag_slot *slots, unsigned long address,
		   const struct alloc_tag *tag)
{
	struct kmemtrace_tag_slot *slot = kmemtrace_find_slot(slots, address);
	struct kmemtrace_guard guard;

	if (slot)
		return slot;
	kmemtrace_lock(&kmemtrace_tags_lock, &guard);
	slot = kmemtrace_find_slot(slots, address);
	if (!slot && !kmemtrace_is_in_going_module(address) &&
	    !(tag && kmemtrace_is_in_going_module((unsigned long)tag->ct.function))) {
		slot = kmemtrace_fill_slot(slots, address, tag);
		if (!slot)
			kmemtrace_tags_dropped++;
	}
	kmemtrace_unlock(&kmemtrace_tags_lock, &guard);
	return slot;
}
NOKPROBE_SYMBOL(kmemtrace_get_slot);

/*
 * Return whether a return address is in @function.  The compiler may have added a
 * suffix to the name of the symbol, as in function.isra.0.  Any context.
 */
static noinline bool kmemtrace_is_in_function(unsigned long return_address,
					      const char *function)
{
	char symbol[KSYM_NAME_LEN];
	size_t n = strlen(function);

	if (lookup_symbol_name(return_address - 1, symbol))
		return false;
	return !strncmp(symbol, function, n) && (!symbol[n] || symbol[n] == '.');
}
NOKPROBE_SYMBOL(kmemtrace_is_in_function);

unsigned long __kmemtrace_tagged_call_site(unsigned long return_address,
					   gfp_t gfp_flags)
{
	struct kmemtrace_tag_slot *slots = READ_ONCE(kmemtrace_tag_slots);
	const struct alloc_tag *tag = current->alloc_tag;
	struct kmemtrace_tag_slot *slot;

	if (!slots || !tag || !gfp_flags || in_nmi())
		return return_address;
	slot = kmemtrace_find_slot(slots, return_address);
	if (likely(slot && READ_ONCE(slot->tag) == tag))
		return return_address;
	/* An event in a guarded section will be counted as lost and has no record. */
	if (kmemtrace_is_guarded())
		return return_address;
	if (!slot) {
		bool same = kmemtrace_is_in_function(return_address,
						     tag->ct.function);

		slot = kmemtrace_get_slot(slots, return_address,
					  same ? tag : NULL);
		if (!slot || READ_ONCE(slot->tag) == tag)
			return return_address;
	}
	if (!in_task())
		return return_address;
	/*
	 * If the tag gets no slot, use the return address instead, unless the return
	 * address has the line of another tag.
	 */
	if (!kmemtrace_get_slot(slots, (unsigned long)tag, tag) &&
	    !READ_ONCE(slot->tag))
		return return_address;
	return (unsigned long)tag;
}
NOKPROBE_SYMBOL(__kmemtrace_tagged_call_site);

/* --- The table ------------------------------------------------------------------- */

static bool kmemtrace_slot_has_line(const struct kmemtrace_tag_slot *slot)
{
	/* Pairs with smp_store_release() in kmemtrace_fill_slot(). */
	return smp_load_acquire(&slot->address) > KMEMTRACE_SLOT_REMOVED &&
	       slot->tag;
}

/*
 * Positions in the file: 0 is the head, then come the slots, and then the lines whose
 * code was freed.
 */
static void *kmemtrace_tags_find(loff_t *pos)
{
	struct kmemtrace_tag_slot *slots = kmemtrace_tag_slots;

	if (*pos == 0)
		return SEQ_START_TOKEN;
	for (; *pos <= KMEMTRACE_TAG_SLOTS; (*pos)++)
		if (slots && kmemtrace_slot_has_line(&slots[*pos - 1]))
			return &slots[*pos - 1];
	return seq_list_start(&kmemtrace_gone_tags,
			      *pos - KMEMTRACE_TAG_SLOTS - 1);
}

static void *kmemtrace_tags_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&kmemtrace_tags_mutex);
	return kmemtrace_tags_find(pos);
}

static void *kmemtrace_tags_next(struct seq_file *m, void *v, loff_t *pos)
{
	(*pos)++;
	return kmemtrace_tags_find(pos);
}

static void kmemtrace_tags_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&kmemtrace_tags_mutex);
}

static void kmemtrace_put_tag(struct seq_file *m, unsigned long address,
			      u64 went, const char *module, unsigned int line,
			      const char *function, const char *file)
{
	seq_printf(m, "%lx ", address);
	kmemtrace_put_time(m, went);
	seq_printf(m, "%s %u %s ", module, line, function);
	kmemtrace_put_escaped(m, file);
	seq_putc(m, '\n');
}

static int kmemtrace_tags_show(struct seq_file *m, void *v)
{
	const struct kmemtrace_tag_slot *slots = kmemtrace_tag_slots, *slot = v;
	const struct kmemtrace_gone_tag *gone;
	const struct codetag *ct;

	if (v == SEQ_START_TOKEN) {
		seq_puts(m, "# kmemtrace: tags\n"
			 "# columns: address went module line function file\n");
		seq_printf(m, "# dropped: %lu\n",
			   READ_ONCE(kmemtrace_tags_dropped));
	} else if (slots && slot >= slots && slot < slots + KMEMTRACE_TAG_SLOTS) {
		ct = &slot->tag->ct;
		kmemtrace_put_tag(m, slot->address, 0, ct->modname ?: "-",
				  ct->lineno, ct->function, ct->filename);
	} else {
		gone = list_entry(v, struct kmemtrace_gone_tag, list);
		kmemtrace_put_tag(m, gone->address, gone->went, gone->module,
				  gone->line, gone->function, gone->file);
	}
	return 0;
}

KMEMTRACE_SEQ_FOPS(kmemtrace_tags);

/* --- Modules --------------------------------------------------------------------- */

#ifdef CONFIG_MODULES

/* Copy the line of a slot to the list.  Context: the mutex is held.  Sleeps. */
static void kmemtrace_keep_tag(const struct kmemtrace_tag_slot *slot)
{
	const struct codetag *ct = &slot->tag->ct;
	size_t module_size = strlen(ct->modname) + 1;
	size_t function_size = strlen(ct->function) + 1;
	size_t file_size = strlen(ct->filename) + 1;
	struct kmemtrace_gone_tag *gone;
	char *text;

	gone = kmalloc(struct_size(gone, module,
				   module_size + function_size + file_size),
		       GFP_KERNEL);
	if (!gone) {
		pr_warn("no memory for the source line of a call site in %s:%u\n",
			ct->filename, ct->lineno);
		return;
	}
	gone->went = kmemtrace_clock();
	gone->address = slot->address;
	gone->line = ct->lineno;
	text = memcpy(gone->module, ct->modname, module_size);
	gone->function = memcpy(text + module_size, ct->function, function_size);
	gone->file = memcpy(text + module_size + function_size, ct->filename,
			    file_size);
	list_add_tail(&gone->list, &kmemtrace_gone_tags);
}

static bool kmemtrace_slot_is_of(const struct kmemtrace_tag_slot *slot,
				 const struct module *module)
{
	if (slot->tag)
		return slot->tag->ct.modname &&
		       !strcmp(slot->tag->ct.modname, module->name);
	return within_module(slot->address, module);
}

/* Return whether the code at the address of a slot is freed after the module's init. */
static bool kmemtrace_slot_is_of_init(const struct kmemtrace_tag_slot *slot,
				      const struct module *module)
{
	return within_module_init(slot->address, module);
}

/*
 * Move the lines of the slots that @is_of selects to the list, and remove the slots.
 * Sleeps.
 */
static void kmemtrace_retire_slots(const struct module *module,
				   bool (*is_of)(const struct kmemtrace_tag_slot *slot,
						 const struct module *module))
{
	struct kmemtrace_tag_slot *slot;
	struct kmemtrace_guard guard;
	unsigned int i;

	mutex_lock(&kmemtrace_tags_mutex);
	slot = kmemtrace_tag_slots;
	/*
	 * Wait for the event that holds the lock.  An event that acquired the lock
	 * before has completed its slot; a later event sees the new state of the module
	 * in kmemtrace_get_slot().
	 */
	kmemtrace_lock(&kmemtrace_tags_lock, &guard);
	kmemtrace_unlock(&kmemtrace_tags_lock, &guard);
	for (i = 0; slot && i < KMEMTRACE_TAG_SLOTS; i++, slot++) {
		/* Pairs with smp_store_release() in kmemtrace_fill_slot(). */
		if (smp_load_acquire(&slot->address) <= KMEMTRACE_SLOT_REMOVED ||
		    !is_of(slot, module))
			continue;
		if (slot->tag)
			kmemtrace_keep_tag(slot);
		kmemtrace_lock(&kmemtrace_tags_lock, &guard);
		WRITE_ONCE(slot->address, KMEMTRACE_SLOT_REMOVED);
		kmemtrace_unlock(&kmemtrace_tags_lock, &guard);
	}
	mutex_unlock(&kmemtrace_tags_mutex);
}

/* Code of another module may replace freed code at the same addresses. */
static int kmemtrace_tags_notify(struct notifier_block *self,
				 unsigned long state, void *data)
{
	if (state == MODULE_STATE_LIVE)
		kmemtrace_retire_slots(data, kmemtrace_slot_is_of_init);
	else if (state == MODULE_STATE_GOING)
		kmemtrace_retire_slots(data, kmemtrace_slot_is_of);
	return NOTIFY_DONE;
}

static struct notifier_block kmemtrace_tags_notifier = {
	.notifier_call	= kmemtrace_tags_notify,
};

static void kmemtrace_tags_follow_modules(void)
{
	if (register_module_notifier(&kmemtrace_tags_notifier))
		pr_err("cannot follow the allocation tags of modules\n");
}

#else

static void kmemtrace_tags_follow_modules(void)
{
}

#endif /* CONFIG_MODULES */

/* --- Sessions -------------------------------------------------------------------- */

static void kmemtrace_tags_init(void)
{
	if (kmemtrace_abi >= KMEMTRACE_TAGS_ABI)
		kmemtrace_tags_follow_modules();
}

static int kmemtrace_tags_attach(void)
{
	struct kmemtrace_tag_slot *slots;

	if (kmemtrace_abi < KMEMTRACE_TAGS_ABI || kmemtrace_tag_slots)
		return 0;
	slots = kvcalloc(KMEMTRACE_TAG_SLOTS, sizeof(*slots), GFP_KERNEL);
	if (!slots) {
		pr_err("no memory for the call sites of allocation tags\n");
		return -ENOMEM;
	}
	/*
	 * An event that reads the pointer also reads that the slots are unused.  Pairs
	 * with READ_ONCE() in __kmemtrace_tagged_call_site(), whose accesses depend on
	 * the pointer.
	 */
	smp_store_release(&kmemtrace_tag_slots, slots);
	return 0;
}

static void kmemtrace_tags_release(void)
{
	struct kmemtrace_tag_slot *slots;

	mutex_lock(&kmemtrace_tags_mutex);
	slots = kmemtrace_tag_slots;
	WRITE_ONCE(kmemtrace_tag_slots, NULL);
	/* A probe that was detached may still be running. */
	tracepoint_synchronize_unregister();
	kmemtrace_n_tag_slots = 0;
	mutex_unlock(&kmemtrace_tags_mutex);
	kvfree(slots);
}

/* Drop the lines whose code was freed before this session. */
static void kmemtrace_tags_begin(void)
{
	struct kmemtrace_gone_tag *gone, *next;

	WRITE_ONCE(kmemtrace_tags_dropped, 0);
	mutex_lock(&kmemtrace_tags_mutex);
	list_for_each_entry_safe(gone, next, &kmemtrace_gone_tags, list) {
		list_del(&gone->list);
		kfree(gone);
	}
	mutex_unlock(&kmemtrace_tags_mutex);
}

static const struct kmemtrace_file kmemtrace_tags_files[] = {
	{ "tags", 0400, &kmemtrace_tags_fops, KMEMTRACE_TAGS_ABI },
	{ }
};

struct kmemtrace_feature kmemtrace_tags_feature = {
	.init		= kmemtrace_tags_init,
	.attach		= kmemtrace_tags_attach,
	.release	= kmemtrace_tags_release,
	.begin		= kmemtrace_tags_begin,
	.files		= kmemtrace_tags_files,
};
