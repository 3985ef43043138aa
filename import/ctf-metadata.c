// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "import/byte-span.h"
#include "import/ctf-metadata.h"
#include "import/import.h"

/*
 * Header of a metadata packet, CTF 1.8 section 7.1: u32 magic, u8 uuid[16], u32
 * checksum, u32 content_size, u32 packet_size, five u8 values: the compression,
 * encryption, and checksum schemes, major and minor version. The sizes are in
 * bits and include the header.
 */
#define PACKET_MAGIC	    0x75D11D57U
#define PACKET_HEAD_BYTES   37
#define OFFSET_CONTENT_SIZE 24
#define OFFSET_PACKET_SIZE  28
#define OFFSET_COMPRESSION  32
#define OFFSET_MAJOR	    35

static guint32 load(const guint8 *bytes, gsize offset, gboolean swapped)
{
	guint32 value;

	memcpy(&value, bytes + offset, sizeof(value));
	return swapped ? GUINT32_SWAP_LE_BE(value) : value;
}

/*
 * Return the size in bytes of the packet at the start of the n bytes, or 0 if
 * the packet is incomplete, invalid, or not supported.
 */
static gsize packet_bytes(const guint8 *bytes, gsize n, gboolean swapped)
{
	guint32 content, all;

	if (n < PACKET_HEAD_BYTES || load(bytes, 0, swapped) != PACKET_MAGIC)
		return 0;
	content = load(bytes, OFFSET_CONTENT_SIZE, swapped);
	all = load(bytes, OFFSET_PACKET_SIZE, swapped);
	/* libbabeltrace2 does not support compression, encryption, or
	 * checksums. */
	if (bytes[OFFSET_COMPRESSION] || bytes[OFFSET_COMPRESSION + 1] ||
	    bytes[OFFSET_COMPRESSION + 2] || bytes[OFFSET_MAJOR] != 1)
		return 0;
	if (content % 8 || all % 8 || content < PACKET_HEAD_BYTES * 8 ||
	    all < content || all / 8 > n)
		return 0;
	return all / 8;
}

gboolean kmt_ctf_metadata_is_complete(const guint8 *bytes, gsize n)
{
	gboolean swapped;

	if (n < sizeof(guint32))
		return n > 0;
	swapped = load(bytes, 0, TRUE) == PACKET_MAGIC;
	if (!swapped && load(bytes, 0, FALSE) != PACKET_MAGIC)
		return TRUE;
	while (n) {
		gsize size = packet_bytes(bytes, n, swapped);

		if (size == 0)
			return FALSE;
		bytes += size;
		n -= size;
	}
	return TRUE;
}

static gboolean check_files(const char *path, GError **error)
{
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *file = g_build_filename(path, name, NULL);

		if (!g_file_test(file, G_FILE_TEST_EXISTS) ||
		    g_file_test(file, G_FILE_TEST_IS_REGULAR) ||
		    g_file_test(file, G_FILE_TEST_IS_DIR))
			continue;
		g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
			    "%s is no regular file: copy the trace without it",
			    file);
		return FALSE;
	}
	return TRUE;
}

gboolean kmt_ctf_check(const char *dir, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "metadata", NULL);
	GMappedFile *file = g_mapped_file_new(path, FALSE, error);
	gboolean is_complete;

	if (!file)
		return FALSE;
	is_complete = kmt_ctf_metadata_is_complete(
		(const guint8 *)g_mapped_file_get_contents(file),
		g_mapped_file_get_length(file));
	g_mapped_file_unref(file);
	if (is_complete)
		return check_files(dir, error);
	g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
		    "its file %s is cut off or damaged: copy it again, or "
		    "record again",
		    path);
	return FALSE;
}
