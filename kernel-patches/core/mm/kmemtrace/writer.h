/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: the writer of records.
 *
 * Writers
 * -------
 * Each CPU writes to its own buffer with interrupts off, so a buffer has one writer at
 * a time, and CPUs do not share the memory of their records.  An NMI can interrupt the
 * writer, so an event in NMI context is counted as lost instead of recorded.  The
 * writer acquires no lock except the leaf locks of triggers that count bytes
 * (counter.h, held.c), those of a snapshot that a trigger takes (snapshot.c), with
 * kmemtrace.stacks=yes that of the stack depot (stacks.c) and, at an allocation whose
 * call site or tag is not in the table tags yet, that of this table (tags.c).  The
 * writer allocates no memory and wakes no task (an irq_work wakes the readers), so the
 * scheduler and timekeeping may cause events with any lock held.  guard.h describes an
 * event inside of the writer.
 *
 * Readers
 * -------
 * buffer.c describes the memory order between writer and readers, which never wait for
 * each other.
 *
 * Lost events
 * -----------
 * An event is counted as lost for one of four reasons:
 *
 * no room	The buffer is full, or the CPU has none: kmemtrace_count_lost(), member
 *		lost of struct kmemtrace_cpu.  Called by the writer of this CPU, between
 *		kmemtrace_begin_write() and kmemtrace_end_write().
 * refused	The event occurs in an NMI, or nested in a guarded section or in the
 *		writing of a record: kmemtrace_count_refused(), member refused.  Any
 *		context, preemption off.
 * moved	The record was unread when a snapshot received the buffer of the CPU:
 *		kmemtrace_leave_buffer(), member lost.  Called by the writer of this
 *		CPU, as for no room, and for each CPU by kmemtrace_visit_cpus() in
 *		recording.c: on the CPU itself, or on another one while the CPU is
 *		offline.  The readers of cpu<n> miss the record; the snapshot contains
 *		the record unless it was overwritten.
 * overwritten	In overwrite mode, a newer record overwrote the unread record:
 *		kmemtrace_advance(), member overwritten of struct kmemtrace_reader.
 *		Called by a reader with reader->lock held; kmemtrace_buffer_stats()
 *		adds the records that no reader has passed yet.
 *
 * Each record that is moved or overwritten counts as one event, even a LOST record,
 * whose events have been counted before.
 *
 * The debugfs file overruns has the sum of the four for each CPU with a buffer.  The
 * file total_overruns also counts the events of CPUs without a buffer.
 * kmemtrace_lost() is the sum of the first three.
 *
 * LOST records report all four reasons.  The writer writes them to the buffer for the
 * first three: kmemtrace_write_lost().  A reader makes them for overwritten records and
 * returns them before the records that follow: kmemtrace_fill_lost() in reader.c.
 */
#ifndef _MM_KMEMTRACE_WRITER_H
#define _MM_KMEMTRACE_WRITER_H

#include <linux/gfp_types.h>
#include <linux/jump_label.h>
#include <linux/types.h>

struct kmemtrace_buffers;
struct kmemtrace_cpu;
struct rchan_buf;

/* On if records have at least version 2, off with kmemtrace.abi=1. */
DECLARE_STATIC_KEY_TRUE(kmemtrace_v2);

/* --- Filter and watcher, which higher layers register ----------------------------- */

/*
 * A filter: return whether to record an allocation, a free, or a deferred free.
 * @bytes_alloc: allocated bytes.  @cache: number of the cache, or KMEMTRACE_CACHE_NONE.
 * Context: any but NMI, with interrupts off, in rcu_read_lock_sched_notrace().
 */
typedef bool kmemtrace_filter_fn(u8 event_id, u8 type_id, u64 ptr,
				 size_t bytes_alloc, u16 cache);

/*
 * Set the filter; NULL: record all events.  While there is a filter, all events take
 * the slow path.  A CPU may call the old filter until synchronize_rcu() has returned.
 * Any context.
 */
void kmemtrace_writer_set_filter(kmemtrace_filter_fn *filter);

/*
 * A watcher is called for each allocation, free, and deferred free after the event was
 * recorded, rejected by the filter, or lost because there was no room.  It is not
 * called for a refused event, or while nothing is recorded.
 */
