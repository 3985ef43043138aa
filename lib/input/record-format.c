// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/input/capture-private.h"
#include "lib/input/frames.h"
#include "lib/input/record-stream.h"

/*
 * Maximum number of records that vote on the format. The records are groups of
 * four at equal distances.
 */
#define FORMAT_SAMPLE 16

/*
 * Exclusive limit of the record sizes that the detection tries on every file.
 * At the offset of event_size, layout A has a type_id, which is at least 256
 * in the wrong byte order.
 */
#define LIKELY_SIZES_END 256

/*
 * Number of bytes at the start of a file or stream that the detection reads
 * first.
 */
#define HEAD_BYTES (64 * 1024)

/* A possible record format, with the result of the vote. */
typedef struct {
	KmtInputLayoutVariant variant; /* layout, and for layouts A, C and D
					* also the machine's properties */
	guint record_size;
	gboolean swapped;
	guint votes;   /* number of examined records that have this format; 1
			* for layouts A, C and D */
	guint sampled; /* number of examined records */
	guint score;   /* a vote counts 2, but the vote of record 0 counts 1: if
			* record 0 is damaged, one other record outvotes it */
} RecordFormat;

/*
 * The bytes that the detection may examine: a complete mapped file, a frame, or
 * the start of a stream.
 */
typedef struct {
	const guint8 *data;
	gsize n;
	KmtInputBuffer *buffer; /* reference to the buffer of data, or NULL */
} FileHead;

/* Extend a head, which begins at byte @at, by the following frames. */
static void join_frames(const KmtInputCpuFile *file, guint64 at, FileHead *head)
{
	gsize n = (gsize)MIN(HEAD_BYTES, file->size - at);
	KmtInputBuffer *buffer = kmt_input_buffer_new(n);

	kmt_input_cpu_file_copy(file, at, n, buffer->data);
	kmt_input_buffer_unref(head->buffer);
	*head = (FileHead){buffer->data, n, buffer};
}

/*
 * Return the first frame that is not damaged, or the last one. If the frame may
 * be smaller than a record, the result includes the frames that follow.
 */
static FileHead head_of_frames(const KmtInputCpuFile *file)
{
	FileHead head = {0};
	guint64 at = 0;
	guint i;

	for (i = 0; i < file->frames->index->frames->len; i++) {
		const KmtInputFrame *frame =
			kmt_input_frame_index_get(file->frames->index, i);

		at = frame->at;
		kmt_input_buffer_unref(head.buffer);
		head.data = kmt_input_frames_view(file->frames, at, &head.n,
						  &head.buffer);
		if (!frame->is_damaged)
			break;
	}
	if (head.n < LIKELY_SIZES_END && head.n < file->size - at)
		join_frames(file, at, &head);
	return head;
}

static FileHead head_of(const KmtInputCpuFile *file)
{
	FileHead head = {.data = file->map, .n = file->size};

	if (file->frames)
		return head_of_frames(file);
	if (file->stream) {
		head.n = HEAD_BYTES;
		head.data = kmt_input_byte_stream_peek(file->stream->bytes,
						       &head.n);
	}
	return head;
}

static guint event_size_at(const guint8 *record, gboolean swapped)
{
	guint16 size;

	memcpy(&size,
	       record + G_STRUCT_OFFSET(struct kmemtrace_event, event_size),
	       sizeof(size));
	return swapped ? GUINT16_SWAP_LE_BE(size) : size;
}

/*
 * Count the records from index first on that have the format (record_size,
 * swapped). If that format gets a higher score than *best, or an equal score
 * with fewer contradictions, replace *best.
 */
static void consider_format(const FileHead *head, guint record_size,
			    gboolean swapped, guint first, RecordFormat *best)
{
	RecordFormat f = {.record_size = record_size, .swapped = swapped};
	guint i, end;
	guint64 n = record_size ? head->n / record_size : 0;

	if (record_size < KMEMTRACE_EVENT_SIZE_V1)
		return;
	end = MIN(n, FORMAT_SAMPLE);
	for (i = first; i < end; i++) {
		guint64 index = (i & ~3u) * n / end + (i & 3);

		f.sampled++;
		if (event_size_at(head->data + index * record_size, swapped) ==
		    record_size) {
			f.votes++;
			f.score += index ? 2 : 1;
		}
	}
	if (f.score > best->score ||
	    (f.score == best->score && f.sampled < best->sampled))
		*best = f;
}

/*
 * Return the format with the highest score. Without any vote, all fields are 0.
 *
 * All likely sizes are candidates, because record 0 can be damaged. The size in
 * record 0 is another candidate, because a future version can have any size.
 * Record 0 always has that size, so its vote counts only if no other data
 * follows that could confirm the size.
 *
 * stated: the format in kmemtrace.meta, or NULL. If at least one record
 * confirms this format, the other records are damaged, however many votes
 * another format has.
 */
