// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/input/archive.h"
#include "lib/input/capture-private.h"
#include "lib/input/frames.h"
#include "lib/input/record-stream.h"

/* Return whether a mapped file may keep a descriptor for KmtInputReader. Each
 * CPU of a large machine has a file, so most descriptors remain for other uses.
 */
static gboolean may_keep(int fd)
{
	struct rlimit limit;

	return fd > 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	       (rlim_t)fd < MIN(limit.rlim_cur / 4, 256);
}

static gboolean is_compressed_name(const char *path)
{
	return g_str_has_suffix(path, ".gz") || g_str_has_suffix(path, ".zst");
}

void kmt_input_note_empty_files(KmtInputCapture *capture)
{
	guint i;

	/* A recording that was killed leaves an empty file if it had not
	 * written the first frame of the CPU yet. */
	if (capture->meta && !capture->complete)
		return;
	for (i = 0; i < capture->files->len; i++) {
		KmtInputCpuFile *file = capture->files->pdata[i];

		if (!file->size && !file->frames && !file->stream &&
		    is_compressed_name(file->path))
			kmt_input_cpu_file_set_defect(file,
						      "the file is empty");
	}
}

/* ---- one file ---- */

gboolean kmt_input_fail_open(const char *path, GError **error)
{
	int errnum = errno;

	g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_OPEN,
		    "cannot open %s%s: %s%s",
		    g_file_test(path, G_FILE_TEST_IS_DIR) ? "the directory "
							  : "",
		    path, g_strerror(errnum),
		    errnum == EACCES ? "; use sudo, or sudo chown to make it "
				       "yours"
				     : "");
	return FALSE;
}

char *kmt_input_bad_type_reason(const char *path)
{
	struct stat status;

	if (lstat(path, &status) < 0)
		return NULL;
	if (stat(path, &status) < 0)
		return g_strdup_printf("the link cannot be followed: %s",
				       g_strerror(errno));
	return S_ISREG(status.st_mode) ? NULL : g_strdup("not a regular file");
}

static gboolean fail_read(const char *path, const char *reason, GError **error)
{
	g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_READ,
		    "cannot read %s: %s", path, reason);
	return FALSE;
}

static gboolean map_fd(KmtInputCpuFile *file, int fd, guint64 size,
		       GError **error)
{
	void *map;

	file->size = size;
	if (!size)
		return TRUE;
	map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_READ,
			    "cannot map %s: %s", file->path, g_strerror(errno));
		return FALSE;
	}
	file->map = file->mapping = map;
	file->mapping_size = size;
	madvise(map, size, MADV_SEQUENTIAL);
	/* Request large pages, because mapping them takes less time. Ignore the
	 * error of a kernel without support. */
	madvise(map, size, MADV_HUGEPAGE);
	return TRUE;
}

gboolean kmt_input_cpu_file_adopt_fd(KmtInputCpuFile *file, int fd,
				     gboolean named, GError **error)
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
	/* Do not map a descriptor whose offset is not 0. The shell may have
	 * read a part of standard input, and a mapping would begin before the
	 * offset. */
	if (S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) == 0) {
		ok = map_fd(file, fd, (guint64)st.st_size, error);
		if (ok && may_keep(fd))
			file->fd = fd;
		else
			close(fd);
		return ok;
	}
	if (named && (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) ||
		      S_ISSOCK(st.st_mode))) {
		file->stream = kmt_input_record_stream_new(
			kmt_input_byte_stream_new_fd(fd));
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

gboolean kmt_input_cpu_file_open(KmtInputCpuFile *file, gboolean named,
				 GError **error)
{
	struct stat st;
	int flags = O_RDONLY | O_CLOEXEC, fd;

	/* open() of a pipe blocks until a writer opens the pipe. Block only if
	 * an operand names the pipe. */
	if (!named || stat(file->path, &st) < 0 || !S_ISFIFO(st.st_mode))
		flags |= O_NONBLOCK;
	fd = open(file->path, flags);
	return fd < 0 ? kmt_input_fail_open(file->path, error)
		      : kmt_input_cpu_file_adopt_fd(file, fd, named, error);
}

/*
 * Return whether the file name ends with .out. By definition such a file
 * contains only records and is never compressed.
 */
static gboolean is_plain_cpu_file(const KmtInputCpuFile *file)
{
	return g_str_has_suffix(file->path, ".out");
}

/* Record the parts of the file that contain no frame. */
static void note_gaps(KmtInputCpuFile *file)
{
	const KmtInputFrameIndex *index = file->frames->index;
	g_autofree char *reason = NULL;

	if (!index->damaged_bytes)
		return;
	reason =
		g_strdup_printf("no complete frame is in the %" G_GUINT64_FORMAT
				" bytes from byte %" G_GUINT64_FORMAT " on",
				index->damaged_bytes, index->damaged_at);
	kmt_input_cpu_file_set_defect(file, reason);
}

static const guint8 *head_of(KmtInputCpuFile *file, gsize *n)
{
	*n = KMT_INPUT_SIGNATURE_BYTES;
	if (file->stream)
		return kmt_input_byte_stream_peek(file->stream->bytes, n);
	*n = MIN(*n, file->size);
	return file->map;
}

static gboolean unpack(KmtInputCpuFile *file, GError **error)
{
	KmtInputByteStream *bytes;

	if (file->stream)
		bytes = g_steal_pointer(&file->stream->bytes);
	else
		bytes = kmt_input_byte_stream_new_memory(file->map, file->size);
	g_clear_pointer(&file->stream, kmt_input_record_stream_free);
	bytes = kmt_input_decompress(bytes, file->path, error);
	if (!bytes)
		return FALSE;
	file->stream = kmt_input_record_stream_new(bytes);
	file->map = NULL;
	file->size = 0;
	return TRUE;
}

gboolean kmt_input_decompress_file(KmtInputCpuFile *file, gboolean *is_tar,
				   GError **error)
{
	const guint8 *head;
	gsize n;

	*is_tar = FALSE;
	if (is_plain_cpu_file(file))
		return TRUE;
	head = head_of(file, &n);
	if (kmt_input_is_compressed(head, n)) {
		if (file->map && kmt_input_frames_open(file)) {
			note_gaps(file);
			return TRUE;
		}
		if (!unpack(file, error))
			return FALSE;
		head = head_of(file, &n);
	} else if (is_compressed_name(file->path)) {
		/* The file has the suffix of a compressed file, but not the
		 * signature, because its beginning is missing. See
		 * kmt_input_note_empty_files() for an empty file. */
		if (n)
			kmt_input_cpu_file_set_defect(
				file, "the file is not compressed as its "
				      "name suggests");
		g_clear_pointer(&file->stream, kmt_input_record_stream_free);
		file->map = NULL;
		file->size = 0;
		return TRUE;
	}
	*is_tar = kmt_input_is_tar(head, n);
	return TRUE;
}

KmtInputCpuFile *kmt_input_add_file_checked(KmtInputCapture *capture,
					    const char *path, guint cpu,
					    GError **error)
{
	if (capture->files->len + 1 >= KMT_INPUT_MAX_FILES) {
		g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_FORMAT,
			    "%s: more than %d files", path,
			    KMT_INPUT_MAX_FILES - 1);
		return NULL;
	}
	return kmt_input_capture_add_file(capture, path, cpu);
}
