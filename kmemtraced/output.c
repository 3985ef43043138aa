// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kmemtrace_abi.h>

#include "kmemtraced/control.h"
#include "kmemtraced/error.h"
#include "kmemtraced/output.h"

#define META	      "kmemtrace.meta"
#define META_RESERVED META ".tmp"

/* Bytes of meta: at most, of [capture] and of the group of a CPU. */
#define META_CAPTURE_BYTES 4096
#define META_CPU_BYTES	   160

/* Below it a write past the page cache costs more than it records. */
#define BATCH_CHUNKS ((gsize)16)

/* How long a kmemtraced that was killed may take to leave the directory. */
#define LOCK_WAIT_MS 2000
#define LOCK_POLL_MS 20

struct kmt_output {
	char *path;
	int fd;		   /* holds the lock */
	int meta_fd;	   /* META_RESERVED, or -1 */
	gboolean made_dir; /* the directory is ours */
	GPtrArray *made;   /* char *: names of files that we made */
};

gboolean kmt_output_is_cpu_file(const char *name)
{
	g_autofree char *stem = NULL;
	guint cpu;

	if (!g_str_has_suffix(name, ".out"))
		return FALSE;
	stem = g_strndup(name, strlen(name) - strlen(".out"));
	return kmt_control_parse_cpu(stem, &cpu);
}

/* Whether it is META or the name of a table, with that suffix. */
static gboolean is_table(const char *name, const char *suffix)
{
	static const char *const tables[] = {META,     "kallsyms", "modules",
					     "caches", "tasks",	   "marks",
					     "stacks", "info"};

	for (gsize i = 0; i < G_N_ELEMENTS(tables); i++)
		if (g_str_has_prefix(name, tables[i]) &&
		    g_str_equal(name + strlen(tables[i]), suffix))
			return TRUE;
	return FALSE;
}

/* The names that a capture consists of. */
static gboolean is_capture_file(const char *name)
{
	return is_table(name, "") || kmt_output_is_cpu_file(name);
}

/* Those on the way to be one. */
static gboolean is_temporary(const char *name)
{
	return is_table(name, ".tmp");
}

static gboolean make_directory(KmtOutput *output, GError **error)
{
	if (mkdir(output->path, 0700) == 0)
		output->made_dir = TRUE;
	else if (errno != EEXIST) {
		kmt_set_errno(error, KMT_DAEMON_ERROR_DIRECTORY, errno,
			      "cannot make the directory %s", output->path);
		return FALSE;
	}
	/* Whatever the umask is. */
	if (output->made_dir && chmod(output->path, 0700) < 0) {
		kmt_set_errno(error, KMT_DAEMON_ERROR_DIRECTORY, errno,
			      "cannot set the mode of %s", output->path);
		return FALSE;
	}
	output->fd = open(output->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (output->fd < 0) {
		kmt_set_errno(error, KMT_DAEMON_ERROR_DIRECTORY, errno,
			      "cannot open the directory %s", output->path);
		return FALSE;
	}
	return TRUE;
}

/*
 * Of one that was killed the guard may still be at work for a moment, so that
 * it is waited for.  A file system without locks has to do without.
 */
static gboolean lock_directory(KmtOutput *output, GError **error)
{
	for (guint waited_ms = 0;; waited_ms += LOCK_POLL_MS) {
		if (flock(output->fd, LOCK_EX | LOCK_NB) == 0 ||
		    errno != EWOULDBLOCK)
			return TRUE;
		if (waited_ms >= LOCK_WAIT_MS)
			break;
		g_usleep(LOCK_POLL_MS * 1000);
	}
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_DIRECTORY_BUSY,
		    "another kmemtraced writes to the directory %s",
		    output->path);
	return FALSE;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names of what an earlier kmemtraced left, sorted.  NULL on error. */
static GPtrArray *list_old(KmtOutput *output, gboolean temporary,
			   GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	const struct dirent *entry;
	DIR *dir = opendir(output->path);

	if (!dir) {
		kmt_set_errno(error, KMT_DAEMON_ERROR_DIRECTORY, errno,
			      "cannot list the directory %s", output->path);
		return NULL;
	}
	while ((entry = readdir(dir)))
		if (temporary ? is_temporary(entry->d_name)
			      : is_capture_file(entry->d_name))
			g_ptr_array_add(names, g_strdup(entry->d_name));
	closedir(dir);
	g_ptr_array_sort(names, compare_names);
	return g_steal_pointer(&names);
}

static gboolean remove_old(KmtOutput *output, GPtrArray *names, GError **error)
{
	for (guint i = 0; i < names->len; i++) {
		const char *name = names->pdata[i];

		if (unlinkat(output->fd, name, 0) < 0) {
			kmt_set_errno(error, KMT_DAEMON_ERROR_DIRECTORY, errno,
				      "cannot remove %s/%s", output->path,
				      name);
			return FALSE;
		}
	}
	return TRUE;
}

static gboolean clear_old(KmtOutput *output, gboolean force, GError **error)
{
	g_autoptr(GPtrArray) captured = list_old(output, FALSE, error);
	g_autoptr(GPtrArray) temporary =
		captured ? list_old(output, TRUE, error) : NULL;

	if (!temporary)
		return FALSE;
	if (captured->len > 0 && !force) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_EXISTS,
			    "there is a capture already: %s/%s exists",
			    output->path, (char *)captured->pdata[0]);
		return FALSE;
	}
	return remove_old(output, captured, error) &&
	       remove_old(output, temporary, error);
}

