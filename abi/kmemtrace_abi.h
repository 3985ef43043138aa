/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * kmemtrace: the record of one allocation or free of kernel memory.
 *
 * This file defines the binary format and is its manual, so declarations and
 * descriptions stay in one file.  The kernel and the programs compile the same
 * copy.
 *
 * Where records are found
 * -----------------------
 * Kernel: /sys/kernel/debug/kmemtrace/cpu<n>, one buffer per CPU.
 * Disk:   cpu<n>.out, a copy of the bytes that the kernel file returned; see
 *	   kmemtrace(5).
 * Both are arrays of records without header, padding, or trailer.
 *
 * Rules for every version
 * -----------------------
 * 1. All records of a capture have the same size, and event_size of each record
 *    holds this size.  A file can therefore be mapped, seeked, and split.
 * 2. The record of a newer version begins with the record of the older version.
 *    New fields are added at the end, and new ids get new numbers.  Each change
 *    of this kind increments KMEMTRACE_ABI_VERSION.  A version that only adds
 *    ids keeps the record sizes of the version before.  If a version after 2
 *    adds fields, its record begins with struct kmemtrace_event_v2s, because
 *    readers expect the number of a stack in each record of at least 72 bytes;
 *    the member stack is 0 in a record without a stack.
 * 3. A reader takes the record size from event_size.  It skips bytes and ids
 *    that it does not support, and reports the number of skipped records.
 * 4. The byte order is that of the traced machine.  event_size shows it: read
 *    as a little-endian number, 0x0038 (version 1), 0x0040, and 0x0048 (later
 *    versions) mean a little-endian capture; 0x3800, 0x4000, and 0x4800 mean
 *    a big-endian capture.  A reader supports both byte orders on every host.
 *
 * Order
 * -----
 * Records of a cpu file are in the order in which the CPU wrote them, and their
 * timestamps never decrease.  Records of different files are ordered by
 * timestamp.  If two CPUs wrote records with equal timestamps, the order of
 * these records is unknown.
 *
 * The kernel records a free before the memory becomes available to other
 * callers, and an allocation after it succeeded.  A free on one CPU therefore
 * precedes the next allocation of the same address on another CPU, as far as
 * the clocks of both CPUs agree.
 *
 * Deferred frees
 * --------------
 * kfree_rcu() and related functions hand memory over to the kernel, which
 * releases the memory after a grace period.  Version 3 records both moments: a
 * DEFER record at the hand-over, and the FREE record when the memory is about
 * to become available.  Between the two, the memory is deferred: it is neither
 * in use nor available.  The FREE record of deferred memory has the call site
 * and the task of the code that ends the grace period; the DEFER record has
 * those of the code that caused the free.
 *
 * Lost events
 * -----------
 * An event is lost if its CPU has no buffer or a full one, if the event occurs
 * where none can be recorded (in an NMI, or inside kmemtrace), or if a reader
 * is too late (the record was overwritten, or moved to a snapshot).  The file
 * overruns has the number of lost events of each CPU with a buffer, and the
 * file total_overruns has the number of all lost events.  Version 1 does not
 * record at which position of the file events were lost.  Version 2 writes a
 * KMEMTRACE_EVENT_LOST record at this position.  If the LOST records of a CPU
 * add up to less than its overruns, the remaining events were lost after the
 * last record of the CPU, or were reported by a LOST record that was itself
 * overwritten or moved to a snapshot.
 *
 * Versions
 * --------
 * 1: struct kmemtrace_event, 56 bytes; the ids ALLOC and FREE.
 * 2: struct kmemtrace_event_v2, 64 bytes, or struct kmemtrace_event_v2s, 72
 *    bytes, with kmemtrace.stacks=yes; the ids LOST, MARK, MORE, and STOP; the
 *    types PERCPU and VMALLOC; the tables caches, tasks, cgroups, marks, and
 *    stacks.
 * 3: the records of version 2; the id DEFER; the table tags.
 * With the kernel parameter kmemtrace.abi=1 or =2 the kernel writes version 1
 * or 2.
 */
#ifndef _KMEMTRACE_ABI_H
#define _KMEMTRACE_ABI_H

