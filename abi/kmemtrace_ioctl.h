/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * kmemtrace: reading records from the kernel's buffers without a copy.
 *
 * The ioctls apply to the files cpu<n> that <linux/kmemtrace_abi.h> describes;
 * read() returns the same records.  On a kernel without this interface, or
 * locked down for integrity, mmap() fails with ENODEV and each ioctl() with
 * ENOTTY.  If a file of a snapshot was opened while there was no snapshot,
 * mmap() and each ioctl() fail with ENXIO, and with ESTALE after a snapshot was
 * taken.
 *
 * How to read
 * -----------
 *	1. Call KMEMTRACE_IOC_INFO.  Map map_bytes bytes from offset 0 with
 *	   PROT_READ and MAP_SHARED.
 *	2. Call KMEMTRACE_IOC_TAKE with the generation of INFO.  It returns the
 *	   offset and the size of unread records in the mapping: whole records,
 *	   at most to the end of one sub-buffer.
 *	3. Process the records, for example write them to a file.
 *	4. Call KMEMTRACE_IOC_GIVE.  It marks the records as read, and the
 *	   kernel may reuse their memory.
 *	5. Continue with 2.  poll() reports when more records exist.
 *
 * Records stay unread until GIVE.  If a reader dies before step 4, the next
 * TAKE returns the same records, and perhaps more.  Each open file has one TAKE
 * at a time.  If several readers take the same records, the first GIVE succeeds
 * and the GIVE of each other reader fails with EAGAIN.
 *
 * In overwrite mode the kernel may overwrite records after TAKE.  GIVE then
 * fails with EAGAIN, and the reader discards its copy.
 *
 * A mapping remains readable until munmap(), and always shows the same buffer.
 * When the kernel starts to record into another buffer, TAKE fails with ESTALE;
 * continue with 1.  In a file of a snapshot, mmap() and each ioctl() fail with
 * ESTALE after the snapshot was replaced or freed; open the file again.
 */
#ifndef _KMEMTRACE_IOCTL_H
#define _KMEMTRACE_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Values of mode. */
enum kmemtrace_mode {
	/* If a CPU's buffer is full, the newest event is lost. */
	KMEMTRACE_MODE_DISCARD		= 0,
	/* If a CPU's buffer is full, its oldest sub-buffer is overwritten. */
	KMEMTRACE_MODE_OVERWRITE	= 1,
};

/*
 * The state of a buffer.  The counts begin at 0 when a session begins, when
 * kmemtrace is reset, and when a snapshot makes the buffer the one that events
 * are recorded into.
 */
struct kmemtrace_ioctl_info {
	__u64	map_bytes;	/* size of the mapping, whole pages */
	__u64	generation;	/* changes when the file gets another buffer */
	__u64	produced;	/* bytes recorded */
	__u64	consumed;	/* bytes read by read(), or marked by GIVE */
	__u64	unread;		/* bytes that can be read now */
	__u64	overwritten;	/* records overwritten before they were read */
	__u32	subbufs;	/* number of consecutive sub-buffers */
	__u32	subbuf_size;	/* bytes per sub-buffer */
	__u32	record_size;	/* bytes per record */
	__u32	mode;		/* enum kmemtrace_mode */
	__u32	cpu;
	__u32	reserved;	/* 0 */
};

/* The next unread records. */
struct kmemtrace_ioctl_take {
	__u64	generation;	/* in: the generation that INFO returned */
	__u64	position;	/* of the first record; passed to GIVE */
	__u64	offset;		/* of the first record in the mapping */
	__u64	bytes;		/* size of the records; 0: no unread records */
	/*
	 * Number and time range of the records that were overwritten directly
	 * before these records; 0: none, or version 1.  Since version 2 read()
	 * returns a struct kmemtrace_event_lost with these values at this position.
	 */
	__u64	lost_events;
	__s64	lost_since;
	__s64	lost_timestamp;
};

/* Records that were read. */
struct kmemtrace_ioctl_give {
	__u64	position;	/* in: the position that TAKE returned */
	__u64	bytes;		/* in: whole records, at most bytes of TAKE */
};

/* Returns the state of the buffer. */
#define KMEMTRACE_IOC_INFO	_IOR(0xBD, 0, struct kmemtrace_ioctl_info)

/* Fails with ESTALE if generation is not the number of the current buffer. */
#define KMEMTRACE_IOC_TAKE	_IOWR(0xBD, 1, struct kmemtrace_ioctl_take)

/*
 * Fails with EINVAL if position and bytes do not match the last TAKE of this
 * open file or are no whole records.  Fails with EAGAIN if the records were
 * overwritten, released by another reader, or discarded since TAKE.  After
 * EINVAL or EAGAIN the call has marked no record as read, and the TAKE has
 * ended.
 */
#define KMEMTRACE_IOC_GIVE	_IOW(0xBD, 2, struct kmemtrace_ioctl_give)

#endif /* _KMEMTRACE_IOCTL_H */
