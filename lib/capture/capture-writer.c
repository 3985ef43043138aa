// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/capture/error.h"
#include "lib/capture/capture-writer.h"
#include "lib/capture/owner.h"
#include "lib/capture/names.h"
#include "lib/capture/sync.h"
#include "lib/capture/zstd-cpu-file.h"

#define META	      KMT_CAPTURE_META
#define META_RESERVED META KMT_CAPTURE_TEMPORARY

/*
 * Disk space to reserve for kmemtrace.meta: for the group [capture], and for
 * each CPU.
 */
#define META_CAPTURE_BYTES 4096
#define META_CPU_BYTES	   256

/*
 * Number of chunks to gather before a write if the sub-buffers are small. Each
 * O_DIRECT write adds events to the trace, so smaller writes would add more
 * events per record.
 */
#define BATCH_CHUNKS ((gsize)16)

struct kmt_capture_writer {
	KmtCaptureDirectory *directory;
	int meta_fd; /* descriptor of META_RESERVED, or -1 */
	KmtZstdSettings zstd;
	GPtrArray *made; /* char *: names of files that this process created */
};

gboolean kmt_capture_writer_is_cpu_file(const char *name)
{
	return kmt_capture_file(name) == KMT_CAPTURE_FILE_CPU;
}

KmtCaptureWriter *
kmt_capture_writer_open(const char *path,
			const KmtCaptureDirectoryOptions *options,
			GError **error)
{
	KmtCaptureDirectory *directory =
		kmt_capture_directory_open(path, options, error);
	KmtCaptureWriter *output;

	if (!directory)
		return NULL;
	output = g_new0(KmtCaptureWriter, 1);
	output->directory = directory;
	output->meta_fd = -1;
	output->made = g_ptr_array_new_with_free_func(g_free);
	return output;
}

static void drop_reservation(KmtCaptureWriter *output)
{
	if (output->meta_fd < 0)
		return;
	close(output->meta_fd);
	output->meta_fd = -1;
	unlinkat(kmt_capture_writer_fd(output), META_RESERVED, 0);
}

void kmt_capture_writer_close(KmtCaptureWriter *output)
{
	if (!output)
		return;
	drop_reservation(output);
	kmt_capture_directory_close(output->directory);
	kmt_zstd_encoder_free(output->zstd.encoder);
	g_ptr_array_unref(output->made);
	g_free(output);
}

void kmt_capture_writer_undo(KmtCaptureWriter *output)
{
	drop_reservation(output);
	/* In reverse order: kmemtraced creates kmemtrace.meta first, so that
	 * file is removed last. */
	for (guint i = output->made->len; i-- > 0;)
		unlinkat(kmt_capture_writer_fd(output), output->made->pdata[i],
			 0);
	kmt_capture_directory_undo(output->directory);
}

gboolean kmt_capture_writer_publish(KmtCaptureWriter *output, GError **error)
{
	drop_reservation(output);
	return kmt_capture_directory_publish(output->directory, error);
}

const char *kmt_capture_writer_path(const KmtCaptureWriter *output)
{
	return kmt_capture_directory_path(output->directory);
}

int kmt_capture_writer_fd(const KmtCaptureWriter *output)
{
	return kmt_capture_directory_fd(output->directory);
}

gboolean kmt_capture_writer_is_staged(const KmtCaptureWriter *output)
{
	return kmt_capture_directory_is_staged(output->directory);
}

/* Add the name of a file that this process created to the list, once. */
static void add_made(KmtCaptureWriter *output, const char *name)
{
	for (guint i = 0; i < output->made->len; i++)
		if (g_str_equal(output->made->pdata[i], name))
			return;
	g_ptr_array_add(output->made, g_strdup(name));
}

gboolean kmt_capture_writer_compress(KmtCaptureWriter *output, int level,
				     GError **error)
{
	/* Load libzstd now, because a program that records must not find out
	 * later that it cannot. */
	output->zstd.encoder = kmt_zstd_encoder_new(level, FALSE, error);
	output->zstd.level = level;
	return output->zstd.encoder != NULL;
}

