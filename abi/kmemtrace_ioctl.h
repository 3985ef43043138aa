/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * kmemtrace: reading records where the kernel wrote them, without a copy.
 *
 * For the files cpu<n> that <linux/kmemtrace_abi.h> describes.  read() gives the
 * same records; a kernel that has none of this, or is locked down, fails mmap()
 * with ENODEV and each ioctl() with ENOTTY.
 *
 * How to read
 * -----------
 *	1. KMEMTRACE_IOC_INFO; map map_bytes from offset 0, PROT_READ, MAP_SHARED.
 *	2. KMEMTRACE_IOC_TAKE with the generation of INFO: so many bytes at so
 *	   much behind the start of the mapping can be used now.  They are whole
 *	   records and never more than the rest of one sub-buffer.
 *	3. Use them: write them to a file, for example.
 *	4. KMEMTRACE_IOC_GIVE: they are used, the kernel may write there again.
 *	5. From 2 on.  poll() tells when there is more.
 *
 * Until it is given back, what was taken is still in the buffer: who dies before
 * 4 has read nothing, and TAKE again gives the same, or more.  Each open file has
 * one TAKE at a time.  Where several read, the first to give back has read the
 * records; the other is told by EAGAIN.
 *
 * In the mode overwrite records can be overwritten after TAKE; then GIVE fails
 * with EAGAIN, and what was copied is worth nothing.
 *
 * A mapping stays what it is, and readable, until it is unmapped.  TAKE fails with
 * ESTALE as soon as the kernel records into another buffer: begin with 1.  In a
 * file of a snapshot all of these do so when that is not the snapshot any more:
 * open it again.
 */
#ifndef _KMEMTRACE_IOCTL_H
#define _KMEMTRACE_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Values of mode. */
enum kmemtrace_mode {
	/* A full buffer: the newest event is lost. */
	KMEMTRACE_MODE_DISCARD		= 0,
	/* A full buffer: the oldest sub-buffer is overwritten. */
	KMEMTRACE_MODE_OVERWRITE	= 1,
};

/* All counts of bytes and records are of the current session. */
struct kmemtrace_ioctl_info {
	__u64	map_bytes;	/* of the mapping: whole pages */
	__u64	generation;	/* of the buffer: another one, another number */
	__u64	produced;	/* bytes that were recorded */
	__u64	consumed;	/* of them, bytes that were read or given back */
	__u64	unread;		/* of them, bytes that can be read now */
	__u64	overwritten;	/* records that were overwritten unread */
	__u32	subbufs;	/* sub-buffers, one after the other */
	__u32	subbuf_size;	/* bytes of each */
	__u32	record_size;	/* bytes of each record */
	__u32	mode;		/* enum kmemtrace_mode */
	__u32	cpu;
	__u32	reserved;	/* 0 */
};

struct kmemtrace_ioctl_take {
	__u64	generation;	/* in: as INFO told */
	__u64	position;	/* bytes ever recorded before; for GIVE */
	__u64	offset;		/* of the first byte in the mapping */
	__u64	bytes;		/* 0: there is nothing now */
	/*
	 * Records were overwritten before these; 0: none.  In version 2 read()
	 * gives a struct kmemtrace_event_lost with these three in that place.
	 */
	__u64	lost_events;
	__s64	lost_since;
	__s64	lost_timestamp;
};

struct kmemtrace_ioctl_give {
	__u64	position;	/* in: as TAKE told */
	__u64	bytes;		/* in: whole records, at most what TAKE told */
};

#define KMEMTRACE_IOC_INFO	_IOR(0xBD, 0, struct kmemtrace_ioctl_info)

/* ESTALE: there is another buffer.  */
#define KMEMTRACE_IOC_TAKE	_IOWR(0xBD, 1, struct kmemtrace_ioctl_take)

/*
 * EINVAL: this was not taken, or not as much of it, or no whole records.
 * EAGAIN: it was overwritten, given back by another reader, or discarded, since.
 * Either way nothing was given back, and the TAKE is over.
 */
#define KMEMTRACE_IOC_GIVE	_IOW(0xBD, 2, struct kmemtrace_ioctl_give)

#endif /* _KMEMTRACE_IOCTL_H */
