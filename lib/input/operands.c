// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/capture/names.h"
#include "lib/input/archive.h"
#include "lib/input/capture-private.h"
#include "lib/input/record-stream.h"

/* Its directory is not the current one. */
#define STDIN_PATH "/dev/stdin"

static gboolean is_packed_end(const char *end)
{
	return strcmp(end, ".gz") == 0 || strcmp(end, ".zst") == 0;
}

gboolean kmt_parse_cpu_name(const char *name, guint *cpu)
{
	return kmt_capture_parse_cpu(name, cpu, NULL) && *cpu < G_MAXUINT16;
}

/* ---- one file ---- */

static gboolean fail_open(const char *path, GError **error)
{
	int errnum = errno;

	g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_OPEN,
		    "cannot open %s%s: %s%s",
		    g_file_test(path, G_FILE_TEST_IS_DIR) ? "the directory "
							  : "",
		    path, g_strerror(errnum),
		    errnum == EACCES ? "; use sudo, or sudo chown to make it "
				       "yours"
				     : "");
	return FALSE;
}

static gboolean fail_read(const char *path, const char *reason, GError **error)
{
	g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_READ,
		    "cannot read %s: %s", path, reason);
	return FALSE;
}

static gboolean map_fd(KmtCpuFile *file, int fd, guint64 size, GError **error)
{
	void *map;

	file->size = size;
	if (!size)
		return TRUE;
	map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_READ,
			    "cannot map %s: %s", file->path, g_strerror(errno));
		return FALSE;
	}
	file->map = file->base = map;
	file->base_size = size;
	madvise(map, size, MADV_SEQUENTIAL);
	/* Where the kernel can, it comes into memory in large pages, which take
	 * less time to map.  Elsewhere that is an error. */
	madvise(map, size, MADV_HUGEPAGE);
	return TRUE;
}

/* Takes fd.  named: it is what an operand names, and may be a pipe. */
static gboolean take_fd(KmtCpuFile *file, int fd, gboolean named,
			GError **error)
{
	struct stat st;
	gboolean ok;

	if (fstat(fd, &st) < 0) {
		fail_read(file->path, g_strerror(errno), error);
		close(fd);
		return FALSE;
	}
	file->device = st.st_dev;
	file->inode = st.st_ino;
	/* Standard input may have been read to somewhere already. */
	if (S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) == 0) {
		ok = map_fd(file, fd, (guint64)st.st_size, error);
		close(fd);
		return ok;
	}
	if (named && (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) ||
		      S_ISSOCK(st.st_mode))) {
		file->stream = kmt_stream_new(kmt_bytes_new_fd(fd));
		return TRUE;
	}
	close(fd);
	if (S_ISFIFO(st.st_mode))
		return fail_read(file->path,
				 "not a regular file; name it on the command "
				 "line to read a pipe",
				 error);
	return fail_read(file->path,
			 S_ISDIR(st.st_mode) ? "it is a directory"
					     : "neither a regular file nor a "
					       "pipe; copy the records to a "
					       "file first",
			 error);
}

static gboolean open_file(KmtCpuFile *file, gboolean named, GError **error)
{
	struct stat st;
	int flags = O_RDONLY | O_CLOEXEC, fd;

	/* Only a pipe that was named is waited for. */
	if (!named || stat(file->path, &st) < 0 || !S_ISFIFO(st.st_mode))
		flags |= O_NONBLOCK;
	fd = open(file->path, flags);
	return fd < 0 ? fail_open(file->path, error)
		      : take_fd(file, fd, named, error);
}

/* What can be told from the name: cpu<n>.out is records and nothing else. */
static gboolean is_plain(const KmtCpuFile *file)
{
	return g_str_has_suffix(file->path, ".out");
}

static const guint8 *head_of(KmtCpuFile *file, gsize *n)
{
	*n = KMT_ARCHIVE_HEAD;
	if (file->stream)
		return kmt_bytes_peek(file->stream->bytes, n);
	*n = MIN(*n, file->size);
	return file->map;
}

