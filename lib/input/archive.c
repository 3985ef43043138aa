// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <string.h>

#include "lib/input/archive.h"
#include "lib/input/capture.h"
#include "lib/input/libarchive.h"

/*
 * Offset of the magic number in the header of a tar, in bytes. The magic
 * numbers of POSIX tar and of old GNU tar begin with the same five bytes.
 */
#define TAR_MAGIC_AT 257
#define TAR_MAGIC    "ustar"

static const struct {
	guint8 n;
	guint8 bytes[4];
} compression_signatures[] = {
	{2, {0x1f, 0x8b}},	       /* gzip */
	{4, {0x28, 0xb5, 0x2f, 0xfd}}, /* zstd */
	{4, {0x50, 0x2a, 0x4d, 0x18}}, /* zstd that begins with a skippable
					* frame of this magic number */
};

gboolean kmt_input_is_compressed(const guint8 *head, gsize n)
{
	guint i;

	for (i = 0; i < G_N_ELEMENTS(compression_signatures); i++) {
		if (n >= compression_signatures[i].n &&
		    memcmp(head, compression_signatures[i].bytes,
			   compression_signatures[i].n) == 0)
			return TRUE;
	}
	return FALSE;
}

gboolean kmt_input_is_tar(const guint8 *head, gsize n)
{
	return n >= TAR_MAGIC_AT + strlen(TAR_MAGIC) &&
	       memcmp(head + TAR_MAGIC_AT, TAR_MAGIC, strlen(TAR_MAGIC)) == 0;
}

#ifdef HAVE_LIBARCHIVE

/* Functions of the loaded libarchive; NULL before load() has succeeded. */
static const KmtInputLibarchive *lib;

/*
 * Load libarchive. On failure set *error, whose message names path and
 * describes the file as what, such as "compressed".
 */
static gboolean load(const char *path, const char *what, GError **error)
{
	g_autoptr(GError) e = NULL;

	lib = kmt_input_libarchive_get(&e);
	if (!lib)
		g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_FORMAT,
			    "cannot read %s: it is %s, and %s; install "
			    "libarchive, or unpack it first",
			    path, what, e->message);
	return lib != NULL;
}

/*
 * Number of bytes of a compressed file or tar that libarchive gets per call.
 * The fuzzers use fewer, to test the chunk ends.
 */
#ifndef STEP_BYTES
#define STEP_BYTES (128 * 1024)
#endif

typedef struct {
	KmtInputByteStream base;
	KmtInputByteStream *packed;
	struct archive *archive;
	guint8 *step; /* buffer of STEP_BYTES for the input of libarchive, owned
		       */
	const guint8 *block; /* next decompressed bytes to return, in memory of
			      * libarchive */
	gsize n_block;
} Decompressor;

static la_ssize_t read_chunk(struct archive *archive, void *user,
			     const void **step)
{
	Decompressor *u = user;
	gsize n = kmt_input_byte_stream_read(u->packed, u->step, STEP_BYTES);

	*step = u->step;
	if (n == 0 && u->packed->defect) {
		lib->archive_set_error(archive, EIO, "%s", u->packed->defect);
		return -1;
	}
	return (la_ssize_t)n;
}

/*
 * Return the error message of libarchive, or a default message if libarchive
 * has none.
 */
static const char *reason(struct archive *archive)
{
	const char *text = lib->archive_error_string(archive);

	return text ? text : "damaged data";
}

static gsize decompressor_pull(KmtInputByteStream *bytes, guint8 *to, gsize n)
{
	Decompressor *u = (Decompressor *)bytes;
	la_int64_t offset;
	const void *block;
	int status = ARCHIVE_OK;

	while (!u->n_block && u->archive && status == ARCHIVE_OK) {
		status = lib->archive_read_data_block(u->archive, &block,
						      &u->n_block, &offset);
		u->block = block;
	}
	if (status != ARCHIVE_OK) {
		u->n_block = 0;
		if (status != ARCHIVE_EOF)
			kmt_input_byte_stream_set_defect(bytes, "%s",
							 reason(u->archive));
		return 0;
	}
	n = MIN(n, u->n_block);
	if (!n)
		return 0;
	memcpy(to, u->block, n);
	u->block += n;
	u->n_block -= n;
	return n;
}

static void decompressor_close(KmtInputByteStream *bytes)
{
	Decompressor *u = (Decompressor *)bytes;

	lib->archive_read_free(u->archive);
	kmt_input_byte_stream_free(u->packed);
	g_free(u->step);
}

KmtInputByteStream *kmt_input_decompress(KmtInputByteStream *packed,
					 const char *path, GError **error)
{
	struct archive_entry *entry;
	Decompressor *u;
	int status;

	if (!load(path, "compressed", error)) {
		kmt_input_byte_stream_free(packed);
		return NULL;
	}
	u = g_new0(Decompressor, 1);
	u->base.pull = decompressor_pull;
	u->base.close = decompressor_close;
	u->packed = packed;
	u->step = g_malloc(STEP_BYTES);
	u->archive = lib->archive_read_new();
	lib->archive_read_support_filter_gzip(u->archive);
	lib->archive_read_support_filter_zstd(u->archive);
	lib->archive_read_support_format_raw(u->archive);
	lib->archive_read_support_format_empty(u->archive);
	status = lib->archive_read_open(u->archive, u, NULL, read_chunk, NULL);
	if (status == ARCHIVE_OK)
		status = lib->archive_read_next_header(u->archive, &entry);
	/* Without a recognized compression, libarchive would return the
	 * compressed bytes unchanged. Report a defect instead. */
	if (lib->archive_filter_code(u->archive, 0) == ARCHIVE_FILTER_NONE)
		kmt_input_byte_stream_set_defect(&u->base,
						 "the beginning of the "
						 "compressed data is damaged");
	else if (status == ARCHIVE_OK)
		return &u->base;
	else if (status != ARCHIVE_EOF)
		kmt_input_byte_stream_set_defect(&u->base, "%s",
						 reason(u->archive));
	g_clear_pointer(&u->archive, lib->archive_read_free);
	return &u->base;
}

