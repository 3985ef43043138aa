// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/recovery/kernel-mount.h"
#include "lib/recovery/recovery.h"

#define DIRECTORY "/run/kmemtrace"
/* Environment variable for tests: replaces DIRECTORY. */
#define VARIABLE "KMEMTRACE_RUNDIR"
#define GROUP	 "note"

/* Maximum number of bytes read of a note or of a file of the kernel. */
#define NOTE_BYTES_MAX 65536

/*
 * Time to wait for a killed process to close the files of its tracefs instance.
 */
#define REMOVE_WAIT_MS 1500
#define REMOVE_POLL_MS 20

struct kmt_recovery {
	int dir_fd;
	int fd; /* open note; holds the lock, which children inherit */
	char *name;
};

/* ---- the directory ---- */

/*
 * Open the directory of the notes. Returns -1 if it cannot be opened, belongs
 * to another user, or can be written by its group or by others.
 */
static int open_directory(gboolean create)
{
	const char *path = secure_getenv(VARIABLE);
	struct stat st;
	int fd;

	if (!path)
		path = DIRECTORY;
	if (create && mkdir(path, 0700) < 0 && errno != EEXIST)
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	    !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return fd;
	close(fd);
	return -1;
}

/* ---- writing ---- */

static gboolean write_all(int fd, const char *text, gsize n)
{
	while (n > 0) {
		ssize_t done = write(fd, text, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return FALSE;
		text += done;
		n -= (gsize)done;
	}
	return TRUE;
}

/*
 * Return the start time of this process in clock ticks, or "0" if it is
 * unknown. The caller frees the string.
 */
static char *start_time(void)
{
	g_autofree char *stat = NULL;
	const char *rest;
	g_auto(GStrv) fields = NULL;

	if (!g_file_get_contents("/proc/self/stat", &stat, NULL, NULL))
		return g_strdup("0");
	/* The name of the program may contain parentheses and ends with the
	 * last one. */
	rest = strrchr(stat, ')');
	fields = g_strsplit(rest ? rest : "", " ", -1);
	return g_strdup(g_strv_length(fields) > 20 ? fields[20] : "0");
}

static char *make_text(const KmtRecoveryState *state, const char *start)
{
	g_autoptr(GKeyFile) note = g_key_file_new();

	g_key_file_set_int64(note, GROUP, "pid", getpid());
	g_key_file_set_string(note, GROUP, "start", start);
	if (state->relay_path) {
		g_key_file_set_string(note, GROUP, "relay", state->relay_path);
		g_key_file_set_boolean(note, GROUP, "enabled",
				       state->was_enabled);
	}
	if (state->filter)
		g_key_file_set_string(note, GROUP, "filter", state->filter);
	if (state->instance)
		g_key_file_set_string(note, GROUP, "instance", state->instance);
	return g_key_file_to_data(note, NULL, NULL);
}

KmtRecovery *kmt_recovery_begin(const KmtRecoveryState *state)
{
	g_autoptr(KmtRecovery) recovery = g_new0(KmtRecovery, 1);
	g_autofree char *start = start_time();
	g_autofree char *text = make_text(state, start);
	g_autofree char *hidden = NULL;

	recovery->fd = -1;
	recovery->dir_fd = open_directory(TRUE);
	if (recovery->dir_fd < 0)
		return NULL;
	recovery->name = g_strdup_printf("%ld.%s", (long)getpid(), start);
	/* Create the note under a hidden name, and rename it when it is locked
	 * and complete. */
	hidden = g_strdup_printf(".%s", recovery->name);
	recovery->fd = openat(recovery->dir_fd, hidden,
			      O_RDWR | O_CREAT | O_EXCL | O_APPEND |
				      O_NOFOLLOW | O_CLOEXEC,
			      0600);
	if (recovery->fd < 0)
		return NULL;
	if (flock(recovery->fd, LOCK_EX | LOCK_NB) == 0 &&
	    write_all(recovery->fd, text, strlen(text)) &&
	    renameat(recovery->dir_fd, hidden, recovery->dir_fd,
		     recovery->name) == 0)
		return g_steal_pointer(&recovery);
	unlinkat(recovery->dir_fd, hidden, 0);
	return NULL;
}

void kmt_recovery_set_session(KmtRecovery *recovery, guint64 session)
{
	char line[64];

	if (!recovery || session == 0)
		return;
	g_snprintf(line, sizeof(line), "session=%" G_GUINT64_FORMAT "\n",
		   session);
	(void)write_all(recovery->fd, line, strlen(line));
}

void kmt_recovery_remove(KmtRecovery *recovery)
{
	if (recovery)
		unlinkat(recovery->dir_fd, recovery->name, 0);
}

void kmt_recovery_free(KmtRecovery *recovery)
{
	if (!recovery)
		return;
	if (recovery->fd >= 0)
		close(recovery->fd);
	if (recovery->dir_fd >= 0)
		close(recovery->dir_fd);
	g_free(recovery->name);
	g_free(recovery);
}

/* ---- restoring ---- */

typedef enum {
	DONE,	/* the note is no longer needed */
	IN_USE, /* another recording uses the kernel's files or the note, or the
		 * file is not a note of this user */
	FAILED,
} UndoResult;

static void warn(const char *program, const char *format, ...)
	G_GNUC_PRINTF(2, 3);

static void warn(const char *program, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: warning: ", program);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

/*
 * Return the text of a small file without trailing white space, or NULL. The
 * caller frees it.
 */
static char *read_at(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char block[NOTE_BYTES_MAX];
	ssize_t n = -1;

	if (fd >= 0) {
		n = read(fd, block, sizeof(block));
		close(fd);
	}
	return n < 0 ? NULL : g_strchomp(g_strndup(block, (gsize)n));
}

static gboolean write_at(int dir_fd, const char *name, const char *text)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_TRUNC | O_CLOEXEC);
	gboolean ok = fd >= 0 && write_all(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return ok;
}

/*
 * Write text to the file, unless the file already contains this text or cannot
 * be read.
 */
static UndoResult restore_file(const char *program, int dir_fd,
			       const char *path, const char *name,
			       const char *text)
{
	g_autofree char *now = read_at(dir_fd, name);

	if (!now || g_str_equal(now, text))
		return DONE;
	if (write_at(dir_fd, name, text)) {
		warn(program,
		     "set %s/%s back to '%s', which a killed kmemtraced had "
		     "changed",
		     path, name, text);
		return DONE;
	}
	warn(program,
	     "cannot set %s/%s back to '%s', which a killed kmemtraced had "
	     "changed: %s; write it there as root",
	     path, name, text, g_strerror(errno));
	return FAILED;
}

/*
 * Return whether the kernel has another session than the note, because another
 * program enabled tracing again. FALSE if one of the sessions is unknown.
 */
static gboolean is_other_session(int dir_fd, GKeyFile *note)
{
	guint64 session = g_key_file_get_uint64(note, GROUP, "session", NULL);
	g_autofree char *info = read_at(dir_fd, "info");
	const char *line = info ? strstr(info, "# session: ") : NULL;

	return session && line &&
	       g_ascii_strtoull(line + strlen("# session: "), NULL, 10) !=
		       session;
}

static UndoResult restore_relay(const char *program, GKeyFile *note,
				const char *path)
{
	g_autofree char *filter =
		g_key_file_get_string(note, GROUP, "filter", NULL);
	int dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int lock_fd = dir_fd < 0
			      ? -1
			      : openat(dir_fd, "enabled", O_RDONLY | O_CLOEXEC);
	UndoResult result = DONE;

	if (lock_fd >= 0 && flock(lock_fd, LOCK_EX | LOCK_NB) < 0)
		result = IN_USE;
	else if (lock_fd >= 0 && !is_other_session(dir_fd, note)) {
		if (!g_key_file_get_boolean(note, GROUP, "enabled", NULL))
			result = restore_file(program, dir_fd, path, "enabled",
					      "0");
		if (filter && restore_file(program, dir_fd, path, "filter",
					   filter) == FAILED)
			result = FAILED;
	}
	if (lock_fd >= 0)
		close(lock_fd);
	if (dir_fd >= 0)
		close(dir_fd);
	return result;
}

/*
 * Disable and remove a tracefs instance. Returns 0, or an errno value if the
 * instance was not removed.
 */
static int remove_instance(int parent_fd, const char *name)
{
	g_autofree char *tracing_on =
		g_build_filename(name, "tracing_on", NULL);

	(void)write_at(parent_fd, tracing_on, "0");
	for (guint waited_ms = 0;; waited_ms += REMOVE_POLL_MS) {
		if (unlinkat(parent_fd, name, AT_REMOVEDIR) == 0)
			return 0;
		if (errno != EBUSY || waited_ms >= REMOVE_WAIT_MS)
			return errno;
		g_usleep(REMOVE_POLL_MS * 1000);
	}
}

static UndoResult restore_ftrace(const char *program, const char *path)
{
	g_autofree char *parent = g_path_get_dirname(path);
	g_autofree char *name = g_path_get_basename(path);
	int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	UndoResult result = DONE;
	int errnum;

	if (fd < 0 || faccessat(fd, name, F_OK, 0) < 0) {
		if (fd >= 0)
			close(fd);
		return DONE;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return IN_USE;
	}
	errnum = remove_instance(fd, name);
	close(fd);
	if (errnum == 0) {
		warn(program,
		     "removed the tracefs instance of a killed kmemtraced");
	} else if (errnum != ENOENT) {
		warn(program,
		     "cannot remove %s, which an earlier kmemtraced left: "
		     "%s; end the processes that use its files ('fuser -v' "
		     "lists them), and remove it with rmdir",
		     path, g_strerror(errnum));
		result = FAILED;
	}
	return result;
}

static UndoResult restore(const char *program, GKeyFile *note)
{
	g_autofree char *relay =
		g_key_file_get_string(note, GROUP, "relay", NULL);
	g_autofree char *instance =
		g_key_file_get_string(note, GROUP, "instance", NULL);

	if (relay) {
		g_autofree char *path =
			kmt_kernel_mount_translate(KMT_DEBUGFS, relay);

		return restore_relay(program, note, path);
	}
	if (instance) {
		g_autofree char *path =
			kmt_kernel_mount_translate(KMT_TRACEFS, instance);

		return restore_ftrace(program, path);
	}
	return DONE;
}

/*
 * Lock a note. Returns FALSE if the note is in use, belongs to another user,
 * was removed, or is not a regular file with a single name.
 */
static gboolean lock_note(int fd)
{
	struct stat st;

	/* A link count of 0 means that another program removed the note before
	 * it released the lock. */
	return flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 &&
	       S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       st.st_nlink == 1;
}

static UndoResult restore_note(const char *program, int dir_fd,
			       const char *name)
{
	int fd = openat(dir_fd, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	g_autoptr(GKeyFile) note = g_key_file_new();
	g_autofree char *text = NULL;
	UndoResult result = IN_USE;

	if (fd < 0)
		return IN_USE;
	if (lock_note(fd)) {
		text = read_at(dir_fd, name);
		/* Do not remove a file that is not a note. */
		if (text &&
		    g_key_file_load_from_data(note, text, strlen(text),
					      G_KEY_FILE_NONE, NULL) &&
		    g_key_file_has_key(note, GROUP, "pid", NULL))
			result = restore(program, note);
		if (result == DONE)
			unlinkat(dir_fd, name, 0);
	}
	close(fd);
	return result;
}

gboolean kmt_recovery_run(const char *program)
{
	int fd = open_directory(FALSE);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	gboolean ok = TRUE;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return TRUE;
	}
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.' &&
		    restore_note(program, fd, entry->d_name) == FAILED)
			ok = FALSE;
	closedir(dir);
	return ok;
}
