// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: records every allocation and free of slab objects and pages.
 *
 * Probes on the kmem tracepoints, and on those of <trace/events/kmemtrace.h>
 * for the paths that have none, write records of <linux/kmemtrace_abi.h> into a
 * relay channel; debugfs hands them out.  This file is the writer and its
 * switching on and off; kmemtrace_debugfs.c is what user space sees.
 *
 * Who writes
 * ----------
 * Each CPU writes to its own buffer with interrupts off, so it has one writer
 * at a time, and nothing in memory that is written per event is shared between
 * CPUs.  An NMI could interrupt that writer; an event in NMI context is
 * therefore not recorded but counted as lost.  The writer takes no lock,
 * allocates nothing and wakes nobody (relay defers the wake-up of a reader to
 * an irq_work), so it may be called by the scheduler, by timekeeping and with
 * any lock held.
 *
 * The clock
 * ---------
 * sched_clock().  It takes no lock and never waits for an update of itself
 * (ktime_get() spins on a seqcount that its own updater may hold) and runs from
 * early boot on without a jump (the fast monotonic clock stands still until
 * timekeeping is up).  On machines with a stable TSC it is one clock for all
 * CPUs.  Not local_clock(): until late in boot that takes every clock for an
 * unstable one and keeps it within a tick of the CPU's last tick, so that it
 * falls behind by as long as interrupts are off; where sched_clock did turn out
 * to be unstable it is used from the end of boot on.
 *
 * The clock is read with interrupts off in the same section that takes the place
 * in the buffer, and is held to the last timestamp of that CPU where it should
 * step back.  Guaranteed: timestamps do not decrease within a CPU's file.  Across
 * CPUs: exact order where sched_clock is stable, within a tick where it is not.
 *
 * Who reads
 * ---------
 * relay's read() takes no lock against the writer.  It is right on the writer's
 * CPU, where it finds each event either whole or not at all, and while that CPU
 * is offline.  A read on another CPU that is still under way when the writer's
 * comes online is right where stores are seen in their order (x86); elsewhere it
 * may take old records for new ones.  kmemtraced reads in its place.
 *
 * Loss
 * ----
 * A record that finds no room is counted, by its own CPU.  The writer gives up
 * before relay would mark the buffer as full: relay's read() takes a full
 * buffer for one in overwrite mode and would silently skip a sub-buffer.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/cpu.h>
#include <linux/ctype.h>
#include <linux/init.h>
#include <linux/io.h>
#include <linux/kasan.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/relay.h>
#include <linux/sched/clock.h>
#include <linux/seqlock.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include <trace/events/kmem.h>

#define CREATE_TRACE_POINTS
#include <linux/kmemtrace.h>

#include "kmemtrace_internal.h"
#include "kmemtrace_compat.h"

/*
 * Defaults, per CPU: 20 sub-buffers of 8192 records.  A sub-buffer is also a
 * whole number of pages, which suits a reader that maps the buffer or writes it
 * out without the page cache.
 */
#define KMEMTRACE_SUBBUF_SIZE	(8192 * sizeof(struct kmemtrace_event))
#define KMEMTRACE_SUBBUFS	20

/* Below two sub-buffers nothing could be read while one is being written. */
#define KMEMTRACE_SUBBUFS_MIN	2
#define KMEMTRACE_SUBBUFS_MAX	65536
#define KMEMTRACE_SUBBUF_SIZE_MIN sizeof(struct kmemtrace_event)
#define KMEMTRACE_SUBBUF_SIZE_MAX SZ_256M

/* Per CPU: the last timestamp, and the events that were not recorded. */
struct kmemtrace_cpu {
	u64		last;
	u64		lost;
	seqcount_t	seq;		/* of lost, for 32-bit readers */
	atomic_long_t	lost_nmi;
};

static DEFINE_PER_CPU(struct kmemtrace_cpu, kmemtrace_cpus);

/* Set once, before the first probe is registered; never freed. */
struct rchan *kmemtrace_chan;

unsigned int kmemtrace_subbufs __ro_after_init = KMEMTRACE_SUBBUFS;
unsigned int kmemtrace_subbuf_size __ro_after_init = KMEMTRACE_SUBBUF_SIZE;

static bool kmemtrace_boot_enabled __initdata =
	IS_ENABLED(CONFIG_KMEMTRACE_DEFAULT_ENABLED);