KmtOutput *kmt_output_open(const char *directory, gboolean force,
			   GError **error)
{
	g_autoptr(KmtOutput) output = g_new0(KmtOutput, 1);

	output->path = g_strdup(directory);
	output->fd = -1;
	output->meta_fd = -1;
	output->made = g_ptr_array_new_with_free_func(g_free);
	if (!make_directory(output, error) || !lock_directory(output, error) ||
	    !clear_old(output, force, error))
		return NULL;
	return g_steal_pointer(&output);
}

void kmt_output_close(KmtOutput *output)
{
	if (!output)
		return;
	if (output->meta_fd >= 0) {
		close(output->meta_fd);
		unlinkat(output->fd, META_RESERVED, 0);
	}
	if (output->fd >= 0)
		close(output->fd);
	g_ptr_array_unref(output->made);
	g_free(output->path);
	g_free(output);
}

void kmt_output_undo(KmtOutput *output)
{
	for (guint i = 0; i < output->made->len; i++)
		unlinkat(output->fd, output->made->pdata[i], 0);
	if (output->meta_fd >= 0) {
		close(output->meta_fd);
		output->meta_fd = -1;
		unlinkat(output->fd, META_RESERVED, 0);
	}
	if (output->made_dir)
		rmdir(output->path);
}

void kmt_output_remove(KmtOutput *output)
{
	g_autoptr(GPtrArray) captured = list_old(output, FALSE, NULL);
	g_autoptr(GPtrArray) temporary = list_old(output, TRUE, NULL);

	if (captured)
		remove_old(output, captured, NULL);
	if (temporary)
		remove_old(output, temporary, NULL);
	kmt_output_undo(output);
}

const char *kmt_output_path(const KmtOutput *output)
{
	return output->path;
}

int kmt_output_fd(const KmtOutput *output)
{
	return output->fd;
}

KmtSink *kmt_output_cpu_file(KmtOutput *output, guint cpu, gsize record_bytes,
			     gsize subbuf_bytes, GError **error)
{
	g_autofree char *name = g_strdup_printf("cpu%u.out", cpu);
	/*
	 * With the usual sub-buffers a reader is woken seldom enough to write
	 * all chunks there are each time.  With small ones it lets them gather.
	 */
	gsize chunk = kmt_sink_chunk_bytes(record_bytes);
	gsize batch_bytes =
		(subbuf_bytes < BATCH_CHUNKS * chunk ? BATCH_CHUNKS : 1) *
		chunk;
	KmtSink *sink = kmt_sink_new(output->fd, name, record_bytes,
				     batch_bytes, error);

	if (!sink)
		g_prefix_error(error, "%s: ", output->path);
	else
		g_ptr_array_add(output->made, g_steal_pointer(&name));
	return sink;
}

/*
 * Each line of kallsyms begins with an address.  *in_address is the state
 * between two blocks: TRUE at the start.  Are all of them 0 here?
 */
static gboolean addresses_are_zero(const char *block, gsize n_bytes,
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

/* r is what came of writing until here: 0 or -errno. */
static gboolean finish(KmtSink *sink, int r, const char *path, GError **error)
{
	if (r == 0)
		r = kmt_sink_finish(sink);
	if (r == 0)
		r = kmt_sink_sync(sink);
	if (r < 0)
		kmt_set_errno(error, kmt_write_error_code(-r), -r,
			      "cannot write %s", path);
	return r == 0;
}

static gboolean copy(int from, const char *source, KmtSink *sink,
		     const char *path, gboolean *hidden, GError **error)
{
	gboolean in_address = TRUE, zero = TRUE, ok;
	gsize room;
	ssize_t n;
	int r = 0;

	while (r == 0) {
		void *to = kmt_sink_room(sink, &room);

		n = read(from, to, room);
		if (n == 0)
			break;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			kmt_set_errno(error, KMT_DAEMON_ERROR_READ, errno,
				      "cannot read %s", source);
			return FALSE;
		}
		zero = zero && addresses_are_zero(to, (gsize)n, &in_address);
		r = kmt_sink_add(sink, (gsize)n);
	}
	ok = finish(sink, r, path, error);
	if (hidden)
		*hidden = zero && kmt_sink_written(sink) > 0;
	return ok;
}