#include <linux/types.h>

/*
 * The version of this file.  The debugfs file abi_version and the file
 * kmemtrace.meta of a capture contain the version of the records.  A program
 * that saves captures refuses a newer version, because a newer kernel may have
 * files that the program would not save.  The programs of kmemtrace also refuse
 * a capture whose kmemtrace.meta names a newer version, because the meaning of
 * its tables is unknown.  Records without kmemtrace.meta are read by rule 3.
 */
#define KMEMTRACE_ABI_VERSION	3

/* Values of event_id. */
enum kmemtrace_event_id {
	/* Never written.  In a file it is a sign of damage. */
	KMEMTRACE_EVENT_NULL	= 0,
	/* Memory was allocated. */
	KMEMTRACE_EVENT_ALLOC	= 1,
	/* Memory is about to be freed. */
	KMEMTRACE_EVENT_FREE	= 2,
	/* Version 2: events were lost; struct kmemtrace_event_lost. */
	KMEMTRACE_EVENT_LOST	= 3,
	/* Version 2: an annotation; struct kmemtrace_event_mark. */
	KMEMTRACE_EVENT_MARK	= 4,
	/* Version 2: more payload of a MARK; struct kmemtrace_event_mark. */
	KMEMTRACE_EVENT_MORE	= 5,
	/* Version 2: tracing was stopped; struct kmemtrace_event_stop. */
	KMEMTRACE_EVENT_STOP	= 6,
	/*
	 * Version 3: memory was handed over to be freed after a grace period.
	 * The fields are those of a FREE record.  One FREE record of the same
	 * address follows, unless the capture ends earlier, the FREE event is
	 * lost, or this kind of FREE event is switched off.
	 * type_id is KMALLOC, CACHE, or VMALLOC.
	 */
	KMEMTRACE_EVENT_DEFER	= 7,
};

/*
 * Values of type_id.
 *
 * A type belongs to an address namespace, in which an address has at most one
 * live allocation.  KMALLOC and CACHE share a namespace; PAGES, PERCPU, and
 * VMALLOC each have their own.
 *
 * Slab objects, vmalloc areas, and the areas of per-CPU memory consist of pages
 * that the page allocator records too.  A large kmalloc() produces a KMALLOC
 * record and a PAGES record for the same address.  Bytes of PAGES are therefore
 * never added to bytes of other types.
 */
enum kmemtrace_type_id {
	/*
	 * kmalloc(), kfree(), and related functions.  Since Linux 6.4 kfree()
	 * also frees objects of caches.  Such a FREE record has the type CACHE
	 * if the kernel can identify the cache, but the type KMALLOC if the
	 * cache is merged with one of kmalloc().  With CONFIG_SLAB_BUCKETS,
	 * FREE and DEFER records of some objects of kmalloc() have the type
	 * CACHE, because the objects are in caches of their users.  On such a
	 * kernel, a FREE or DEFER record of type KMALLOC or CACHE is therefore
	 * valid for an object of either type.
	 */
	KMEMTRACE_TYPE_KMALLOC	= 0,
	/* kmem_cache_alloc(), kmem_cache_free(), and related functions. */
	KMEMTRACE_TYPE_CACHE	= 1,
	/* The page allocator. */
	KMEMTRACE_TYPE_PAGES	= 2,
	/*
	 * Version 2: alloc_percpu(), free_percpu(), and related functions.  ptr
	 * is the per-CPU pointer that the caller receives, which is an offset
	 * and not an address.  Byte counts include all possible CPUs.
	 */
	KMEMTRACE_TYPE_PERCPU	= 3,
	/*
	 * Version 2: vmalloc(), vfree(), and related functions, and kvmalloc()
	 * if it falls back to vmalloc().  Mappings made by vmap() and ioremap()
	 * are not recorded, except vmap() with VM_MAP_PUT_PAGES, because
	 * vfree() frees the pages of such a mapping.
	 */
	KMEMTRACE_TYPE_VMALLOC	= 4,
};

/* Bit of ptr: ptr is the physical address of a page that is not mapped. */
#define KMEMTRACE_PTR_PHYSICAL	(1ULL << 63)

