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
 *    little endian, 0x0038 (version 1), 0x0040 or 0x0048 (version 2) is a
 *    little endian capture, and 0x3800, 0x4000 or 0x4800 a big endian one.  A
 *    reader handles either on either host.
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
 * one, per CPU (the files overruns and total_overruns).  Version 1 does not say
 * where in the stream the hole is; version 2 has a record of KMEMTRACE_EVENT_LOST
 * there.  What these of a CPU lack to its overruns was lost after its last
 * record.
 *
 * Versions
 * --------
 * 1: struct kmemtrace_event, 56 bytes; ids ALLOC and FREE.
 * 2: struct kmemtrace_event_v2, 64 bytes, or with kmemtrace.stacks=yes struct
 *    kmemtrace_event_v2s, 72 bytes; LOST, MARK, MORE, STOP; types PERCPU and
 *    VMALLOC; the tables caches, tasks, marks and stacks.
 *    The kernel parameter kmemtrace.abi=1 has the kernel write version 1.
 */
#ifndef _KMEMTRACE_ABI_H
#define _KMEMTRACE_ABI_H

#include <linux/types.h>

/*
 * The version of this file.  The kernel tells the one that it writes in the
 * debugfs file abi_version, kmemtraced in kmemtrace.meta.  Who saves a capture
 * refuses a kernel whose version he does not know, as there may be more to be
 * saved than he knows of; who reads records without knowing their version goes
 * by rule 3.
 */
#define KMEMTRACE_ABI_VERSION	2

/* Values of event_id. */
enum kmemtrace_event_id {
	/* Illegal.  Never written; found in a file, it marks damage. */
	KMEMTRACE_EVENT_NULL	= 0,
	/* Memory was allocated. */
	KMEMTRACE_EVENT_ALLOC	= 1,
	/* Memory is about to be freed. */
	KMEMTRACE_EVENT_FREE	= 2,
	/* Version 2: events were lost; struct kmemtrace_event_lost. */
	KMEMTRACE_EVENT_LOST	= 3,
	/* Version 2: an annotation was reached; struct kmemtrace_event_mark. */
	KMEMTRACE_EVENT_MARK	= 4,
	/* Version 2: what had no room in the MARK; the same struct. */
	KMEMTRACE_EVENT_MORE	= 5,
	/* Version 2: tracing ends here; struct kmemtrace_event_stop. */
	KMEMTRACE_EVENT_STOP	= 6,
};

/*
 * Values of type_id.
 *
 * KMALLOC and CACHE share one address space: an object is live in at most one
 * of them.  PAGES is another: slab objects lie in pages, and a large kmalloc is
 * a record of KMALLOC and one of PAGES for the same address.  Bytes of PAGES
 * are therefore never added to bytes of the others.
 *
 * PERCPU and VMALLOC, of version 2, are one each.  What vmalloc() gives is made
 * of pages, and so are the areas that per-CPU memory is cut from: their bytes
 * are not added to those of PAGES either.
 */
enum kmemtrace_type_id {
	/* kmalloc(), kfree() and their relatives. */
	KMEMTRACE_TYPE_KMALLOC	= 0,
	/* kmem_cache_alloc(), kmem_cache_free() and their relatives. */
	KMEMTRACE_TYPE_CACHE	= 1,
	/* The page allocator. */
	KMEMTRACE_TYPE_PAGES	= 2,
	/*
	 * Version 2: alloc_percpu(), free_percpu() and their relatives.  ptr is
	 * what the caller got: it stands for a place on each CPU and is no
	 * address.  Bytes are those of all possible CPUs together.
	 */
	KMEMTRACE_TYPE_PERCPU	= 3,
	/*
	 * Version 2: vmalloc(), vfree() and their relatives, and kvmalloc()
	 * where it takes vmalloc().  Memory that vmap() and ioremap() only map
	 * is none, unless vfree() is to give it back (VM_MAP_PUT_PAGES).
	 */
	KMEMTRACE_TYPE_VMALLOC	= 4,
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

/* In flags: where the event happened, and what it was. */

/* In a hard interrupt: pid is that of the task that it came upon. */
#define KMEMTRACE_FLAG_HARDIRQ	(1U << 0)

/* In a soft interrupt, likewise. */
#define KMEMTRACE_FLAG_SOFTIRQ	(1U << 1)

/*
 * Allocations: to be charged to a memory cgroup, by gfp flags or by the cache.
 * Never set by kernels without CONFIG_MEMCG_KMEM.
 */
#define KMEMTRACE_FLAG_ACCOUNT	(1U << 2)

/* All that this version knows; the others are 0. */
#define KMEMTRACE_FLAGS_V2	(KMEMTRACE_FLAG_HARDIRQ | \
				 KMEMTRACE_FLAG_SOFTIRQ | \
				 KMEMTRACE_FLAG_ACCOUNT)

/* In cache: not an object of a cache, or of one that has no number. */
#define KMEMTRACE_CACHE_NONE	0

/*
 * Version 2, 64 bytes: one line of most processors' caches.  Version 1, and who
 * it was for.
 */
