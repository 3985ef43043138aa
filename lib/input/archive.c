// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <string.h>

#include "lib/input/archive.h"
#include "lib/input/capture.h"
#include "lib/input/libarchive.h"

/* Where a tar says that it is one: POSIX's, and GNU's older one. */
#define TAR_MAGIC_AT 257
#define TAR_MAGIC    "ustar"

static const struct {
	guint8 n;
	guint8 bytes[4];
} packed_magics[] = {
	{2, {0x1f, 0x8b}},	       /* gzip */
	{4, {0x28, 0xb5, 0x2f, 0xfd}}, /* zstd */
	{4, {0x50, 0x2a, 0x4d, 0x18}}, /* zstd, with a frame to skip before */
};

gboolean kmt_is_packed(const guint8 *head, gsize n)
{
	guint i;

	for (i = 0; i < G_N_ELEMENTS(packed_magics); i++) {
		if (n >= packed_magics[i].n &&
		    memcmp(head, packed_magics[i].bytes, packed_magics[i].n) ==
			    0)
			return TRUE;
	}
	return FALSE;
}

gboolean kmt_is_tar(const guint8 *head, gsize n)
{
	return n >= TAR_MAGIC_AT + strlen(TAR_MAGIC) &&
	       memcmp(head + TAR_MAGIC_AT, TAR_MAGIC, strlen(TAR_MAGIC)) == 0;
}

#ifdef HAVE_LIBARCHIVE

/* What is used of the library. */
static const KmtLibarchive *lib;

/* what: the file is. */
static gboolean load(const char *path, const char *what, GError **error)
{
	g_autoptr(GError) e = NULL;

	lib = kmt_libarchive(&e);
	if (!lib)
		g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_FORMAT,
			    "cannot read %s: it is %s, and %s; install "
			    "libarchive, or unpack it first",
			    path, what, e->message);
	return lib != NULL;
}

/* What libarchive is given at a time; the tests take little. */
#ifndef STEP_BYTES
#define STEP_BYTES (128 * 1024)
#endif

typedef struct {
	KmtBytes base;
	KmtBytes *packed;
	struct archive *archive;
	guint8 *step;	     /* of packed */
	const guint8 *block; /* unpacked, and not read yet */
	gsize n_block;
} Unpacked;

static la_ssize_t read_step(struct archive *archive, void *user,
			    const void **step)
{
	Unpacked *u = user;
	gsize n = kmt_bytes_read(u->packed, u->step, STEP_BYTES);

	*step = u->step;
	if (n == 0 && u->packed->defect) {
		lib->archive_set_error(archive, EIO, "%s", u->packed->defect);
		return -1;
	}
	return (la_ssize_t)n;
}

/* What libarchive says, or ours where it says nothing. */
static const char *reason(struct archive *archive)
{
	const char *text = lib->archive_error_string(archive);

	return text ? text : "damaged data";
}

