// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/capture/direct-file.h"
#include "lib/capture/zstd-file.h"

/*
 * The seek table is a frame that a decoder skips. Its content is an entry for
 * each frame of the file, and a footer: the number of entries, a byte 0, and
 * the second magic number.
 */
#define SEEK_TABLE_MAGIC  0x184d2a5e
#define SEEK_FOOTER_MAGIC 0x8f92eab1
#define SEEK_HEADER_BYTES 8
#define SEEK_FOOTER_BYTES 9

/* An entry of the seek table, in little-endian byte order. */
typedef struct {
	guint32 n_frame;   /* bytes in the file */
	guint32 n_content; /* bytes after decompression; 0: padding */
} SeekEntry;

/* Entries for 3 GB of records, so that the table seldom grows. */
#define FIRST_ENTRIES (1U << 14)

struct kmt_zstd_file {
	KmtCaptureDirectFile file;
	GArray *entries; /* of SeekEntry */
	/* Time to compress the last compressed group of frames, and number of
	 * bytes that the compression saved. */
	gint64 encode_us;
	gsize n_saved;
	/* Time to write the last group of frames, and its size in the file. */
	gint64 write_us;
	gsize n_written;
	atomic_bool is_urgent; /* see kmt_zstd_file_set_urgent() */
	/* Figures that other threads read while one thread writes. */
	_Atomic guint64 file_bytes;
	_Atomic guint64 n_frames;
	_Atomic guint64 n_stored;
};

G_STATIC_ASSERT(KMT_CAPTURE_BLOCK_BYTES <= KMT_ZSTD_ALIGNMENT_MAX);

KmtZstdFile *kmt_zstd_file_create(int dir_fd, const char *name, bool is_direct,
				  GError **error)
{
	KmtZstdFile *file = g_new0(KmtZstdFile, 1);

	if (!kmt_capture_direct_file_create(&file->file, dir_fd, name,
					    is_direct, error)) {
		g_free(file);
		return NULL;
	}
	file->entries = g_array_sized_new(FALSE, FALSE, sizeof(SeekEntry),
					  is_direct ? FIRST_ENTRIES : 0);
	return file;
}

void kmt_zstd_file_free(KmtZstdFile *file)
{
	if (!file)
		return;
	kmt_capture_direct_file_close(&file->file);
	g_array_unref(file->entries);
	g_free(file);
}

static SeekEntry make_entry(gsize n_frame, gsize n_content)
{
	return (SeekEntry){GUINT32_TO_LE((guint32)n_frame),
			   GUINT32_TO_LE((guint32)n_content)};
}

/*
 * Append the n_bytes at from. On failure, restore the previous size, so that
 * the file ends with a complete frame. Return 0 or a negative errno.
 */
static int append_bytes(KmtZstdFile *file, const guint8 *from, gsize n_bytes)
{
	guint64 start = atomic_load(&file->file_bytes);
	int r = 0;

	if (kmt_capture_direct_file_write(&file->file, from, n_bytes, start,
					  &r) == n_bytes)
		atomic_store(&file->file_bytes, start + n_bytes);
	else
		kmt_capture_direct_file_cut(&file->file, start);
	return r;
}

/* Return whether to store a frame, although its group is to be compressed. */
static bool is_urgent(const KmtZstdFile *file)
{
	return atomic_load(&file->is_urgent) &&
	       kmt_zstd_file_stores_faster(file);
}

/*
 * Compress n_bytes to a group of n_frames frames of about equal size in the
 * output of the encoder. *n_stored is set to the number of frames that are not
 * compressed. Return 0 or a negative errno.
 */
static int encode_group(const KmtZstdFile *file, KmtZstdEncoder *encoder,
			const guint8 *records, gsize n_bytes,
			gsize record_bytes, gsize n_frames, bool is_stored,
			SeekEntry *entries, gsize *n_stored)
{
	gsize n_done = 0;

	*n_stored = 0;
	kmt_zstd_encoder_reset(encoder);
	for (gsize i = 0; i < n_frames; i++) {
		gsize n = (n_bytes - n_done) / (n_frames - i), n_frame;
		int r;

		n += (record_bytes - n % record_bytes) % record_bytes;
		n = MIN(n, n_bytes - n_done);
		is_stored = is_stored || is_urgent(file);
		r = kmt_zstd_encode(encoder, records + n_done, n, is_stored,
				    &n_frame);
		if (r)
			return r;
		entries[i] = make_entry(n_frame, n);
		*n_stored += is_stored;
		n_done += n;
	}
	return 0;
}

/* Write the output of the encoder, and measure the time. Return 0 or a negative
 * errno. */
static int write_group(KmtZstdFile *file, KmtZstdEncoder *encoder)
{
	gint64 start_us = g_get_monotonic_time();
	const guint8 *output =
		kmt_zstd_encoder_output(encoder, &file->n_written);
	int r = append_bytes(file, output, file->n_written);

	file->write_us = g_get_monotonic_time() - start_us;
	return r;
}