/* Value of node: the caller requested no NUMA node. */
#define KMEMTRACE_NODE_NONE	(-1)

/*
 * The record of version 1, 56 bytes.  No compiler adds padding on any
 * architecture; the assertions below verify this.
 *
 * Fields marked "allocations" have no meaning in a FREE or DEFER record: the
 * kernel writes 0 (in node KMEMTRACE_NODE_NONE), and a reader ignores them.
 */
struct kmemtrace_event {
	/* enum kmemtrace_event_id. */
	__u8	event_id;

	/* enum kmemtrace_type_id. */
	__u8	type_id;

	/* Size of this record in bytes, at least 56. */
	__u16	event_size;

	/*
	 * Allocations: the requested NUMA node, which may differ from the node
	 * of the memory, or KMEMTRACE_NODE_NONE.  The page allocator cannot
	 * distinguish a request for the local node from a request for no node;
	 * PAGES records contain KMEMTRACE_NODE_NONE in both cases.
	 */
	__s32	node;

	/*
	 * Return address in the function that allocated or freed the memory.
	 * For PAGES this function is the first caller outside the page
	 * allocator's wrappers.  The file kallsyms of the capture maps the
	 * address to a name.
	 *
	 * Version 3: in an allocation, while the kernel profiles allocations
	 * (CONFIG_MEM_ALLOC_PROFILING), this may be the address of the
	 * allocation tag instead, which is in no function.  The table tags then
	 * contains the address.
	 */
	__u64	call_site;

	/*
	 * Address of the memory, never 0.  For PAGES: the address of the first
	 * page in the kernel's linear mapping.  A page without such an address
	 * (highmem of a 32-bit kernel) has its physical address and the bit
	 * KMEMTRACE_PTR_PHYSICAL, which no address of a 32-bit kernel has.
	 */
	__u64	ptr;

	/* Allocations: requested bytes, never 0. */
	__u64	bytes_req;

	/*
	 * Allocations: allocated bytes, at least bytes_req.  The difference is
	 * internal fragmentation.
	 */
	__u64	bytes_alloc;

	/*
	 * Allocations: the gfp flags that the caller passed.  The meaning of
	 * each bit depends on the version of the traced kernel.
	 */
	__u64	gfp_flags;

	/*
	 * Nanoseconds since a point in time near boot that is the same for all
	 * CPUs.  Signed, like the times of the kernel.
	 */
	__s64	timestamp;
} __attribute__((packed, aligned(8)));

/* Size of the smallest record, in bytes. */
#define KMEMTRACE_EVENT_SIZE_V1	56

#define KMEMTRACE_ASSERT_OFFSET(field, offset)				\
	_Static_assert(__builtin_offsetof(struct kmemtrace_event, field) == \
		       (offset), "kmemtrace ABI: " #field " moved")

KMEMTRACE_ASSERT_OFFSET(event_id, 0);
KMEMTRACE_ASSERT_OFFSET(type_id, 1);
KMEMTRACE_ASSERT_OFFSET(event_size, 2);
KMEMTRACE_ASSERT_OFFSET(node, 4);
KMEMTRACE_ASSERT_OFFSET(call_site, 8);
KMEMTRACE_ASSERT_OFFSET(ptr, 16);
KMEMTRACE_ASSERT_OFFSET(bytes_req, 24);
KMEMTRACE_ASSERT_OFFSET(bytes_alloc, 32);
KMEMTRACE_ASSERT_OFFSET(gfp_flags, 40);
KMEMTRACE_ASSERT_OFFSET(timestamp, 48);
_Static_assert(sizeof(struct kmemtrace_event) == KMEMTRACE_EVENT_SIZE_V1,
	       "kmemtrace ABI: the record is not 56 bytes");

/* Bits of flags. */

/* The event occurred in a hard interrupt; pid is the interrupted task. */
#define KMEMTRACE_FLAG_HARDIRQ	(1U << 0)

/*
 * The event occurred in a soft interrupt; pid is the interrupted task, or the
 * task that runs soft interrupts.  With KMEMTRACE_FLAG_HARDIRQ: in a hard
 * interrupt that interrupted a soft interrupt.
 */
#define KMEMTRACE_FLAG_SOFTIRQ	(1U << 1)

/*
 * Allocations: the gfp flags or the cache request a charge to a memory cgroup.
 * A kernel without CONFIG_MEMCG, or with CONFIG_SLOB, never sets this bit.
 */
#define KMEMTRACE_FLAG_ACCOUNT	(1U << 2)

/* The bits that version 2 defines; the other bits are 0. */
#define KMEMTRACE_FLAGS_V2	(KMEMTRACE_FLAG_HARDIRQ | \
				 KMEMTRACE_FLAG_SOFTIRQ | \
				 KMEMTRACE_FLAG_ACCOUNT)