static gsize unpacked_pull(KmtBytes *bytes, guint8 *to, gsize n)
{
	Unpacked *u = (Unpacked *)bytes;
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
			kmt_bytes_set_defect(bytes, "%s", reason(u->archive));
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

static void unpacked_close(KmtBytes *bytes)
{
	Unpacked *u = (Unpacked *)bytes;

	lib->archive_read_free(u->archive);
	kmt_bytes_free(u->packed);
	g_free(u->step);
}

KmtBytes *kmt_unpack(KmtBytes *packed, const char *path, GError **error)
{
	struct archive_entry *entry;
	Unpacked *u;
	int status;

	if (!load(path, "compressed", error)) {
		kmt_bytes_free(packed);
		return NULL;
	}
	u = g_new0(Unpacked, 1);
	u->base.pull = unpacked_pull;
	u->base.close = unpacked_close;
	u->packed = packed;
	u->step = g_malloc(STEP_BYTES);
	u->archive = lib->archive_read_new();
	lib->archive_read_support_filter_gzip(u->archive);
	lib->archive_read_support_filter_zstd(u->archive);
	lib->archive_read_support_format_raw(u->archive);
	lib->archive_read_support_format_empty(u->archive);
	status = lib->archive_read_open(u->archive, u, NULL, read_step, NULL);
	if (status == ARCHIVE_OK)
		status = lib->archive_read_next_header(u->archive, &entry);
	/* Else libarchive would give what is packed as it is. */
	if (lib->archive_filter_code(u->archive, 0) == ARCHIVE_FILTER_NONE)
		kmt_bytes_set_defect(&u->base, "the beginning of the "
					       "compressed data is damaged");
	else if (status == ARCHIVE_OK)
		return &u->base;
	else if (status != ARCHIVE_EOF)
		kmt_bytes_set_defect(&u->base, "%s", reason(u->archive));
	g_clear_pointer(&u->archive, lib->archive_read_free);
	return &u->base;
}

/* ---- tars ---- */

typedef struct {
	KmtBytes base;
	struct archive *archive;
} MemberBytes;

static gsize member_pull(KmtBytes *bytes, guint8 *to, gsize n)
{
	MemberBytes *m = (MemberBytes *)bytes;
	la_ssize_t got = lib->archive_read_data(m->archive, to, n);

	if (got >= 0)
		return (gsize)got;
	kmt_bytes_set_defect(bytes, "%s", reason(m->archive));
	return 0;
}

typedef struct {
	struct archive *archive;
	const guint8 *data;
	gsize n;
	KmtMemberFunc func;
	gpointer user;
} Tar;

/*
 * libarchive gives pointers into the memory that it reads from, if the member
 * has no holes.
 */
static gboolean find_data(const Tar *tar, struct archive_entry *entry,
			  KmtMember *member)
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
	member->cut = member->n < (gsize)size;
	return TRUE;
}

static gboolean tell_member(Tar *tar, struct archive_entry *entry,
			    char **defect, GError **error)
{
	MemberBytes bytes = {.base = {.pull = member_pull},
			     .archive = tar->archive};
	KmtMember member = {.name = lib->archive_entry_pathname(entry)};
	gboolean ok;

	if (!member.name || lib->archive_entry_filetype(entry) != AE_IFREG)
		return TRUE;
	if (!find_data(tar, entry, &member))
		member.bytes = &bytes.base;
	ok = tar->func(tar->user, &member, error);
	if (bytes.base.head)
		g_byte_array_unref(bytes.base.head);
	if (bytes.base.defect && !*defect)
		*defect = g_strdup(bytes.base.defect);
	g_free(bytes.base.defect);
	return ok;
}

static gboolean read_members(Tar *tar, char **defect, GError **error)
{
	struct archive_entry *entry;
	int status;

	for (;;) {
		status = lib->archive_read_next_header(tar->archive, &entry);
		if (status == ARCHIVE_EOF)
			return TRUE;
		if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
			break;
		if (!tell_member(tar, entry, defect, error))
			return FALSE;
	}
	if (!*defect)
		*defect = g_strdup(reason(tar->archive));
	return TRUE;
}

gboolean kmt_tar_foreach(const guint8 *data, gsize n, KmtBytes *bytes,
			 const char *path, KmtMemberFunc func, gpointer user,
			 char **defect, GError **error)
{
	Tar tar = {.data = data, .n = n, .func = func, .user = user};
	Unpacked plain = {.packed = bytes};
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
						read_step, NULL);
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
	g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_FORMAT,
		    "cannot read %s: it is %s, and this program was built "
		    "without libarchive; unpack it first",
		    path, what);
}

KmtBytes *kmt_unpack(KmtBytes *packed, const char *path, GError **error)
{
	kmt_bytes_free(packed);
	set_error(path, "compressed", error);
	return NULL;
}

gboolean kmt_tar_foreach(const guint8 *data, gsize n, KmtBytes *bytes,
			 const char *path, KmtMemberFunc func, gpointer user,
			 char **defect, GError **error)
{
	set_error(path, "a tar", error);
	return FALSE;
}

#endif
