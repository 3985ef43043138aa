// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <gmodule.h>

#include "import/import.h"
#include "import/perf-zstd.h"
#include "lib/base/dlopen-note.h"

/* The ABI of the functions and structs below is stable since zstd 1.0. */
#define SONAME "libzstd.so.1"

KMT_DLOPEN_NOTE("zstd", "Reads recordings of perf record -z", "suggested",
		SONAME);

#define CHUNK_BYTES ((gsize)64 * 1024)

typedef struct {
	const void *data;
	size_t size;
	size_t position;
} InBuffer;

typedef struct {
	void *data;
	size_t size;
	size_t position;
} OutBuffer;

static struct {
	void *(*create)(void);
	size_t (*destroy)(void *stream);
	size_t (*decompress)(void *stream, OutBuffer *out, InBuffer *in);
	unsigned (*is_error)(size_t result);
} library;

struct KmtPerfZstd {
	void *stream;
};

static gboolean load(GError **error)
{
	static const struct {
		const char *name;
		gpointer *function;
	} functions[] = {
		{"ZSTD_createDStream", (gpointer *)&library.create},
		{"ZSTD_freeDStream", (gpointer *)&library.destroy},
		{"ZSTD_decompressStream", (gpointer *)&library.decompress},
		{"ZSTD_isError", (gpointer *)&library.is_error},
	};
	GModule *module = g_module_open(SONAME, G_MODULE_BIND_LAZY);
	gboolean found = module != NULL;

	for (gsize i = 0; found && i < G_N_ELEMENTS(functions); i++)
		found = g_module_symbol(module, functions[i].name,
					functions[i].function);
	if (found) {
		g_module_make_resident(module);
		return TRUE;
	}
	if (module)
		g_module_close(module);
	library.create = NULL;
	g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_NO_LIBRARY,
		    "perf record -z compressed it, and " SONAME " cannot be "
		    "loaded: install libzstd1 (libzstd), or convert it first: "
		    "perf data convert -i perf.data --to-ctf ctf && "
		    "kmemtrace-import ctf OUTDIR");
	return FALSE;
}

KmtPerfZstd *kmt_perf_zstd_new(GError **error)
{
	KmtPerfZstd *zstd;
	void *stream;

	if (!library.create && !load(error))
		return NULL;
	stream = library.create();
	if (!stream) {
		kmt_import_fail(error, "it is compressed, and there is too "
				       "little memory to decompress it: free "
				       "some memory");
		return NULL;
	}
	zstd = g_new0(KmtPerfZstd, 1);
	zstd->stream = stream;
	return zstd;
}

void kmt_perf_zstd_free(KmtPerfZstd *zstd)
{
	if (!zstd)
		return;
	library.destroy(zstd->stream);
	g_free(zstd);
}

gboolean kmt_perf_zstd_append(KmtPerfZstd *zstd, const guint8 *data,
			      gsize n_bytes, gsize max_bytes, GByteArray *out,
			      GError **error)
{
	InBuffer in = {data, n_bytes, 0};
	gsize before = out->len, added = 0;
	gboolean full = TRUE;

	/* A full chunk can mean that more output is pending although all input
	 * was consumed. */
	while (in.position < in.size || full) {
		OutBuffer chunk = {NULL, CHUNK_BYTES, 0};
		gsize position_before = in.position;
		size_t result;

		g_byte_array_set_size(out,
				      (guint)(before + added + CHUNK_BYTES));
		chunk.data = out->data + before + added;
		result = library.decompress(zstd->stream, &chunk, &in);
		added += chunk.position;
		full = chunk.position == chunk.size;
		g_byte_array_set_size(out, (guint)(before + added));
		if (library.is_error(result) || added > max_bytes ||
		    (chunk.position == 0 && in.position == position_before &&
		     in.position < in.size))
			return kmt_import_fail(
				error, "it is damaged: a compressed record "
				       "cannot be decompressed: copy it again, "
				       "or record again");
	}
	return TRUE;
}