/*
 * Value of cache: type_id is not KMEMTRACE_TYPE_CACHE, or the cache has no
 * number.
 */
#define KMEMTRACE_CACHE_NONE	0

/*
 * The record of version 2, 64 bytes, which is one cache line of most
 * processors.  The fields of version 1, followed by task, cache, and context.
 */
struct kmemtrace_event_v2 {
	/* The fields of version 1; event_size is 64. */
	struct kmemtrace_event v1;

	/*
	 * Thread id of the current task in the initial pid namespace.  0 is the
	 * idle task, which also runs early boot.  The table tasks contains the
	 * names of all other tasks.
	 */
	__u32	pid;

	/*
	 * KMEMTRACE_TYPE_CACHE: the number of the cache in the table caches.  A
	 * number is not reused within a capture.  Other types:
	 * KMEMTRACE_CACHE_NONE.
	 */
	__u16	cache;

	/* KMEMTRACE_FLAG_... */
	__u16	flags;
} __attribute__((packed, aligned(8)));

#define KMEMTRACE_EVENT_SIZE_V2	64

/*
 * Value of stack: no stack was found, the stack depot had no room for the
 * stack, or the event occurred while another stack was being saved.
 */
#define KMEMTRACE_STACK_NONE	0

/*
 * The record of version 2 with kmemtrace.stacks=yes, 72 bytes.  Every record of
 * such a capture has this size.
 */
struct kmemtrace_event_v2s {
	/* The fields without the stack; event_size is 72. */
	struct kmemtrace_event_v2 v2;

	/*
	 * The number of the stack in the table stacks.  The stack consists of
	 * return addresses, innermost first.  It begins with call_site if the
	 * unwinder found call_site; if call_site is an allocation tag, it begins
	 * with the return address instead.  A number is not reused before the
	 * next boot.
	 */
	__u32	stack;

	/* 0. */
	__u32	reserved;
} __attribute__((packed, aligned(8)));

#define KMEMTRACE_EVENT_SIZE_V2S	72

/*
 * Version 2: this CPU lost events between the preceding and the following
 * record of its file.  Like every record it has the record size of the capture;
 * zeros follow the struct in larger records.
 */
struct kmemtrace_event_lost {
	/* KMEMTRACE_EVENT_LOST. */
	__u8	event_id;

	/* 0. */
	__u8	type_id;

	/* The record size of the capture. */
	__u16	event_size;

	/* KMEMTRACE_NODE_NONE. */
	__s32	node;

	/* 0. */
	__u64	reserved[2];

	/* Number of lost events, never 0. */
	__u64	events;

	/*
	 * Time of the first lost event, on the clock of timestamp.  This time
	 * is unknown if one of the lost events occurred in NMI context or
	 * inside kmemtrace, or if the record of one of them was overwritten or
	 * moved to a snapshot.  since is then the time of the preceding record
	 * or an earlier time.
	 */
	__s64	since;

	/* 0. */
	__u64	reserved2;

	/*
	 * Time when the kernel wrote this record or, for overwritten records,
	 * the time of the next record; no lost event is later.
	 */
	__s64	timestamp;

	/* 0. */
	__u64	reserved3;
} __attribute__((packed, aligned(8)));

/*
 * Version 2: a snapshot was requested while neither spare buffers nor a
 * previous snapshot existed, so the kernel stopped tracing to preserve the
 * recorded events.  The record is in the file of the CPU that requested the
 * snapshot, unless the buffer of this CPU was full.  Other CPUs may have
 * recorded events for some microseconds after timestamp.  Zeros follow the
 * struct in larger records.
 */