/* Ends what was made of temporary: it becomes name, or goes. */
static gboolean put_in_place(KmtOutput *output, gboolean ok,
			     const char *temporary, const char *name,
			     const char *path, GError **error)
{
	if (ok && renameat(output->fd, temporary, output->fd, name) < 0) {
		ok = FALSE;
		kmt_set_errno(error, kmt_write_error_code(errno), errno,
			      "cannot rename to %s", path);
	}
	if (ok)
		g_ptr_array_add(output->made, g_strdup(name));
	else
		unlinkat(output->fd, temporary, 0);
	return ok;
}

gboolean kmt_output_copy_table(KmtOutput *output, const char *source,
			       const char *name, gboolean *hidden,
			       GError **error)
{
	g_autofree char *temporary = g_strconcat(name, ".tmp", NULL);
	g_autofree char *path = g_build_filename(output->path, name, NULL);
	g_autoptr(KmtSink) sink = NULL;
	int from = open(source, O_RDONLY | O_CLOEXEC);
	gboolean ok = FALSE;

	if (from < 0) {
		if (errno != ENOENT)
			kmt_set_errno(error, KMT_DAEMON_ERROR_READ, errno,
				      "cannot open %s", source);
		return FALSE;
	}
	sink = kmt_sink_new(output->fd, temporary, 1, KMT_SINK_CHUNK_BYTES,
			    error);
	if (sink) {
		ok = copy(from, source, sink, path, hidden, error);
		ok = put_in_place(output, ok, temporary, name, path, error);
	}
	close(from);
	return ok;
}

gboolean kmt_output_write_table(KmtOutput *output, const char *name,
				const char *text, GError **error)
{
	g_autofree char *temporary = g_strconcat(name, ".tmp", NULL);
	g_autofree char *path = g_build_filename(output->path, name, NULL);
	g_autoptr(KmtSink) sink = kmt_sink_new(output->fd, temporary, 1,
					       KMT_SINK_CHUNK_BYTES, error);
	gsize left = strlen(text), room;
	int r = 0;

	if (!sink)
		return FALSE;
	while (left && r == 0) {
		void *to = kmt_sink_room(sink, &room);

		room = MIN(room, left);
		memcpy(to, text, room);
		text += room;
		left -= room;
		r = kmt_sink_add(sink, room);
	}
	return put_in_place(output, finish(sink, r, path, error), temporary,
			    name, path, error);
}

/* A file with room for the last meta, so that a full disk does not matter. */
static void reserve_meta(KmtOutput *output, guint n_cpus)
{
	off_t room = META_CAPTURE_BYTES + (off_t)n_cpus * META_CPU_BYTES;
	int fd = openat(output->fd, META_RESERVED,
			O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			0600);

	if (fd < 0)
		return;
	/* A file system that cannot set room aside: try it at the end. */
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

gboolean kmt_output_write_meta(KmtOutput *output, GKeyFile *meta, guint n_cpus,
			       GError **error)
{
	gsize n_bytes;
	g_autofree char *text = g_key_file_to_data(meta, &n_bytes, NULL);
	int errnum = 0;

	if (output->meta_fd < 0)
		reserve_meta(output, n_cpus);
	if (output->meta_fd < 0)
		errnum = errno;
	if (errnum == 0)
		errnum = write_all(output->meta_fd, text, n_bytes);
	if (errnum == 0 &&
	    renameat(output->fd, META_RESERVED, output->fd, META) < 0)
		errnum = errno;
	if (errnum) {
		kmt_set_errno(error, kmt_write_error_code(errnum), errnum,
			      "cannot write %s/%s", output->path, META);
		return FALSE;
	}
	close(output->meta_fd);
	output->meta_fd = -1;
	g_ptr_array_add(output->made, g_strdup(META));
	reserve_meta(output, n_cpus);
	return TRUE;
}

gboolean kmt_output_sync(KmtOutput *output, GError **error)
{
	int r;

	do
		r = fsync(output->fd);
	while (r < 0 && errno == EINTR);
	/* Not every file system can sync a directory. */
	if (r == 0 || errno == EINVAL || errno == ENOSYS || errno == EBADF)
		return TRUE;
	kmt_set_errno(error, kmt_write_error_code(errno), errno,
		      "cannot sync the directory %s", output->path);
	return FALSE;
}
