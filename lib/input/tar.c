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
	char *member; /* its name in the tar */
	char *name;   /* its last part */
	char *path;   /* by which it can be opened, as long as fd is open */
	int fd;
} Text;

typedef struct {
	KmtCapture *capture;
	KmtCpuFile
		*file; /* has the memory that the tar is in, if it is mapped */
	char *path;
	char *directory; /* of the members; NULL: none so far */
	char *defect;
	GPtrArray *texts; /* of Text */
} Tar;

static void text_free(gpointer data)
{
	Text *text = data;

	close(text->fd);
	g_free(text->member);
	g_free(text->name);
	g_free(text->path);
	g_free(text);
}

void kmt_tar_free(gpointer data)
{
	Tar *tar = data;

	if (tar->file) {
		kmt_cpu_file_drop_base(tar->file);
		g_free(tar->file);
	}
	g_ptr_array_unref(tar->texts);
	g_free(tar->path);
	g_free(tar->directory);
	g_free(tar->defect);
	g_free(tar);
}

char *kmt_tar_path(gconstpointer data, const char *name)
{
	const Tar *tar = data;
	guint i;

	for (i = 0; i < tar->texts->len; i++) {
		const Text *text = tar->texts->pdata[i];

		if (strcmp(text->name, name) == 0)
			return g_strdup(text->path);
	}
	return NULL;
}

char *kmt_tar_path_name(const KmtCapture *capture, const char *path)
{
	const Tar *tar = capture->tar;
	guint i;

	for (i = 0; i < tar->texts->len; i++) {
		const Text *text = tar->texts->pdata[i];

		if (strcmp(text->path, path) == 0)
			return g_strdup_printf("%s:%s", tar->path,
					       text->member);
	}
	return NULL;
}

/* The member as a temporary file: all of it, or what there is. */
static KmtSpool *spool(const KmtMember *member, const char *what,
		       GError **error)
{
	g_autoptr(KmtSpool) spool = kmt_spool_new(what, error);
	gboolean ok;

	if (!spool)
		return NULL;
	ok = member->data
		     ? kmt_spool_add(spool, member->data, member->n, what,
				     error)
		     : kmt_spool_add_all(spool, member->bytes, what, error);
	return ok ? g_steal_pointer(&spool) : NULL;
}

static gboolean take_text(Tar *tar, const KmtMember *member, const char *name,
			  GError **error)
{
	g_autofree char *what =
		g_strdup_printf("%s:%s", tar->path, member->name);
	g_autoptr(KmtSpool) s = spool(member, what, error);
	Text *text;

	if (!s || !kmt_spool_write(s, what, error))
		return FALSE;
	text = g_new0(Text, 1);
	text->fd = s->fd;
	s->fd = -1;
	text->member = g_strdup(member->name);
	text->name = g_strdup(name);
	text->path = g_strdup_printf("/proc/self/fd/%d", text->fd);
	g_ptr_array_add(tar->texts, text);
	return TRUE;
}

/* The memory that it lies in is the tar's, or a temporary file's. */
static gboolean take_records(Tar *tar, KmtCpuFile *file,
			     const KmtMember *member, GError **error)
{
	g_autoptr(KmtSpool) s = NULL;
	gboolean is_tar;

	if (member->data) {
		file->map = member->n ? member->data : NULL;
		file->size = member->n;
	} else {
		s = spool(member, file->path, error);
		if (!s || !kmt_spool_map(s, &file->map, file->path, error))
			return FALSE;
		file->size = file->base_size = s->size;
		file->base = (gpointer)file->map;
	}
	if (member->cut)
		kmt_cpu_file_set_defect(file, "the tar ends in it");
	else if (member->bytes && member->bytes->defect)
		kmt_cpu_file_set_defect(file, member->bytes->defect);
	return kmt_unpack_file(file, &is_tar, error);
}

/* A tar may have more than the capture, but not more than one. */
static gboolean same_directory(Tar *tar, const KmtMember *member,
			       GError **error)
{
	g_autofree char *dir = g_path_get_dirname(member->name);

	if (!tar->directory)
		tar->directory = g_steal_pointer(&dir);
	else if (strcmp(tar->directory, dir) != 0) {
		g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_FORMAT,
			    "%s has files of more than one capture, in %s and "
			    "in %s: unpack it and give one directory",
			    tar->path, tar->directory, dir);
		return FALSE;
	}
	return TRUE;
}

static gboolean take_member(gpointer user, const KmtMember *member,
			    GError **error)
{
	g_autofree char *name = g_path_get_basename(member->name);
	g_autofree char *path = NULL;
	Tar *tar = user;
	KmtCaptureFile kind = kmt_capture_file(name);
	guint cpu;

	if (kind == KMT_CAPTURE_FILE_META || kind == KMT_CAPTURE_FILE_TABLE)
		return take_text(tar, member, name, error);
	if (!kmt_parse_cpu_name(name, &cpu))
		return TRUE;
	if (!same_directory(tar, member, error))
		return FALSE;
	if (tar->capture->files->len + 1 >= KMT_MAX_FILES) {
		g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_FORMAT,
			    "%s has more than %d cpu files", tar->path,
			    KMT_MAX_FILES - 1);
		return FALSE;
	}
	path = g_strdup_printf("%s:%s", tar->path, member->name);
	return take_records(tar, kmt_capture_add_file(tar->capture, path, cpu),
			    member, error);
}

/* Texts of another directory than the cpu files' are of another capture. */
static void drop_foreign_texts(Tar *tar)
{
	guint i;

	for (i = tar->texts->len; i-- > 0;) {
		const Text *text = tar->texts->pdata[i];
		g_autofree char *dir = g_path_get_dirname(text->member);

		if (strcmp(dir, tar->directory) != 0)
			g_ptr_array_remove_index(tar->texts, i);
	}
}

gboolean kmt_open_tar(KmtCapture *capture, KmtCpuFile *file, GError **error)
{
	Tar *tar = g_new0(Tar, 1);
	g_autoptr(KmtStream) stream = g_steal_pointer(&file->stream);

	tar->capture = capture;
	tar->path = g_strdup(file->path);
	tar->texts = g_ptr_array_new_with_free_func(text_free);
	tar->file = g_new0(KmtCpuFile, 1);
	tar->file->base = g_steal_pointer(&file->base);
	tar->file->base_size = file->base_size;
	capture->tar = tar;
	capture->directory = g_strdup(file->path);
	if (!kmt_tar_foreach(file->map, file->size,
			     stream ? stream->bytes : NULL, tar->path,
			     take_member, tar, &tar->defect, error))
		return FALSE;
	/* The tar was the first of the files. */
	g_ptr_array_remove_index(capture->files, 0);
	if (capture->files->len == 0) {
		g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_NO_FILES,
			    "no cpu<n>.out in %s: %s", tar->path,
			    tar->defect ? tar->defect
					: "not the tar of a capture");
		return FALSE;
	}
	/* Which files are behind that is not known. */
	if (tar->defect)
		kmt_cpu_file_set_defect(
			g_ptr_array_index(capture->files,
					  capture->files->len - 1),
			tar->defect);
	drop_foreign_texts(tar);
	return TRUE;
}
