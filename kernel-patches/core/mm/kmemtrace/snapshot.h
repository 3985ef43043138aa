/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: snapshots. */
#ifndef _MM_KMEMTRACE_SNAPSHOT_H
#define _MM_KMEMTRACE_SNAPSHOT_H

#include <linux/sched.h>
#include <linux/types.h>

struct kmemtrace_buffers;
struct kmemtrace_view;

#define KMEMTRACE_WHY_LENGTH	128

/* A request for a snapshot. */
struct kmemtrace_request {
	u64		time;		/* timestamp; 0: there was no request */
	unsigned long	caller;		/* return address; 0: user space */
	pid_t		pid;
	char		comm[TASK_COMM_LEN];
	char		why[KMEMTRACE_WHY_LENGTH];
};

/* The state of the snapshots. */
struct kmemtrace_snapshot_state {
	/* The set with the snapshot, with a reference; NULL: no snapshot. */
	struct kmemtrace_buffers *buffers;
	bool		has_spare;	/* there are spare buffers */
	struct kmemtrace_request taken;	/* the request for the snapshot */
	struct kmemtrace_request stopped; /* the request that stopped tracing */
	unsigned long	n_taken;	/* snapshots in this session */
	unsigned long	n_coincided;	/* refused during another one, or nested */
	unsigned long	n_in_nmi;	/* refused in NMI context */
};

/* The view of the snapshot. */
extern struct kmemtrace_view kmemtrace_snapshot_view;

/*
 * Take a snapshot.  @why: reason, for user space.  @caller: return address of the code
 * that requests the snapshot, or 0.  Return 0; -EPERM in NMI context; -EBUSY while
 * another CPU takes a snapshot, or inside of the tracer (see kmemtrace_is_guarded());
 * -ENODATA if no event is recorded; -ENOBUFS if there were no spare buffers and tracing
 * was stopped.  Any context.
 */
int kmemtrace_take_snapshot(const char *why, unsigned long caller);

/*
 * Allocate spare buffers, unless there are spare buffers or a snapshot.  Return 0 or
 * -errno.  Context: kmemtrace_mutex is held.  Sleeps.
 */
int kmemtrace_snapshot_prepare(void);

/*
 * Free the snapshot and the spare buffers.  Context: kmemtrace_mutex is held.  Sleeps.
 */
void kmemtrace_snapshot_free(void);

/*
 * Store the state of the snapshots in @state.  The caller releases the reference to
 * @state->buffers by kmemtrace_buffers_put().  Context: any but NMI.
 */
void kmemtrace_snapshot_get_state(struct kmemtrace_snapshot_state *state);

/*
 * Queue a work item that logs the last request, wakes readers, and completes stopping.
 * In early boot, when work items do not run yet, do nothing.  Context: any but NMI.
 */
void kmemtrace_snapshot_report_soon(void);

#endif /* _MM_KMEMTRACE_SNAPSHOT_H */