char *kmt_capture_writer_cpu_name(const KmtCaptureWriter *output, guint cpu)
{
	return g_strdup_printf("cpu%u.out%s", cpu,
			       output->zstd.level ? KMT_CAPTURE_ZSTD : "");
}

/*
 * Return the bytes to gather before a write to an uncompressed file. With
 * sub-buffers of the usual size, the thread that reads the CPU's sub-buffers
 * wakes up so seldom that it can write all complete chunks each time. With
 * small sub-buffers, the thread gathers BATCH_CHUNKS chunks before a write.
 */
static gsize batch_bytes(gsize record_bytes, gsize subbuf_bytes)
{
	gsize chunk = kmt_capture_cpu_writer_chunk_bytes(record_bytes);

	return (subbuf_bytes < BATCH_CHUNKS * chunk ? BATCH_CHUNKS : 1) * chunk;
}

static KmtCaptureCpuWriter *make_cpu_file(KmtCaptureWriter *output, guint cpu,
					  gsize record_bytes,
					  gsize subbuf_bytes,
					  KmtCaptureCpuWriterMemory memory,
					  GError **error)
{
	g_autofree char *name = kmt_capture_writer_cpu_name(output, cpu);
	KmtCaptureCpuWriter *writer =
		output->zstd.level
			? kmt_zstd_cpu_file_new(&output->zstd,
						kmt_capture_writer_fd(output),
						name, cpu, record_bytes,
						subbuf_bytes, memory, error)
			: kmt_capture_cpu_writer_new(
				  kmt_capture_writer_fd(output), name,
				  record_bytes,
				  batch_bytes(record_bytes, subbuf_bytes),
				  memory, error);

	/* A new file is not in the list yet. */
	if (writer)
		g_ptr_array_add(output->made, g_steal_pointer(&name));
	else
		g_prefix_error(error, "%s: ", kmt_capture_writer_path(output));
	return writer;
}

KmtCaptureCpuWriter *kmt_capture_writer_cpu_file(KmtCaptureWriter *output,
						 guint cpu, gsize record_bytes,
						 gsize subbuf_bytes,
						 GError **error)
{
	return make_cpu_file(output, cpu, record_bytes, subbuf_bytes,
			     KMT_CAPTURE_CPU_WRITER_LOCKED, error);
}

KmtCaptureCpuWriter *kmt_capture_writer_small_cpu_file(KmtCaptureWriter *output,
						       guint cpu,
						       gsize record_bytes,
						       GError **error)
{
	return make_cpu_file(output, cpu, record_bytes, 0,
			     KMT_CAPTURE_CPU_WRITER_SMALL, error);
}

gboolean kmt_capture_addresses_are_zero(const char *block, gsize n_bytes,
					gboolean *in_address)
{
	for (gsize i = 0; i < n_bytes; i++) {
		if (block[i] == '\n')
			*in_address = TRUE;
		else if (*in_address && block[i] == ' ')
			*in_address = FALSE;
		else if (*in_address && block[i] != '0')
			return FALSE;
	}
	return TRUE;
}

/* Finish a file after writing. r is the result of the writes: 0 or -errno. */
static gboolean finish(KmtCaptureCpuWriter *sink, int r, const char *path,
		       GError **error)
{
	if (r == 0)
		r = kmt_capture_cpu_writer_finish(sink);
	if (r == 0)
		r = kmt_capture_cpu_writer_sync(sink);
	if (r < 0)
		kmt_capture_set_errno(error, kmt_capture_write_error_code(-r),
				      -r, "cannot write %s", path);
	return r == 0;
}

