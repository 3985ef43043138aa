// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "import/import.h"
#include "import/unpack.h"
#include "lib/input/libarchive.h"

#define NONE "none"
#define ZSTD "zstd"
#define ZLIB "zlib"

static gboolean fail_with_command(const char *algorithm, const char *why,
				  const char *path, GError **error)
{
	g_autofree char *quoted = g_shell_quote(path);

	g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
		    "it is compressed with %.32s, and %s: convert it first, "
		    "with trace-cmd convert --file-version 6 --compression "
		    "none -i %s -o plain.dat",
		    algorithm, why, quoted);
	return FALSE;
}

#ifdef HAVE_LIBARCHIVE

/* Sizes of zlib's header, and of the checksum behind its data. */
#define ZLIB_HEAD_BYTES 2
#define ZLIB_TAIL_BYTES 4
#define ADLER_MODULUS	65521

static const KmtInputLibarchive *lib;

gboolean kmt_unpack_is_supported(const char *algorithm, const char *path,
				 GError **error)
{
	g_autoptr(GError) problem = NULL;

	if (g_str_equal(algorithm, NONE))
		return TRUE;
	if (!g_str_equal(algorithm, ZSTD) && !g_str_equal(algorithm, ZLIB))
		return fail_with_command(algorithm,
					 "kmemtrace-import reads zstd and zlib",
					 path, error);
	lib = kmt_input_libarchive_get(&problem);
	return lib ||
	       fail_with_command(algorithm, problem->message, path, error);
}

/*
 * Decompress the stream into to[], which has room for n bytes. Returns the
 * number of decompressed bytes.
 */
static gsize read_stream(const void *stream, gsize n_stream, guint8 *to,
			 gsize n)
{
	struct archive *archive = lib->archive_read_new();
	struct archive_entry *entry;
	la_ssize_t n_read = 0;
	gsize done = 0;

	if (!archive)
		return 0;
	lib->archive_read_support_filter_zstd(archive);
	lib->archive_read_support_filter_gzip(archive);
	lib->archive_read_support_format_raw(archive);
	if (lib->archive_read_open_memory(archive, stream, n_stream) ==
		    ARCHIVE_OK &&
	    lib->archive_read_next_header(archive, &entry) == ARCHIVE_OK)
		while (done < n && (n_read = lib->archive_read_data(
					    archive, to + done, n - done)) > 0)
			done += (gsize)n_read;
	lib->archive_read_free(archive);
	return done;
}

static guint32 adler32(const guint8 *data, gsize n)
{
	guint32 a = 1, b = 0;

	for (gsize i = 0; i < n; i++) {
		a = (a + data[i]) % ADLER_MODULUS;
		b = (b + a) % ADLER_MODULUS;
	}
	return b << 16 | a;
}

/*
 * Decompress a zlib block. libarchive reads gzip but not zlib, so the function
 * replaces zlib's header with that of gzip, and its trailer with zeros, because
 * libarchive does not check the trailer of gzip.
 */
static gboolean unpack_zlib(const guint8 *packed, gsize n_packed, guint8 *to,
			    gsize n)
{
	static const guint8 head[10] = {0x1f, 0x8b, 8};
	g_autoptr(GByteArray) stream = g_byte_array_new();
	static const guint8 tail[8];
	guint32 sum;

	if (n_packed < ZLIB_HEAD_BYTES + ZLIB_TAIL_BYTES ||
	    n_packed > G_MAXINT32)
		return FALSE;
	g_byte_array_append(stream, head, sizeof(head));
	g_byte_array_append(
		stream, packed + ZLIB_HEAD_BYTES,
		(guint)(n_packed - ZLIB_HEAD_BYTES - ZLIB_TAIL_BYTES));
	g_byte_array_append(stream, tail, sizeof(tail));
	memcpy(&sum, packed + n_packed - ZLIB_TAIL_BYTES, sizeof(sum));
	return read_stream(stream->data, stream->len, to, n) == n &&
	       GUINT32_FROM_BE(sum) == adler32(to, n);
}

gboolean kmt_unpack_block(const char *algorithm, const guint8 *packed,
			  gsize n_packed, guint8 *to, gsize n)
{
	if (g_str_equal(algorithm, ZLIB))
		return unpack_zlib(packed, n_packed, to, n);
	return g_str_equal(algorithm, ZSTD) && lib &&
	       read_stream(packed, n_packed, to, n) == n;
}

#else

gboolean kmt_unpack_is_supported(const char *algorithm, const char *path,
				 GError **error)
{
	return g_str_equal(algorithm, NONE) ||
	       fail_with_command(algorithm,
				 "kmemtrace-import was built without "
				 "libarchive",
				 path, error);
}

gboolean kmt_unpack_block(G_GNUC_UNUSED const char *algorithm,
			  G_GNUC_UNUSED const guint8 *packed,
			  G_GNUC_UNUSED gsize n_packed,
			  G_GNUC_UNUSED guint8 *to, G_GNUC_UNUSED gsize n)
{
	return FALSE;
}

#endif