/*
 * Serialises switching on and off.  Taken before cpu_hotplug_lock (registering
 * a probe takes that), so never in a CPU hotplug callback.
 */
static DEFINE_MUTEX(kmemtrace_mutex);
static bool kmemtrace_on;

/*
 * Set when all probes are attached and cleared before the first one goes, so
 * that a trace begins and ends for all paths at one moment.  Attaching takes
 * milliseconds, in which a page freed and allocated again would have only the
 * first of these recorded, and its next free would be one of nothing.
 */
static bool kmemtrace_recording __read_mostly;

static __always_inline bool in_kmemtrace_wrapper(unsigned long addr)
{
	return addr >= (unsigned long)__kmemtrace_text_start &&
	       addr < (unsigned long)__kmemtrace_text_end;
}

static noinline void kmemtrace_count_lost(struct kmemtrace_cpu *kc)
{
	/* raw: lockdep does not see that interrupts are off. */
	raw_write_seqcount_begin(&kc->seq);
	kc->lost++;
	raw_write_seqcount_end(&kc->seq);
}

/*
 * Makes room for a record where the current sub-buffer has none.  False: there
 * is none, because the reader has not yet taken the sub-buffer that comes next.
 * subbufs_consumed is the reader's; an old value of it only means that an event
 * is lost which might just have found room.
 */
static noinline bool kmemtrace_next_subbuf(struct rchan_buf *buf)
{
	if (buf->subbufs_produced + 1 - READ_ONCE(buf->subbufs_consumed) >=
	    buf->chan->n_subbufs)
		return false;
	return relay_switch_subbuf(buf, sizeof(struct kmemtrace_event));
}

static __always_inline u64 kmemtrace_clock(void)
{
#ifdef CONFIG_HAVE_UNSTABLE_SCHED_CLOCK
	if (unlikely(!sched_clock_stable()) && system_state >= SYSTEM_RUNNING)
		return local_clock();
#endif
	return sched_clock();
}

static __always_inline void
kmemtrace_record(u8 event_id, u8 type_id, unsigned long call_site, u64 ptr,
		 size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags,
		 int node)
{
	struct kmemtrace_event *event;
	struct kmemtrace_cpu *kc;
	struct rchan_buf *buf;
	unsigned long flags;
	u64 now;

	if (unlikely(!READ_ONCE(kmemtrace_recording)))
		return;

	if (unlikely(in_nmi())) {
		atomic_long_inc(&raw_cpu_ptr(&kmemtrace_cpus)->lost_nmi);
		return;
	}

	/* raw: the tracing of interrupt flags may itself end up here. */
	raw_local_irq_save(flags);
	kc = raw_cpu_ptr(&kmemtrace_cpus);
	buf = *raw_cpu_ptr(kmemtrace_chan->buf);

	if (unlikely(!buf) ||
	    (unlikely(buf->offset + sizeof(*event) > buf->chan->subbuf_size) &&
	     !kmemtrace_next_subbuf(buf))) {
		kmemtrace_count_lost(kc);
		goto out;
	}

	now = kmemtrace_clock();
	if (unlikely((s64)(now - kc->last) < 0))
		now = kc->last;
	kc->last = now;

	event = buf->data + buf->offset;
	event->event_id = event_id;
	event->type_id = type_id;
	event->event_size = sizeof(*event);
	event->node = node;
	event->call_site = call_site;
	event->ptr = ptr;
	event->bytes_req = bytes_req;
	event->bytes_alloc = bytes_alloc;
	event->gfp_flags = (__force u64)gfp_flags;
	event->timestamp = now;

	/* Only now does the record exist for a reader, also on another CPU. */
	smp_store_release(&buf->offset, buf->offset + sizeof(*event));
out:
	raw_local_irq_restore(flags);
}

static __always_inline void
kmemtrace_record_alloc(u8 type_id, unsigned long call_site, u64 ptr,
		       size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags,
		       int node)
{
	kmemtrace_record(KMEMTRACE_EVENT_ALLOC, type_id, call_site, ptr,
			 bytes_req, bytes_alloc, gfp_flags, node);
}

static __always_inline void
kmemtrace_record_free(u8 type_id, unsigned long call_site, u64 ptr)
{
	kmemtrace_record(KMEMTRACE_EVENT_FREE, type_id, call_site, ptr, 0, 0,
			 (__force gfp_t)0, KMEMTRACE_NODE_NONE);
}

