// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "kmemtraced/proc-tasks.h"

/* What kmtd_proc_tasks_read() was asked for. */
typedef struct {
	const char *name;
	KmtdProcTaskFunc seen;
	gpointer user;
} Request;

/* Return the number in @name, or 0 if @name is not a number. */
static guint32 parse_pid(const char *name)
{
	guint64 n;

	return g_ascii_string_to_unsigned(name, 10, 1, G_MAXINT32, &n, NULL)
		       ? (guint32)n
		       : 0;
}

static DIR *open_folder(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !folder)
		close(fd);
	return folder;
}

/* Read a file of a thread. Return FALSE if the thread has ended or its file
 * cannot be read. */
static gboolean read_file(int folder, const char *tid, const char *name,
			  char *text)
{
	g_autofree char *path = g_build_filename(tid, name, NULL);
	int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return FALSE;
	do
		n = read(fd, text, KMTD_PROC_FILE_MAX - 1);
	while (n < 0 && errno == EINTR);
	close(fd);
	if (n <= 0)
		return FALSE;
	if (text[n - 1] == '\n')
		n--;
	text[n] = '\0';
	return TRUE;
}

static void read_process(const Request *request, int proc, const char *pid)
{
	g_autofree char *path = g_build_filename(pid, "task", NULL);
	DIR *folder = open_folder(proc, path);
	const struct dirent *entry;

	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		guint32 tid = parse_pid(entry->d_name);
		char text[KMTD_PROC_FILE_MAX];

		if (tid && read_file(dirfd(folder), entry->d_name,
				     request->name, text))
			request->seen(request->user, parse_pid(pid), tid, text);
	}
	closedir(folder);
}

void kmtd_proc_tasks_read(const char *proc, const char *name,
			  KmtdProcTaskFunc seen, gpointer user)
{
	const Request request = {name, seen, user};
	DIR *folder = open_folder(AT_FDCWD, proc);
	const struct dirent *entry;

	if (!folder)
		return;
	while ((entry = readdir(folder)))
		if (parse_pid(entry->d_name))
			read_process(&request, dirfd(folder), entry->d_name);
	closedir(folder);
}
