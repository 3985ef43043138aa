// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <kmemtrace_abi.h>

#include "kmemtraced/relay-control.h"
#include "lib/capture/error.h"

/* Upper bound of the digits of a CPU number. */
#define CPU_DIGITS_MAX 5

/* Time that the cleanup process of a killed kmemtraced may need. */
#define CLEANUP_WAIT_MS 2500
#define CLEANUP_POLL_MS 20

struct kmtd_control {
	char *path; /* path of DEBUGFS/kmemtrace */
	guint abi_version;
	guint record_bytes;
	int dir_fd;
	int enabled_fd;	 /* file "enabled"; holds both locks */
	int overruns_fd; /* file "total_overruns" */
	/*
	 * The open directory. Listing it again costs the kernel nothing, while
	 * each opening would allocate memory.
	 */
	DIR *listing;
};

/*
 * Return the text of a file from its start, without the last newline, newly
 * allocated. Return NULL and set errno on failure.
 */
static char *read_fd(int fd)
{
	g_autoptr(GString) text = g_string_new(NULL);
	char block[4096];
	ssize_t n;

	while ((n = pread(fd, block, sizeof(block), (off_t)text->len)) != 0) {
		if (n > 0)
			g_string_append_len(text, block, n);
		else if (errno != EINTR)
			return NULL;
	}
	return g_strchomp(g_string_free(g_steal_pointer(&text), FALSE));
}

/*
 * Return the text of the open file @fd, which stays open. The error message
 * contains @name.
 */
static char *read_open(KmtdControl *control, int fd, const char *name,
		       GError **error)
{
	char *text = read_fd(fd);

	if (!text)
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_CONTROL, errno,
				      "cannot read %s/%s", control->path, name);
	return text;
}

/* Return the error code for an errno of open() or read(). */
static KmtDaemonError error_code(int errnum)
{
	switch (errnum) {
	case EACCES:
		return KMT_DAEMON_ERROR_PERMISSION;
	case EPERM:
		return KMT_DAEMON_ERROR_LOCKDOWN;
	default:
		return KMT_DAEMON_ERROR_CONTROL;
	}
}

static char *read_file(KmtdControl *control, const char *name, GError **error)
{
	int fd = openat(control->dir_fd, name, O_RDONLY | O_CLOEXEC);
	g_autofree char *text = fd < 0 ? NULL : read_fd(fd);
	int errnum = errno;

	if (fd >= 0)
		close(fd);
	if (text)
		return g_steal_pointer(&text);
	kmt_capture_set_errno(error, error_code(errnum), errnum,
			      "cannot read %s/%s", control->path, name);
	return NULL;
}

static gboolean parse_number(KmtdControl *control, const char *name,
			     const char *text, guint64 *n, GError **error)
{
	if (g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64, n, NULL))
		return TRUE;
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_CONTROL,
		    "%s/%s: '%s' is not a number", control->path, name, text);
	return FALSE;
}

static gboolean read_number(KmtdControl *control, const char *name, guint64 *n,
			    GError **error)
{
	g_autofree char *text = read_file(control, name, error);

	return text && parse_number(control, name, text, n, error);
}

/* Set an error that explains why DEBUGFS/kmemtrace cannot be opened. */
static void explain_open(const char *debugfs, const char *path, int errnum,
			 GError **error)
{
	struct statfs fs;

	if (errnum != ENOENT && errnum != ENOTDIR) {
		kmt_capture_set_errno(error, error_code(errnum), errnum,
				      "cannot open %s", path);
	} else if (statfs(debugfs, &fs) == 0 && fs.f_type == DEBUGFS_MAGIC) {
		g_set_error(error, KMT_DAEMON_ERROR,
			    KMT_DAEMON_ERROR_NO_KMEMTRACE,
			    "there is no kmemtrace in this kernel: "
			    "%s is a debugfs without kmemtrace",
			    debugfs);
	} else {
		g_set_error(error, KMT_DAEMON_ERROR,
			    KMT_DAEMON_ERROR_NO_DEBUGFS,
			    "no debugfs is mounted on %s", debugfs);
	}
}