/* The tag of KASAN is not part of the address: free may not see the same. */
static __always_inline u64 kmemtrace_object(const void *ptr)
{
	return (unsigned long)kasan_reset_tag(ptr);
}

static __always_inline u64 kmemtrace_page(struct page *page)
{
	if (PageHighMem(page))
		return KMEMTRACE_PTR_PHYSICAL | page_to_phys(page);
	return kmemtrace_object(page_to_virt(page));
}

/*
 * The probes.  Failed allocations, kfree(NULL) and kmalloc(0), which takes no
 * memory, are no events; neither is the kfree() of the latter.
 */
static void probe_kmalloc(void *data, unsigned long call_site, const void *ptr,
			  size_t bytes_req, size_t bytes_alloc,
			  gfp_t gfp_flags, int node)
{
	if (ZERO_OR_NULL_PTR(ptr))
		return;
	kmemtrace_record_alloc(KMEMTRACE_TYPE_KMALLOC, call_site,
			       kmemtrace_object(ptr), bytes_req, bytes_alloc,
			       gfp_flags, node);
}

static void probe_kmemtrace_kmalloc(void *data, unsigned long call_site,
				    const void *ptr, size_t bytes_req,
				    size_t bytes_alloc, gfp_t gfp_flags)
{
	probe_kmalloc(data, call_site, ptr, bytes_req, bytes_alloc, gfp_flags,
		      NUMA_NO_NODE);
}

static void probe_kfree(void *data, unsigned long call_site, const void *ptr)
{
	if (ZERO_OR_NULL_PTR(ptr))
		return;
	kmemtrace_record_free(KMEMTRACE_TYPE_KMALLOC, call_site,
			      kmemtrace_object(ptr));
}

static void probe_cache_alloc(void *data, unsigned long call_site,
			      const void *ptr, struct kmem_cache *s,
			      gfp_t gfp_flags, int node)
{
	if (!ptr)
		return;
	kmemtrace_record_alloc(KMEMTRACE_TYPE_CACHE, call_site,
			       kmemtrace_object(ptr),
			       kmemtrace_cache_bytes_req(s),
			       kmemtrace_cache_bytes_alloc(s), gfp_flags, node);
}

static void probe_kmemtrace_cache_alloc(void *data, unsigned long call_site,
					const void *ptr, struct kmem_cache *s,
					gfp_t gfp_flags)
{
	probe_cache_alloc(data, call_site, ptr, s, gfp_flags, NUMA_NO_NODE);
}

static void probe_kmemtrace_cache_free(void *data, unsigned long call_site,
				       const void *ptr)
{
	if (!ptr)
		return;
	kmemtrace_record_free(KMEMTRACE_TYPE_CACHE, call_site,
			      kmemtrace_object(ptr));
}

static void probe_cache_free(void *data, unsigned long call_site,
			     const void *ptr, const struct kmem_cache *s)
{
	probe_kmemtrace_cache_free(data, call_site, ptr);
}

static void probe_page_alloc(void *data, unsigned long call_site,
			     struct page *page, size_t bytes_req,
			     size_t bytes_alloc, gfp_t gfp_flags, int node)
{
	/* Whether the local node was named or none cannot be told here. */
	if (node == numa_mem_id())
		node = NUMA_NO_NODE;
	kmemtrace_record_alloc(KMEMTRACE_TYPE_PAGES, call_site,
			       kmemtrace_page(page), bytes_req, bytes_alloc,
			       gfp_flags, node);
}

static void probe_page_free(void *data, unsigned long call_site,
			    struct page *page)
{
	kmemtrace_record_free(KMEMTRACE_TYPE_PAGES, call_site,
			      kmemtrace_page(page));
}

/*
 * The hooks; <linux/kmemtrace.h> says what each tells.
 */
void __kmemtrace_krealloc(unsigned long call_site, const void *ptr,
			  size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags)
{
	trace_kmemtrace_kfree(call_site, ptr);
	trace_kmemtrace_kmalloc(call_site, ptr, bytes_req, bytes_alloc,
				gfp_flags);
}

void __kmemtrace_cache_alloc_bulk(unsigned long call_site,
				  struct kmem_cache *s, gfp_t gfp_flags,
				  size_t nr, void **p)
{
	size_t i;

	for (i = 0; i < nr; i++)
		trace_kmemtrace_cache_alloc(call_site, p[i], s, gfp_flags);
}

