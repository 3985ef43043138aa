/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: begin and end recording on all CPUs. */
#ifndef _MM_KMEMTRACE_RECORDING_H
#define _MM_KMEMTRACE_RECORDING_H

struct kmemtrace_buffers;

/*
 * Do kmemtrace_writer_reset_lost(), and begin to record into the live set.  Context:
 * no event is recorded, and the live set exists.  Sleeps.
 */
void kmemtrace_writer_start(void);

/*
 * End recording.  A CPU may still write a record when this function returns, until
 * kmemtrace_writer_wait() has returned.  Any context.
 */
void kmemtrace_writer_stop(void);

/* Wait until each CPU has left the probe or the record that it is in now.  Sleeps. */
void kmemtrace_writer_wait(void);

/*
 * Set the counts of lost events in each struct kmemtrace_cpu to 0, and let no CPU's
 * writer refer to a set.  Context: no event is recorded.  Sleeps.
 */
void kmemtrace_writer_reset_lost(void);

/*
 * Write a LOST record for the unreported lost events of each CPU, if its buffer has
 * room.  Context: no event is recorded, and the live set exists.  Sleeps.
 */
void kmemtrace_writer_report_lost(void);

/*
 * Let no CPU's writer refer to @buffers.  @buffers is not the live set.  The caller may
 * release its reference afterwards.  Sleeps.
 */
void kmemtrace_writer_leave_set(struct kmemtrace_buffers *buffers);

/* Initialise the writer.  Context: early boot, one CPU runs. */
void kmemtrace_writer_init(void);

#endif /* _MM_KMEMTRACE_RECORDING_H */