/* ---- tar files ---- */

typedef struct {
	KmtInputByteStream base;
	struct archive *archive;
} MemberBytes;

static gsize member_pull(KmtInputByteStream *bytes, guint8 *to, gsize n)
{
	MemberBytes *m = (MemberBytes *)bytes;
	la_ssize_t got = lib->archive_read_data(m->archive, to, n);

	if (got >= 0)
		return (gsize)got;
	kmt_input_byte_stream_set_defect(bytes, "%s", reason(m->archive));
	return 0;
}

typedef struct {
	struct archive *archive;
	const guint8 *data;
	gsize n;
	KmtInputTarMemberFunc func;
	gpointer user;
} TarReader;

/*
 * If the content of a member is in the memory of the tar, set data, n and
 * truncated of *member and return TRUE. Return FALSE if the content must be
 * read from a stream, or cannot be read. libarchive returns pointers into the
 * memory of the tar, except for a sparse member.
 */
static gboolean find_mapped_data(const TarReader *tar,
				 struct archive_entry *entry,
				 KmtInputTarMember *member)
{
	la_int64_t size = lib->archive_entry_size(entry), offset;
	const void *block;
	gsize n, room;
	int status;

	if (!tar->data || lib->archive_entry_sparse_count(entry) > 0)
		return FALSE;
	status =
		lib->archive_read_data_block(tar->archive, &block, &n, &offset);
	if (status == ARCHIVE_EOF || (status == ARCHIVE_OK && n == 0)) {
		member->data = tar->data;
		return TRUE;
	}
	if (status != ARCHIVE_OK)
		return FALSE;
	member->data = block;
	g_return_val_if_fail(member->data >= tar->data &&
				     member->data < tar->data + tar->n,
			     FALSE);
	room = (gsize)(tar->data + tar->n - member->data);
	member->n = MIN(room, (gsize)size);
	member->truncated = member->n < (gsize)size;
	return TRUE;
}

static gboolean pass_member(TarReader *tar, struct archive_entry *entry,
			    char **defect, GError **error)
{
	MemberBytes bytes = {.base = {.pull = member_pull},
			     .archive = tar->archive};
	KmtInputTarMember member = {.name = lib->archive_entry_pathname(entry)};
	gboolean ok;

	if (!member.name || lib->archive_entry_filetype(entry) != AE_IFREG)
		return TRUE;
	if (!find_mapped_data(tar, entry, &member))
		member.bytes = &bytes.base;
	ok = tar->func(tar->user, &member, error);
	if (bytes.base.peeked)
		g_byte_array_unref(bytes.base.peeked);
	if (bytes.base.defect && !*defect)
		*defect = g_strdup(bytes.base.defect);
	g_free(bytes.base.defect);
	return ok;
}

static gboolean read_members(TarReader *tar, char **defect, GError **error)
{
	struct archive_entry *entry;
	int status;

	for (;;) {
		status = lib->archive_read_next_header(tar->archive, &entry);
		if (status == ARCHIVE_EOF)
			return TRUE;
		if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
			break;
		if (!pass_member(tar, entry, defect, error))
			return FALSE;
	}
	if (!*defect)
		*defect = g_strdup(reason(tar->archive));
	return TRUE;
}

gboolean kmt_input_tar_foreach(const guint8 *data, gsize n,
			       KmtInputByteStream *bytes, const char *path,
			       KmtInputTarMemberFunc func, gpointer user,
			       char **defect, GError **error)
{
	TarReader tar = {.data = data, .n = n, .func = func, .user = user};
	Decompressor plain = {.packed = bytes};
	gboolean ok = TRUE;
	int status;

	if (!load(path, "a tar", error))
		return FALSE;
	tar.archive = lib->archive_read_new();
	lib->archive_read_support_format_tar(tar.archive);
	if (data) {
		status = lib->archive_read_open_memory(tar.archive, data, n);
	} else {
		plain.step = g_malloc(STEP_BYTES);
		status = lib->archive_read_open(tar.archive, &plain, NULL,
						read_chunk, NULL);
	}
	if (status == ARCHIVE_OK)
		ok = read_members(&tar, defect, error);
	else
		*defect = g_strdup(reason(tar.archive));
	lib->archive_read_free(tar.archive);
	g_free(plain.step);
	return ok;
}

#else /* !HAVE_LIBARCHIVE */

static void set_error(const char *path, const char *what, GError **error)
{
	g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_FORMAT,
		    "cannot read %s: it is %s, and this program was built "
		    "without libarchive; unpack it first",
		    path, what);
}

KmtInputByteStream *kmt_input_decompress(KmtInputByteStream *packed,
					 const char *path, GError **error)
{
	kmt_input_byte_stream_free(packed);
	set_error(path, "compressed", error);
	return NULL;
}

gboolean kmt_input_tar_foreach(const guint8 *data, gsize n,
			       KmtInputByteStream *bytes, const char *path,
			       KmtInputTarMemberFunc func, gpointer user,
			       char **defect, GError **error)
{
	set_error(path, "a tar", error);
	return FALSE;
}

#endif
