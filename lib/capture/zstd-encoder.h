/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compresses records to frames of zstd, which are independent of each other.
 *
 * Each frame has the size of its content and a checksum. One thread may use an
 * encoder. A program without libzstd has no encoder.
 */
#ifndef KMEMTRACE_CAPTURE_ZSTD_ENCODER_H
#define KMEMTRACE_CAPTURE_ZSTD_ENCODER_H

#include <glib.h>
#include <stdbool.h>

/*
 * Largest content of a frame, in bytes. On captures of boots, 256 KB compress
 * as well as 1 MB, and a reader that decompresses 256 KB finds them in its
 * cache.
 */
#define KMT_ZSTD_FRAME_BYTES ((gsize)256 * 1024)

/* Frames that an encoder collects. */
#define KMT_ZSTD_GROUP_FRAMES 4

/* Largest alignment of frames. */
#define KMT_ZSTD_ALIGNMENT_MAX ((gsize)4096)

/* Range and default of the level of compression. */
#define KMT_ZSTD_LEVEL_MAX     19
#define KMT_ZSTD_LEVEL_DEFAULT 1

/*
 * Parse the value of an option --compress[=LEVEL], where "" is the default.
 * Return FALSE and set an error of G_OPTION_ERROR on a mistake.
 */
gboolean kmt_zstd_parse_level(const char *text, int *level, GError **error);

typedef struct kmt_zstd_encoder KmtZstdEncoder;

/*
 * Load libzstd and create an encoder. is_locked: the program is traced, so
 * allocate all memory now. Return NULL and set an error of KMT_DAEMON_ERROR on
 * failure.
 */
KmtZstdEncoder *kmt_zstd_encoder_new(int level, bool is_locked, GError **error);
void kmt_zstd_encoder_free(KmtZstdEncoder *encoder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtZstdEncoder, kmt_zstd_encoder_free)

/* Remove all frames from the output. */
void kmt_zstd_encoder_reset(KmtZstdEncoder *encoder);

/*
 * Compress n_bytes, at most KMT_ZSTD_FRAME_BYTES, to a frame in the output,
 * which has room for KMT_ZSTD_GROUP_FRAMES. is_stored: compress as little and
 * as fast as possible. Set *n_frame to the size of the frame. Return 0 or a
 * negative errno.
 */
int kmt_zstd_encode(KmtZstdEncoder *encoder, const guint8 *records,
		    gsize n_bytes, bool is_stored, gsize *n_frame);

/*
 * Add an empty frame to the output, so that it is a multiple of alignment
 * bytes, which are 1 or from 8 to KMT_ZSTD_ALIGNMENT_MAX. Return the size of
 * the frame; 0: none is necessary.
 */
gsize kmt_zstd_encoder_pad(KmtZstdEncoder *encoder, gsize alignment);

/*
 * Return the output, and set *n_bytes to its size. It belongs to the encoder,
 * and is aligned to a page.
 */
const guint8 *kmt_zstd_encoder_output(const KmtZstdEncoder *encoder,
				      gsize *n_bytes);

#endif
