/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A command that is recorded: a process that waits until recording has begun,
 * becomes the command, and whose end ends the recording.
 */
#ifndef KMEMTRACED_COMMAND_H
#define KMEMTRACED_COMMAND_H

#include <glib.h>
#include <sys/types.h>

#include "lib/cli/signals.h"

/*
 * With a command: kmemtraced itself failed, as with env and timeout; and the
 * statuses of a shell for what could not be started.
 */
#define KMTD_COMMAND_FAILED	125
#define KMTD_COMMAND_CANNOT_RUN 126
#define KMTD_COMMAND_NOT_FOUND	127

typedef struct kmtd_command KmtdCommand;

/*
 * Call before any thread exists, and before limits and priority change: the
 * command inherits them.  Its signals are those that kmemtraced inherited.
 */
KmtdCommand *kmtd_command_new(char *const *argv, const KmtCliSignals *signals,
			      GError **error);

/* One that was not started never runs.  Does not wait for one that was. */
void kmtd_command_free(KmtdCommand *command);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdCommand, kmtd_command_free)

pid_t kmtd_command_pid(const KmtdCommand *command);

/*
 * Start the command now.  On failure set an error; kmtd_command_status() then
 * returns 126 or 127.  Do not wait for exec() any longer once wake_fd is
 * readable: somebody may have stopped the process of the command.
 */
gboolean kmtd_command_start(KmtdCommand *command, int wake_fd, GError **error);

gboolean kmtd_command_was_started(const KmtdCommand *command);

/* It was started and has not ended, as far as is known. */
gboolean kmtd_command_runs(const KmtdCommand *command);

/* Looks whether it has ended; with wait, until it has. */
void kmtd_command_poll(KmtdCommand *command, gboolean wait);

/* Sends it a signal, if it runs. */
void kmtd_command_signal(KmtdCommand *command, int number);

/*
 * As a shell has it: its exit status, 128 + the signal that ended it, 126 or
 * 127 if it could not be started; 125 if nobody tried to.
 */
int kmtd_command_status(const KmtdCommand *command);

#endif