struct kmemtrace_event_v2 {
	/* Version 1; event_size is 64. */
	struct kmemtrace_event v1;

	/*
	 * The task (thread), as the initial pid namespace numbers it; 0 is the
	 * idle task of each CPU, which is also who runs in early boot.  The
	 * table tasks has its name.
	 */
	__u32	pid;

	/*
	 * KMEMTRACE_TYPE_CACHE: number of the cache in the table caches.  No
	 * number means two caches within a capture.  Other types:
	 * KMEMTRACE_CACHE_NONE.
	 */
	__u16	cache;

	/* KMEMTRACE_FLAG_... */
	__u16	flags;
} __attribute__((packed, aligned(8)));

#define KMEMTRACE_EVENT_SIZE_V2	64

/* In stack: none was found, or there was no room for it in the table. */
#define KMEMTRACE_STACK_NONE	0

/*
 * Version 2 with kmemtrace.stacks=yes, 72 bytes.  All records of such a capture
 * are as large.
 */
struct kmemtrace_event_v2s {
	/* event_size is 72. */
	struct kmemtrace_event_v2 v2;

	/*
	 * Number of the stack in the table stacks: the addresses that this event
	 * returns to, the first of which is call_site where that is one of them.
	 * A number means one stack until the next boot.
	 */
	__u32	stack;

	/* 0. */
	__u32	reserved;
} __attribute__((packed, aligned(8)));

#define KMEMTRACE_EVENT_SIZE_V2S	72

/*
 * Version 2: this CPU lost events, all of them after the record before this one
 * and before the one that follows.  As large as the other records: where these
 * are larger than this, 0 follows.
 */
struct kmemtrace_event_lost {
	/* KMEMTRACE_EVENT_LOST. */
	__u8	event_id;

	/* 0. */
	__u8	type_id;

	/* As in the other records. */
	__u16	event_size;

	/* KMEMTRACE_NODE_NONE. */
	__s32	node;

	/* 0. */
	__u64	reserved[2];

	/* Number of lost events.  The kernel never writes 0. */
	__u64	events;

	/*
	 * Time of the first lost event, on the clock of timestamp; the time of
	 * the record before, where one of the events was in NMI context or
	 * nested in the writing of another record, so that its time is not
	 * known.
	 */
	__s64	since;

	/* 0. */
	__u64	reserved2;

	/* When there was room again: none happened later. */
	__s64	timestamp;

	/* 0. */
	__u64	reserved3;
} __attribute__((packed, aligned(8)));

/*
 * Version 2: a snapshot was asked for, there were no spare buffers, and so the
 * kernel stopped tracing to keep what there was.  In the file of the CPU where
 * it was asked for; records of other CPUs may be up to some microseconds later.
 * Not written where that CPU's buffer was full.  As large as the other records.
 */
struct kmemtrace_event_stop {
	/* KMEMTRACE_EVENT_STOP. */
	__u8	event_id;

	/* 0. */
	__u8	type_id;

	/* As in the other records. */
	__u16	event_size;

	/* KMEMTRACE_NODE_NONE. */
	__s32	node;

	/* Return address in the function that asked for the snapshot. */
	__u64	call_site;

	/*
	 * Why it was asked for, cut and ended by a 0: the trigger as it was
	 * set, or by what it was asked for.
	 */
	char	why[32];

	/* When. */
	__s64	timestamp;

	/* The task that ran. */
	__u32	pid;

	/* 0. */
	__u32	reserved;
} __attribute__((packed, aligned(8)));

/* Arguments that an annotation may have. */
#define KMEMTRACE_MARK_ARGS	8

/* Bytes of a string that are kept. */
#define KMEMTRACE_MARK_STRING	256

/* In the word of a string: it was longer. */
#define KMEMTRACE_MARK_CUT	(1ULL << 63)

/* Bytes of the payload in a record. */
#define KMEMTRACE_MARK_PAYLOAD	40

/* The number of what user space writes to the file marker. */
#define KMEMTRACE_MARK_MARKER	1

/*
 * Version 2: an annotation, kmemtrace_mark() in the kernel or a line that was
 * written to the file marker.  As large as the other records.
 *
 * Its values are the payload: a word for each argument, in their order, then
 * the bytes of each string, with as many 0 behind them as are lacking to the
 * next word; of a string whose format has a precision no more than that.  The
 * word of a string is the number of its bytes, without the 0 that ends it in
 * memory, and KMEMTRACE_MARK_CUT.  Of the word of an integer as many low bytes
 * count as the table marks says that it has.
 *
 * A payload of more than 40 bytes goes on in records of KMEMTRACE_EVENT_MORE,
 * right behind the MARK in the file of the CPU: all of them are there or none,
 * and then the mark was lost, as one event.  Of a file that begins or ends in
 * the middle of a capture a mark may lack its first or its last records.
 */
struct kmemtrace_event_mark {
	/* KMEMTRACE_EVENT_MARK or KMEMTRACE_EVENT_MORE. */
	__u8	event_id;

	/* MARK: how many MORE follow; MORE: which of these this is, from 1. */
	__u8	part;