static gboolean unpack(KmtCpuFile *file, GError **error)
{
	KmtBytes *bytes;

	if (file->stream)
		bytes = g_steal_pointer(&file->stream->bytes);
	else
		bytes = kmt_bytes_new_memory(file->map, file->size);
	g_clear_pointer(&file->stream, kmt_stream_free);
	bytes = kmt_unpack(bytes, file->path, error);
	if (!bytes)
		return FALSE;
	file->stream = kmt_stream_new(bytes);
	file->map = NULL;
	file->size = 0;
	return TRUE;
}

gboolean kmt_unpack_file(KmtCpuFile *file, gboolean *is_tar, GError **error)
{
	const char *end = strrchr(file->path, '.');
	const guint8 *head;
	gsize n;

	*is_tar = FALSE;
	if (is_plain(file))
		return TRUE;
	head = head_of(file, &n);
	if (kmt_is_packed(head, n)) {
		if (!unpack(file, error))
			return FALSE;
		head = head_of(file, &n);
	} else if (end && is_packed_end(end)) {
		/* Most often it is empty, or its beginning is not there. */
		kmt_cpu_file_set_defect(file, "it is not compressed as its "
					      "name says");
		g_clear_pointer(&file->stream, kmt_stream_free);
		file->map = NULL;
		file->size = 0;
		return TRUE;
	}
	*is_tar = kmt_is_tar(head, n);
	return TRUE;
}

static KmtCpuFile *add_file(KmtCapture *capture, const char *path, guint cpu,
			    GError **error)
{
	if (capture->files->len + 1 >= KMT_MAX_FILES) {
		g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_FORMAT,
			    "%s: more than %d files", path, KMT_MAX_FILES - 1);
		return NULL;
	}
	return kmt_capture_add_file(capture, path, cpu);
}

/* ---- directories ---- */

static gboolean has_file(const char *directory, const char *subdirectory,
			 const char *name)
{
	g_autofree char *path =
		g_build_filename(directory, subdirectory, name, NULL);

	return g_file_test(path, G_FILE_TEST_IS_REGULAR);
}

/*
 * The files of the directory are of two captures, or a part of one.  See
 * lib/capture/replace.c for the steps.
 */
static gboolean refuse_replacement(const char *path, GError **error)
{
	gboolean whole =
		has_file(path, KMT_CAPTURE_COMPLETE, KMT_CAPTURE_META) &&
		(has_file(path, "", KMT_CAPTURE_META) ||
		 has_file(path, KMT_CAPTURE_COMPLETE, KMT_CAPTURE_OLD_META));

	g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_FORMAT,
		    "the capture in %s is being replaced, or its replacement "
		    "was interrupted: the next kmemtraced or kmemtrace-import "
		    "that writes to the directory completes it%s%s%s",
		    path, whole ? "; the new capture is whole in " : "",
		    whole ? path : "", whole ? "/" KMT_CAPTURE_COMPLETE : "");
	return FALSE;
}

static gboolean refuse_empty(const char *path, const char *new_name,
			     GError **error)
{
	g_set_error(
		error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_NO_FILES,
		"no cpu<n>.out in %s: not the directory of a capture%s%s%s%s",
		path,
		new_name ? "; a recording that did not complete is "
			   "in "
			 : "",
		new_name ? path : "", new_name ? "/" : "",
		new_name ? new_name : "");
	return FALSE;
}

