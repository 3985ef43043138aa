// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each step of a replacement leaves a state that the next run recognizes:
 *
 *   files in the directory    files in kmemtrace.complete   remaining steps
 *   old capture               new capture                   all steps
 *   old without its meta      new capture, old meta         steps 2 to 4
 *   nothing                   new capture                   steps 3 and 4
 *   part of the new capture   rest, with its meta           steps 3 and 4
 *   new capture               nothing                       step 4
 *
 * Step 1 moves the old kmemtrace.meta into kmemtrace.complete. Step 2 removes
 * the files that the old kmemtrace.meta lists (without a list, those that
 * is_member() recognizes), and then the old kmemtrace.meta. Step 3 moves the
 * new files, kmemtrace.meta last. Step 4 removes kmemtrace.complete, or renames
 * it to kmemtrace.left-<n> if it contains files of the user. A directory that
 * has a kmemtrace.meta therefore has all files of that capture.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/capture/error.h"
#include "lib/capture/replace.h"
#include "lib/capture/names.h"
#include "lib/capture/sync.h"

/* A larger kmemtrace.meta was not written by these programs. */
#define META_BYTES_MAX (64 << 20)

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Return all names in the directory, sorted; NULL: errno is set. */
static GPtrArray *list_names(int dir_fd)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	const struct dirent *entry;
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		int errnum = errno;

		if (fd >= 0)
			close(fd);
		g_ptr_array_unref(names);
		errno = errnum;
		return NULL;
	}
	while ((entry = readdir(dir)))
		g_ptr_array_add(names, g_strdup(entry->d_name));
	closedir(dir);
	g_ptr_array_sort(names, compare_names);
	return names;
}