void __kmemtrace_free_bulk(unsigned long call_site, struct kmem_cache *s,
			   size_t nr, void **p)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (s)
			trace_kmemtrace_cache_free(call_site, p[i]);
		else
			trace_kmemtrace_kfree(call_site, p[i]);
	}
}

/* What a wrapper's callee tells is left out; the wrapper tells it too. */
static void kmemtrace_tell_pages(unsigned long call_site, struct page *page,
				 size_t bytes_req, size_t bytes_alloc,
				 gfp_t gfp_flags, int node)
{
	if (page && !in_kmemtrace_wrapper(call_site))
		trace_kmemtrace_page_alloc(call_site, page, bytes_req,
					   bytes_alloc, gfp_flags, node);
}

void __kmemtrace_page_alloc(unsigned long call_site, struct page *page,
			    unsigned int order, gfp_t gfp_flags, int node)
{
	kmemtrace_tell_pages(call_site, page, PAGE_SIZE << order,
			     PAGE_SIZE << order, gfp_flags, node);
}

void __kmemtrace_page_range(unsigned long call_site, struct page *page,
			    size_t bytes_req, gfp_t gfp_flags)
{
	while (bytes_req) {
		size_t bytes = min_t(size_t, bytes_req, PAGE_SIZE);

		kmemtrace_tell_pages(call_site, page, bytes, PAGE_SIZE,
				     gfp_flags, NUMA_NO_NODE);
		page = nth_page(page, 1);
		bytes_req -= bytes;
	}
}

void __kmemtrace_page_alloc_list(unsigned long call_site,
				 struct list_head *pages, gfp_t gfp_flags)
{
	struct page *page;

	list_for_each_entry(page, pages, lru)
		kmemtrace_tell_pages(call_site, page, PAGE_SIZE, PAGE_SIZE,
				     gfp_flags, NUMA_NO_NODE);
}

void __kmemtrace_page_alloc_array(unsigned long call_site, struct page **pages,
				  unsigned long nr, gfp_t gfp_flags)
{
	unsigned long i;

	for (i = 0; i < nr; i++)
		kmemtrace_tell_pages(call_site, pages[i], PAGE_SIZE, PAGE_SIZE,
				     gfp_flags, NUMA_NO_NODE);
}

void __kmemtrace_page_free(unsigned long call_site, struct page *page)
{
	trace_kmemtrace_page_free(call_site, page);
}

void __kmemtrace_page_free_list(unsigned long call_site,
				struct list_head *pages)
{
	struct page *page;

	if (in_kmemtrace_wrapper(call_site))
		return;
	list_for_each_entry(page, pages, lru)
		trace_kmemtrace_page_free(call_site, page);
}

void __kmemtrace_page_split(unsigned long call_site, struct page *page,
			    unsigned int order)
{
	trace_kmemtrace_page_free(call_site, page);
	__kmemtrace_page_range(call_site, page, PAGE_SIZE << order,
			       (__force gfp_t)0);
}

struct kmemtrace_probe {
	const char *name;
	int (*attach)(void);
	void (*detach)(void);
};

#define KMEMTRACE_PROBE(tracepoint, probe)				\
static int attach_##tracepoint(void)					\
{									\
	return register_trace_##tracepoint(probe, NULL);		\
}									\
static void detach_##tracepoint(void)					\
{									\
	unregister_trace_##tracepoint(probe, NULL);			\
}

KMEMTRACE_PROBE(kfree, probe_kfree)
KMEMTRACE_PROBE(kmem_cache_free, probe_cache_free)
KMEMTRACE_PROBE(kmemtrace_kfree, probe_kfree)
KMEMTRACE_PROBE(kmemtrace_cache_free, probe_kmemtrace_cache_free)
KMEMTRACE_PROBE(kmemtrace_page_free, probe_page_free)
KMEMTRACE_PROBE(kmalloc, probe_kmalloc)
KMEMTRACE_PROBE(kmem_cache_alloc, probe_cache_alloc)
KMEMTRACE_PROBE(kmemtrace_kmalloc, probe_kmemtrace_kmalloc)
KMEMTRACE_PROBE(kmemtrace_cache_alloc, probe_kmemtrace_cache_alloc)
KMEMTRACE_PROBE(kmemtrace_page_alloc, probe_page_alloc)

#define KMEMTRACE_PROBE_ENTRY(tracepoint)				\
	{								\
		.name = #tracepoint,					\
		.attach = attach_##tracepoint,				\
		.detach = detach_##tracepoint,				\
	}