static RecordFormat guess_format(const FileHead *head,
				 const RecordFormat *stated)
{
	RecordFormat best = {0};
	guint size, swapped;

	if (head->n < KMEMTRACE_EVENT_SIZE_V1)
		return best;
	if (stated) {
		consider_format(head, stated->record_size, stated->swapped, 0,
				&best);
		if (best.votes)
			return best;
	}
	for (swapped = 0; swapped < 2; swapped++) {
		for (size = KMEMTRACE_EVENT_SIZE_V1; size < LIKELY_SIZES_END;
		     size += 8)
			consider_format(head, size, swapped, 0, &best);
		size = event_size_at(head->data, swapped);
		consider_format(head, size, swapped, head->n > size, &best);
	}
	return best;
}

static gboolean format_is_certain(const RecordFormat *f)
{
	return f->votes && f->votes * 2 >= f->sampled;
}

/*
 * Read record size and byte order from kmemtrace.meta into *format. Return
 * FALSE if kmemtrace.meta is missing or a value is invalid.
 */
static gboolean meta_format(GKeyFile *meta, RecordFormat *format)
{
	g_autofree char *order = NULL;
	guint64 size;

	if (!meta)
		return FALSE;
	size = g_key_file_get_uint64(meta, "capture", "record_size", NULL);
	/* A negative number, which GKeyFile converts to a large unsigned
	 * number, is rejected as too large below. */
	order = g_key_file_get_string(meta, "capture", "byte_order", NULL);
	if (size < KMEMTRACE_EVENT_SIZE_V1 || size > G_MAXUINT16 || !order)
		return FALSE;
	if (strcmp(order, "little") != 0 && strcmp(order, "big") != 0)
		return FALSE;
	format->record_size = size;
	format->swapped =
		(strcmp(order, "big") == 0) != (G_BYTE_ORDER == G_BIG_ENDIAN);
	return TRUE;
}

const char *kmt_input_byte_order_name(gboolean swapped)
{
	return (G_BYTE_ORDER == G_BIG_ENDIAN) == !swapped ? "big" : "little";
}

const char *kmt_input_capture_byte_order(const KmtInputCapture *capture)
{
	return kmt_input_byte_order_name(capture->swapped);
}

/*
 * Detect the layout and format of a file. If the result is uncertain, return
 * layout B.
 *
 * An allocation of layout D can have the size of a record of layout B. But an
 * allocation of layout D has event id 0, which does not occur in layout B.
 * Therefore a file that begins with event id 0 is tested for the older layouts,
 * too.
 */
static RecordFormat format_of(const FileHead *head, KmtInputLayout wanted,
			      const RecordFormat *stated)
{
	RecordFormat f = {0};

	if (!wanted || wanted == KMT_INPUT_LAYOUT_B)
		f = guess_format(head, stated);
	if (wanted != KMT_INPUT_LAYOUT_B &&
	    (!format_is_certain(&f) || head->data[0] == KMEMTRACE_EVENT_NULL) &&
	    kmt_input_layout_detect(head->data, head->n, wanted, &f.variant)) {
		f.record_size = KMEMTRACE_EVENT_SIZE_V1;
		f.swapped = f.variant.swapped;
		f.votes = f.sampled = 1;
	} else {
		f.variant.layout = KMT_INPUT_LAYOUT_B;
	}
	return f;
}

static char *describe(const RecordFormat *f)
{
	const char *order = kmt_input_byte_order_name(f->swapped);

	if (f->variant.layout == KMT_INPUT_LAYOUT_B)
		return g_strdup_printf("of %u bytes in %s endian order",
				       f->record_size, order);
	return g_strdup_printf("of layout %s in %s endian order",
			       kmt_input_layout_name(f->variant.layout), order);
}

static gboolean same_format(const RecordFormat *a, const RecordFormat *b)
{
	return a->record_size == b->record_size && a->swapped == b->swapped &&
	       a->variant.layout == b->variant.layout &&
	       a->variant.has_32bit_words == b->variant.has_32bit_words;
}

static gboolean fail_mixed(const KmtInputCpuFile *a, const RecordFormat *fa,
			   const KmtInputCpuFile *b, const RecordFormat *fb,
			   GError **error)
{
	g_autofree char *ta = describe(fa);
	g_autofree char *tb = describe(fb);

	g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_FORMAT,
		    "%s has records %s, %s %s, so they do not belong to one "
		    "capture; read one capture at a time",
		    a->path, ta, b->path, tb);
	return FALSE;
}

static gboolean fail_requested(const KmtInputCpuFile *file,
			       KmtInputLayout wanted, GError **error)
{
	g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_FORMAT,
		    "%s does not begin with records of layout %s: omit "
		    "--layout to detect the layout",
		    file->path, kmt_input_layout_name(wanted));
	return FALSE;
}