static gboolean check_abi(KmtdControl *control, GError **error)
{
	guint64 version;

	if (!read_number(control, "abi_version", &version, error))
		return FALSE;
	if (version >= 1 && version <= KMEMTRACE_ABI_VERSION) {
		control->abi_version = (guint)version;
		return TRUE;
	}
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_ABI,
		    "this kernel writes records of version %" G_GUINT64_FORMAT
		    ", but kmemtraced %s takes versions 1 to %d",
		    version, PACKAGE_VERSION, KMEMTRACE_ABI_VERSION);
	return FALSE;
}

/*
 * Read the size of a record. The file record_size exists only in kernels that
 * may write larger records.
 */
static gboolean read_record_size(KmtdControl *control, GError **error)
{
	guint64 bytes;

	control->record_bytes = control->abi_version >= 2
					? KMEMTRACE_EVENT_SIZE_V2
					: KMEMTRACE_EVENT_SIZE_V1;
	if (faccessat(control->dir_fd, "record_size", F_OK, 0) < 0)
		return TRUE;
	if (!read_number(control, "record_size", &bytes, error))
		return FALSE;
	if (bytes != control->record_bytes &&
	    (bytes != KMEMTRACE_EVENT_SIZE_V2S || control->abi_version < 2)) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_ABI,
			    "this kernel writes records of %" G_GUINT64_FORMAT
			    " bytes, which version %u does not have",
			    bytes, control->abi_version);
		return FALSE;
	}
	control->record_bytes = (guint)bytes;
	return TRUE;
}

/*
 * Acquire the record lock. F_GETLK returns the process that holds a record
 * lock, and child processes do not inherit it.
 */
static gboolean lock(KmtdControl *control, GError **error)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (fcntl(control->enabled_fd, F_SETLK, &lock) == 0)
		return TRUE;
	if (errno != EACCES && errno != EAGAIN) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_CONTROL, errno,
				      "cannot lock %s/enabled", control->path);
		return FALSE;
	}
	if (fcntl(control->enabled_fd, F_GETLK, &lock) < 0 ||
	    lock.l_type == F_UNLCK)
		lock.l_pid = 0;
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_BUSY,
		    "another kmemtraced is running (process %ld)",
		    (long)lock.l_pid);
	return FALSE;
}

/*
 * Acquire the flock, which the cleanup process inherits, unlike the record
 * lock. Wait for the cleanup process of another kmemtraced, because that
 * process may still have to switch tracing off.
 */
static gboolean lock_shared(KmtdControl *control, GError **error)
{
	for (guint waited_ms = 0; waited_ms <= CLEANUP_WAIT_MS;
	     waited_ms += CLEANUP_POLL_MS) {
		if (flock(control->enabled_fd, LOCK_EX | LOCK_NB) == 0)
			return TRUE;
		if (errno != EWOULDBLOCK) {
			kmt_capture_set_errno(error, KMT_DAEMON_ERROR_CONTROL,
					      errno, "cannot lock %s/enabled",
					      control->path);
			return FALSE;
		}
		g_usleep(CLEANUP_POLL_MS * 1000);
	}
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_BUSY,
		    "the cleanup process of another kmemtraced is running");
	return FALSE;
}