static gboolean copy(int from, const char *source, KmtCaptureCpuWriter *sink,
		     const char *path, gboolean *hidden, GError **error)
{
	gboolean in_address = TRUE, zero = TRUE, ok;
	gsize room;
	ssize_t n;
	int r = 0;

	while (r == 0) {
		void *to = kmt_capture_cpu_writer_room(sink, &room);

		n = read(from, to, room);
		if (n == 0)
			break;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			kmt_capture_set_errno(error, KMT_DAEMON_ERROR_READ,
					      errno, "cannot read %s", source);
			return FALSE;
		}
		zero = zero && kmt_capture_addresses_are_zero(to, (gsize)n,
							      &in_address);
		r = kmt_capture_cpu_writer_add(sink, (gsize)n);
	}
	ok = finish(sink, r, path, error);
	if (hidden)
		*hidden = zero && kmt_capture_cpu_writer_written(sink) > 0;
	return ok;
}

/*
 * Rename the file temporary to name. Remove it instead if ok is FALSE or if
 * renaming fails.
 */
static gboolean put_in_place(KmtCaptureWriter *output, gboolean ok,
			     const char *temporary, const char *name,
			     const char *path, GError **error)
{
	if (ok && renameat(kmt_capture_writer_fd(output), temporary,
			   kmt_capture_writer_fd(output), name) < 0) {
		ok = FALSE;
		kmt_capture_set_errno(error,
				      kmt_capture_write_error_code(errno),
				      errno, "cannot rename to %s", path);
	}
	if (ok)
		add_made(output, name);
	else
		unlinkat(kmt_capture_writer_fd(output), temporary, 0);
	return ok;
}

gboolean kmt_capture_writer_copy_table(KmtCaptureWriter *output,
				       const char *source, const char *name,
				       gboolean *hidden, GError **error)
{
	g_autofree char *temporary =
		g_strconcat(name, KMT_CAPTURE_TEMPORARY, NULL);
	g_autofree char *path =
		g_build_filename(kmt_capture_writer_path(output), name, NULL);
	g_autoptr(KmtCaptureCpuWriter) sink = NULL;
	int from = open(source, O_RDONLY | O_CLOEXEC);
	gboolean ok = FALSE;

	if (from < 0) {
		if (errno != ENOENT)
			kmt_capture_set_errno(error, KMT_DAEMON_ERROR_READ,
					      errno, "cannot open %s", source);
		return FALSE;
	}
	sink = kmt_capture_cpu_writer_new(kmt_capture_writer_fd(output),
					  temporary, 1,
					  KMT_CAPTURE_CPU_WRITER_CHUNK_BYTES,
					  KMT_CAPTURE_CPU_WRITER_LOCKED, error);
	if (sink) {
		ok = copy(from, source, sink, path, hidden, error);
		ok = put_in_place(output, ok, temporary, name, path, error);
	}
	close(from);
	return ok;
}

gboolean kmt_capture_writer_write_table(KmtCaptureWriter *output,
					const char *name, const char *text,
					GError **error)
{
	g_autofree char *temporary =
		g_strconcat(name, KMT_CAPTURE_TEMPORARY, NULL);
	g_autofree char *path =
		g_build_filename(kmt_capture_writer_path(output), name, NULL);
	g_autoptr(KmtCaptureCpuWriter) sink = kmt_capture_cpu_writer_new(
		kmt_capture_writer_fd(output), temporary, 1,
		KMT_CAPTURE_CPU_WRITER_CHUNK_BYTES,
		KMT_CAPTURE_CPU_WRITER_LOCKED, error);
	gsize left = strlen(text), room;
	int r = 0;

	if (!sink)
		return FALSE;
	while (left && r == 0) {
		void *to = kmt_capture_cpu_writer_room(sink, &room);

		room = MIN(room, left);
		memcpy(to, text, room);
		text += room;
		left -= room;
		r = kmt_capture_cpu_writer_add(sink, room);
	}
	return put_in_place(output, finish(sink, r, path, error), temporary,
			    name, path, error);
}

/*
 * Create the file META_RESERVED and reserve disk space in it, if possible. The
 * final kmemtrace.meta is written to this file, so that it can be written even
 * if the disk is full.
 */
