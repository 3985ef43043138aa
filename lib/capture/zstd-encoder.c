// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <string.h>

#include "lib/base/libzstd.h"
#include "lib/capture/error.h"
#include "lib/capture/locked-buffer.h"
#include "lib/capture/zstd-encoder.h"

gboolean kmt_zstd_parse_level(const char *text, int *level, GError **error)
{
	guint64 n = KMT_ZSTD_LEVEL_DEFAULT;

	if (*text && !g_ascii_string_to_unsigned(
			     text, 10, 1, KMT_ZSTD_LEVEL_MAX, &n, NULL)) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "--compress '%s' is not a level from 1 to %d", text,
			    KMT_ZSTD_LEVEL_MAX);
		return FALSE;
	}
	*level = (int)n;
	return TRUE;
}

/* Load libzstd, or report why compression is not possible. */
static gboolean check_library(GError **error)
{
	g_autoptr(GError) reason = NULL;

	if (kmt_libzstd_check(&reason))
		return TRUE;
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_NO_ZSTD,
		    "cannot compress the capture: %s", reason->message);
	return FALSE;
}

#ifdef HAVE_LIBZSTD

/* Magic number of a frame that a decoder skips. Its size follows. */
#define SKIPPABLE_MAGIC 0x184d2a50

struct kmt_zstd_encoder {
	const KmtLibzstd *lib;
	ZSTD_CCtx *compressor;
	/*
	 * The fastest level of zstd leaves nearly all bytes uncompressed: on
	 * captures of boots, it takes 16 to 21 ns per event for copying and the
	 * checksum, level 1 takes 90 ns. A context of its own keeps its memory.
	 */
	ZSTD_CCtx *storer;
	KmtCaptureBuffer out;
	gsize fill; /* bytes in out */
};

static ZSTD_CCtx *new_context(const KmtLibzstd *lib, int level)
{
	ZSTD_CCtx *context = lib->ZSTD_createCCtx();

	if (!context)
		return NULL;
	lib->ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
	lib->ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 1);
	lib->ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	return context;
}

/*
 * Compress a frame by each context, whose first frame allocates its memory.
 * Return 0 or a negative errno.
 */
static int warm_up(KmtZstdEncoder *encoder)
{
	g_autofree guint8 *zeros = g_malloc0(KMT_ZSTD_FRAME_BYTES);
	gsize n;
	int r = kmt_zstd_encode(encoder, zeros, KMT_ZSTD_FRAME_BYTES, false,
				&n);

	if (r == 0)
		r = kmt_zstd_encode(encoder, zeros, KMT_ZSTD_FRAME_BYTES, true,
				    &n);
	kmt_zstd_encoder_reset(encoder);
	return r;
}

KmtZstdEncoder *kmt_zstd_encoder_new(int level, bool is_locked, GError **error)
{
	g_autoptr(KmtZstdEncoder) encoder = g_new0(KmtZstdEncoder, 1);
	gsize n_bytes;

	if (!check_library(error))
		return NULL;
	encoder->lib = kmt_libzstd_get(NULL);
	encoder->compressor = new_context(encoder->lib, level);
	encoder->storer =
		new_context(encoder->lib, encoder->lib->ZSTD_minCLevel());
	/* A padding is less than twice its alignment. */
	n_bytes = KMT_ZSTD_GROUP_FRAMES * encoder->lib->ZSTD_compressBound(
						  KMT_ZSTD_FRAME_BYTES) +
		  2 * KMT_ZSTD_ALIGNMENT_MAX;
	if (encoder->compressor && encoder->storer &&
	    kmt_capture_buffer_allocate(&encoder->out, n_bytes, is_locked) &&
	    (!is_locked || warm_up(encoder) == 0))
		return g_steal_pointer(&encoder);
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_RESOURCES,
		    "no memory to compress the capture");
	return NULL;
}

void kmt_zstd_encoder_free(KmtZstdEncoder *encoder)
{
	if (!encoder)
		return;
	if (encoder->lib) {
		encoder->lib->ZSTD_freeCCtx(encoder->compressor);
		encoder->lib->ZSTD_freeCCtx(encoder->storer);
	}
	kmt_capture_buffer_free(&encoder->out);
	g_free(encoder);
}

void kmt_zstd_encoder_reset(KmtZstdEncoder *encoder)
{
	encoder->fill = 0;
}

int kmt_zstd_encode(KmtZstdEncoder *encoder, const guint8 *records,
		    gsize n_bytes, bool is_stored, gsize *n_frame)
{
	size_t n = encoder->lib->ZSTD_compress2(
		is_stored ? encoder->storer : encoder->compressor,
		encoder->out.data + encoder->fill,
		encoder->out.capacity - encoder->fill, records, n_bytes);

	/* The output has room, so only memory can be missing. */
	if (encoder->lib->ZSTD_isError(n))
		return -ENOMEM;
	encoder->fill += n;
	*n_frame = n;
	return 0;
}

gsize kmt_zstd_encoder_pad(KmtZstdEncoder *encoder, gsize alignment)
{
	gsize n = (alignment - encoder->fill % alignment) % alignment;
	guint8 *to = encoder->out.data + encoder->fill;
	guint32 header[2];

	if (n == 0)
		return 0;
	if (n < sizeof(header))
		n += alignment;
	header[0] = GUINT32_TO_LE(SKIPPABLE_MAGIC);
	header[1] = GUINT32_TO_LE((guint32)(n - sizeof(header)));
	memcpy(to, header, sizeof(header));
	memset(to + sizeof(header), 0, n - sizeof(header));
	encoder->fill += n;
	return n;
}

const guint8 *kmt_zstd_encoder_output(const KmtZstdEncoder *encoder,
				      gsize *n_bytes)
{
	*n_bytes = encoder->fill;
	return encoder->out.data;
}

#else

KmtZstdEncoder *kmt_zstd_encoder_new(int level, bool is_locked, GError **error)
{
	check_library(error);
	return NULL;
}

/* Without an encoder, nothing calls the other functions. */

void kmt_zstd_encoder_free(KmtZstdEncoder *encoder)
{
}

void kmt_zstd_encoder_reset(KmtZstdEncoder *encoder)
{
}

int kmt_zstd_encode(KmtZstdEncoder *encoder, const guint8 *records,
		    gsize n_bytes, bool is_stored, gsize *n_frame)
{
	return -ENOSYS;
}

gsize kmt_zstd_encoder_pad(KmtZstdEncoder *encoder, gsize alignment)
{
	return 0;
}

const guint8 *kmt_zstd_encoder_output(const KmtZstdEncoder *encoder,
				      gsize *n_bytes)
{
	return NULL;
}

#endif