struct kmemtrace_event_stop {
	/* KMEMTRACE_EVENT_STOP. */
	__u8	event_id;

	/* 0. */
	__u8	type_id;

	/* The record size of the capture. */
	__u16	event_size;

	/* KMEMTRACE_NODE_NONE. */
	__s32	node;

	/*
	 * Address in the function that requested the snapshot, or whose event
	 * or annotation made the trigger fire.
	 */
	__u64	call_site;

	/*
	 * The cause of the snapshot: the text of the trigger that fired, or the
	 * interface that requested the snapshot.  Truncated to 31 bytes and
	 * terminated by a 0.
	 */
	char	why[32];

	/* Time of the request. */
	__s64	timestamp;

	/* Thread id of the current task, as in struct kmemtrace_event_v2. */
	__u32	pid;

	/* 0. */
	__u32	reserved;
} __attribute__((packed, aligned(8)));

/* Maximum number of arguments of an annotation. */
#define KMEMTRACE_MARK_ARGS	8

/* Maximum number of recorded bytes of a string. */
#define KMEMTRACE_MARK_STRING	256

/*
 * Bit in the payload word of a string argument: the string had more than
 * KMEMTRACE_MARK_STRING bytes and is truncated.
 */
#define KMEMTRACE_MARK_CUT	(1ULL << 63)

/* Bytes of payload per record. */
#define KMEMTRACE_MARK_PAYLOAD	40

/* The annotation number of text that user space writes to the file marker. */
#define KMEMTRACE_MARK_MARKER	1

/*
 * Version 2: an annotation, which is a call of kmemtrace_mark() in the kernel
 * or a line that user space writes to the file marker.  Zeros follow the struct
 * in larger records.
 *
 * The payload holds the arguments: first a word of 64 bits per argument, in the
 * order of the arguments, then the bytes of each string, padded with zeros to a
 * multiple of 8.
 *
 * The word of a string is the number of recorded bytes, without the terminating
 * 0, combined with KMEMTRACE_MARK_CUT if the string was longer than
 * KMEMTRACE_MARK_STRING bytes.  A precision in the format limits the recorded
 * bytes of its string without setting KMEMTRACE_MARK_CUT.  The word of an
 * integer has its value in the low bytes; the table marks contains the number
 * of bytes.
 *
 * A payload of more than 40 bytes continues in records of KMEMTRACE_EVENT_MORE,
 * which directly follow the MARK in the file of the CPU.  The kernel writes all
 * records of an annotation or none; in the latter case it counts one lost
 * event.  A file that begins or ends in the middle of a capture, or that lost
 * overwritten records, may lack the first or the last records of an annotation.
 */
struct kmemtrace_event_mark {
	/* KMEMTRACE_EVENT_MARK or KMEMTRACE_EVENT_MORE. */
	__u8	event_id;

	/*
	 * In a MARK record: the number of MORE records that follow.  In a MORE
	 * record: the index of this record, from 1.
	 */
	__u8	part;

	/* The record size of the capture. */
	__u16	event_size;

	/* The number of the annotation in the table marks, never 0. */
	__u32	mark;

	/*
	 * In a MARK record: the first 40 bytes of the payload.  In a MORE
	 * record: the next 40 bytes.  The last record is padded with zeros.
	 */
	__u64	payload[5];

	/* Time of the annotation, equal in the MARK and its MORE records. */
	__s64	timestamp;

	/* Thread id of the current task, as in struct kmemtrace_event_v2. */
	__u32	pid;

	/* Size of the whole payload in bytes, a multiple of 8. */
	__u16	payload_size;

	/* KMEMTRACE_FLAG_HARDIRQ and KMEMTRACE_FLAG_SOFTIRQ. */
	__u16	flags;
} __attribute__((packed, aligned(8)));

