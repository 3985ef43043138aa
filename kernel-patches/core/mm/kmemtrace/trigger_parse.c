// SPDX-License-Identifier: GPL-2.0-only
/* kmemtrace: the text of a trigger, as user space writes it to the file trigger. */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/limits.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/string.h>

#include "compat_slab.h"
#include "file_util.h"
#include "held.h"
#include "trigger.h"

int kmemtrace_bad_trigger(int err, const char *text, const char *why)
{
	pr_warn_ratelimited("trigger '%s': %s\n", text, why);
	return err;
}

/*
 * Cut @text at its last '>' and parse the rest as a number of bytes.  Return false if
 * there is no '>', no text before it, no number after it, or a number that is not from
 * 1 to S64_MAX.
 */
static bool kmemtrace_cut_limit(char *text, u64 *bytes)
{
	char *sign = strrchr(text, '>');

	if (!sign || sign == text || kmemtrace_parse_bytes(sign + 1, bytes))
		return false;
	*sign = '\0';
	return *bytes && *bytes <= S64_MAX;
}

struct kmem_cache *kmemtrace_cache_named(const char *name)
{
	struct kmem_cache *s;

	list_for_each_entry(s, &slab_caches, list)
		if (!strcmp(s->name, name))
			return s;
	return NULL;
}

static int kmemtrace_count_match(void *data, unsigned long addr)
{
	(*(unsigned int *)data)++;
	return 0;
}

/*
 * Find the return addresses of a call site.  @name: a function, which stands for all
 * return addresses within it; or FUNCTION+OFFSET, as reports print a call site, or
 * an address, for a single return address.  @name is changed.  Return 0, -EINVAL for an
 * invalid number or offset, -ENOENT, or -ENOTUNIQ if several functions have the name.
 */
static int kmemtrace_find_site(struct kmemtrace_trigger *trigger, char *name)
{
	char *plus = strchr(name, '+');
	unsigned long addr, offset = 0, size;
	unsigned int matches = 0;

	if (isdigit(*name)) {
		if (kstrtoul(name, 0, &addr))
			return -EINVAL;
		trigger->start = addr - 1;
		trigger->end = addr;
		return 0;
	}
	if (plus) {
		*plus = '\0';
		if (kstrtoul(plus + 1, 0, &offset) || !offset)
			return -EINVAL;
	}
	kallsyms_on_each_match_symbol(kmemtrace_count_match, name, &matches);
	if (matches > 1)
		return -ENOTUNIQ;
	/* For a function of a module, @name is "MODULE:FUNCTION" or only "FUNCTION". */
	addr = kallsyms_lookup_name(name);
	if (!addr || !kallsyms_lookup_size_offset(addr, &size, NULL))
		return -ENOENT;
	if (plus && offset > size)
		return -EINVAL;
	trigger->start = plus ? addr + offset - 1 : addr;
	trigger->end = plus ? addr + offset : addr + size;
	return 0;
}

static int kmemtrace_parse_site(struct kmemtrace_trigger *trigger, char *name)
{
	int err;

	if (!IS_ENABLED(CONFIG_KALLSYMS))
		return kmemtrace_bad_trigger(-EOPNOTSUPP, trigger->text,
					     "this kernel has no kallsyms");
	err = kmemtrace_find_site(trigger, name);
	switch (err) {
	case 0:
		break;
	case -ENOENT:
		return kmemtrace_bad_trigger(err, trigger->text,
					     "there is no such function");
	case -ENOTUNIQ:
		return kmemtrace_bad_trigger(err, trigger->text,
					     "there are several functions of this name; give the address of a call site");
	default:
		return kmemtrace_bad_trigger(err, trigger->text,
					     "what follows the function is not an offset within it");
	}
	trigger->held = kmemtrace_held_alloc(trigger->limit_bytes);
	return trigger->held ? 0 : -ENOMEM;
}

int kmemtrace_no_cache(const char *text)
{
	return kmemtrace_bad_trigger(-ENOENT, text,
				     "there is no cache of this name; it may be merged with another, see caches");
}

static int kmemtrace_parse_cache(struct kmemtrace_trigger *trigger,
				 const char *name)
{
	bool known;

	if (IS_ENABLED(CONFIG_SLOB))
		return kmemtrace_bad_trigger(-EOPNOTSUPP, trigger->text,
					     "this allocator does not know the caches of its objects");
	mutex_lock(&slab_mutex);
	known = kmemtrace_cache_named(name);
	mutex_unlock(&slab_mutex);
	return known ? 0 : kmemtrace_no_cache(trigger->text);
}

/* The word that a trigger of each kind begins with, and what follows the word. */
static const struct {
	const char *word;
	bool has_operand;
	bool has_limit;
} kmemtrace_kinds[] = {
	[KMEMTRACE_TRIGGER_OOM]			= { "oom" },
	[KMEMTRACE_TRIGGER_ALLOC_FAILURE]	= { "alloc-failure" },
	[KMEMTRACE_TRIGGER_CACHE]		= { "cache:", true, true },
	[KMEMTRACE_TRIGGER_SITE]		= { "site:", true, true },
	[KMEMTRACE_TRIGGER_MARK]		= { "mark:", true },
};

int kmemtrace_parse_kind(const char *text, const char **operand)
{
	unsigned int i;
	size_t length;

	for (i = 0; i < ARRAY_SIZE(kmemtrace_kinds); i++) {
		length = str_has_prefix(text, kmemtrace_kinds[i].word);
		if (!length || (!kmemtrace_kinds[i].has_operand && text[length]))
			continue;
		*operand = text + length;
		return i;
	}
	return -EINVAL;
}

int kmemtrace_parse_trigger(struct kmemtrace_trigger *trigger, char *operand)
{
	int err = 0;

	if (kmemtrace_kinds[trigger->kind].has_limit &&
	    !kmemtrace_cut_limit(operand, &trigger->limit_bytes))
		return kmemtrace_bad_trigger(-EINVAL, trigger->text,
					     "it has to end in >BYTES, a number from 1 on with K, M or G");
	if (kmemtrace_kinds[trigger->kind].has_operand && !*operand)
		return kmemtrace_bad_trigger(-EINVAL, trigger->text,
					     "there is no name");
	if (trigger->kind == KMEMTRACE_TRIGGER_CACHE)
		err = kmemtrace_parse_cache(trigger, operand);
	else if (trigger->kind == KMEMTRACE_TRIGGER_SITE)
		err = kmemtrace_parse_site(trigger, operand);
	if (!err && kmemtrace_is_counting(trigger))
		err = kmemtrace_counter_init(&trigger->held_bytes,
					     trigger->limit_bytes);
	return err;
}
