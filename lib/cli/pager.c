// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cli/color.h"
#include "lib/cli/pager.h"

#define DEFAULT_PAGER "less"
/* Characters of a command that needs a shell. */
#define SHELL_CHARACTERS "|&;<>()$`\\\"'*?[#~=%\n"

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static struct {
	volatile pid_t pid; /* 0: there is no pager */
	int stdout_fd;	    /* the terminal */
	int stderr_fd;	    /* the terminal; -1: stderr was not redirected */
	struct sigaction old_actions[G_N_ELEMENTS(ending_signals)];
} pager;

void kmt_pager_abandon(void)
{
	pid_t pid = pager.pid;

	if (!pid)
		return;
	/* The pager reads the end of its input when no descriptor of the pipe
	 * is left. */
	dup2(pager.stdout_fd, STDOUT_FILENO);
	if (pager.stderr_fd >= 0)
		dup2(pager.stderr_fd, STDERR_FILENO);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	pager.pid = 0;
}

/* Wait for the pager, which restores the terminal, and end the program. */
static void on_ending_signal(int number)
{
	kmt_pager_abandon();
	signal(number, SIG_DFL);
	raise(number);
}

static void handle_signals(void)
{
	struct sigaction action = {.sa_handler = on_ending_signal};

	for (gsize i = 0; i < G_N_ELEMENTS(ending_signals); i++) {
		sigaction(ending_signals[i], NULL, &pager.old_actions[i]);
		if (pager.old_actions[i].sa_handler != SIG_IGN)
			sigaction(ending_signals[i], &action, NULL);
	}
}

static void restore_signals(void)
{
	for (gsize i = 0; i < G_N_ELEMENTS(ending_signals); i++)
		sigaction(ending_signals[i], &pager.old_actions[i], NULL);
}

/*
 * Return the command of the pager, or NULL if none is wanted. Set *variable to
 * the environment variable that has the command, or NULL. The string is static.
 */
static const char *find_command(const char **variable)
{
	static const char *const variables[] = {"KMEMTRACE_PAGER", "PAGER"};
	const char *command = DEFAULT_PAGER;

	*variable = NULL;
	for (gsize i = 0; i < G_N_ELEMENTS(variables) && !*variable; i++) {
		if (!g_getenv(variables[i]))
			continue;
		*variable = variables[i];
		command = g_getenv(variables[i]);
	}
	command += strspn(command, " \t");
	return *command && !g_str_equal(command, "cat") ? command : NULL;
}

/* Return whether @word sets a variable in a command, such as "LESS=-R". */
static gboolean is_assignment(const char *word)
{
	gsize n = strspn(word, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_");

	return n > 0 && word[n] == '=';
}

/*
 * Return whether the program of a command exists. If that cannot be decided
 * without a shell, return TRUE.
 */
static gboolean is_installed(const char *command)
{
	g_auto(GStrv) words = NULL;
	g_autofree char *path = NULL;
	char **word;

	if (!g_shell_parse_argv(command, NULL, &words, NULL))
		return TRUE;
	for (word = words; *word && is_assignment(*word); word++)
		;
	if (!*word || strpbrk(*word, "$`(;|&<>"))
		return TRUE;
	path = g_find_program_in_path(*word);
	return path != NULL;
}

/* Return the environment of the pager. The caller frees it. */
static GStrv pager_environment(void)
{
	GStrv environment = g_get_environ();

	/* Quit if the text fits on the screen, pass colours through, and leave
	 * the text on the terminal. */
	environment = g_environ_setenv(environment, "LESS", "FRX", FALSE);
	return g_environ_setenv(environment, "LV", "-c", FALSE);
}

/*
 * Start the pager with standard input from @fd and the signal mask @mask.
 * Return its process number, or -1 on error.
 */
static pid_t start(const char *command, int fd, const sigset_t *mask)
{
	g_auto(GStrv) environment = pager_environment();
	g_auto(GStrv) words = NULL;
	const char *const shell[] = {"/bin/sh", "-c", command, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t defaults;
	pid_t pid = -1;
	int error;

	if (!strpbrk(command, SHELL_CHARACTERS) &&
	    !g_shell_parse_argv(command, NULL, &words, NULL))
		return -1;
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setsigmask(&attributes, mask);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF |
						      POSIX_SPAWN_SETSIGMASK);
	error = words ? posix_spawnp(&pid, words[0], &actions, &attributes,
				     words, environment)
		      : posix_spawn(&pid, shell[0], &actions, &attributes,
				    (char *const *)shell, environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return error ? -1 : pid;
}

static void warn_of_missing(const char *program, const char *variable,
			    const char *command)
{
	g_autofree char *text = g_strdup_printf(
		"cannot run the pager '%s': correct the variable %s, or use "
		"--no-pager",
		command, variable);

	kmt_color_warn(program, text);
}

/* Redirect the output of this process to the pipe of the pager. */
static void redirect(pid_t pid, int fd)
{
	pager.stdout_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	pager.stderr_fd = isatty(STDERR_FILENO)
				  ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
				  : -1;
	pager.pid = pid;
	handle_signals();
	dup2(fd, STDOUT_FILENO);
	if (pager.stderr_fd >= 0)
		dup2(fd, STDERR_FILENO);
}

void kmt_pager_begin(const char *program)
{
	const char *variable;
	const char *command = find_command(&variable);
	sigset_t all, mask;
	int fds[2];
	pid_t pid = -1;

	if (!command || !kmt_color_is_capable(STDOUT_FILENO) ||
	    pipe2(fds, O_CLOEXEC) < 0)
		return;
	fflush(stdout);
	/* A signal that arrives before the handlers are set must wait, because
	 * the pager may run already. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	if (is_installed(command))
		pid = start(command, fds[0], &mask);
	close(fds[0]);
	if (pid > 0)
		redirect(pid, fds[1]);
	close(fds[1]);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (pid > 0) {
		/* exit() after an error must wait, too. */
		atexit(kmt_pager_end);
	} else if (variable) {
		warn_of_missing(program, variable, command);
	}
}

void kmt_pager_end(void)
{
	if (!pager.pid)
		return;
	fflush(stdout);
	clearerr(stdout);
	kmt_pager_abandon();
	restore_signals();
}
