// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the table of caches, which maps the numbers of caches in the records to
 * names.  <linux/kmemtrace_abi.h> describes the file.
 *
 * Events do not change the table.  The caches that exist when the first session begins
 * get their numbers then.  A later cache gets its number when it is created, also while
 * tracing is off.  If no number or no memory is free at that time, the cache gets its
 * number when a later session begins.
 */

#include <linux/bitmap.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/kmemtrace.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "caches.h"
#include "clock.h"
#include "compat_slab.h"
#include "features.h"
#include "file_util.h"
#include "format.h"

struct kmemtrace_cache {
	struct list_head	list;
	u64			created;	/* ns; 0: before it was numbered */
	u64			destroyed;	/* ns; 0: not destroyed */
	size_t			object_size;
	size_t			size;
	u16			number;
	char			name[];
};

/*
 * Protects the variables below, except the last.  Nests inside slab_mutex, which
 * protects the numbers in struct kmem_cache.
 */
static DEFINE_MUTEX(kmemtrace_caches_mutex);
static LIST_HEAD(kmemtrace_caches);	/* in the order of numbering */
static DECLARE_BITMAP(kmemtrace_cache_numbers, U16_MAX + 1);
static unsigned int kmemtrace_last_number = KMEMTRACE_CACHE_NONE;
static unsigned long kmemtrace_unnumbered;
/* True: the first session has begun.  Protected by slab_mutex. */
static bool kmemtrace_caches_known;

/*
 * Return a free number, or 0 if there is none.  Search from the last number on, so that
 * a number is reused as late as possible.
 */
static unsigned int kmemtrace_free_number(void)
{
	unsigned int number;

	number = find_next_zero_bit(kmemtrace_cache_numbers, U16_MAX + 1,
				    kmemtrace_last_number + 1);
	if (number > U16_MAX)
		number = find_next_zero_bit(kmemtrace_cache_numbers,
					    U16_MAX + 1, 1);
	return number > U16_MAX ? KMEMTRACE_CACHE_NONE : number;
}

/* Context: slab_mutex is held. */
static void kmemtrace_number_cache(struct kmem_cache *s, u64 created)
{
	struct kmemtrace_cache *cache;
	unsigned int number;
	size_t length = strlen(s->name) + 1;

	cache = kmalloc(struct_size(cache, name, length), GFP_KERNEL);
	mutex_lock(&kmemtrace_caches_mutex);
	number = cache ? kmemtrace_free_number() : KMEMTRACE_CACHE_NONE;
	if (number == KMEMTRACE_CACHE_NONE) {
		kmemtrace_unnumbered++;
		mutex_unlock(&kmemtrace_caches_mutex);
		kfree(cache);
		return;
	}
	cache->created = created;
	cache->destroyed = 0;
	cache->object_size = kmemtrace_cache_bytes_req(s);
	cache->size = kmemtrace_cache_bytes_alloc(s);
	cache->number = number;
	memcpy(cache->name, s->name, length);
	__set_bit(number, kmemtrace_cache_numbers);
	kmemtrace_last_number = number;
	list_add_tail(&cache->list, &kmemtrace_caches);
	kmemtrace_call_features(cache_numbered, number, cache->name);
	WRITE_ONCE(s->kmemtrace_number, number);
	mutex_unlock(&kmemtrace_caches_mutex);
}

/*
 * Return the entry of a cache, or NULL if the cache has no number.  Context:
 * kmemtrace_caches_mutex is held.
 */
static struct kmemtrace_cache *kmemtrace_find_cache(const struct kmem_cache *s)
{
	struct kmemtrace_cache *cache;

	if (s->kmemtrace_number == KMEMTRACE_CACHE_NONE)
		return NULL;
	list_for_each_entry_reverse(cache, &kmemtrace_caches, list)
		if (cache->number == s->kmemtrace_number)
			return cache;
	return NULL;
}

void kmemtrace_cache_created(struct kmem_cache *s)
{
	if (kmemtrace_caches_known)
		kmemtrace_number_cache(s, kmemtrace_clock());
}