	/* As in the other records. */
	__u16	event_size;

	/* The annotation, by its number in the table marks; never 0. */
	__u32	mark;

	/* 40 bytes of the payload: a MARK has the first; 0 behind the last. */
	__u64	payload[5];

	/* When it was reached; the same in all of its records. */
	__s64	timestamp;

	/* As in struct kmemtrace_event_v2. */
	__u32	pid;

	/* Bytes of the whole payload, a multiple of 8. */
	__u16	payload_size;

	/* KMEMTRACE_FLAG_HARDIRQ, KMEMTRACE_FLAG_SOFTIRQ. */
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
 * Files of text beside the records, in debugfs and, as they were at the end, on
 * disk.  Lines that begin with # are about the table, "# key: value"; each other
 * line is an entry, words with a space between them, the last of which, a name,
 * goes on to the end of the line.  In a name a backslash, a newline and other
 * control characters are written as \ooo, in octal.  Columns that are added
 * later come before the name; the line "# columns:" tells which there are.
 *
 * caches:	number object_size size created destroyed name
 *	Each cache that there was at some time in the session.  object_size:
 *	bytes that its user has of an object (of the largest, where caches were
 *	merged later), size: bytes that it takes.  Times
 *	are those of timestamp; created is 0 if that was before the first
 *	session could begin, destroyed is - if it was not.  Caches that the
 *	allocator merged are one, by the name of the first.
 *	"# unnumbered: N": caches that were made when no number was left.
 *
 * stacks:	number address,address...
 *	With kmemtrace.stacks=yes.  The addresses that a record with this number
 *	returned to, the innermost first, in hexadecimal without 0x; at most
 *	kmemtrace.stack_depth, 32 by default and 64 at most.  The outermost of a
 *	deeper stack are left out, and in an interrupt the stack below it.
 *	There may be stacks that no record of the session has.
 *	"# lost: N": so many events of the session have KMEMTRACE_STACK_NONE.
 *
 * tasks:	pid until name
 *	The task pid had this name up to the time until, inclusive, and since
 *	the earlier entry of this pid, if there is one; until is - if it was
 *	still alive with this name when the session ended, or now.  Entries are
 *	ordered by until.
 *	"# dropped: N", "# exact_after: T": only so many entries are kept; N
 *	older ones are not there, so that at the time T and before names may be
 *	missing or be those of a later task with that pid.
 *
 * marks:	number appeared went module types name format
 *	Each annotation that there was at some time in the session.  appeared
 *	and went are of the module that has it: 0 if it was there before the
 *	first session could begin, - if it is still there.  module: its name, or
 *	- for the kernel itself.  types: a letter for each argument, or - if there
 *	is none: b h i q for signed integers of 1 2 4 8 bytes, B H I Q for
 *	unsigned ones, c for a character, p for an address, s for a string.
 *	name: letters, digits and _.  format: as printk() takes it; here it is
 *	what goes on to the end of the line.  Places of one module that
 *	have the same name and format are one annotation.  Numbers are given
 *	once.  1, KMEMTRACE_MARK_MARKER, is the file marker.
 *	"# unnumbered: N": annotations that cannot be recorded, for want of
 *	memory or because of a format that kmemtrace does not know.
 */
/*
 * Info
 * ----
 * The file info, in debugfs and, as it was at the end, on disk, says what the
 * records are and which there can be.  Lines "# key: value" are of the whole:
 *
 * abi_version, record_size (bytes), byte_order (little or big), word_size (bytes
 *	of a pointer), clock, enabled (0 or 1), subbufs, subbuf_size (bytes),
 *	mode (discard or overwrite).
 * session:	how many sessions have begun since boot, with this one.
 * filter:	what the file filter says; none.
 * filtered:	no; yes: there was a filter, the same for the whole session;
 *	changed: there were several, or not all the time.
 * sample:	one of so many allocations was recorded, 1: all; 0: it was not
 *	the same for the whole session.
 * frees:	exact: those whose allocation passes the filter; all: others too,
 *	of memory whose allocation was left out.
 *
 * Each other line is words with a space between them, the first of which says
 * what the line is about.  There may be more words at the end of a line, and
 * other first words.
 *
 * record EVENT_ID NAME
 *	Records of this event_id have the fields of the lines that follow:
 * field NAME TYPE OFFSET BYTES SIGNED
 *	TYPE: u or s and bits, as u64; text: bytes up to a 0.  SIGNED: signed
 *	or unsigned.  What is reserved has no line.
 * type TYPE_ID NAME
 *	A type_id.
 * event NAME EVENT_ID TYPE_ID STATE SESSION
 *	What events/NAME/enabled switches.  STATE: on or off.  SESSION: whole,
 *	or missed: it was off at some time of this session.  Of annotations
 *	NAME is mark: and their name, and there is one word more: how many there
 *	are of that name, each of which has a line that follows:
 * mark NUMBER MODULE TYPES NAME FORMAT
 *	As in the table marks.
 */

#endif /* _KMEMTRACE_ABI_H */
