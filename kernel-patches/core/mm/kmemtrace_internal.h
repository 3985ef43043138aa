/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: between the files of mm/kmemtrace*.
 */
#ifndef _MM_KMEMTRACE_INTERNAL_H
#define _MM_KMEMTRACE_INTERNAL_H

#include <linux/fs.h>
#include <linux/init.h>
#include <linux/types.h>

#include <uapi/linux/kmemtrace_abi.h>

struct rchan;

/* NULL until tracing was switched on for the first time. */
extern struct rchan *kmemtrace_chan;
extern unsigned int kmemtrace_abi;		/* version of the records */
extern unsigned int kmemtrace_record_size;	/* bytes */
extern bool kmemtrace_boot_enabled;		/* until boot is over */
extern unsigned int kmemtrace_subbufs;
extern unsigned int kmemtrace_subbuf_size;	/* bytes */

/* Makes sense of the parameters, of all of them together. */
void __init kmemtrace_settle_parameters(void);

/*
 * Switches tracing on or off.  Off: when it returns no probe runs any more and
 * each record can be read.  On: a new session, without the unread records and
 * the loss of the one before.  Sleeps.  0 or -errno.
 */
int kmemtrace_switch(bool on);
bool kmemtrace_is_on(void);

/*
 * The writer.  Between attach and detach its probes are called; between start
 * and stop they record.  attach and detach sleep; attach: 0 or -errno.  start
 * is called with kmemtrace_chan set and forgets what was lost.  When stop
 * returns a record may still be under way, when detach returns none is.
 */
void __init kmemtrace_writer_init(void);
int kmemtrace_writer_attach(void);
void kmemtrace_writer_detach(void);
void kmemtrace_writer_start(void);
void kmemtrace_writer_stop(void);

/* Events of cpu that were not recorded since tracing was last switched on. */
u64 kmemtrace_lost(unsigned int cpu);

/*
 * Writes a record of what cpu lost last, if there is room.  Context: nobody
 * writes or reads its buffer.
 */
void kmemtrace_tell_lost(unsigned int cpu);

/* The clock of the records, on this CPU.  Any context. */
u64 kmemtrace_clock(void);

/*
 * The tables of caches and tasks, of version 2 and later; else these do nothing.
 * What is attached only gathers names.  All sleep.  attach: 0 or -errno; the
 * tables are as they were until a new session begins, and after it ended.
 */
int kmemtrace_tables_attach(void);
void kmemtrace_tables_detach(void);
void kmemtrace_tables_new_session(void);
void kmemtrace_tables_end_session(void);
extern const struct file_operations kmemtrace_caches_fops;
extern const struct file_operations kmemtrace_tasks_fops;

/*
 * Called with nobody writing and kmemtrace_chan set.  The first may be
 * called before debugfs exists.
 */
void kmemtrace_debugfs_new_session(void);
void kmemtrace_debugfs_end_session(void);

#endif /* _MM_KMEMTRACE_INTERNAL_H */
