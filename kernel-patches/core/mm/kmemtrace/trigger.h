/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: a trigger of snapshots, and its parser. */
#ifndef _MM_KMEMTRACE_TRIGGER_H
#define _MM_KMEMTRACE_TRIGGER_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/types.h>

#include "counter.h"

struct kmem_cache;
struct kmemtrace_held;

/* The condition of a trigger. */
enum kmemtrace_trigger_kind {
	KMEMTRACE_TRIGGER_OOM,
	KMEMTRACE_TRIGGER_ALLOC_FAILURE,
	KMEMTRACE_TRIGGER_CACHE,
	KMEMTRACE_TRIGGER_SITE,
	KMEMTRACE_TRIGGER_MARK,
};

/*
 * No single lock protects a trigger:
 *
 * list		changed with kmemtrace_mutex held, walked with it held or under RCU
 *		(see trigger.c)
 * armed	atomic; firing sets it to 0 by atomic_xchg(), in any context but NMI, and
 *		back to 1 if recording has ended meanwhile; a write to the file trigger
 *		sets it to 1 with kmemtrace_mutex held
 * held_bytes	the count of a CPU is changed by that CPU with interrupts off, and a
 *		seqcount protects its readers; the lock in struct kmemtrace_counter
 *		protects the common part; set while no CPU counts: see counter.h
 * held		the pointer does not change; the locks in the table protect its
 *		objects; cleared while no CPU counts: see held.h
 * cache	changed with slab_mutex held; read with slab_mutex or kmemtrace_mutex
 *		held or under RCU.  Only code that holds slab_mutex dereferences the
 *		pointer; other code only compares it, because the cache may be gone.
 *
 * The other members do not change after the trigger is in the list.  session.h has
 * the order of the locks.
 */
struct kmemtrace_trigger {
	struct list_head		list;
	enum kmemtrace_trigger_kind	kind;
	atomic_t			armed;		/* 0: the trigger has fired */
	u64				limit_bytes;	/* CACHE, SITE */
	/* CACHE, SITE: the live bytes of the cache or the call site. */
	struct kmemtrace_counter	held_bytes;
	/* CACHE.  NULL: the cache was destroyed. */
	struct kmem_cache		*cache;
	/* SITE: the range of return addresses is from start + 1 to end. */
	unsigned long			start, end;
	/* SITE: the live objects of the call site. */
	struct kmemtrace_held		*held;
	/* The part of text after the word of the kind. */
	const char			*operand;
	/* The trigger as user space wrote it. */
	char				text[];
};

/* Return whether a trigger counts live bytes.  Any context. */
static inline bool kmemtrace_is_counting(const struct kmemtrace_trigger *trigger)
{
	return trigger->kind == KMEMTRACE_TRIGGER_CACHE ||
	       trigger->kind == KMEMTRACE_TRIGGER_SITE;
}

/*
 * Parse the word at the start of @text that defines the kind of a trigger.  Return the
 * enum kmemtrace_trigger_kind and store the position after the word in *@operand, or
 * return -EINVAL.
 */
int kmemtrace_parse_kind(const char *text, const char **operand);

/*
 * Parse the operand of a trigger, and allocate the memory that the trigger needs to
 * count.  @trigger: kind and text are set.  @operand: a copy of the operand, which is
 * changed to the name without the limit.  Triggers are identified by their texts, so a
 * trigger is parsed only if no other trigger has the same text.  Return 0, -ENOMEM, or
 * another -errno after logging the reason.  The caller frees the memory, also on failure.
 * Context: slab_mutex is not held and may be acquired; kmemtrace_mutex may be held.
 * Sleeps.
 */
int kmemtrace_parse_trigger(struct kmemtrace_trigger *trigger, char *operand);

/* Return the cache with this name, or NULL.  Context: slab_mutex is held. */
struct kmem_cache *kmemtrace_cache_named(const char *name);

/* Log that the trigger @text is refused for the reason @why.  Return @err. */
int kmemtrace_bad_trigger(int err, const char *text, const char *why);

/* Log that the cache of the trigger @text does not exist.  Return -ENOENT. */
int kmemtrace_no_cache(const char *text);

#endif /* _MM_KMEMTRACE_TRIGGER_H */