#define KMEMTRACE_ASSERT_OFFSET_OF(type, field, offset)			\
	_Static_assert(__builtin_offsetof(struct type, field) == (offset), \
		       "kmemtrace ABI: " #field " of " #type " moved")

KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_v2, v1, 0);
KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_v2, pid, 56);
KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_v2, cache, 60);
KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_v2, flags, 62);
_Static_assert(sizeof(struct kmemtrace_event_v2) == KMEMTRACE_EVENT_SIZE_V2,
	       "kmemtrace ABI: the record of version 2 is not 64 bytes");
KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_v2s, stack, 64);
KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_v2s, reserved, 68);
_Static_assert(sizeof(struct kmemtrace_event_v2s) == KMEMTRACE_EVENT_SIZE_V2S,
	       "kmemtrace ABI: the record with a stack is not 72 bytes");
KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_lost, event_size, 2);
KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_lost, events, 24);
KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_lost, since, 32);
KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_lost, timestamp, 48);
_Static_assert(sizeof(struct kmemtrace_event_lost) == KMEMTRACE_EVENT_SIZE_V2,
	       "kmemtrace ABI: the record of a loss is not 64 bytes");
KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_stop, call_site, 8);
KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_stop, why, 16);
KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_stop, timestamp, 48);
KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_stop, pid, 56);
_Static_assert(sizeof(struct kmemtrace_event_stop) == KMEMTRACE_EVENT_SIZE_V2,
	       "kmemtrace ABI: the record of a stop is not 64 bytes");
KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_mark, part, 1);
KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_mark, event_size, 2);
KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_mark, mark, 4);
KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_mark, payload, 8);
KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_mark, timestamp, 48);
KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_mark, pid, 56);
KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_mark, payload_size, 60);
KMEMTRACE_ASSERT_OFFSET_OF(kmemtrace_event_mark, flags, 62);
_Static_assert(sizeof(struct kmemtrace_event_mark) == KMEMTRACE_EVENT_SIZE_V2,
	       "kmemtrace ABI: the record of an annotation is not 64 bytes");

