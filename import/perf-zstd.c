// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "import/import.h"
#include "import/perf-zstd.h"
#include "lib/base/libzstd.h"

#define CHUNK_BYTES ((gsize)64 * 1024)

static gboolean check_library(GError **error)
{
	g_autoptr(GError) reason = NULL;

	if (kmt_libzstd_check(&reason))
		return TRUE;
	g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_NO_LIBRARY,
		    "perf record -z compressed it, and %s: install libzstd1 "
		    "(libzstd), or convert it first: "
		    "perf data convert -i perf.data --to-ctf ctf && "
		    "kmemtrace-import ctf OUTDIR",
		    reason->message);
	return FALSE;
}

#ifdef HAVE_LIBZSTD

struct KmtPerfZstd {
	const KmtLibzstd *lib;
	ZSTD_DStream *stream;
};

KmtPerfZstd *kmt_perf_zstd_new(GError **error)
{
	const KmtLibzstd *lib;
	ZSTD_DStream *stream;
	KmtPerfZstd *zstd;

	if (!check_library(error))
		return NULL;
	lib = kmt_libzstd_get(NULL);
	stream = lib->ZSTD_createDStream();
	if (!stream) {
		kmt_import_fail(error, "it is compressed, and there is too "
				       "little memory to decompress it: free "
				       "some memory");
		return NULL;
	}
	zstd = g_new0(KmtPerfZstd, 1);
	zstd->lib = lib;
	zstd->stream = stream;
	return zstd;
}

void kmt_perf_zstd_free(KmtPerfZstd *zstd)
{
	if (!zstd)
		return;
	zstd->lib->ZSTD_freeDStream(zstd->stream);
	g_free(zstd);
}

gboolean kmt_perf_zstd_append(KmtPerfZstd *zstd, const guint8 *data,
			      gsize n_bytes, gsize max_bytes, GByteArray *out,
			      GError **error)
{
	ZSTD_inBuffer in = {data, n_bytes, 0};
	gsize before = out->len, added = 0;
	gboolean full = TRUE;

	/* A full chunk can mean that more output is pending although all input
	 * was consumed. */
	while (in.pos < in.size || full) {
		ZSTD_outBuffer chunk = {NULL, CHUNK_BYTES, 0};
		gsize position_before = in.pos;
		size_t result;

		g_byte_array_set_size(out,
				      (guint)(before + added + CHUNK_BYTES));
		chunk.dst = out->data + before + added;
		result = zstd->lib->ZSTD_decompressStream(zstd->stream, &chunk,
							  &in);
		added += chunk.pos;
		full = chunk.pos == chunk.size;
		g_byte_array_set_size(out, (guint)(before + added));
		if (zstd->lib->ZSTD_isError(result) || added > max_bytes ||
		    (chunk.pos == 0 && in.pos == position_before &&
		     in.pos < in.size))
			return kmt_import_fail(
				error, "it is damaged: a compressed record "
				       "cannot be decompressed: copy it again, "
				       "or record again");
	}
	return TRUE;
}

#else

KmtPerfZstd *kmt_perf_zstd_new(GError **error)
{
	check_library(error);
	return NULL;
}

/* Without a decompressor, nothing calls the other function. */

void kmt_perf_zstd_free(KmtPerfZstd *zstd)
{
}

gboolean kmt_perf_zstd_append(KmtPerfZstd *zstd, const guint8 *data,
			      gsize n_bytes, gsize max_bytes, GByteArray *out,
			      GError **error)
{
	return FALSE;
}

#endif
