// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads and writes the files in DEBUGFS/kmemtrace. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "kmemtraced/relay-control-private.h"
#include "lib/capture/error.h"

/* Upper bound of the digits of a CPU number. */
#define CPU_DIGITS_MAX 5

/*
 * Return the text of a file from its start, without trailing white space, newly
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
KmtDaemonError kmtd_control_error_code(int errnum)
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
	kmt_capture_set_errno(error, kmtd_control_error_code(errnum), errnum,
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

gboolean kmtd_control_read_number(KmtdControl *control, const char *name,
				  guint64 *n, GError **error)
{
	g_autofree char *text = read_file(control, name, error);

	return text && parse_number(control, name, text, n, error);
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

static gboolean switch_tracing(KmtdControl *control, gboolean on,
			       GError **error)
{
	int errnum = write_fd(control->enabled_fd, on ? "1\n" : "0\n");

	if (errnum)
		kmt_capture_set_errno(
			error,
			on ? KMT_DAEMON_ERROR_ENABLE : KMT_DAEMON_ERROR_DISABLE,
			errnum, "cannot switch tracing %s by %s/enabled",
			on ? "on" : "off", control->path);
	return errnum == 0;
}

gboolean kmtd_control_enable(KmtdControl *control, GError **error)
{
	return switch_tracing(control, TRUE, error);
}

gboolean kmtd_control_disable(KmtdControl *control, GError **error)
{
	return switch_tracing(control, FALSE, error);
}

gboolean kmtd_control_geometry(KmtdControl *control, guint64 *n_subbufs,
			       guint64 *subbuf_bytes, GError **error)
{
	return kmtd_control_read_number(control, "subbufs", n_subbufs, error) &&
	       kmtd_control_read_number(control, "subbuf_size", subbuf_bytes,
					error);
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
