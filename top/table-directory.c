// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/table-directory.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/capture/names.h"
#include "top/frame-reader.h"

/* Limit of the CPUs of a stream. Linux supports no more. */
#define MAX_CPUS 8192u

/* Limit of the tables, so that a damaged stream does not fill the disk. */
#define MAX_TABLE_BYTES (G_GUINT64_CONSTANT(1) << 32)

struct KmtTopTables {
	char *path;
	GKeyFile *meta;
	/* The table whose parts arrive, without the parts of the header. */
	KmtStreamTable current;
	int fd;		/* of current; -1: none */
	guint64 n_done; /* bytes of the new text of current so far */
};

static gboolean fail_errno(GError **error, const char *what, const char *path)
{
	g_set_error(error, KMT_TOP_ERROR, KMT_TOP_ERROR_FILE,
		    "cannot %s %s: %s; set TMPDIR to a directory with room",
		    what, path, g_strerror(errno));
	return FALSE;
}

static gboolean fail_table(GError **error, const char *what)
{
	g_set_error(error, KMT_TOP_ERROR, KMT_TOP_ERROR_DAMAGED,
		    "the stream is damaged: %s", what);
	return FALSE;
}

KmtTopTables *kmt_top_tables_new(GError **error)
{
	g_autoptr(GError) reason = NULL;
	char *path = g_dir_make_tmp("kmemtrace-top-XXXXXX", &reason);
	KmtTopTables *tables;

	if (!path) {
		g_set_error(error, KMT_TOP_ERROR, KMT_TOP_ERROR_FILE,
			    "cannot create a directory for the tables: %s; set "
			    "TMPDIR to a directory with room",
			    reason->message);
		return NULL;
	}
	tables = g_new0(KmtTopTables, 1);
	tables->path = path;
	tables->fd = -1;
	return tables;
}

static void close_table(KmtTopTables *tables)
{
	if (tables->fd >= 0)
		close(tables->fd);
	tables->fd = -1;
}

void kmt_top_tables_free(KmtTopTables *tables)
{
	GDir *dir;
	const char *name;

	if (!tables)
		return;
	close_table(tables);
	dir = g_dir_open(tables->path, 0, NULL);
	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path =
			g_build_filename(tables->path, name, NULL);

		(void)g_unlink(path);
	}
	if (dir)
		g_dir_close(dir);
	(void)g_rmdir(tables->path);
	g_clear_pointer(&tables->meta, g_key_file_unref);
	g_free(tables->path);
	g_free(tables);
}

const char *kmt_top_tables_path(const KmtTopTables *tables)
{
	return tables->path;
}

/* ---- tables ---- */

/* Return the constant name that equals that of the part; NULL: unknown. */
static const char *known_name(const KmtStreamTable *part)
{
	guint i;

	if (!memchr(part->name, '\0', sizeof(part->name)))
		return NULL;
	for (i = 0; kmt_capture_tables[i]; i++)
		if (!strcmp(kmt_capture_tables[i], part->name))
			return kmt_capture_tables[i];
	return NULL;
}

static char *temporary_path(const KmtTopTables *tables, const char *name)
{
	return g_strdup_printf("%s/%s" KMT_CAPTURE_TEMPORARY, tables->path,
			       name);
}

