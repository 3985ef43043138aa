/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recovery notes: the state of the kernel before a recording, for the case that
 * kmemtraced and its cleanup process are killed at the same time.
 *
 * A note is a file in /run/kmemtrace, which only its owner can write. Its
 * creator and the cleanup process share a lock on the file. The kernel drops
 * the lock when both processes have ended, so a note that can be locked is
 * stale.
 */
#ifndef KMEMTRACE_RECOVERY_RECOVERY_H
#define KMEMTRACE_RECOVERY_RECOVERY_H

#include <glib.h>

typedef struct kmt_recovery KmtRecovery;

/* The state to restore. Either relay_path or instance is set. */
typedef struct {
	const char *relay_path; /* DEBUGFS/kmemtrace */
	gboolean was_enabled;	/* value of relay_path/enabled before the
				 * recording */
	const char *filter;	/* value of relay_path/filter before it; NULL:
				 * do not restore */
	const char *instance;	/* path of a tracefs instance to remove */
} KmtRecoveryState;

/*
 * Write a note. Returns NULL if there is no safe directory for the note, as for
 * a user other than root, or if the note cannot be written; the recording then
 * continues without a note.
 */
KmtRecovery *kmt_recovery_begin(const KmtRecoveryState *state);

/*
 * Add the number of the tracing session to the note; 0 (unknown) is ignored. If
 * the kernel later has another session, another program began it, and the state
 * is not restored. recovery may be NULL.
 */
void kmt_recovery_set_session(KmtRecovery *recovery, guint64 session);

/*
 * Remove the note after the state was restored. The function allocates no
 * memory. recovery may be NULL.
 */
void kmt_recovery_remove(KmtRecovery *recovery);

/*
 * Close the note. The file stays unless kmt_recovery_remove() was called.
 * recovery may be NULL.
 */
void kmt_recovery_free(KmtRecovery *recovery);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtRecovery, kmt_recovery_free)

/*
 * Restore the state of each stale note, and print a warning for each change and
 * each failure. program is the prefix of the warnings. Without a note directory
 * the function costs one system call. Returns FALSE if a state could not be
 * restored.
 */
gboolean kmt_recovery_run(const char *program);

#endif
