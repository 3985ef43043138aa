// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/input/capture-private.h"
#include "lib/input/spool.h"
#include "lib/input/record-stream.h"

/* Size of the buffer for undecoded bytes. The fuzzers use a smaller size. */
#ifndef RAW_BYTES
#define RAW_BYTES (64 * 1024)
#endif

/*
 * Update the file and the capture at the end of a stream. rest is the number of
 * bytes after the last complete record.
 */
static void end_of_stream(KmtInputCpuFile *file, gsize rest)
{
	const char *defect = file->stream->bytes->defect;

	file->truncated_bytes = (guint)rest;
	if (defect)
		kmt_input_cpu_file_set_defect(file, defect);
	if (file->has_expected_size && file->size < file->expected_size)
		file->capture->shortened = TRUE;
}

static void count(KmtInputCpuFile *file, guint64 n_records)
{
	file->n_records += n_records;
	file->capture->n_records += n_records;
}

guint64 kmt_input_record_stream_read(KmtInputCpuFile *file, guint8 *to,
				     guint64 n)
{
	gsize want = n * file->record_size;
	gsize got = kmt_input_byte_stream_read(file->stream->bytes, to, want);

	file->size += got;
	count(file, got / file->record_size);
	if (got < want)
		end_of_stream(file, got % file->record_size);
	return got / file->record_size;
}

/*
 * Move the undecoded bytes to the start of raw and fill the buffer. Return
 * FALSE if the stream has no more bytes.
 */
static gboolean read_raw(KmtInputCpuFile *file)
{
	KmtInputRecordStream *s = file->stream;
	gsize got;

	if (!s->raw)
		s->raw = g_malloc(RAW_BYTES);
	memmove(s->raw, s->raw + s->at, s->n - s->at);
	s->n -= s->at;
	s->at = 0;
	got = kmt_input_byte_stream_read(s->bytes, s->raw + s->n,
					 RAW_BYTES - s->n);
	s->n += got;
	file->size += got;
	return got > 0;
}

gboolean kmt_input_record_stream_decode(KmtInputCpuFile *file,
					struct kmemtrace_event *event,
					guint *cpu)
{
	KmtInputRecordStream *s = file->stream;
	g_autofree char *reason = NULL;
	guint used;

	if (!s->raw)
		read_raw(file);
	for (;;) {
		switch (kmt_input_decoder_next(&s->decoder, s->raw + s->at,
					       s->n - s->at, event, cpu,
					       &used)) {
		case KMT_INPUT_DECODE_OK:
			s->at += used;
			count(file, 1);
			return TRUE;
		case KMT_INPUT_DECODE_PARTIAL:
			if (read_raw(file))
				break;
			end_of_stream(file, s->n - s->at);
			return FALSE;
		case KMT_INPUT_DECODE_INVALID:
			reason = g_strdup_printf(
				"no record of layout %s at offset "
				"%" G_GUINT64_FORMAT,
				kmt_input_layout_name(
					s->decoder.variant.layout),
				file->size - (s->n - s->at));
			kmt_input_cpu_file_set_defect(file, reason);
			return FALSE;
		}
	}
}

/* ---- copies in temporary files ---- */

static gboolean map_spool(KmtInputCpuFile *file, KmtInputSpool *spool,
			  GError **error)
{
	if (!kmt_input_spool_map(spool, &file->map, file->path, error))
		return FALSE;
	kmt_input_cpu_file_unmap(file);
	file->mapping = (gpointer)file->map;
	file->mapping_size = spool->size;
	return TRUE;
}

static gboolean spool_raw(KmtInputCpuFile *file, KmtInputSpool *spool,
			  GError **error)
{
	KmtInputByteStream *bytes = file->stream->bytes;

	if (!kmt_input_spool_add_stream(spool, bytes, file->path, error))
		return FALSE;
	if (bytes->defect)
		kmt_input_cpu_file_set_defect(file, bytes->defect);
	file->size = spool->size;
	return TRUE;
}

static gboolean spool_decoded(KmtInputCpuFile *file, KmtInputSpool *spool,
			      GError **error)
{
	struct kmemtrace_event event;
	guint cpu;

	while (kmt_input_record_stream_decode(file, &event, &cpu)) {
		if (!kmt_input_spool_add(spool, &event, sizeof(event),
					 file->path, error))
			return FALSE;
	}
	/* Also copy the bytes of an incomplete last record, so that the mapped
	 * file has the same truncated_bytes as the stream. */
	return kmt_input_spool_add(spool, file->stream->raw + file->stream->at,
				   file->truncated_bytes, file->path, error);
}

gboolean kmt_input_record_stream_spool(KmtInputCpuFile *file, GError **error)
{
	g_autoptr(KmtInputSpool) spool = kmt_input_spool_new(file->path, error);
	gboolean ok;

	if (!spool)
		return FALSE;
	if (file->stream->decoder.variant.layout == KMT_INPUT_LAYOUT_B)
		ok = spool_raw(file, spool, error);
	else
		ok = spool_decoded(file, spool, error);
	if (!ok || !map_spool(file, spool, error))
		return FALSE;
	g_clear_pointer(&file->stream, kmt_input_record_stream_free);
	return TRUE;
}

typedef struct {
	KmtInputCpuFile *file;
	KmtInputSpool *spool;
} CpuPart;

static void part_free(gpointer data)
{
	CpuPart *part = data;

	kmt_input_spool_free(part->spool);
	g_free(part);
}

static CpuPart *part_new(KmtInputCapture *capture, const KmtInputCpuFile *whole,
			 guint cpu, GError **error)
{
	g_autofree char *path = g_strdup_printf("%s[cpu%u]", whole->path, cpu);
	KmtInputSpool *spool = kmt_input_spool_new(whole->path, error);
	CpuPart *part;

	if (!spool)
		return NULL;
	part = g_new0(CpuPart, 1);
	part->spool = spool;
	part->file = kmt_input_capture_add_file(capture, path, cpu);
	return part;
}

static gboolean split(KmtInputCapture *capture, KmtInputCpuFile *file,
		      GHashTable *parts, GError **error)
{
	struct kmemtrace_event event;
	guint cpu;

	while (kmt_input_record_stream_decode(file, &event, &cpu)) {
		CpuPart *part =
			g_hash_table_lookup(parts, GUINT_TO_POINTER(cpu));

		if (!part) {
			part = part_new(capture, file, cpu, error);
			if (!part)
				return FALSE;
			g_hash_table_insert(parts, GUINT_TO_POINTER(cpu), part);
		}
		if (!kmt_input_spool_add(part->spool, &event, sizeof(event),
					 file->path, error))
			return FALSE;
		part->file->n_records++;
		part->file->size += sizeof(event);
	}
	return TRUE;
}

gboolean kmt_input_record_stream_split(KmtInputCapture *capture,
				       KmtInputCpuFile *file, GError **error)
{
	g_autoptr(GHashTable) parts =
		g_hash_table_new_full(NULL, NULL, NULL, part_free);
	GHashTableIter iter;
	gpointer value;

	if (!split(capture, file, parts, error))
		return FALSE;
	g_hash_table_iter_init(&iter, parts);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		CpuPart *part = value;

		if (!map_spool(part->file, part->spool, error))
			return FALSE;
	}
	return TRUE;
}
