/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: recording begins and ends, on all CPUs. */
#ifndef _MM_KMEMTRACE_RECORDING_H
#define _MM_KMEMTRACE_RECORDING_H

struct kmemtrace_buffers;

/*
 * Begin to record into the live set, with all counts of lost events at 0.  Context:
 * no event is recorded, the live set exists.  Sleeps.
 */
void kmemtrace_writer_start(void);

/*
 * End recording.  A record may still be written when this returns, until
 * kmemtrace_writer_wait() returns.  Any context.
 */
void kmemtrace_writer_stop(void);

/* Wait until no CPU is inside of a probe or writes a record.  Sleeps. */
void kmemtrace_writer_wait(void);

/* Reset the counts of lost events.  Context: no event is recorded.  Sleeps. */
void kmemtrace_writer_forget(void);

/*
 * Write a LOST record of the unreported lost events of each CPU, where there is
 * room.  Context: no event is recorded, the live set exists.  Sleeps.
 */
void kmemtrace_writer_report_lost(void);

/*
 * Wait until no CPU's writer uses a set any more, which is not the live set.
 * Sleeps.
 */
void kmemtrace_writer_leave(struct kmemtrace_buffers *buffers);

/* Initialise the writer.  Context: early boot, one CPU runs. */
void kmemtrace_writer_init(void);

#endif /* _MM_KMEMTRACE_RECORDING_H */