/*
 * Tables
 * ------
 * Text files beside the records.  debugfs shows the current contents; a capture
 * contains the contents at its end.  A line that begins with # describes the
 * table in the form "# key: value".  Each other line is an entry: columns
 * separated by one space.  The last column extends to the end of the line; if
 * it is a name, a format, or a file, a backslash, a newline, and other control
 * characters are written as \ooo, in octal.  Newer versions add columns before
 * the last one; the line "# columns:" lists the columns.
 *
 * caches:	number object_size size created destroyed name
 *	Each slab cache that existed during the session.  object_size: bytes of
 *	an object that its user can use (the largest value, if caches were
 *	merged later); size: bytes that an object occupies.  created and
 *	destroyed are on the clock of timestamp; created is 0 if the cache is
 *	older than the first session, or older than a later session in which it
 *	got its number; destroyed is - if the cache exists.
 *	Caches that the allocator merged are one entry with the first name.
 *	"# unnumbered: N": number of caches that have no number, because all
 *	numbers were in use or memory was short.
 *
 * stacks:	number address,address...
 *	With kmemtrace.stacks=yes: the return addresses of each stack, innermost
 *	first, in hexadecimal without 0x.  kmemtrace.stack_depth (default 32, at
 *	most 64) limits the addresses of a stack; the outermost addresses are
 *	omitted.  The stack of an interrupt does not include the interrupted
 *	task.  The table may contain stacks that no record of the session uses.
 *	"# lost: N": number of events of the session with KMEMTRACE_STACK_NONE.
 *
 * tasks:	pid until name
 *	Task pid had this name until the time until, inclusive, since the
 *	preceding entry of the same pid.  until is - if the task existed with
 *	this name when the session ended, or exists now.  Entries are ordered by
 *	until.
 *	"# dropped: N", "# exact_after: T": the size of the table is limited,
 *	and the N oldest entries were dropped.  At time T and before, a name may
 *	be missing or belong to a later task with the same pid.
 *
 * cgroups:	pid until path
 *	Since version 2, in a kernel with CONFIG_CGROUPS: task pid was in the
 *	cgroup of version 2 with this path, such as /system.slice/cron.service,
 *	until the time until, inclusive, since the preceding entry of the same
 *	pid.  path is the last column, escaped like a name.  A removed cgroup
 *	has the path that it had.  until, "# dropped: N", and "# exact_after: T"
 *	are as in the table tasks.  The idle task has no entry, because it is
 *	always in the root cgroup.  A capture may lack this table.
 *
 * marks:	number appeared went module types name format
 *	Each annotation that existed during the session.  appeared and went are
 *	the times when its module was loaded and unloaded: appeared is 0 for the
 *	kernel image, and may be earlier than the first session; went is - if
 *	the annotation exists.  module is the module's name, or - for the kernel
 *	image.  types has a letter per argument, or is - without arguments: b h
 *	i q are signed integers of 1 2 4 8 bytes, B H I Q unsigned integers, c a
 *	character, p an address, s a string.  name consists of letters, digits,
 *	and _.  format is a printk() format and the last column.  Calls of
 *	kmemtrace_mark() in one module with equal name and format are one
 *	annotation.  A number is not reused.  Number 1, KMEMTRACE_MARK_MARKER,
 *	is the file marker.
 *	"# unnumbered: N": number of calls of kmemtrace_mark(), since boot and
 *	including unloaded modules, that cannot be recorded, because memory was
 *	short or kmemtrace does not support the format.
 *
 * tags:	address went module line function file
 *	Version 3, in a kernel with CONFIG_MEM_ALLOC_PROFILING: the source line
 *	of each call site at which memory was allocated while tracing and
 *	profiling were on.
 *	address, in hexadecimal without 0x, is a value of call_site: a return
 *	address in function; or the address of the allocation tag, if the return
 *	address is in another function, which allocates for function, or already
 *	has the line of another tag.  went is the time when the module was
 *	unloaded or, for a return address in the module's init code, when the
 *	init code had ended; went is - otherwise.  module is the module's name,
 *	or - for the kernel image.
 *	file is the source file and the last column.  An address has several
 *	lines if modules were loaded there one after the other.  The table may
 *	contain call sites that no record of the session has.
 *	"# dropped: N": number of allocations whose call site is not in the
 *	table, because the table was full; call_site of their records is a
 *	return address, or the address of a tag that has no line.
 *
 * Info
 * ----
 * The text file info, in debugfs and in a capture (with the contents at its
 * end), describes the records.  Lines "# key: value" describe the session:
 *
 * abi_version, record_size (bytes), byte_order (little or big), word_size
 *	(bytes of a pointer), clock, enabled (0 or 1), subbufs, subbuf_size
 *	(bytes), mode (discard or overwrite).
 * session:	number of sessions since boot, including this session.
 * filter:	contents of the file filter; none without a filter.
 * filtered:	no: no filter was set during the session; yes: one filter was
 *	set during the whole session; changed: the filter was changed, set, or
 *	removed during the session.
 * sample:	N if one of N allocations was recorded, 1 if all were recorded,
 *	0 if N changed during the session.
 * frees:	exact: frees of allocations that the filter drops were not
 *	recorded; all: these frees were recorded, too.
 * stacks:	only with kmemtrace.stacks=yes: on; or off, a comma, and the
 *	reason why records have no stacks.
 *
 * Each other line consists of words separated by one space, and its first word
 * is its kind.  Newer versions add words at the end of a line, and kinds.
 *
 * record EVENT_ID NAME
 *	Begins the description of a record; the next lines list its fields.
 * field NAME TYPE OFFSET BYTES SIGNED
 *	A field of the record.  TYPE: u or s and the number of bits, as in u64;
 *	text: bytes up to a 0.  SIGNED: signed or unsigned.  Reserved fields are
 *	omitted.
 * type TYPE_ID NAME
 *	A value of type_id.
 * event NAME EVENT_ID TYPE_ID STATE SESSION
 *	The file events/NAME/enabled switches this event.  STATE: on or off.
 *	SESSION: whole, or missed if the event was off at any time during the
 *	session.  For annotations, NAME is mark:<name>, and one more word gives
 *	the number of mark lines that follow, one for each annotation with this
 *	name.
 * mark NUMBER MODULE TYPES NAME FORMAT
 *	An annotation, with columns of the table marks.
 */

#endif /* _KMEMTRACE_ABI_H */