static const struct kmemtrace_probe kmemtrace_probes[] = {
	KMEMTRACE_PROBE_ENTRY(kfree),
	KMEMTRACE_PROBE_ENTRY(kmem_cache_free),
	KMEMTRACE_PROBE_ENTRY(kmemtrace_kfree),
	KMEMTRACE_PROBE_ENTRY(kmemtrace_cache_free),
	KMEMTRACE_PROBE_ENTRY(kmemtrace_page_free),
	KMEMTRACE_PROBE_ENTRY(kmalloc),
	KMEMTRACE_PROBE_ENTRY(kmem_cache_alloc),
	KMEMTRACE_PROBE_ENTRY(kmemtrace_kmalloc),
	KMEMTRACE_PROBE_ENTRY(kmemtrace_cache_alloc),
	KMEMTRACE_PROBE_ENTRY(kmemtrace_page_alloc),
};

static void kmemtrace_detach(unsigned int n)
{
	while (n--)
		kmemtrace_probes[n].detach();
	/* No probe runs any more, on any CPU, once this returns. */
	tracepoint_synchronize_unregister();
}

static int kmemtrace_attach(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(kmemtrace_probes); i++) {
		err = kmemtrace_probes[i].attach();
		if (err) {
			pr_err("cannot attach to tracepoint %s: %d\n",
			       kmemtrace_probes[i].name, err);
			kmemtrace_detach(i);
			return err;
		}
	}
	return 0;
}

/*
 * relay files are made by kmemtrace_debugfs.c, when debugfs is there and where
 * sleeping is allowed.  relay asks for one all the same and takes NULL for a
 * failure.
 */
static struct dentry *kmemtrace_create_buf_file(const char *filename,
						struct dentry *parent,
						umode_t mode,
						struct rchan_buf *buf,
						int *is_global)
{
	static struct dentry no_file;

	return &no_file;
}

static int kmemtrace_remove_buf_file(struct dentry *dentry)
{
	return 0;
}

static const struct rchan_callbacks kmemtrace_relay_callbacks = {
	.create_buf_file = kmemtrace_create_buf_file,
	.remove_buf_file = kmemtrace_remove_buf_file,
};

/*
 * relay_open() makes buffers for the CPUs that are online and relay's hotplug
 * callback for those that come later; a CPU in between would have none.
 *
 * relay would rather have processes killed than do without a page, so that is
 * asked first.
 */
static int kmemtrace_open_channel(void)
{
	struct rchan *chan = NULL;
	u64 bytes;

	if (kmemtrace_chan)
		return 0;

	cpus_read_lock();
	bytes = (u64)kmemtrace_subbufs * kmemtrace_subbuf_size *
		num_online_cpus();
	if (bytes < (u64)si_mem_available() * PAGE_SIZE)
		chan = relay_open(NULL, NULL, kmemtrace_subbuf_size,
				  kmemtrace_subbufs,
				  &kmemtrace_relay_callbacks, NULL);
	cpus_read_unlock();
	if (!chan) {
		pr_err("no memory for %u sub-buffers of %u bytes per CPU; lower kmemtrace.subbufs or kmemtrace.subbuf_size\n",
		       kmemtrace_subbufs, kmemtrace_subbuf_size);
		return -ENOMEM;
	}
	kmemtrace_chan = chan;
	return 0;
}

/* Context: no probe is attached. */
static void kmemtrace_reset_lost(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct kmemtrace_cpu *kc = per_cpu_ptr(&kmemtrace_cpus, cpu);

		kc->lost = 0;
		atomic_long_set(&kc->lost_nmi, 0);
	}
}

u64 kmemtrace_lost(unsigned int cpu)
{
	struct kmemtrace_cpu *kc = per_cpu_ptr(&kmemtrace_cpus, cpu);
	unsigned int start;
	u64 lost;

	do {
		start = raw_read_seqcount_begin(&kc->seq);
		lost = kc->lost;
	} while (read_seqcount_retry(&kc->seq, start));

	return lost + atomic_long_read(&kc->lost_nmi);
}

bool kmemtrace_is_on(void)
{
	return READ_ONCE(kmemtrace_on);
}

static int kmemtrace_switch_on(void)
{
	int err;

	err = kmemtrace_open_channel();
	if (err)
		return err;
	kmemtrace_debugfs_new_session();
	kmemtrace_reset_lost();
	err = kmemtrace_attach();
	if (err)
		return err;
	WRITE_ONCE(kmemtrace_recording, true);
	WRITE_ONCE(kmemtrace_on, true);
	return 0;
}

