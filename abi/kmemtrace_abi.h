/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * kmemtrace: the record of one allocation or free of kernel memory.
 *
 * This file is the manual of the binary format.  The kernel that writes the
 * records and the programs that read them compile this very file; there is no
 * second definition.
 *
 * Where records are found
 * -----------------------
 * Kernel: /sys/kernel/debug/kmemtrace/cpu<n>, one relay buffer per CPU.
 * Disk:   cpu<n>.out, byte for byte what the kernel gave; see kmemtrace(5).
 * Either is an array of records and nothing else: no header, no padding.
 *
 * Rules for every version
 * -----------------------
 * 1. All records of one capture have the same size, which each of them tells
 *    in event_size.  A file can therefore be mapped, seeked and split.
 * 2. A newer version keeps the older record as its first bytes.  New fields go
 *    at the end, new ids take new numbers, and each such change adds one to
 *    KMEMTRACE_ABI_VERSION.
 * 3. A reader takes the size from event_size, skips bytes and ids that it does
 *    not know, and says how many it skipped.
 * 4. Byte order is the traced machine's.  event_size tells which: read as
 *    little endian, 0x0038 is a little endian capture and 0x3800 a big endian
 *    one.  A reader handles either on either host.
 *
 * Order
 * -----
 * Within a cpu file records are in the order in which that CPU wrote them, and
 * timestamp never goes back.  Across files the order is by timestamp.  Two
 * records of different CPUs with the same timestamp have no known order.
 *
 * A free is recorded before the memory is given back, an allocation after it
 * was taken.  So the free of an address on one CPU and its reallocation on
 * another appear in that order, as far as the clocks of the CPUs agree.
 *
 * Loss
 * ----
 * An event that found its buffer full is not recorded.  The kernel counts each
 * one, per CPU (the files overruns and total_overruns); version 1 does not say
 * where in the stream the hole is.
 */
#ifndef _KMEMTRACE_ABI_H
#define _KMEMTRACE_ABI_H

#include <linux/types.h>

/*
 * The version of this file.  The kernel tells its own in the debugfs file
 * abi_version; a reader refuses a kernel or a capture newer than it knows only
 * when it cannot skip what it does not know, i.e. never on disk.
 */
#define KMEMTRACE_ABI_VERSION	1

/* Values of event_id. */
enum kmemtrace_event_id {
	/* Illegal.  Never written; found in a file, it marks damage. */
	KMEMTRACE_EVENT_NULL	= 0,
	/* Memory was allocated. */
	KMEMTRACE_EVENT_ALLOC	= 1,
	/* Memory is about to be freed. */
	KMEMTRACE_EVENT_FREE	= 2,
};

/*
 * Values of type_id.
 *
 * KMALLOC and CACHE share one address space: an object is live in at most one
 * of them.  PAGES is another: slab objects lie in pages, and a large kmalloc is
 * a record of KMALLOC and one of PAGES for the same address.  Bytes of PAGES
 * are therefore never added to bytes of the others.
 */
enum kmemtrace_type_id {
	/* kmalloc(), kfree() and their relatives. */
	KMEMTRACE_TYPE_KMALLOC	= 0,
	/* kmem_cache_alloc(), kmem_cache_free() and their relatives. */
	KMEMTRACE_TYPE_CACHE	= 1,
	/* The page allocator. */
	KMEMTRACE_TYPE_PAGES	= 2,
};

/* In ptr: this is the physical address of a page that is not mapped. */
#define KMEMTRACE_PTR_PHYSICAL	(1ULL << 63)

/* In node: no NUMA node was asked for. */
#define KMEMTRACE_NODE_NONE	(-1)

/*
 * Version 1, 56 bytes.  No compiler puts padding in it on any architecture;
 * the asserts below hold it to that.
 *
 * A reader ignores the fields marked "allocations" in a FREE.  The kernel
 * writes them as 0 (node as KMEMTRACE_NODE_NONE).
 */
struct kmemtrace_event {
	/* enum kmemtrace_event_id. */
	__u8	event_id;

	/* enum kmemtrace_type_id. */
	__u8	type_id;

	/* Bytes of this record: at least 56. */
	__u16	event_size;

	/*
	 * Allocations: the NUMA node asked for, not the one that served the
	 * request.  KMEMTRACE_NODE_NONE where none was asked for.  The page
	 * allocator does not learn whether its caller named the local node or
	 * none, so for PAGES the local node is written as KMEMTRACE_NODE_NONE.
	 */
	__s32	node;

	/*
	 * Return address in the function that allocated or freed.  For PAGES
	 * that is the first caller outside the page allocator's own wrappers.
	 * kallsyms of the capture turns it into a name.
	 */
	__u64	call_site;

	/*
	 * Address of the memory, never 0.  For PAGES the address of the first
	 * page in the kernel's linear mapping; where there is none (highmem of
	 * 32-bit kernels, whose addresses leave the bit clear), the physical
	 * address and KMEMTRACE_PTR_PHYSICAL.
	 */
	__u64	ptr;

	/* Allocations: bytes asked for, never 0. */
	__u64	bytes_req;

	/*
	 * Allocations: bytes given, never below bytes_req.  The difference is
	 * lost to internal fragmentation.
	 */
	__u64	bytes_alloc;

	/*
	 * Allocations: gfp flags as the caller gave them.  The bits mean what
	 * they mean in the kernel that was traced.
	 */
	__u64	gfp_flags;

	/*
	 * Nanoseconds since some moment near boot, the same for all CPUs.
	 * Signed, as the kernel's own times are.
	 */
	__s64	timestamp;
} __attribute__((packed, aligned(8)));

/* Size of the smallest record that may occur, in bytes. */
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

#endif /* _KMEMTRACE_ABI_H */