/* Append n_bytes in n_frames frames. Return 0 or a negative errno. */
static int append_group(KmtZstdFile *file, KmtZstdEncoder *encoder,
			const guint8 *records, gsize n_bytes,
			gsize record_bytes, gsize n_frames, bool is_stored)
{
	gsize alignment = file->file.direct ? KMT_CAPTURE_BLOCK_BYTES : 1;
	gint64 start_us = g_get_monotonic_time();
	SeekEntry entries[KMT_ZSTD_GROUP_FRAMES + 1];
	gsize n_padding, n_stored;
	int r = encode_group(file, encoder, records, n_bytes, record_bytes,
			     n_frames, is_stored, entries, &n_stored);

	if (r)
		return r;
	n_padding = kmt_zstd_encoder_pad(encoder, alignment);
	entries[n_frames] = make_entry(n_padding, 0);
	if (n_stored == 0)
		file->encode_us = g_get_monotonic_time() - start_us;
	r = write_group(file, encoder);
	if (r)
		return r;
	if (n_stored == 0)
		file->n_saved = n_bytes - MIN(n_bytes, file->n_written);
	g_array_append_vals(file->entries, entries,
			    (guint)n_frames + (n_padding ? 1 : 0));
	atomic_fetch_add(&file->n_frames, n_frames);
	atomic_fetch_add(&file->n_stored, n_stored);
	return 0;
}

int kmt_zstd_file_append(KmtZstdFile *file, KmtZstdEncoder *encoder,
			 const guint8 *records, gsize n_bytes,
			 gsize record_bytes, bool is_stored, gsize *n_done)
{
	gsize max_frame =
		KMT_ZSTD_FRAME_BYTES - KMT_ZSTD_FRAME_BYTES % record_bytes;
	gsize max_group = KMT_ZSTD_GROUP_FRAMES * max_frame;
	int r = 0;

	*n_done = 0;
	while (r == 0 && *n_done < n_bytes) {
		gsize n = MIN(n_bytes - *n_done, max_group);

		r = append_group(file, encoder, records + *n_done, n,
				 record_bytes, (n + max_frame - 1) / max_frame,
				 is_stored);
		if (r == 0)
			*n_done += n;
	}
	return r;
}

/* Append a frame without content. Return 0 or a negative errno. */
static int append_empty_frame(KmtZstdFile *file, KmtZstdEncoder *encoder)
{
	SeekEntry entry;
	gsize n_frame;
	int r;

	kmt_zstd_encoder_reset(encoder);
	r = kmt_zstd_encode(encoder, NULL, 0, false, &n_frame);
	if (r == 0)
		r = write_group(file, encoder);
	entry = make_entry(n_frame, 0);
	if (r == 0)
		g_array_append_val(file->entries, entry);
	return r;
}

/* Write the seek table. Return 0 or a negative errno. */
static int append_table(KmtZstdFile *file)
{
	gsize n_entries = file->entries->len * sizeof(SeekEntry);
	gsize n_bytes = SEEK_HEADER_BYTES + n_entries + SEEK_FOOTER_BYTES;
	g_autofree guint8 *table = g_malloc(n_bytes);
	guint8 *footer = table + SEEK_HEADER_BYTES + n_entries;
	const guint32 header[] = {
		GUINT32_TO_LE(SEEK_TABLE_MAGIC),
		GUINT32_TO_LE((guint32)(n_entries + SEEK_FOOTER_BYTES)),
	};
	const guint32 n = GUINT32_TO_LE((guint32)file->entries->len);
	const guint32 magic = GUINT32_TO_LE(SEEK_FOOTER_MAGIC);

	memcpy(table, header, sizeof(header));
	memcpy(table + sizeof(header), file->entries->data, n_entries);
	memcpy(footer, &n, sizeof(n));
	footer[sizeof(n)] = 0;
	memcpy(footer + sizeof(n) + 1, &magic, sizeof(magic));
	return append_bytes(file, table, n_bytes);
}

int kmt_zstd_file_finish(KmtZstdFile *file, KmtZstdEncoder *encoder)
{
	int r = 0;

	kmt_capture_direct_file_set_direct(&file->file, false);
	if (file->entries->len == 0)
		r = append_empty_frame(file, encoder);
	return r ? r : append_table(file);
}

int kmt_zstd_file_sync(KmtZstdFile *file)
{
	return kmt_capture_direct_file_sync(&file->file);
}

void kmt_zstd_file_set_urgent(KmtZstdFile *file, bool on)
{
	atomic_store(&file->is_urgent, on);
}

gint64 kmt_zstd_file_encode_us(const KmtZstdFile *file)
{
	return file->encode_us;
}

bool kmt_zstd_file_stores_faster(const KmtZstdFile *file)
{
	return (double)file->n_saved * (double)file->write_us <
	       (double)file->encode_us * (double)file->n_written;
}

void kmt_zstd_file_figures(const KmtZstdFile *file,
			   KmtCaptureCpuFrames *figures)
{
	figures->file_bytes = atomic_load(&file->file_bytes);
	figures->n_frames = atomic_load(&file->n_frames);
	figures->n_stored = atomic_load(&file->n_stored);
}
