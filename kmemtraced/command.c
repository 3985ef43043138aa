// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kmemtraced/command.h"
#include "lib/capture/error.h"

struct kmtd_command {
	char *name;
	pid_t pid;
	int go_fd;    /* pipe: a byte starts the command */
	int error_fd; /* pipe: the child writes the errno of a failed exec() */
	gboolean started;
	gboolean ended;
	int status;
};

static void G_GNUC_NORETURN child(char *const *argv,
				  const KmtCliSignals *signals, int go_fd,
				  int error_fd)
{
	char byte;
	ssize_t n;
	int errnum;

	do
		n = read(go_fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	/* kmemtraced has closed the pipe without starting the command. */
	if (n != 1)
		_exit(KMTD_COMMAND_CANNOT_RUN);
	kmt_cli_signals_restore(signals);
	execvp(argv[0], argv);
	errnum = errno;
	(void)!write(error_fd, &errnum, sizeof(errnum));
	_exit(KMTD_COMMAND_CANNOT_RUN);
}

KmtdCommand *kmtd_command_new(char *const *argv, const KmtCliSignals *signals,
			      GError **error)
{
	g_autoptr(KmtdCommand) command = g_new0(KmtdCommand, 1);
	int go[2] = {-1, -1}, failure[2] = {-1, -1};

	command->name = g_strdup(argv[0]);
	command->go_fd = command->error_fd = -1;
	command->pid = -1;
	command->status = KMTD_COMMAND_FAILED;
	if (pipe2(go, O_CLOEXEC) == 0 && pipe2(failure, O_CLOEXEC) == 0)
		command->pid = fork();
	if (command->pid == 0) {
		close(go[1]);
		close(failure[0]);
		child(argv, signals, go[0], failure[1]);
	}
	if (command->pid < 0)
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, errno,
				      "cannot make a process for '%s'",
				      argv[0]);
	/*
	 * Close the child's ends of both pipes before the cleanup process is
	 * forked. The cleanup process must not inherit them, because a reader
	 * detects the end of a pipe only when all copies of the write end are
	 * closed.
	 */
	if (go[0] >= 0)
		close(go[0]);
	if (failure[1] >= 0)
		close(failure[1]);
	command->go_fd = go[1];
	command->error_fd = failure[0];
	return command->pid < 0 ? NULL : g_steal_pointer(&command);
}

void kmtd_command_free(KmtdCommand *command)
{
	if (!command)
		return;
	if (command->go_fd >= 0)
		close(command->go_fd);
	if (command->error_fd >= 0)
		close(command->error_fd);
	g_free(command->name);
	g_free(command);
}

pid_t kmtd_command_pid(const KmtdCommand *command)
{
	return command->pid;
}

/*
 * Wait for the result of exec(). Return FALSE if @wake_fd becomes readable
 * first, or if poll() fails.
 */
static gboolean wait_for_exec(KmtdCommand *command, int wake_fd)
{
	struct pollfd fds[] = {
		{.fd = command->error_fd, .events = POLLIN},
		{.fd = wake_fd, .events = POLLIN},
	};

	while (poll(fds, G_N_ELEMENTS(fds), -1) < 0)
		if (errno != EINTR)
			return FALSE;
	return fds[0].revents != 0;
}

/*
 * Start the command. Return the errno of the failure, or 0 if the command runs
 * or @wake_fd became readable first.
 */
static int start(KmtdCommand *command, int wake_fd)
{
	int errnum = 0;
	ssize_t n;

	do
		n = write(command->go_fd, "", 1);
	while (n < 0 && errno == EINTR);
	/* The process of the command was killed before its start. */
	if (n < 0)
		return errno;
	if (!wait_for_exec(command, wake_fd))
		return 0;
	do
		n = read(command->error_fd, &errnum, sizeof(errnum));
	while (n < 0 && errno == EINTR);
	return n == sizeof(errnum) ? errnum : 0;
}

gboolean kmtd_command_start(KmtdCommand *command, int wake_fd, GError **error)
{
	int errnum = start(command, wake_fd);

	command->started = errnum == 0;
	if (command->started)
		return TRUE;
	command->status = errnum == ENOENT || errnum == ENOTDIR
				  ? KMTD_COMMAND_NOT_FOUND
				  : KMTD_COMMAND_CANNOT_RUN;
	kmt_capture_set_errno(error, KMT_DAEMON_ERROR_COMMAND, errnum,
			      "cannot start '%s'", command->name);
	return FALSE;
}

gboolean kmtd_command_was_started(const KmtdCommand *command)
{
	return command->started;
}

gboolean kmtd_command_runs(const KmtdCommand *command)
{
	return command->started && !command->ended;
}

void kmtd_command_poll(KmtdCommand *command, gboolean wait)
{
	int status;
	pid_t pid;

	if (!kmtd_command_runs(command))
		return;
	do
		pid = waitpid(command->pid, &status, wait ? 0 : WNOHANG);
	while (pid < 0 && errno == EINTR);
	if (pid == 0)
		return;
	command->ended = TRUE;
	if (pid > 0)
		command->status = WIFEXITED(status) ? WEXITSTATUS(status)
						    : 128 + WTERMSIG(status);
}

void kmtd_command_signal(KmtdCommand *command, int number)
{
	if (kmtd_command_runs(command))
		kill(command->pid, number);
}

int kmtd_command_status(const KmtdCommand *command)
{
	return command->status;
}