static int open_subdirectory(int dir_fd, const char *name)
{
	return openat(dir_fd, name,
		      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static gboolean is_regular(int dir_fd, const char *name)
{
	struct stat st;

	return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode);
}

static gboolean is_directory(int dir_fd, const char *name)
{
	struct stat st;

	return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(st.st_mode);
}

/* ---- files that belong to the capture ---- */

/* Return the meta file; NULL if it cannot be read or parsed. */
static GKeyFile *read_meta(int dir_fd, const char *name)
{
	g_autoptr(GKeyFile) meta = g_key_file_new();
	g_autofree char *text = NULL;
	struct stat st;
	gsize done = 0;
	ssize_t n = -1;
	int fd = openat(dir_fd, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size <= META_BYTES_MAX) {
		text = g_malloc((gsize)st.st_size + 1);
		while ((n = read(fd, text + done, (gsize)st.st_size - done)) >
		       0)
			done += (gsize)n;
	}
	close(fd);
	if (n < 0 ||
	    !g_key_file_load_from_data(meta, text, done, G_KEY_FILE_NONE, NULL))
		return NULL;
	return g_steal_pointer(&meta);
}

/* The files of a capture, according to its kmemtrace.meta. */
typedef struct {
	/* Names of the files, from the key "files". NULL: the key is missing,
	 * as in a truncated capture or one of an earlier version. is_member()
	 * then uses the names and first lines of the files. */
	GStrv listed;
	gboolean is_compressed; /* the writer compressed the CPU files */
} Members;

/* Fill *members from the meta, which may be NULL. */
static void read_members(GKeyFile *meta, Members *members)
{
	if (!meta)
		return;
	members->listed = g_key_file_get_string_list(meta, "capture", "files",
						     NULL, NULL);
	members->is_compressed =
		g_key_file_has_key(meta, "capture", "compression", NULL);
}

static void members_clear(Members *members)
{
	g_clear_pointer(&members->listed, g_strfreev);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Members, members_clear)

/*
 * Return whether a table has the first line that these programs and the kernel
 * write. may_be_short: the file may end within that line.
 */
static gboolean has_header(int dir_fd, const char *name, const char *table,
			   gboolean may_be_short)
{
	g_autofree char *header = kmt_capture_header(table);
	char text[64];
	gsize wanted;
	ssize_t n;
	int fd;

	if (!header)
		return TRUE;
	wanted = strlen(header);
	g_assert(wanted <= sizeof(text));
	fd = openat(dir_fd, name,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return FALSE;
	n = read(fd, text, wanted);
	close(fd);
	return n >= 0 && (may_be_short || (gsize)n == wanted) &&
	       memcmp(text, header, (gsize)n) == 0;
}

/*
 * Return whether the first line has the format of /proc/kallsyms or
 * /proc/modules; the copies of these in a capture have no header. An empty file
 * is accepted, because a kernel without modules has an empty /proc/modules.
 * may_be_short: the file may end within that line.
 */
static gboolean has_symbol_form(int dir_fd, const char *name, const char *table,
				gboolean may_be_short)
{
	const char *form = g_str_equal(table, "kallsyms")
				   ? "^[0-9a-f]{8,16} [A-Za-z?] [!-~]"
				   : "^[!-~]+ [0-9]+ [0-9-]+ [!-~]+ "
				     "(Live|Loading|Unloading) 0x[0-9a-f]+";
	g_autoptr(GRegex) regex = g_regex_new(form, G_REGEX_RAW, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;
	char line[512];
	ssize_t n = -1;
	int fd = openat(dir_fd, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0) {
		n = read(fd, line, sizeof(line));
		close(fd);
	}
	if (n <= 0)
		return n == 0;
	if (g_regex_match_full(regex, line, n, 0,
			       may_be_short ? G_REGEX_MATCH_PARTIAL : 0, &match,
			       NULL))
		return TRUE;
	return may_be_short && (gsize)n < sizeof(line) &&
	       g_match_info_is_partial_match(match);
}

/*
 * Return whether the beginning of the file has the format of the table.
 * may_be_short: the file may end within the tested part.
 */
static gboolean is_table(int dir_fd, const char *name, const char *table,
			 gboolean may_be_short)
{
	if (g_str_equal(table, "kallsyms") || g_str_equal(table, "modules"))
		return has_symbol_form(dir_fd, name, table, may_be_short);
	return has_header(dir_fd, name, table, may_be_short);
}

/* Return whether the file belongs to the capture in the directory. */
static gboolean is_member(int dir_fd, const Members *members, const char *name)
{
	const char *const *listed = (const char *const *)members->listed;
	g_autofree char *table = NULL;

	switch (kmt_capture_file(name)) {
	case KMT_CAPTURE_FILE_META:
		return TRUE;
	case KMT_CAPTURE_FILE_CPU:
		return !listed || g_strv_contains(listed, name);
	case KMT_CAPTURE_FILE_ZSTD_CPU:
		/* The user may have compressed a file of a capture. */
		return listed ? g_strv_contains(listed, name)
			      : members->is_compressed;
	case KMT_CAPTURE_FILE_TABLE:
		return listed ? g_strv_contains(listed, name)
			      : is_table(dir_fd, name, name, FALSE);
	case KMT_CAPTURE_FILE_TEMPORARY:
		table = g_strndup(name,
				  strlen(name) - strlen(KMT_CAPTURE_TEMPORARY));
		return !listed && is_table(dir_fd, name, table, TRUE);
	default:
		return FALSE;
	}
}

/* Return whether the directory kmemtrace.new-<n> has a meta and records. */
static gboolean has_records(int dir_fd, const char *name)
{
	g_autoptr(GPtrArray) names = NULL;
	gboolean found = FALSE;
	struct stat st;
	int fd = open_subdirectory(dir_fd, name);

	if (fd < 0)
		return FALSE;
	if (is_regular(fd, KMT_CAPTURE_META))
		names = list_names(fd);
	for (guint i = 0; names && !found && i < names->len; i++) {
		KmtCaptureFile kind = kmt_capture_file(names->pdata[i]);

		found = (kind == KMT_CAPTURE_FILE_CPU ||
			 kind == KMT_CAPTURE_FILE_ZSTD_CPU) &&
			fstatat(fd, names->pdata[i], &st,
				AT_SYMLINK_NOFOLLOW) == 0 &&
			st.st_size > 0;
	}
	close(fd);
	return found;
}

static void take_name(KmtCaptureContents *contents, int dir_fd,
		      const char *name, const Members *members)
{
	if (kmt_capture_is_new(name) && is_directory(dir_fd, name)) {
		g_ptr_array_add(has_records(dir_fd, name) ? contents->recorded
							  : contents->empty,
				g_strdup(name));
		return;
	}
	/* The replacement renames the new capture's directory to this name. */
	if (g_str_equal(name, KMT_CAPTURE_COMPLETE) &&
	    !is_directory(dir_fd, name) && !contents->foreign)
		contents->foreign = g_strdup(name);
	if (kmt_capture_file(name) == KMT_CAPTURE_FILE_OTHER)
		return;
	/* An earlier run that was killed may have left this file. */
	if (g_str_equal(name, KMT_CAPTURE_META KMT_CAPTURE_TEMPORARY) &&
	    is_regular(dir_fd, name))
		return;
	if (contents->has_capture && is_member(dir_fd, members, name) &&
	    !is_directory(dir_fd, name))
		return;
	if (!contents->foreign)
		contents->foreign = g_strdup(name);
}

KmtCaptureContents *kmt_capture_contents_read(int dir_fd, const char *path,
					      GError **error)
{
	g_autoptr(KmtCaptureContents) contents = g_new0(KmtCaptureContents, 1);
	g_autoptr(GPtrArray) names = list_names(dir_fd);
	g_autoptr(GKeyFile) meta = NULL;
	g_auto(Members) members = {NULL};

	contents->recorded = g_ptr_array_new_with_free_func(g_free);
	contents->empty = g_ptr_array_new_with_free_func(g_free);
	if (!names) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_DIRECTORY, errno,
				      "cannot list the directory %s", path);
		return NULL;
	}
	contents->has_capture = is_regular(dir_fd, KMT_CAPTURE_META);
	if (contents->has_capture)
		meta = read_meta(dir_fd, KMT_CAPTURE_META);
	contents->cut_off =
		meta && g_key_file_has_key(meta, "capture", "complete", NULL) &&
		!g_key_file_get_boolean(meta, "capture", "complete", NULL);
	read_members(meta, &members);
	for (guint i = 0; i < names->len; i++)
		take_name(contents, dir_fd, names->pdata[i], &members);
	return g_steal_pointer(&contents);
}

void kmt_capture_contents_free(KmtCaptureContents *contents)
{
	if (!contents)
		return;
	g_free(contents->foreign);
	g_ptr_array_unref(contents->recorded);
	g_ptr_array_unref(contents->empty);
	g_free(contents);
}

void kmt_capture_replace_remove_subdirectory(int dir_fd, const char *name)
{
	g_autoptr(GPtrArray) names = NULL;
	int fd = open_subdirectory(dir_fd, name);

	if (fd < 0)
		return;
	names = list_names(fd);
	for (guint i = 0; names && i < names->len; i++) {
		KmtCaptureFile kind = kmt_capture_file(names->pdata[i]);

		if (kind != KMT_CAPTURE_FILE_OTHER &&
		    kind != KMT_CAPTURE_FILE_PACKED_CPU)
			unlinkat(fd, names->pdata[i], 0);
	}
	close(fd);
	unlinkat(dir_fd, name, AT_REMOVEDIR);
}

/* ---- replacement ---- */

typedef struct {
	int dir_fd;
	int new_fd; /* descriptor of kmemtrace.complete */
	const char *path;
} Replacement;

/*
 * Set an error from errno: which operation failed on which file. Return FALSE.
 */
static gboolean fail(const Replacement *r, const char *verb, const char *name,
		     GError **error)
{
	kmt_capture_set_errno(error, KMT_DAEMON_ERROR_DIRECTORY, errno,
			      "cannot %s %s/%s", verb, r->path, name);
	return FALSE;
}

static gboolean sync_names(const Replacement *r, int fd, GError **error)
{
	int errnum = kmt_capture_directory_sync(fd);

	if (errnum)
		kmt_capture_set_errno(
			error, kmt_capture_write_error_code(errnum), errnum,
			"cannot sync the directory %s", r->path);
	return errnum == 0;
}

/* Step 1: move the old kmemtrace.meta into kmemtrace.complete. */
static gboolean set_old_meta_aside(const Replacement *r, GError **error)
{
	if (!is_regular(r->dir_fd, KMT_CAPTURE_META) ||
	    !is_regular(r->new_fd, KMT_CAPTURE_META))
		return TRUE;
	if (renameat(r->dir_fd, KMT_CAPTURE_META, r->new_fd,
		     KMT_CAPTURE_OLD_META) < 0)
		return fail(r, "rename", KMT_CAPTURE_META, error);
	return sync_names(r, r->new_fd, error) &&
	       sync_names(r, r->dir_fd, error);
}

/* Step 2: remove the files of the old capture, its kmemtrace.meta last. */
static gboolean remove_old_files(const Replacement *r, GError **error)
{
	g_autoptr(GPtrArray) names = NULL;
	g_autoptr(GKeyFile) meta = NULL;
	g_auto(Members) members = {NULL};

	if (!is_regular(r->new_fd, KMT_CAPTURE_OLD_META))
		return TRUE;
	meta = read_meta(r->new_fd, KMT_CAPTURE_OLD_META);
	read_members(meta, &members);
	names = list_names(r->dir_fd);
	if (!names)
		return fail(r, "list", ".", error);
	for (guint i = 0; i < names->len; i++)
		if (is_member(r->dir_fd, &members, names->pdata[i]) &&
		    unlinkat(r->dir_fd, names->pdata[i], 0) < 0)
			return fail(r, "remove", names->pdata[i], error);
	if (!sync_names(r, r->dir_fd, error))
		return FALSE;
	if (unlinkat(r->new_fd, KMT_CAPTURE_OLD_META, 0) < 0)
		return fail(r, "remove",
			    KMT_CAPTURE_COMPLETE "/" KMT_CAPTURE_OLD_META,
			    error);
	return sync_names(r, r->new_fd, error);
}

/* Move a file without overwriting a file that was created meanwhile. */
static gboolean move_file(const Replacement *r, const char *name,
			  GError **error)
{
	struct stat st;
	int result =
		renameat2(r->new_fd, name, r->dir_fd, name, RENAME_NOREPLACE);

	/* Some file systems lack RENAME_NOREPLACE. A file that is created after
	 * the check is then overwritten. */
	if (result < 0 && (errno == EINVAL || errno == ENOSYS)) {
		if (fstatat(r->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			errno = EEXIST;
		else
			result = renameat(r->new_fd, name, r->dir_fd, name);
	}
	return result == 0 || fail(r, "rename a file to", name, error);
}

/* Step 3: move the new files into the directory, kmemtrace.meta last. */
static gboolean move_new_files(const Replacement *r, GError **error)
{
	g_autoptr(GPtrArray) names = list_names(r->new_fd);
	gboolean has_meta = is_regular(r->new_fd, KMT_CAPTURE_META);

	if (!names)
		return fail(r, "list", KMT_CAPTURE_COMPLETE, error);
	for (guint i = 0; i < names->len; i++) {
		KmtCaptureFile kind = kmt_capture_file(names->pdata[i]);

		if ((kind == KMT_CAPTURE_FILE_TABLE ||
		     kind == KMT_CAPTURE_FILE_CPU ||
		     kind == KMT_CAPTURE_FILE_ZSTD_CPU) &&
		    !move_file(r, names->pdata[i], error))
			return FALSE;
	}
	return sync_names(r, r->dir_fd, error) &&
	       (!has_meta || (move_file(r, KMT_CAPTURE_META, error) &&
			      sync_names(r, r->dir_fd, error)));
}

gboolean kmt_capture_replace_is_interrupted(int dir_fd)
{
	return is_directory(dir_fd, KMT_CAPTURE_COMPLETE);
}

/*
 * Rename kmemtrace.complete to an unused name kmemtrace.left-<n>. Return the
 * name; NULL: error is set.
 */
static char *set_rest_aside(const Replacement *r, GError **error)
{
	for (guint n = 1; n < G_MAXUINT; n++) {
		g_autofree char *name =
			g_strdup_printf(KMT_CAPTURE_LEFT "%u", n);
		struct stat st;

		if (fstatat(r->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			continue;
		if (renameat(r->dir_fd, KMT_CAPTURE_COMPLETE, r->dir_fd,
			     name) == 0)
			return g_steal_pointer(&name);
		break;
	}
	fail(r, "rename", KMT_CAPTURE_COMPLETE, error);
	return NULL;
}

/* Step 4: remove or rename kmemtrace.complete. */
static gboolean remove_complete(const Replacement *r, char **left,
				GError **error)
{
	if (unlinkat(r->dir_fd, KMT_CAPTURE_COMPLETE, AT_REMOVEDIR) == 0)
		return TRUE;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return fail(r, "remove", KMT_CAPTURE_COMPLETE, error);
	*left = set_rest_aside(r, error);
	return *left != NULL;
}

gboolean kmt_capture_replace_run(int dir_fd, const char *path, char **left,
				 GError **error)
{
	Replacement r = {.dir_fd = dir_fd, .path = path};
	gboolean ok;

	*left = NULL;
	r.new_fd = open_subdirectory(dir_fd, KMT_CAPTURE_COMPLETE);
	if (r.new_fd < 0)
		return fail(&r, "open", KMT_CAPTURE_COMPLETE, error);
	ok = set_old_meta_aside(&r, error) && remove_old_files(&r, error) &&
	     move_new_files(&r, error);
	close(r.new_fd);
	return ok && remove_complete(&r, left, error);
}
