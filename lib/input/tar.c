// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "lib/capture/names.h"
#include "lib/input/archive.h"
#include "lib/input/capture-private.h"
#include "lib/input/spool.h"
#include "lib/input/record-stream.h"

typedef struct {
	char *member; /* name of the member in the tar */
	char *name;   /* last component of the member name */
	char *path; /* /proc/self/fd path of the temporary file; valid while fd
		     * is open */
	int fd;
} MetaMember;

typedef struct {
	KmtInputCapture *capture;
	/*
	 * Owner of the mapping of the tar file. The cpu files point into this
	 * mapping if the tar is not compressed. file->mapping is NULL if the
	 * tar was not mapped, for example because it came from a pipe.
	 */
	KmtInputCpuFile *file;
	char *path;
	char *directory; /* directory of the cpu files in the tar; NULL before
			  * the first cpu file */
	char *defect; /* reason why the tar cannot be read further; or NULL */
	GPtrArray *meta_members; /* array of MetaMember: copies of
				  * kmemtrace.meta and the tables */
} TarCapture;

static void meta_member_free(gpointer data)
{
	MetaMember *text = data;

	close(text->fd);
	g_free(text->member);
	g_free(text->name);
	g_free(text->path);
	g_free(text);
}

void kmt_input_tar_free(gpointer data)
{
	TarCapture *tar = data;

	if (tar->file) {
		kmt_input_cpu_file_unmap(tar->file);
		g_free(tar->file);
	}
	g_ptr_array_unref(tar->meta_members);
	g_free(tar->path);
	g_free(tar->directory);
	g_free(tar->defect);
	g_free(tar);
}

char *kmt_input_tar_path(gconstpointer data, const char *name)
{
	const TarCapture *tar = data;
	guint i;

	for (i = 0; i < tar->meta_members->len; i++) {
		const MetaMember *text = tar->meta_members->pdata[i];

		if (strcmp(text->name, name) == 0)
			return g_strdup(text->path);
	}
	return NULL;
}

char *kmt_input_tar_display_path(const KmtInputCapture *capture,
				 const char *path)
{
	const TarCapture *tar = capture->tar;
	guint i;

	for (i = 0; i < tar->meta_members->len; i++) {
		const MetaMember *text = tar->meta_members->pdata[i];

		if (strcmp(text->path, path) == 0)
			return g_strdup_printf("%s:%s", tar->path,
					       text->member);
	}
	return NULL;
}

/*
 * Copy the available part of a member to a temporary file. what names the
 * member in messages. On failure return NULL and set *error.
 */
static KmtInputSpool *spool(const KmtInputTarMember *member, const char *what,
			    GError **error)
{
	g_autoptr(KmtInputSpool) spool = kmt_input_spool_new(what, error);
	gboolean ok;

	if (!spool)
		return NULL;
	ok = member->data ? kmt_input_spool_add(spool, member->data, member->n,
						what, error)
			  : kmt_input_spool_add_stream(spool, member->bytes,
						       what, error);
	return ok ? g_steal_pointer(&spool) : NULL;
}

/* Return the name of a member without "./" at its start. */
static const char *skip_dot(const char *name)
{
	while (g_str_has_prefix(name, "./"))
		for (name++; *name == '/'; name++)
			;
	return name;
}

/*
 * Remove the earlier member with the same name, because the extraction of a tar
 * keeps the last one.
 */
static void remove_earlier(TarCapture *tar, const char *member)
{
	guint i;

	for (i = tar->meta_members->len; i-- > 0;) {
		const MetaMember *text = tar->meta_members->pdata[i];

		if (strcmp(skip_dot(text->member), skip_dot(member)) == 0)
			g_ptr_array_remove_index(tar->meta_members, i);
	}
}

static gboolean add_meta_member(TarCapture *tar,
				const KmtInputTarMember *member,
				const char *name, GError **error)
{
	g_autofree char *what =
		g_strdup_printf("%s:%s", tar->path, member->name);
	g_autoptr(KmtInputSpool) s = spool(member, what, error);
	MetaMember *text;

	if (!s || !kmt_input_spool_flush(s, what, error))
		return FALSE;
	remove_earlier(tar, member->name);
	text = g_new0(MetaMember, 1);
	text->fd = s->fd;
	s->fd = -1;
	text->member = g_strdup(member->name);
	text->name = g_strdup(name);
	text->path = g_strdup_printf("/proc/self/fd/%d", text->fd);
	g_ptr_array_add(tar->meta_members, text);
	return TRUE;
}

/*
 * Set the content of file, a new cpu file of the capture, to that of a member.
 * Without compression, the records are a part of the mapped tar if possible,
 * otherwise a mapped temporary file. A compressed member becomes a stream.
 */