static void reserve_meta(KmtCaptureWriter *output, guint n_cpus)
{
	off_t room = META_CAPTURE_BYTES + (off_t)n_cpus * META_CPU_BYTES;
	int fd = openat(kmt_capture_writer_fd(output), META_RESERVED,
			O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			0600);

	if (fd < 0)
		return;
	/* If the file system cannot reserve space, the final kmemtrace.meta is
	 * written without a reservation. */
	kmt_capture_owner_give(fd);
	if (fchmod(fd, 0600) == 0)
		(void)!fallocate(fd, 0, 0, room);
	output->meta_fd = fd;
}

static int write_all(int fd, const char *text, gsize n_bytes)
{
	for (gsize done = 0; done < n_bytes;) {
		ssize_t n =
			pwrite(fd, text + done, n_bytes - done, (off_t)done);

		if (n < 0 && errno != EINTR)
			return errno;
		if (n > 0)
			done += (gsize)n;
	}
	if (ftruncate(fd, (off_t)n_bytes) < 0)
		return errno;
	return fsync(fd) < 0 && errno != EINVAL ? errno : 0;
}

/*
 * Return whether META_RESERVED still names the file that meta_fd refers to. The
 * owner of the directory may have replaced that file, for example by a FIFO or
 * a link, which must not be renamed to the kmemtrace.meta of a complete
 * capture.
 */
static gboolean is_reserved(const KmtCaptureWriter *output)
{
	struct stat ours, named;

	return fstat(output->meta_fd, &ours) == 0 &&
	       fstatat(kmt_capture_writer_fd(output), META_RESERVED, &named,
		       AT_SYMLINK_NOFOLLOW) == 0 &&
	       ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

gboolean kmt_capture_writer_write_meta(KmtCaptureWriter *output, GKeyFile *meta,
				       guint n_cpus, GError **error)
{
	gsize n_bytes;
	g_autofree char *text = NULL;
	int errnum = 0;

	if (output->zstd.level) {
		g_key_file_set_string(meta, "capture", "compression", "zstd");
		g_key_file_set_integer(meta, "capture", "compression_level",
				       output->zstd.level);
	}
	text = g_key_file_to_data(meta, &n_bytes, NULL);

	if (output->meta_fd < 0)
		reserve_meta(output, n_cpus);
	if (output->meta_fd < 0)
		errnum = errno;
	if (errnum == 0)
		errnum = write_all(output->meta_fd, text, n_bytes);
	if (errnum == 0 && !is_reserved(output)) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_WRITE,
			    "cannot write %s/%s: another process has replaced "
			    "or removed %s in that directory",
			    kmt_capture_writer_path(output), META,
			    META_RESERVED);
		return FALSE;
	}
	if (errnum == 0 &&
	    renameat(kmt_capture_writer_fd(output), META_RESERVED,
		     kmt_capture_writer_fd(output), META) < 0)
		errnum = errno;
	if (errnum) {
		kmt_capture_set_errno(error,
				      kmt_capture_write_error_code(errnum),
				      errnum, "cannot write %s/%s",
				      kmt_capture_writer_path(output), META);
		return FALSE;
	}
	close(output->meta_fd);
	output->meta_fd = -1;
	add_made(output, META);
	reserve_meta(output, n_cpus);
	return TRUE;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

gboolean kmt_capture_writer_end_meta(KmtCaptureWriter *output, GKeyFile *meta,
				     guint n_cpus, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	for (guint i = 0; i < output->made->len; i++)
		if (!g_str_equal(output->made->pdata[i], META))
			g_ptr_array_add(names, output->made->pdata[i]);
	g_ptr_array_sort(names, compare_names);
	g_key_file_set_string_list(meta, "capture", "files",
				   (const char *const *)names->pdata,
				   names->len);
	return kmt_capture_writer_write_meta(output, meta, n_cpus, error);
}

gboolean kmt_capture_writer_sync(KmtCaptureWriter *output, GError **error)
{
	int errnum = kmt_capture_directory_sync(kmt_capture_writer_fd(output));

	if (errnum)
		kmt_capture_set_errno(error,
				      kmt_capture_write_error_code(errnum),
				      errnum, "cannot sync the directory %s",
				      kmt_capture_writer_path(output));
	return errnum == 0;
}
