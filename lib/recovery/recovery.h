/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recovery notes: the state of the kernel before a recording, for the case that
 * kmemtraced and its cleanup process are killed at the same time.
 *
 * A note is a file in /run/kmemtrace, which only its owner can write.  Its
 * creator and the cleanup process share a lock on the file.  The kernel drops
 * the lock when both have ended, so a note that can be locked is stale.
 */
#ifndef KMEMTRACE_RECOVERY_RECOVERY_H
#define KMEMTRACE_RECOVERY_RECOVERY_H

#include <glib.h>

typedef struct kmt_recovery KmtRecovery;

/* The state to restore.  Exactly one of the paths is set. */
typedef struct {
	const char *relay_path; /* DEBUGFS/kmemtrace */
	gboolean was_enabled;	/* whether tracing was on there */
	const char *filter;	/* that was set there; NULL: it stays */
	const char *instance;	/* in tracefs, to be removed */
} KmtRecoveryState;

/*
 * Write a note.  NULL: there is no safe place for one, as for a user who is not
 * root; the recording does without.
 */
KmtRecovery *kmt_recovery_begin(const KmtRecoveryState *state);

/*
 * Tracing was switched on as this session.  A later session is somebody else's,
 * and is left alone.
 */
void kmt_recovery_set_session(KmtRecovery *recovery, guint64 session);

/* The state is restored: remove the note.  It allocates nothing. */
void kmt_recovery_remove(KmtRecovery *recovery);

/* Close the note, which stays unless it was removed. */
void kmt_recovery_free(KmtRecovery *recovery);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtRecovery, kmt_recovery_free)

/*
 * Restore what stale notes describe, and print a warning for each.  Without a
 * note this is one system call.  Return FALSE if something could not be
 * restored.
 */
gboolean kmt_recovery_run(const char *program);

#endif