KmtdControl *kmtd_control_open_to_read(const char *debugfs, GError **error)
{
	g_autoptr(KmtdControl) control = g_new0(KmtdControl, 1);

	control->enabled_fd = -1;
	control->overruns_fd = -1;
	control->path = g_build_filename(debugfs, "kmemtrace", NULL);
	control->dir_fd =
		open(control->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (control->dir_fd < 0) {
		explain_open(debugfs, control->path, errno, error);
		return NULL;
	}
	if (!check_abi(control, error) || !read_record_size(control, error))
		return NULL;
	control->enabled_fd =
		openat(control->dir_fd, "enabled", O_RDWR | O_CLOEXEC);
	control->overruns_fd =
		openat(control->dir_fd, "total_overruns", O_RDONLY | O_CLOEXEC);
	control->listing =
		fdopendir(openat(control->dir_fd, ".", O_RDONLY | O_CLOEXEC));
	if (control->enabled_fd < 0 || control->overruns_fd < 0 ||
	    !control->listing) {
		kmt_capture_set_errno(error, error_code(errno), errno,
				      "cannot open %s/%s", control->path,
				      control->enabled_fd < 0 ? "enabled"
				      : control->overruns_fd < 0
					      ? "total_overruns"
					      : ".");
		return NULL;
	}
	return g_steal_pointer(&control);
}

KmtdControl *kmtd_control_open(const char *debugfs, GError **error)
{
	g_autoptr(KmtdControl) control =
		kmtd_control_open_to_read(debugfs, error);

	if (!control || !lock(control, error) || !lock_shared(control, error))
		return NULL;
	return g_steal_pointer(&control);
}

void kmtd_control_close(KmtdControl *control)
{
	if (!control)
		return;
	if (control->listing)
		closedir(control->listing);
	if (control->overruns_fd >= 0)
		close(control->overruns_fd);
	if (control->enabled_fd >= 0)
		close(control->enabled_fd);
	if (control->dir_fd >= 0)
		close(control->dir_fd);
	g_free(control->path);
	g_free(control);
}

int kmtd_control_fd(const KmtdControl *control)
{
	return control->dir_fd;
}

const char *kmtd_control_path(const KmtdControl *control)
{
	return control->path;
}

guint kmtd_control_abi_version(const KmtdControl *control)
{
	return control->abi_version;
}

guint kmtd_control_record_bytes(const KmtdControl *control)
{
	return control->record_bytes;
}

/*
 * Read through the descriptor that holds the record lock. Opening the file
 * again and closing it would drop that lock.
 */
gboolean kmtd_control_is_enabled(KmtdControl *control, gboolean *enabled,
				 GError **error)
{
	g_autofree char *text =
		read_open(control, control->enabled_fd, "enabled", error);

	if (!text)
		return FALSE;
	if (!g_str_equal(text, "0") && !g_str_equal(text, "1")) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_CONTROL,
			    "%s/enabled: '%s' is neither 0 nor 1",
			    control->path, text);
		return FALSE;
	}
	*enabled = text[0] == '1';
	return TRUE;
}

static int write_fd(int fd, const char *text)
{
	ssize_t n;

	do
		n = pwrite(fd, text, strlen(text), 0);
	while (n < 0 && errno == EINTR);
	return n < 0 ? errno : 0;
}

gboolean kmtd_control_has(KmtdControl *control, const char *name)
{
	return faccessat(control->dir_fd, name, F_OK, 0) == 0;
}

gboolean kmtd_control_write(KmtdControl *control, const char *name,
			    const char *text, GError **error)
{
	int fd = openat(control->dir_fd, name, O_WRONLY | O_TRUNC | O_CLOEXEC);
	int errnum = fd < 0 ? errno : 0;
	const char *rest = text;

	/*
	 * Do not use write_fd(): not every file of debugfs supports pwrite().
	 * The kernel accepts the whole text in one call.
	 */
	while (fd >= 0 && *rest && !errnum) {
		ssize_t n = write(fd, rest, strlen(rest));

		if (n >= 0)
			rest += n;
		else if (errno != EINTR)
			errnum = errno;
	}
	if (fd >= 0)
		close(fd);
	if (errnum)
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_REFUSED, errnum,
				      "cannot set %s/%s to '%s'", control->path,
				      name, text);
	return errnum == 0;
}

gboolean kmtd_control_equals(KmtdControl *control, const char *name,
			     const char *text)
{
	int fd = openat(control->dir_fd, name, O_RDONLY | O_CLOEXEC);
	gsize length = strlen(text);
	char block[4096];
	ssize_t n = -1;

	if (fd >= 0) {
		n = read(fd, block, sizeof(block));
		close(fd);
	}
	if (n > 0 && block[n - 1] == '\n')
		n--;
	return n >= 0 && (gsize)n == length && memcmp(block, text, length) == 0;
}

gboolean kmtd_control_enable(KmtdControl *control, GError **error)
{
	int errnum = write_fd(control->enabled_fd, "1\n");

	if (errnum)
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_ENABLE, errnum,
				      "cannot switch tracing on by %s/enabled",
				      control->path);
	return errnum == 0;
}

gboolean kmtd_control_disable(KmtdControl *control, GError **error)
{
	int errnum = write_fd(control->enabled_fd, "0\n");

	if (errnum)
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_DISABLE, errnum,
				      "cannot switch tracing off by %s/enabled",
				      control->path);
	return errnum == 0;
}