static gboolean add_cpu_file(TarCapture *tar, KmtInputCpuFile *file,
			     const KmtInputTarMember *member, GError **error)
{
	g_autoptr(KmtInputSpool) s = NULL;
	gboolean is_tar;

	if (member->data) {
		file->map = member->n ? member->data : NULL;
		file->size = member->n;
	} else {
		s = spool(member, file->path, error);
		if (!s ||
		    !kmt_input_spool_map(s, &file->map, file->path, error))
			return FALSE;
		file->size = file->mapping_size = s->size;
		file->mapping = (gpointer)file->map;
	}
	if (member->truncated)
		kmt_input_cpu_file_set_defect(file, "the tar ends in it");
	else if (member->bytes && member->bytes->defect)
		kmt_input_cpu_file_set_defect(file, member->bytes->defect);
	return kmt_input_decompress_file(file, &is_tar, error);
}

/*
 * Check that a cpu file is in the same directory as the other cpu files. A tar
 * may contain unrelated files, but the cpu files must belong to one capture. If
 * the directory differs, return FALSE and set *error.
 */
static gboolean same_directory(TarCapture *tar, const KmtInputTarMember *member,
			       GError **error)
{
	g_autofree char *dir = g_path_get_dirname(skip_dot(member->name));

	if (!tar->directory)
		tar->directory = g_steal_pointer(&dir);
	else if (strcmp(tar->directory, dir) != 0) {
		g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_FORMAT,
			    "%s has files of more than one capture, in %s "
			    "and in %s: unpack the tar and specify one "
			    "directory",
			    tar->path, tar->directory, dir);
		return FALSE;
	}
	return TRUE;
}

static gboolean add_member(gpointer user, const KmtInputTarMember *member,
			   GError **error)
{
	g_autofree char *name = g_path_get_basename(member->name);
	g_autofree char *path = NULL;
	TarCapture *tar = user;
	KmtCaptureFile kind = kmt_capture_file(name);
	guint cpu;

	if (kind == KMT_CAPTURE_FILE_META || kind == KMT_CAPTURE_FILE_TABLE)
		return add_meta_member(tar, member, name, error);
	if (!kmt_input_parse_cpu_name(name, &cpu))
		return TRUE;
	if (!same_directory(tar, member, error))
		return FALSE;
	if (tar->capture->files->len + 1 >= KMT_INPUT_MAX_FILES) {
		g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_FORMAT,
			    "%s has more than %d cpu files", tar->path,
			    KMT_INPUT_MAX_FILES - 1);
		return FALSE;
	}
	path = g_strdup_printf("%s:%s", tar->path, member->name);
	return add_cpu_file(tar,
			    kmt_input_capture_add_file(tar->capture, path, cpu),
			    member, error);
}

/*
 * Remove the metadata members that are not in the directory of the cpu files,
 * because they belong to another capture.
 */
static void drop_foreign_members(TarCapture *tar)
{
	guint i;

	for (i = tar->meta_members->len; i-- > 0;) {
		const MetaMember *text = tar->meta_members->pdata[i];
		g_autofree char *dir =
			g_path_get_dirname(skip_dot(text->member));

		if (strcmp(dir, tar->directory) != 0)
			g_ptr_array_remove_index(tar->meta_members, i);
	}
}

gboolean kmt_input_open_tar(KmtInputCapture *capture, KmtInputCpuFile *file,
			    GError **error)
{
	TarCapture *tar = g_new0(TarCapture, 1);
	g_autoptr(KmtInputRecordStream) stream = g_steal_pointer(&file->stream);

	tar->capture = capture;
	tar->path = g_strdup(file->path);
	tar->meta_members = g_ptr_array_new_with_free_func(meta_member_free);
	tar->file = g_new0(KmtInputCpuFile, 1);
	tar->file->mapping = g_steal_pointer(&file->mapping);
	tar->file->mapping_size = file->mapping_size;
	capture->tar = tar;
	capture->directory = g_strdup(file->path);
	if (!kmt_input_tar_foreach(file->map, file->size,
				   stream ? stream->bytes : NULL, tar->path,
				   add_member, tar, &tar->defect, error))
		return FALSE;
	/* Remove the tar from the list of files. The tar was added first. */
	g_ptr_array_remove_index(capture->files, 0);
	if (capture->files->len == 0) {
		g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_NO_FILES,
			    "no cpu<n>.out in %s: %s", tar->path,
			    tar->defect ? tar->defect
					: "not the tar of a capture");
		return FALSE;
	}
	/*
	 * The tar cannot be read beyond the defect, so cpu files may be
	 * missing. Assign the defect to the last cpu file that was read.
	 */
	if (tar->defect)
		kmt_input_cpu_file_set_defect(
			g_ptr_array_index(capture->files,
					  capture->files->len - 1),
			tar->defect);
	drop_foreign_members(tar);
	return TRUE;
}