static gboolean write_all(KmtTopTables *tables, const guint8 *data, gsize n,
			  GError **error)
{
	while (n) {
		gssize written = write(tables->fd, data, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return fail_errno(error, "write a table in",
					  tables->path);
		data += written;
		n -= (gsize)written;
		tables->n_done += (gsize)written;
	}
	return TRUE;
}

/* Begin the new text of a table with the bytes that remain of the old one. */
static gboolean begin_table(KmtTopTables *tables, const KmtStreamTable *part,
			    GError **error)
{
	g_autofree char *old = g_build_filename(tables->path, part->name, NULL);
	g_autofree char *new = temporary_path(tables, part->name);
	g_autofree char *text = NULL;
	gsize n = 0;

	close_table(tables);
	tables->current = *part;
	tables->n_done = 0;
	if (part->n_kept &&
	    (!g_file_get_contents(old, &text, &n, NULL) || n < part->n_kept))
		return fail_table(error, "a table lacks its beginning");
	tables->fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (tables->fd < 0)
		return fail_errno(error, "create", new);
	return write_all(tables, (const guint8 *)text, part->n_kept, error);
}

/* Replace the old text. Another thread may read it meanwhile. */
static gboolean finish_table(KmtTopTables *tables, GError **error)
{
	const char *name = tables->current.name;
	g_autofree char *old = g_build_filename(tables->path, name, NULL);
	g_autofree char *new = temporary_path(tables, name);

	close_table(tables);
	if (g_rename(new, old) < 0)
		return fail_errno(error, "rename", new);
	return TRUE;
}

gboolean kmt_top_tables_add(KmtTopTables *tables, const guint8 *payload,
			    gsize length, const char **changed, GError **error)
{
	KmtStreamTable part;
	const char *name;
	gsize n;

	*changed = NULL;
	if (length < sizeof(part))
		return fail_table(error, "the head of a table is incomplete");
	memcpy(&part, payload, sizeof(part));
	n = length - sizeof(part);
	name = known_name(&part);
	if (!name)
		return TRUE;
	if (part.n_kept > part.offset || part.offset > part.total ||
	    n > part.total - part.offset || part.total > MAX_TABLE_BYTES)
		return fail_table(error, "the size of a table is invalid");
	if (part.offset == part.n_kept && !begin_table(tables, &part, error))
		return FALSE;
	if (tables->fd < 0 || strcmp(tables->current.name, part.name) != 0 ||
	    part.offset != tables->n_done ||
	    part.total != tables->current.total)
		return fail_table(error, "a part of a table is missing");
	if (!write_all(tables, payload + sizeof(part), n, error))
		return FALSE;
	if (tables->n_done < part.total)
		return TRUE;
	*changed = name;
	return finish_table(tables, error);
}

/* ---- kmemtrace.meta ---- */

gboolean kmt_top_tables_set_meta(KmtTopTables *tables, const guint8 *payload,
				 gsize length, GError **error)
{
	g_autoptr(GKeyFile) meta = g_key_file_new();

	if (!g_key_file_load_from_data(meta, (const char *)payload, length,
				       G_KEY_FILE_NONE, NULL) ||
	    !g_key_file_has_group(meta, "capture"))
		return fail_table(error, "its kmemtrace.meta is invalid");
	g_clear_pointer(&tables->meta, g_key_file_unref);
	tables->meta = g_steal_pointer(&meta);
	return TRUE;
}

GKeyFile *kmt_top_tables_meta(const KmtTopTables *tables)
{
	return tables->meta;
}

static gboolean add_cpu_file(const KmtTopTables *tables, guint cpu,
			     GError **error)
{
	g_autofree char *path =
		g_strdup_printf("%s/cpu%u.out", tables->path, cpu);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return fail_errno(error, "create", path);
	close(fd);
	return TRUE;
}

/* Create the file of each CPU: those of kmemtrace.meta, and all that the
 * machine can have, because a CPU may come online later. */
static gboolean add_cpu_files(const KmtTopTables *tables, GKeyFile *meta,
			      const KmtStreamHeader *header, GError **error)
{
	g_auto(GStrv) groups = g_key_file_get_groups(meta, NULL);
	guint cpu, i, n = 0;

	for (i = 0; groups[i]; i++) {
		g_autofree char *name = g_strconcat(groups[i], ".out", NULL);

		g_key_file_remove_key(meta, groups[i], "bytes", NULL);
		g_key_file_remove_key(meta, groups[i], "records", NULL);
		g_key_file_remove_key(meta, groups[i], "overruns", NULL);
		if (kmt_capture_file(name) != KMT_CAPTURE_FILE_CPU ||
		    !kmt_capture_parse_cpu(name, &cpu, NULL))
			continue;
		if (++n > MAX_CPUS)
			return fail_table(
				error, "its kmemtrace.meta has too many CPUs");
		if (!add_cpu_file(tables, cpu, error))
			return FALSE;
	}
	for (cpu = 0; cpu < MIN(header->n_cpus, MAX_CPUS); cpu++)
		if (!add_cpu_file(tables, cpu, error))
			return FALSE;
	return TRUE;
}

KmtInputCapture *kmt_top_tables_open(KmtTopTables *tables,
				     const KmtStreamHeader *header,
				     GError **error)
{
	const char *const operands[] = {tables->path, NULL};
	g_autoptr(GKeyFile) meta = g_key_file_new();
	g_autofree char *text = g_key_file_to_data(tables->meta, NULL, NULL);
	g_autofree char *path =
		g_build_filename(tables->path, KMT_CAPTURE_META, NULL);

	g_key_file_load_from_data(meta, text, strlen(text), G_KEY_FILE_NONE,
				  NULL);
	if (!add_cpu_files(tables, meta, header, error))
		return NULL;
	g_key_file_remove_key(meta, "capture", "overruns", NULL);
	g_key_file_set_boolean(meta, "capture", "complete", TRUE);
	g_key_file_set_uint64(meta, "capture", "record_size",
			      header->record_bytes);
	/* The header has been checked; without this key, the input library
	 * guesses the format of files that are still empty. */
	g_key_file_set_string(meta, "capture", "byte_order",
			      G_BYTE_ORDER == G_LITTLE_ENDIAN ? "little"
							      : "big");
	if (!g_key_file_save_to_file(meta, path, error))
		return NULL;
	return kmt_input_capture_open(operands, NULL, error);
}