gboolean kmtd_control_geometry(KmtdControl *control, guint64 *n_subbufs,
			       guint64 *subbuf_bytes, GError **error)
{
	return read_number(control, "subbufs", n_subbufs, error) &&
	       read_number(control, "subbuf_size", subbuf_bytes, error);
}

gboolean kmtd_control_total_overruns(KmtdControl *control, guint64 *n_events,
				     GError **error)
{
	g_autofree char *text = read_open(control, control->overruns_fd,
					  "total_overruns", error);

	return text &&
	       parse_number(control, "total_overruns", text, n_events, error);
}

/* Parse lines such as "cpu0 12" into a new table of CPU to guint64 *. */
static GHashTable *parse_per_cpu(KmtdControl *control, const char *name,
				 const char *text, GError **error)
{
	g_autoptr(GHashTable) table =
		g_hash_table_new_full(NULL, NULL, NULL, g_free);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; *line; line++) {
		char *space = strchr(*line, ' ');
		guint64 n;
		guint cpu;

		if (**line == '\0')
			continue;
		if (space)
			*space = '\0';
		if (!space || !kmtd_control_parse_cpu(*line, &cpu)) {
			g_set_error(error, KMT_DAEMON_ERROR,
				    KMT_DAEMON_ERROR_CONTROL,
				    "%s/%s: '%s' is not a CPU and a number",
				    control->path, name, *line);
			return NULL;
		}
		if (!parse_number(control, name, space + 1, &n, error))
			return NULL;
		g_hash_table_insert(table, GUINT_TO_POINTER(cpu),
				    g_memdup2(&n, sizeof(n)));
	}
	return g_steal_pointer(&table);
}

char *kmtd_control_read(KmtdControl *control, const char *name, GError **error)
{
	return read_file(control, name, error);
}

GHashTable *kmtd_control_per_cpu(KmtdControl *control, const char *name,
				 GError **error)
{
	g_autofree char *text = read_file(control, name, error);

	return text ? parse_per_cpu(control, name, text, error) : NULL;
}

GHashTable *kmtd_control_overruns(KmtdControl *control, GError **error)
{
	return kmtd_control_per_cpu(control, "overruns", error);
}

gboolean kmtd_control_any_consumed(KmtdControl *control, const char *name,
				   gboolean *consumed, GError **error)
{
	g_autoptr(GHashTable) table = NULL;
	GHashTableIter iter;
	gpointer n;

	*consumed = FALSE;
	if (!kmtd_control_has(control, name))
		return TRUE;
	table = kmtd_control_per_cpu(control, name, error);
	if (!table)
		return FALSE;
	g_hash_table_iter_init(&iter, table);
	while (g_hash_table_iter_next(&iter, NULL, &n))
		*consumed |= *(guint64 *)n > 0;
	return TRUE;
}

gboolean kmtd_control_parse_cpu(const char *name, guint *cpu)
{
	const char *digits = name + strlen("cpu");
	guint64 n;

	if (!g_str_has_prefix(name, "cpu") || strlen(digits) > CPU_DIGITS_MAX ||
	    !g_ascii_isdigit(digits[0]) ||
	    (digits[0] == '0' && digits[1] != '\0') ||
	    !g_ascii_string_to_unsigned(digits, 10, 0, G_MAXUINT, &n, NULL))
		return FALSE;
	*cpu = (guint)n;
	return TRUE;
}

static int compare_cpus(const void *a, const void *b)
{
	guint cpu_a = *(const guint *)a, cpu_b = *(const guint *)b;

	return (cpu_a > cpu_b) - (cpu_a < cpu_b);
}

GArray *kmtd_control_cpus(KmtdControl *control)
{
	GArray *cpus = g_array_new(FALSE, FALSE, sizeof(guint));
	const struct dirent *entry;

	rewinddir(control->listing);
	while ((entry = readdir(control->listing))) {
		guint cpu;

		if (kmtd_control_parse_cpu(entry->d_name, &cpu))
			g_array_append_val(cpus, cpu);
	}
	g_array_sort(cpus, compare_cpus);
	return cpus;
}