/*
 * Turn a file into a stream if its records must be decoded in order: those of
 * layout A, C or D, and those of frames that end within records.
 */
static void make_stream(KmtInputCpuFile *file, KmtInputLayout layout)
{
	KmtInputByteStream *bytes;

	if (file->stream ||
	    (layout == KMT_INPUT_LAYOUT_B &&
	     (!file->frames || kmt_input_frames_have_whole_records(
				       file->frames, file->record_size))))
		return;
	if (file->frames)
		bytes = kmt_input_frames_stream(g_steal_pointer(&file->frames));
	else
		bytes = kmt_input_byte_stream_new_memory(file->map, file->size);
	file->stream = kmt_input_record_stream_new(bytes);
	file->map = NULL;
	file->size = 0;
}

/* Store the format in the capture and in all files. */
static void apply(KmtInputCapture *capture, const RecordFormat *best)
{
	guint i;

	capture->layout = best->variant.layout;
	capture->has_sequence_times = capture->layout == KMT_INPUT_LAYOUT_C;
	capture->record_size = best->record_size;
	capture->swapped = best->swapped;
	for (i = 0; i < capture->files->len; i++) {
		KmtInputCpuFile *file = capture->files->pdata[i];

		file->record_size = best->record_size;
		file->swapped = best->swapped;
		make_stream(file, capture->layout);
		if (capture->layout == KMT_INPUT_LAYOUT_B)
			continue;
		file->swapped = FALSE;
		file->stream->decoder.variant = best->variant;
	}
}

/* Return whether all examined records have the same format of layout B. */
static gboolean is_unanimous(const RecordFormat *f)
{
	return f->variant.layout == KMT_INPUT_LAYOUT_B && f->votes &&
	       f->votes == f->sampled;
}

/*
 * Detect the format of a file. The start and the end of the file are sufficient
 * if all examined records of both have the same format of layout B. Reading the
 * other parts would load single small pages of the mapping.
 */
static RecordFormat detect_format(FileHead head, KmtInputLayout wanted,
				  const RecordFormat *stated)
{
	const FileHead begin = {.data = head.data,
				.n = MIN(head.n, HEAD_BYTES)};
	RecordFormat f = format_of(&begin, wanted, stated);

	if (is_unanimous(&f) && begin.n < head.n) {
		gsize whole = head.n - head.n % f.record_size;
		gsize n = MIN(whole, (gsize)FORMAT_SAMPLE * f.record_size);
		const FileHead end = {.data = head.data + whole - n, .n = n};
		RecordFormat g = format_of(&end, wanted, stated);

		if (is_unanimous(&g) && same_format(&f, &g))
			return f;
	} else if (begin.n == head.n) {
		return f;
	}
	return format_of(&head, wanted, stated);
}

/*
 * Detect the common format of all files. Files whose format is certain must
 * have the same format. All other files are read in that format, or refused if
 * the layout A, C or D was requested.
 */
gboolean kmt_input_format_resolve(KmtInputCapture *capture,
				  KmtInputLayout wanted, GError **error)
{
	const KmtInputCpuFile *sure = NULL;
	RecordFormat best = {.record_size = KMEMTRACE_EVENT_SIZE_V1,
			     .variant.layout = KMT_INPUT_LAYOUT_B};
	gboolean has_meta = meta_format(capture->meta, &best);
	const RecordFormat meta = best;
	const RecordFormat *stated = has_meta ? &meta : NULL;
	guint i;

	/* Only kmemtraced and kmemtrace-import write kmemtrace.meta, and their
	 * records have layout B. */
	if (stated && !wanted)
		wanted = KMT_INPUT_LAYOUT_B;
	for (i = 0; i < capture->files->len; i++) {
		const KmtInputCpuFile *file = capture->files->pdata[i];
		FileHead head = head_of(file);
		RecordFormat f;

		if (!head.n)
			continue;
		f = detect_format(head, wanted, stated);
		kmt_input_buffer_unref(head.buffer);
		/* Unmap the large pages that were loaded only for the
		 * detection. */
		kmt_input_cpu_file_drop_pages(file);
		if (!format_is_certain(&f)) {
			if (wanted && wanted != KMT_INPUT_LAYOUT_B)
				return fail_requested(file, wanted, error);
			/* Use an uncertain format only if neither another file
			 * nor kmemtrace.meta has a format. */
			if (!sure && !stated && f.score > best.score)
				best = f;
			continue;
		}
		if (sure && !same_format(&best, &f))
			return fail_mixed(sure, &best, file, &f, error);
		sure = file;
		best = f;
	}
	apply(capture, &best);
	return TRUE;
}
