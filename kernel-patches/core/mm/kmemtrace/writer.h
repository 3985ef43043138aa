/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: the writer of records.
 *
 * Writers
 * -------
 * Each CPU writes to its own buffer with interrupts off, so the buffer has one
 * writer at a time, and nothing in memory that is written per event is shared
 * between CPUs.  An NMI could interrupt that writer; an event in NMI context is
 * therefore not recorded but counted as lost.  The writer takes no lock, allocates
 * nothing and wakes nobody (an irq_work wakes the readers), so the scheduler and
 * timekeeping may call it, with any lock held.  guard.h describes what happens to
 * an event inside of the writer itself.
 *
 * Readers
 * -------
 * See buffer.c.  Readers and writers never wait for each other.
 *
 * Loss
 * ----
 * A CPU counts its own events that find no room.  In overwrite mode each event
 * finds room, and the reader counts the records that were overwritten unread.
 */
#ifndef _MM_KMEMTRACE_WRITER_H
#define _MM_KMEMTRACE_WRITER_H

#include <linux/gfp_types.h>
#include <linux/jump_label.h>
#include <linux/types.h>

struct kmemtrace_buffers;
struct kmemtrace_cpu;
struct rchan_buf;

/* Off with kmemtrace.abi=1. */
DECLARE_STATIC_KEY_TRUE(kmemtrace_v2);

/* --- What higher layers register ---------------------------------------------- */

/*
 * Return whether an allocation or a free is to be recorded.  Context: any but NMI,
 * with interrupts off, in rcu_read_lock_sched_notrace().
 */
typedef bool kmemtrace_filter_fn(u8 event_id, u8 type_id, u64 ptr,
				 size_t bytes_alloc, u16 cache);

/*
 * Set the filter, or NULL for none.  All events go through the slow path while
 * there is one.  An event that is under way may still use the old filter, until
 * synchronize_rcu().  Context: any.
 */
void kmemtrace_writer_set_filter(kmemtrace_filter_fn *filter);

/* A watcher sees each event after the event was recorded or lost. */
struct kmemtrace_watcher {
	/*
	 * Account an event.  Return a pointer to pass to fire(), or NULL.  Context:
	 * the writer, with interrupts off, in rcu_read_lock_sched_notrace().
	 */
	void *(*count)(u8 event_id, u8 type_id, unsigned long call_site, u64 ptr,
		       size_t bytes_alloc);
	/*
	 * Act on an event.  @caller: the call site.  Context: any but NMI, outside
	 * of the guard, in the read-side section in which count() was called.
	 */
	void (*fire)(void *counted, unsigned long caller);
};

/*
 * Set the watcher, or NULL for none.  All events go through the slow path while
 * there is one.  Context: any.
 */
void kmemtrace_writer_set_watcher(const struct kmemtrace_watcher *watcher);

/* --- Records -------------------------------------------------------------------- */

/*
 * Record an event that the fast path does not handle: see kmemtrace_record().
 * Context: any; an event in NMI context is counted as lost.
 */
void kmemtrace_record_slow(u8 event_id, u8 type_id, unsigned long call_site,
			   u64 ptr, size_t bytes_req, size_t bytes_alloc,
			   gfp_t gfp_flags, int node, u16 cache, u16 account);

/*
 * Write @n records in a row.  The caller keeps interrupts off from begin to end.
 * kmemtrace_begin_records() reserves the room.  It returns false if nothing is
 * recorded, or if the event is counted as lost; then none of the other functions
 * may be called.  For each record, kmemtrace_next_record() returns its address and
 * kmemtrace_commit_record() publishes it.  kmemtrace_end_records() lets other
 * events write again.  kmemtrace_record_time() returns the time of a record, in the
 * order of writing.
 */
bool kmemtrace_begin_records(unsigned int n);
void *kmemtrace_next_record(void);
void kmemtrace_commit_record(void);
u64 kmemtrace_record_time(void);
void kmemtrace_end_records(void);

/*
 * Write KMEMTRACE_EVENT_STOP on this CPU, if there is room.  Context: between
 * kmemtrace_guard_enter() and kmemtrace_guard_leave(), and not nested in the
 * writing of a record.
 */
void kmemtrace_write_stop(const char *why, unsigned long caller);

/* --- For recording.c ------------------------------------------------------------- */

/*
 * Write a LOST record for the events that a CPU lost since its last LOST record, if
 * there are any and there is room.  Context: between kmemtrace_begin_write() and
 * kmemtrace_end_write().
 */
void kmemtrace_write_lost(struct kmemtrace_cpu *kc, struct rchan_buf *buf);

/*
 * Leave the buffer that a CPU writes to, and count the events in it that the
 * reader of the live buffers did not get.  Return false where that buffer is not
 * sealed yet.  Context: as above.
 */
bool kmemtrace_leave_buffer(struct kmemtrace_cpu *kc);

/*
 * Go to a CPU's buffer of the live set.  Return that buffer; or the current one,
 * where a snapshot is being taken and has not sealed it yet; or NULL where the live
 * set has changed meanwhile.  Context: as above.
 */
struct rchan_buf *kmemtrace_enter_buffer(struct kmemtrace_cpu *kc,
					 struct kmemtrace_buffers *live,
					 struct rchan_buf *buf);

#endif /* _MM_KMEMTRACE_WRITER_H */
