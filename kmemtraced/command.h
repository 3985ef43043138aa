/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command on the command line. Its process waits until recording has begun
 * and then executes the command. The recording ends when the command ends, or
 * before.
 */
#ifndef KMEMTRACED_COMMAND_H
#define KMEMTRACED_COMMAND_H

#include <glib.h>
#include <sys/types.h>

#include "lib/cli/signals.h"

/*
 * Exit statuses with a command. As with env and timeout, 125 means that
 * kmemtraced itself failed. 126 and 127 are the statuses of a shell for a
 * command that could not be started.
 */
#define KMTD_COMMAND_FAILED	125
#define KMTD_COMMAND_CANNOT_RUN 126
#define KMTD_COMMAND_NOT_FOUND	127

typedef struct kmtd_command KmtdCommand;

/*
 * Create the process of the command, which waits for kmtd_command_start(). Call
 * before any thread exists and before limits and priority change, because the
 * command inherits them. @signals are the signal settings that kmemtraced
 * inherited; the command gets them back. Return NULL and set an error on
 * failure.
 */
KmtdCommand *kmtd_command_new(char *const *argv, const KmtCliSignals *signals,
			      GError **error);

/*
 * Free the command. A command that was not started never runs; a running
 * command is not waited for. NULL is ignored.
 */
void kmtd_command_free(KmtdCommand *command);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdCommand, kmtd_command_free)

/* Return the number of the command's process. */
pid_t kmtd_command_pid(const KmtdCommand *command);

/*
 * Start the command. On failure set an error; kmtd_command_status() then
 * returns 126 or 127. If @wake_fd becomes readable before the result of exec()
 * is known, stop waiting and return TRUE, because the process of the command
 * may have been stopped.
 */
gboolean kmtd_command_start(KmtdCommand *command, int wake_fd, GError **error);

/* Return whether kmtd_command_start() succeeded. */
gboolean kmtd_command_was_started(const KmtdCommand *command);

/*
 * Return whether the command was started and its end has not been noticed yet.
 */
gboolean kmtd_command_runs(const KmtdCommand *command);

/* Check whether the command has ended. With @wait, wait for its end. */
void kmtd_command_poll(KmtdCommand *command, gboolean wait);

/* Send a signal to the command if it runs. */
void kmtd_command_signal(KmtdCommand *command, int number);

/*
 * Return the status of the command in the form of a shell: its exit status, 128
 * + the number of the signal that ended it, or 126 or 127 if it could not be
 * started. Return 125 if no start was attempted, or if the end of the command
 * was not noticed yet.
 */
int kmtd_command_status(const KmtdCommand *command);

#endif