static gboolean add_directory(KmtCapture *capture, const char *path,
			      GError **error)
{
	g_autofree char *new_name = NULL;
	g_autoptr(GDir) dir = NULL;
	DIR *check;
	const char *name;
	guint cpu;

	/* GLib's message has the path, too. */
	check = opendir(path);
	if (!check)
		return fail_open(path, error);
	closedir(check);
	dir = g_dir_open(path, 0, NULL);
	if (!dir)
		return fail_open(path, error);
	capture->directory = g_strdup(path);
	while ((name = g_dir_read_name(dir))) {
		g_autofree char *full = NULL;
		KmtCpuFile *file;
		gboolean is_tar;

		if (g_str_equal(name, KMT_CAPTURE_COMPLETE))
			return refuse_replacement(path, error);
		if (kmt_capture_is_new(name) &&
		    has_file(path, name, KMT_CAPTURE_META)) {
			g_free(new_name);
			new_name = g_strdup(name);
		}
		if (!kmt_parse_cpu_name(name, &cpu))
			continue;
		full = strcmp(path, ".") == 0
			       ? g_strdup(name)
			       : g_build_filename(path, name, NULL);
		file = add_file(capture, full, cpu, error);
		if (!file || !open_file(file, FALSE, error) ||
		    !kmt_unpack_file(file, &is_tar, error))
			return FALSE;
	}
	if (capture->files->len == 0)
		return refuse_empty(path, new_name, error);
	if (new_name)
		kmt_capture_note(capture,
				 "%s/%s has a newer recording, which is in "
				 "progress or did not complete; these figures "
				 "are of the capture before it",
				 path, new_name);
	return TRUE;
}

/* ---- operands ---- */

/* The CPUs that are taken by the operands' names. */
static GHashTable *named_cpus(const char *const *operands)
{
	GHashTable *cpus = g_hash_table_new(NULL, NULL);

	for (; *operands; operands++) {
		g_autofree char *name = g_path_get_basename(*operands);
		guint cpu;

		if (kmt_parse_cpu_name(name, &cpu))
			g_hash_table_add(cpus, GUINT_TO_POINTER(cpu));
	}
	return cpus;
}

static KmtCpuFile *open_operand(KmtCapture *capture, const char *operand,
				guint cpu, gboolean *is_tar, GError **error)
{
	gboolean is_stdin = strcmp(operand, "-") == 0, ok;
	KmtCpuFile *file =
		add_file(capture, is_stdin ? STDIN_PATH : operand, cpu, error);
	int fd;

	if (!file)
		return NULL;
	if (is_stdin) {
		fd = dup(STDIN_FILENO);
		ok = fd < 0 ? fail_open("standard input", error)
			    : take_fd(file, fd, TRUE, error);
	} else {
		ok = open_file(file, TRUE, error);
	}
	return ok && kmt_unpack_file(file, is_tar, error) ? file : NULL;
}

static gboolean add_operands(KmtCapture *capture, const char *const *operands,
			     GError **error)
{
	g_autoptr(GHashTable) named = named_cpus(operands);
	const char *const *o;
	guint free_cpu = 0;

	for (o = operands; *o; o++) {
		g_autofree char *name = g_path_get_basename(*o);
		KmtCpuFile *file;
		gboolean is_tar;
		guint cpu;

		if (g_file_test(*o, G_FILE_TEST_IS_DIR)) {
			g_set_error(error, KMT_TRACE_ERROR,
				    KMT_TRACE_ERROR_FORMAT,
				    "%s is a directory: give one directory, or "
				    "cpu files",
				    *o);
			return FALSE;
		}
		if (!kmt_parse_cpu_name(name, &cpu)) {
			while (g_hash_table_contains(
				named, GUINT_TO_POINTER(free_cpu)))
				free_cpu++;
			cpu = free_cpu++;
		}
		file = open_operand(capture, *o, cpu, &is_tar, error);
		if (!file)
			return FALSE;
		if (is_tar && !operands[1])
			return kmt_open_tar(capture, file, error);
		if (is_tar) {
			g_set_error(
				error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_FORMAT,
				"%s is a tar: give one tar, or cpu files", *o);
			return FALSE;
		}
	}
	return TRUE;
}

gboolean kmt_open_operands(KmtCapture *capture, const char *const *operands,
			   GError **error)
{
	if (!operands[1] && g_file_test(operands[0], G_FILE_TEST_IS_DIR))
		return add_directory(capture, operands[0], error);
	return add_operands(capture, operands, error);
}
