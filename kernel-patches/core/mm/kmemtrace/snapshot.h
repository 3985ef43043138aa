/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: snapshots. */
#ifndef _MM_KMEMTRACE_SNAPSHOT_H
#define _MM_KMEMTRACE_SNAPSHOT_H

/*
 * Take a snapshot.  @why: the reason, and @caller: an address in the code that requests
 * the snapshot, or 0; both are shown to user space.  Return 0; -EPERM in NMI context;
 * -EBUSY while another snapshot is taken, or inside of the tracer (see
 * kmemtrace_is_guarded()); -ENODATA where nothing is recorded; -ENOBUFS, after stopping
 * tracing, if there are neither spare buffers nor a previous snapshot.  Any context.
 */
int kmemtrace_take_snapshot(const char *why, unsigned long caller);

/*
 * Allocate spare buffers unless there are spare buffers or a snapshot.  Return 0 or
 * -errno.  Context: kmemtrace_mutex is held.  Sleeps.
 */
int kmemtrace_snapshot_prepare(void);

#endif /* _MM_KMEMTRACE_SNAPSHOT_H */