void kmemtrace_cache_merged(struct kmem_cache *s)
{
	struct kmemtrace_cache *cache;

	mutex_lock(&kmemtrace_caches_mutex);
	cache = kmemtrace_find_cache(s);
	if (cache)
		cache->object_size = kmemtrace_cache_bytes_req(s);
	mutex_unlock(&kmemtrace_caches_mutex);
}

void kmemtrace_cache_destroyed(struct kmem_cache *s)
{
	struct kmemtrace_cache *cache;

	kmemtrace_call_features(cache_destroyed, s);
	mutex_lock(&kmemtrace_caches_mutex);
	cache = kmemtrace_find_cache(s);
	if (cache)
		cache->destroyed = kmemtrace_clock();
	mutex_unlock(&kmemtrace_caches_mutex);
}

/* Drop the caches that were destroyed before the session that begins. */
static void kmemtrace_forget_caches(void)
{
	struct kmemtrace_cache *cache, *next;

	mutex_lock(&kmemtrace_caches_mutex);
	kmemtrace_unnumbered = 0;
	list_for_each_entry_safe(cache, next, &kmemtrace_caches, list) {
		if (!cache->destroyed)
			continue;
		__clear_bit(cache->number, kmemtrace_cache_numbers);
		list_del(&cache->list);
		kfree(cache);
	}
	mutex_unlock(&kmemtrace_caches_mutex);
}

static void kmemtrace_caches_begin(void)
{
	struct kmem_cache *s;

	if (kmemtrace_abi < 2)
		return;
	mutex_lock(&slab_mutex);
	kmemtrace_forget_caches();
	list_for_each_entry(s, &slab_caches, list) {
		if (s->kmemtrace_number == KMEMTRACE_CACHE_NONE)
			kmemtrace_number_cache(s, 0);
	}
	/* The boot cache of SLOB is in no list of caches. */
	if (kmem_cache->kmemtrace_number == KMEMTRACE_CACHE_NONE)
		kmemtrace_number_cache(kmem_cache, 0);
	kmemtrace_caches_known = true;
	mutex_unlock(&slab_mutex);
}

void kmemtrace_caches_each(void (*func)(void *data, u16 number,
					const char *name),
			   void *data)
{
	const struct kmemtrace_cache *cache;

	mutex_lock(&kmemtrace_caches_mutex);
	list_for_each_entry(cache, &kmemtrace_caches, list) {
		func(data, cache->number, cache->name);
		/* @func may compare the name with thousands of patterns of a filter. */
		cond_resched();
	}
	mutex_unlock(&kmemtrace_caches_mutex);
}

static void *kmemtrace_caches_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&kmemtrace_caches_mutex);
	return seq_list_start_head(&kmemtrace_caches, *pos);
}

static void *kmemtrace_caches_next(struct seq_file *m, void *v, loff_t *pos)
{
	return seq_list_next(v, &kmemtrace_caches, pos);
}

static void kmemtrace_caches_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&kmemtrace_caches_mutex);
}

static int kmemtrace_caches_show(struct seq_file *m, void *v)
{
	struct kmemtrace_cache *cache;

	if (v == &kmemtrace_caches) {
		seq_puts(m, "# kmemtrace: caches\n"
			 "# columns: number object_size size created destroyed name\n");
		seq_printf(m, "# unnumbered: %lu\n", kmemtrace_unnumbered);
		return 0;
	}
	cache = list_entry(v, struct kmemtrace_cache, list);
	seq_printf(m, "%u %zu %zu %llu ", cache->number, cache->object_size,
		   cache->size, cache->created);
	kmemtrace_put_time(m, cache->destroyed);
	kmemtrace_put_escaped(m, cache->name);
	seq_putc(m, '\n');
	return 0;
}

KMEMTRACE_SEQ_FOPS(kmemtrace_caches);

static const struct kmemtrace_file kmemtrace_caches_files[] = {
	{ "caches", 0400, &kmemtrace_caches_fops, 2 },
	{ }
};

struct kmemtrace_feature kmemtrace_caches_feature = {
	.begin	= kmemtrace_caches_begin,
	.files	= kmemtrace_caches_files,
};