struct kmemtrace_watcher {
	/*
	 * Account an event.  Return a pointer for fire(), or NULL if fire() need not
	 * be called.  Context: the writer, with interrupts off, in
	 * rcu_read_lock_sched_notrace().
	 */
	void *(*count)(u8 event_id, u8 type_id, unsigned long call_site, u64 ptr,
		       size_t bytes_alloc);
	/*
	 * Act on an event.  @counted: the pointer that count() returned.  @caller: the
	 * call site of the event.  Context: any but NMI, outside of a guarded section,
	 * in the read-side section in which count() was called.
	 */
	void (*fire)(void *counted, unsigned long caller);
};

/*
 * Set the watcher; NULL: no watcher.  While there is a watcher, all events take the
 * slow path.  A CPU may call the old watcher until synchronize_rcu() has returned.  Any
 * context.
 */
void kmemtrace_writer_set_watcher(const struct kmemtrace_watcher *watcher);

/* --- Records -------------------------------------------------------------------- */

/*
 * Record an event that the fast path does not handle.  The parameters are those of
 * kmemtrace_record().  Any context; an event in NMI context is counted as lost.
 */
void kmemtrace_record_slow(u8 event_id, u8 type_id, unsigned long call_site,
			   u64 ptr, size_t bytes_req, size_t bytes_alloc,
			   gfp_t gfp_flags, int node, u16 cache, u16 account);

/*
 * Begin to write @n consecutive records on this CPU, and reserve the room.  Return
 * true; the caller then writes all records and calls kmemtrace_end_records().  Return
 * false if tracing is off, or if the event is counted as lost: without room, in an NMI,
 * or nested.  Context: any, interrupts off from this call to kmemtrace_end_records().
 */
bool kmemtrace_begin_records(unsigned int n);

/*
 * Return the address of the next record.  Context: between kmemtrace_begin_records()
 * and kmemtrace_end_records().
 */
void *kmemtrace_next_record(void);

/*
 * Publish the record that kmemtrace_next_record() returned.  Context: between
 * kmemtrace_begin_records() and kmemtrace_end_records().
 */
void kmemtrace_commit_record(void);

/*
 * Return a timestamp for a record.  Timestamps do not decrease on a CPU.  Context:
 * between kmemtrace_begin_records() and kmemtrace_end_records().
 */
u64 kmemtrace_record_time(void);

/* End the writing that kmemtrace_begin_records() began.  Context: interrupts off. */
void kmemtrace_end_records(void);

/*
 * Write a STOP record on this CPU, if there is room.  Do nothing with version 1 of the
 * records.  @why: reason, for user space.  @caller: address in the code that requested
 * the snapshot, or 0.  Context: in a guarded section that is not nested in the writing
 * of a record.
 */
void kmemtrace_write_stop(const char *why, unsigned long caller);

/* --- For recording.c ------------------------------------------------------------- */

/*
 * Write a LOST record to @buf for the events that a CPU lost since its last LOST
 * record.  Do nothing if no event was lost since then, if there is no room, or with
 * version 1 of the records.  Context: between kmemtrace_begin_write() and
 * kmemtrace_end_write().
 */
void kmemtrace_write_lost(struct kmemtrace_cpu *kc, struct rchan_buf *buf);

/*
 * Let a CPU's writer refer to no buffer.  Count the records of its former buffer as
 * lost, except those that a reader of the live set had read before the buffer was
 * sealed.  Return false, and change nothing, if the buffer is not sealed yet.  Context:
 * between kmemtrace_begin_write() and kmemtrace_end_write().
 */
bool kmemtrace_leave_buffer(struct kmemtrace_cpu *kc);

/*
 * Let a CPU's writer use its buffer of the live set.  @live: the live set.  @buf: the
 * CPU's buffer of @live.  Return the buffer to write to: @buf, or the former buffer
 * while another CPU takes a snapshot and has not sealed that buffer yet.  Return NULL
 * if the live set has changed during the call.  Context: between
 * kmemtrace_begin_write() and kmemtrace_end_write().
 */
struct rchan_buf *kmemtrace_enter_buffer(struct kmemtrace_cpu *kc,
					 struct kmemtrace_buffers *live,
					 struct rchan_buf *buf);

#endif /* _MM_KMEMTRACE_WRITER_H */
