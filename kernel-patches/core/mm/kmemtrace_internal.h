/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: between the writer (kmemtrace.c) and its user interface
 * (kmemtrace_debugfs.c).
 */
#ifndef _MM_KMEMTRACE_INTERNAL_H
#define _MM_KMEMTRACE_INTERNAL_H

#include <linux/types.h>

#include <uapi/linux/kmemtrace_abi.h>

struct rchan;

/* The functions marked __kmemtrace_wrapper; from the linker script. */
extern char __kmemtrace_text_start[], __kmemtrace_text_end[];

/* NULL until tracing was switched on for the first time. */
extern struct rchan *kmemtrace_chan;
extern unsigned int kmemtrace_subbufs;
extern unsigned int kmemtrace_subbuf_size;	/* bytes */

/*
 * Switches tracing on or off.  Off: when it returns no probe runs any more and
 * each record can be read.  On: a new session, without the unread records and
 * the loss of the one before.  Sleeps.  0 or -errno.
 */
int kmemtrace_switch(bool on);
bool kmemtrace_is_on(void);

/* Events of cpu that were not recorded since tracing was last switched on. */
u64 kmemtrace_lost(unsigned int cpu);

/*
 * Called with no probe attached and kmemtrace_chan set.  The first may be
 * called before debugfs exists.
 */
void kmemtrace_debugfs_new_session(void);
void kmemtrace_debugfs_end_session(void);

#endif /* _MM_KMEMTRACE_INTERNAL_H */