static void kmemtrace_switch_off(void)
{
	WRITE_ONCE(kmemtrace_recording, false);
	kmemtrace_detach(ARRAY_SIZE(kmemtrace_probes));
	WRITE_ONCE(kmemtrace_on, false);
	kmemtrace_debugfs_end_session();
}

int kmemtrace_switch(bool on)
{
	int err = 0;

	mutex_lock(&kmemtrace_mutex);
	if (on && !kmemtrace_on)
		err = kmemtrace_switch_on();
	else if (!on && kmemtrace_on)
		kmemtrace_switch_off();
	mutex_unlock(&kmemtrace_mutex);
	return err;
}

/*
 * Each parameter may make sense and their product not: relay counts in unsigned
 * int, and no machine wants half of its memory in the buffers of its CPUs.
 */
static void __init kmemtrace_check_geometry(void)
{
	u64 bytes = (u64)kmemtrace_subbufs * kmemtrace_subbuf_size;

	if (bytes <= UINT_MAX && bytes * num_possible_cpus() <=
				 (u64)totalram_pages() * PAGE_SIZE / 2)
		return;
	pr_warn("kmemtrace.subbufs=%u times kmemtrace.subbuf_size=%u is too much for this machine; using %u and %zu\n",
		kmemtrace_subbufs, kmemtrace_subbuf_size, KMEMTRACE_SUBBUFS,
		KMEMTRACE_SUBBUF_SIZE);
	kmemtrace_subbufs = KMEMTRACE_SUBBUFS;
	kmemtrace_subbuf_size = KMEMTRACE_SUBBUF_SIZE;
}

/*
 * Called once the slab allocator and vmalloc work, which is as soon as relay
 * does; one CPU runs and debugfs is far away.
 */
void __init kmemtrace_init(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		seqcount_init(&per_cpu_ptr(&kmemtrace_cpus, cpu)->seq);

	kmemtrace_check_geometry();
	if (!kmemtrace_boot_enabled)
		return;
	if (!kmemtrace_switch(true))
		pr_info("tracing from boot, %u sub-buffers of %u bytes per CPU\n",
			kmemtrace_subbufs, kmemtrace_subbuf_size);
}

static int __init kmemtrace_param_enable(char *str)
{
	if (str && !strcmp(str, "yes"))
		kmemtrace_boot_enabled = true;
	else if (str && !strcmp(str, "no"))
		kmemtrace_boot_enabled = false;
	else
		pr_warn("kmemtrace.enable=%s is neither yes nor no; using %s\n",
			str ?: "", kmemtrace_boot_enabled ? "yes" : "no");
	return 0;
}
early_param("kmemtrace.enable", kmemtrace_param_enable);

static int __init kmemtrace_param_subbufs(char *str)
{
	unsigned int n;

	if (!str || kstrtouint(str, 0, &n) || n < KMEMTRACE_SUBBUFS_MIN ||
	    n > KMEMTRACE_SUBBUFS_MAX)
		pr_warn("kmemtrace.subbufs=%s is not a number from %u to %u; using %u\n",
			str ?: "", KMEMTRACE_SUBBUFS_MIN,
			KMEMTRACE_SUBBUFS_MAX, kmemtrace_subbufs);
	else
		kmemtrace_subbufs = n;
	return 0;
}
early_param("kmemtrace.subbufs", kmemtrace_param_subbufs);

static int __init kmemtrace_param_subbuf_size(char *str)
{
	unsigned long long size = 0;
	char *end = str;

	if (str && isdigit(*str))
		size = memparse(str, &end);
	if (!str || *end || size < KMEMTRACE_SUBBUF_SIZE_MIN ||
	    size > KMEMTRACE_SUBBUF_SIZE_MAX) {
		pr_warn("kmemtrace.subbuf_size=%s is not a size from %zu to %u bytes; using %u\n",
			str ?: "", KMEMTRACE_SUBBUF_SIZE_MIN,
			(unsigned int)KMEMTRACE_SUBBUF_SIZE_MAX,
			kmemtrace_subbuf_size);
		return 0;
	}
	/* Whole records, so that a sub-buffer has no padding. */
	kmemtrace_subbuf_size =
		rounddown((unsigned int)size, sizeof(struct kmemtrace_event));
	return 0;
}
early_param("kmemtrace.subbuf_size", kmemtrace_param_subbuf_size);
