// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/input/capture-private.h"
#include "lib/input/frames.h"
#include "lib/input/record-stream.h"

KmtInputRecordStream *kmt_input_record_stream_new(KmtInputByteStream *bytes)
{
	KmtInputRecordStream *stream = g_new0(KmtInputRecordStream, 1);

	stream->bytes = bytes;
	stream->decoder.variant.layout = KMT_INPUT_LAYOUT_B;
	return stream;
}

void kmt_input_record_stream_free(KmtInputRecordStream *stream)
{
	if (!stream)
		return;
	kmt_input_byte_stream_free(stream->bytes);
	g_free(stream->raw);
	g_free(stream);
}

gboolean kmt_input_parse_cpu_name(const char *name, guint *cpu)
{
	return kmt_capture_parse_cpu(name, cpu, NULL) && *cpu < G_MAXUINT16;
}

void kmt_input_cpu_file_drop_pages(const KmtInputCpuFile *file)
{
	if (file->mapping)
		madvise(file->mapping, file->mapping_size, MADV_DONTNEED);
}

void kmt_input_cpu_file_unmap(KmtInputCpuFile *file)
{
	if (file->mapping)
		munmap(file->mapping, file->mapping_size);
	file->mapping = NULL;
	if (file->fd)
		close(file->fd);
	file->fd = 0;
}

void kmt_input_cpu_file_free(gpointer data)
{
	KmtInputCpuFile *file = data;

	kmt_input_record_stream_free(file->stream);
	kmt_input_frames_free(file->frames);
	kmt_input_cpu_file_unmap(file);
	g_free(file->defect);
	g_free(file->path);
	g_free(file);
}

KmtInputCpuFile *kmt_input_capture_add_file(KmtInputCapture *capture,
					    const char *path, guint cpu)
{
	KmtInputCpuFile *file = g_new0(KmtInputCpuFile, 1);

	file->path = g_strdup(path);
	file->cpu = cpu;
	file->node = -1;
	file->capture = capture;
	file->record_size = KMEMTRACE_EVENT_SIZE_V1;
	g_ptr_array_add(capture->files, file);
	return file;
}

void kmt_input_cpu_file_set_defect(KmtInputCpuFile *file, const char *reason)
{
	if (!file->defect)
		file->defect = g_strdup(reason);
	/* An unknown number of records is missing from the capture. */
	if (file->capture)
		file->capture->damaged = TRUE;
}

void kmt_input_capture_add_note(KmtInputCapture *capture, const char *format,
				...)
{
	va_list args;

	va_start(args, format);
	g_ptr_array_add(capture->notes, g_strdup_vprintf(format, args));
	va_end(args);
}

const guint8 *kmt_input_cpu_file_view(const KmtInputCpuFile *file, guint64 at,
				      gsize *n, KmtInputBuffer **buffer)
{
	if (file->frames)
		return kmt_input_frames_view(file->frames, at, n, buffer);
	*n = (gsize)(file->size - at);
	*buffer = NULL;
	return file->map + at;
}

void kmt_input_cpu_file_copy(const KmtInputCpuFile *file, guint64 at, gsize n,
			     guint8 *to)
{
	if (!file->frames) {
		memcpy(to, file->map + at, n);
		return;
	}
	while (n) {
		g_autoptr(KmtInputBuffer) buffer = NULL;
		const guint8 *from;
		gsize part;

		from = kmt_input_frames_view(file->frames, at, &part, &buffer);
		part = MIN(part, n);
		memcpy(to, from, part);
		to += part;
		at += part;
		n -= part;
	}
}

void kmt_input_cpu_file_get(const KmtInputCpuFile *file, guint64 index,
			    struct kmemtrace_event *event)
{
	kmt_input_cpu_file_copy(file, index * file->record_size, sizeof(*event),
				(guint8 *)event);
	if (file->swapped)
		kmt_input_swap_event(event);
	if (event->event_id == KMEMTRACE_EVENT_FREE ||
	    kmt_input_is_defer(event, file->capture))
		kmt_input_clear_free_fields(event);
}
