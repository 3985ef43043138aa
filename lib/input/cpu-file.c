// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>
#include <sys/mman.h>

#include "lib/input/capture-private.h"
#include "lib/input/record-stream.h"

KmtStream *kmt_stream_new(KmtBytes *bytes)
{
	KmtStream *stream = g_new0(KmtStream, 1);

	stream->bytes = bytes;
	stream->decoder.variant.layout = KMT_LAYOUT_B;
	return stream;
}

void kmt_stream_free(KmtStream *stream)
{
	if (!stream)
		return;
	kmt_bytes_free(stream->bytes);
	g_free(stream->raw);
	g_free(stream);
}

gboolean kmt_parse_cpu_name(const char *name, guint *cpu)
{
	return kmt_capture_parse_cpu(name, cpu, NULL) && *cpu < G_MAXUINT16;
}

void kmt_cpu_file_give_back(const KmtCpuFile *file)
{
	if (file->base)
		madvise(file->base, file->base_size, MADV_DONTNEED);
}

void kmt_cpu_file_drop_base(KmtCpuFile *file)
{
	if (file->base)
		munmap(file->base, file->base_size);
	file->base = NULL;
}

void kmt_cpu_file_free(gpointer data)
{
	KmtCpuFile *file = data;

	kmt_stream_free(file->stream);
	kmt_cpu_file_drop_base(file);
	g_free(file->defect);
	g_free(file->path);
	g_free(file);
}

KmtCpuFile *kmt_capture_add_file(KmtCapture *capture, const char *path,
				 guint cpu)
{
	KmtCpuFile *file = g_new0(KmtCpuFile, 1);

	file->path = g_strdup(path);
	file->cpu = cpu;
	file->node = -1;
	file->capture = capture;
	file->record_size = KMEMTRACE_EVENT_SIZE_V1;
	g_ptr_array_add(capture->files, file);
	return file;
}

void kmt_cpu_file_set_defect(KmtCpuFile *file, const char *reason)
{
	if (!file->defect)
		file->defect = g_strdup(reason);
	/* That there is more is sure, what it was is not. */
	if (file->capture)
		file->capture->damaged = TRUE;
}

void kmt_capture_note(KmtCapture *capture, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_ptr_array_add(capture->notes, g_strdup_vprintf(format, args));
	va_end(args);
}

void kmt_cpu_file_get(const KmtCpuFile *file, guint64 index,
		      struct kmemtrace_event *event)
{
	memcpy(event, file->map + index * file->record_size, sizeof(*event));
	if (file->swapped)
		kmt_event_swap(event);
	if (event->event_id == KMEMTRACE_EVENT_FREE)
		kmt_event_clear_free(event);
}
