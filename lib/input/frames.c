// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/base/libzstd.h"
#include "lib/input/archive.h"
#include "lib/input/frame-pool.h"
#include "lib/input/frames.h"

void kmt_input_frames_free(KmtInputFrames *frames)
{
	if (!frames)
		return;
	kmt_input_frame_index_free(frames->index);
	g_free(frames->first_reason);
	g_free(frames);
}

void kmt_input_frames_note_damage(KmtInputFrames *frames, guint i,
				  const char *reason)
{
	KmtInputFrame *frame = kmt_input_frame_index_get(frames->index, i);
	KmtInputCpuFile *file = frames->file;
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locker =
		g_mutex_locker_new(&file->capture->frame_pool->lock);

	if (frame->is_damaged)
		return;
	frame->is_damaged = TRUE;
	frames->n_damaged++;
	frames->damaged_bytes += frame->size;
	if (!frames->first_reason)
		frames->first_reason =
			g_strdup_printf("the frame at byte %" G_GUINT64_FORMAT
					" is damaged (%s)",
					frame->packed_at, reason);
	g_free(file->defect);
	file->defect = g_strdup_printf(
		"%s; damaged frames: %u, with %" G_GUINT64_FORMAT
		" bytes of records",
		frames->first_reason, frames->n_damaged, frames->damaged_bytes);
	file->capture->damaged = TRUE;
}

#ifdef HAVE_LIBZSTD

static void free_context(gpointer context)
{
	kmt_libzstd_get(NULL)->ZSTD_freeDCtx(context);
}

/* Return the decompression context of the calling thread. */
static ZSTD_DCtx *get_context(const KmtLibzstd *lib)
{
	static GPrivate contexts = G_PRIVATE_INIT(free_context);
	ZSTD_DCtx *context = g_private_get(&contexts);

	if (!context) {
		context = lib->ZSTD_createDCtx();
		g_private_set(&contexts, context);
	}
	return context;
}

/* Decompress a frame into to. Return NULL, or the reason of the failure. */
static const char *decompress(const KmtInputFrames *frames,
			      const KmtInputFrame *frame, guint8 *to)
{
	const KmtLibzstd *lib = kmt_libzstd_get(NULL);
	ZSTD_DCtx *context = get_context(lib);
	gsize n;

	if (!context)
		return "out of memory";
	n = lib->ZSTD_decompressDCtx(context, to, frame->size,
				     frames->data + frame->packed_at,
				     frame->packed_size);
	if (lib->ZSTD_isError(n))
		return lib->ZSTD_getErrorName(n);
	return n == frame->size ? NULL : "wrong content size";
}

#else

static const char *decompress(const KmtInputFrames *frames,
			      const KmtInputFrame *frame, guint8 *to)
{
	return "no libzstd";
}

#endif

KmtInputBuffer *kmt_input_frames_decompress(const KmtInputFrames *frames,
					    guint i, const char **reason)
{
	const KmtInputFrame *frame =
		kmt_input_frame_index_get(frames->index, i);
	KmtInputBuffer *buffer = kmt_input_buffer_new(frame->size);

	*reason = decompress(frames, frame, buffer->data);
	if (*reason)
		memset(buffer->data, 0, frame->size);
	return buffer;
}

/* Return whether the content is a tar. Otherwise keep the first frame in the
 * cache, because the format detection reads it next. */
static gboolean is_tar(const KmtInputFrames *frames)
{
	g_autoptr(KmtInputBuffer) buffer = NULL;
	const char *reason;

	if (!frames->index->size)
		return FALSE;
	buffer = kmt_input_frames_decompress(frames, 0, &reason);
	if (reason)
		return FALSE;
	if (kmt_input_is_tar(buffer->data,
			     kmt_input_frame_index_get(frames->index, 0)->size))
		return TRUE;
	kmt_input_frame_pool_add(frames->file->capture->frame_pool, frames, 0,
				 buffer);
	return FALSE;
}

gboolean kmt_input_frames_open(KmtInputCpuFile *file)
{
	KmtInputFrames *frames;
	KmtInputFrameIndex *index =
		kmt_input_frame_index_new(file->map, file->size);

	if (!index)
		return FALSE;
	if (!file->capture->frame_pool)
		file->capture->frame_pool = kmt_input_frame_pool_new();
	frames = g_new0(KmtInputFrames, 1);
	frames->index = index;
	frames->data = file->map;
	frames->file = file;
	if (is_tar(frames)) {
		kmt_input_frames_free(frames);
		return FALSE;
	}
	file->frames = frames;
	file->map = NULL;
	file->size = index->size;
	return TRUE;
}

const guint8 *kmt_input_frames_view(KmtInputFrames *frames, guint64 at,
				    gsize *n, KmtInputBuffer **buffer)
{
	KmtInputFramePool *pool = frames->file->capture->frame_pool;
	guint i = kmt_input_frame_index_find(frames->index, at);
	const KmtInputFrame *frame =
		kmt_input_frame_index_get(frames->index, i);
	const char *reason;

	*buffer = kmt_input_frame_pool_lookup(pool, frames, i);
	if (!*buffer) {
		*buffer = kmt_input_frames_decompress(frames, i, &reason);
		if (reason)
			kmt_input_frames_note_damage(frames, i, reason);
		kmt_input_frame_pool_add(pool, frames, i, *buffer);
	}
	*n = frame->size - (gsize)(at - frame->at);
	return (*buffer)->data + (at - frame->at);
}

gboolean kmt_input_frames_have_whole_records(const KmtInputFrames *frames,
					     guint record_size)
{
	guint i;

	for (i = 0; i + 1 < frames->index->frames->len; i++)
		if (kmt_input_frame_index_get(frames->index, i)->size %
		    record_size)
			return FALSE;
	return TRUE;
}

/* ---- streams ---- */

typedef struct {
	KmtInputByteStream base;
	KmtInputFrames *frames;
	guint64 at;
} FrameBytes;

static gsize frames_pull(KmtInputByteStream *bytes, guint8 *to, gsize n)
{
	FrameBytes *b = (FrameBytes *)bytes;
	g_autoptr(KmtInputBuffer) buffer = NULL;
	const guint8 *from;
	gsize available;

	if (b->at == b->frames->index->size)
		return 0;
	from = kmt_input_frames_view(b->frames, b->at, &available, &buffer);
	n = MIN(n, available);
	memcpy(to, from, n);
	b->at += n;
	return n;
}

static void frames_close(KmtInputByteStream *bytes)
{
	kmt_input_frames_free(((FrameBytes *)bytes)->frames);
}

KmtInputByteStream *kmt_input_frames_stream(KmtInputFrames *frames)
{
	FrameBytes *b = g_new0(FrameBytes, 1);

	b->base.pull = frames_pull;
	b->base.close = frames_close;
	b->frames = frames;
	return &b->base;
}
