/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: a trigger, and its text. */
#ifndef _MM_KMEMTRACE_TRIGGER_H
#define _MM_KMEMTRACE_TRIGGER_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/types.h>

#include "counter.h"

struct kmem_cache;
struct kmemtrace_held;

enum kmemtrace_trigger_kind {
	KMEMTRACE_TRIGGER_OOM,
	KMEMTRACE_TRIGGER_ALLOC_FAILURE,
	KMEMTRACE_TRIGGER_CACHE,
	KMEMTRACE_TRIGGER_SITE,
	KMEMTRACE_TRIGGER_MARK,
};

struct kmemtrace_trigger {
	struct list_head		list;
	enum kmemtrace_trigger_kind	kind;
	atomic_t			armed;
	u64				limit_bytes;
	/* CACHE, SITE: the bytes held, and the limit. */
	struct kmemtrace_counter	held_bytes;
	/* CACHE: changed with slab_mutex held.  NULL: the cache was destroyed. */
	struct kmem_cache		*cache;
	/* SITE: return addresses from start + 1 to end, and their live objects. */
	unsigned long			start, end;
	struct kmemtrace_held		*held;
	/* The text that user space wrote. */
	const char			*operand;	/* in text */
	char				text[];
};

/* Return whether a trigger counts bytes. */
static inline bool kmemtrace_is_counting(const struct kmemtrace_trigger *trigger)
{
	return trigger->kind == KMEMTRACE_TRIGGER_CACHE ||
	       trigger->kind == KMEMTRACE_TRIGGER_SITE;
}

/*
 * Return the kind of the trigger that @text describes, or -EINVAL.  *@operand: what
 * follows the word of the kind.
 */
int kmemtrace_parse_kind(const char *text, const char **operand);

/*
 * Parse and validate the operand of a trigger, and allocate what the trigger needs.
 * @operand: a copy, which is changed.  Two triggers are equal if their texts are, so
 * a trigger is parsed only if its text is new.  Return 0 or -errno, which is logged.
 * Sleeps.
 */
int kmemtrace_parse_trigger(struct kmemtrace_trigger *trigger, char *operand);

/* Return the cache of a name, or NULL.  Context: slab_mutex is held. */
struct kmem_cache *kmemtrace_cache_named(const char *name);

/* Log why a trigger is refused, and return @err. */
int kmemtrace_bad_trigger(int err, const char *text, const char *why);

/* Log that there is no cache of the name in @text.  Return -ENOENT. */
int kmemtrace_no_cache(const char *text);

#endif /* _MM_KMEMTRACE_TRIGGER_H */
