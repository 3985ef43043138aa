// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "lib/capture/cpu-file-writer.h"
#include "lib/capture/direct-file.h"
#include "lib/capture/error.h"

struct kmt_capture_cpu_writer {
	KmtCaptureDirectFile file;
	KmtCaptureCpuSink *sink; /* receives the records; NULL: the file */
	bool closed;		 /* no more bytes are accepted */
	int error; /* negative errno of the write that failed, or 0 */
	gsize record_bytes;
	gsize chunk_bytes;
	gsize batch_bytes;
	KmtCaptureBuffer buffer;
	gsize fill;	 /* bytes in buffer */
	gint64 first_us; /* time at which the first bytes of buffer were added,
			  * if the sink limits the age of records */
	/* Counters of bytes. Other threads read the counters while one thread
	 * writes the file. */
	_Atomic guint64 written;
	_Atomic guint64 unsaved;
};

/*
 * Add to a counter. Only the thread that writes the file changes a counter, so
 * a plain load and store suffice.
 */
static void figure_add(_Atomic guint64 *figure, guint64 n)
{
	atomic_store_explicit(
		figure, atomic_load_explicit(figure, memory_order_relaxed) + n,
		memory_order_relaxed);
}

KmtCaptureCpuWriter *
kmt_capture_cpu_writer_new(int dir_fd, const char *name, gsize record_bytes,
			   gsize batch_bytes, KmtCaptureCpuWriterMemory memory,
			   GError **error)
{
	g_autoptr(KmtCaptureCpuWriter) writer = g_new0(KmtCaptureCpuWriter, 1);
	bool is_locked = memory == KMT_CAPTURE_CPU_WRITER_LOCKED;

	writer->record_bytes = record_bytes;
	writer->chunk_bytes = kmt_capture_cpu_writer_chunk_bytes(record_bytes);
	g_assert(writer->chunk_bytes % record_bytes == 0);
	writer->batch_bytes = batch_bytes;
	/* Only a program that records has to bypass the page cache. */
	if (!kmt_capture_direct_file_create(&writer->file, dir_fd, name,
					    is_locked, error))
		return NULL;
	if (!kmt_capture_buffer_allocate(
		    &writer->buffer,
		    is_locked ? KMT_CAPTURE_CPU_WRITER_BUFFER_BYTES
			      : 2 * writer->chunk_bytes,
		    is_locked)) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, errno,
				      "no memory to write %s", name);
		unlinkat(dir_fd, name, 0);
		return NULL;
	}
	return g_steal_pointer(&writer);
}

gsize kmt_capture_cpu_writer_sink_capacity(gsize record_bytes,
					   gsize batch_bytes)
{
	gsize chunk = kmt_capture_cpu_writer_chunk_bytes(record_bytes);
	/* A batch, the record of a loss before it, and as much again. */
	gsize needed = MAX(2 * (batch_bytes + record_bytes),
			   KMT_CAPTURE_CPU_WRITER_BUFFER_BYTES);

	return needed - needed % chunk;
}

KmtCaptureCpuWriter *kmt_capture_cpu_writer_new_sink(
	KmtCaptureCpuSink *sink, gsize record_bytes, gsize batch_bytes,
	KmtCaptureCpuWriterMemory memory, GError **error)
{
	g_autoptr(KmtCaptureCpuWriter) writer = g_new0(KmtCaptureCpuWriter, 1);

	writer->file.fd = -1;
	writer->sink = sink;
	writer->record_bytes = record_bytes;
	writer->chunk_bytes = kmt_capture_cpu_writer_chunk_bytes(record_bytes);
	writer->batch_bytes = sink->batch_bytes;
	if (kmt_capture_buffer_allocate(
		    &writer->buffer,
		    kmt_capture_cpu_writer_sink_capacity(record_bytes,
							 batch_bytes),
		    memory == KMT_CAPTURE_CPU_WRITER_LOCKED))
		return g_steal_pointer(&writer);
	kmt_capture_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, errno,
			      "no memory to write the records of CPU %u",
			      sink->cpu);
	return NULL;
}

void kmt_capture_cpu_writer_free(KmtCaptureCpuWriter *writer)
{
	if (!writer)
		return;
	kmt_capture_buffer_free(&writer->buffer);
	kmt_capture_direct_file_close(&writer->file);
	if (writer->sink)
		writer->sink->class->free(writer->sink);
	g_free(writer);
}

/*
 * Truncate the file to the complete records in its first n_bytes. Return the
 * new size.
 */
static guint64 cut(KmtCaptureCpuWriter *writer, guint64 n_bytes)
{
	guint64 whole = n_bytes - n_bytes % writer->record_bytes;

	kmt_capture_direct_file_cut(&writer->file, whole);
	return whole;
}

/* Append n_bytes of complete records to the file. Return the number of written
 * bytes. */
static gsize write_from(KmtCaptureCpuWriter *writer, const guint8 *from,
			gsize n_bytes)
{
	guint64 start = kmt_capture_cpu_writer_written(writer);
	gsize done;

	if (writer->closed)
		return 0;
	done = kmt_capture_direct_file_write(&writer->file, from, n_bytes,
					     start, &writer->error);
	if (done < n_bytes) {
		writer->closed = true;
		done = (gsize)(cut(writer, start + done) - start);
	}
	figure_add(&writer->written, done);
	return done;
}

/*
 * Pass the first n_bytes of the buffer to the sink, which may replace the
 * buffer. The rest, which is less than a record, remains. Return 0 or a
 * negative errno.
 */
static int pass_on(KmtCaptureCpuWriter *writer, gsize n_bytes)
{
	gsize n_rest = writer->fill - n_bytes;
	guint8 rest[KMT_CAPTURE_RECORD_BYTES_MAX];

	g_assert(n_rest < sizeof(rest));
	memcpy(rest, writer->buffer.data + n_bytes, n_rest);
	writer->error = writer->sink->class->write(writer->sink,
						   &writer->buffer, n_bytes);
	if (writer->error) {
		kmt_capture_cpu_writer_discard(writer);
		return writer->error;
	}
	memcpy(writer->buffer.data, rest, n_rest);
	writer->fill = n_rest;
	figure_add(&writer->written, n_bytes);
	return 0;
}

/* Write the first n_bytes of the buffer. Return 0 or a negative errno. */
static int write_out(KmtCaptureCpuWriter *writer, gsize n_bytes)
{
	gsize done;

	if (writer->sink && !writer->closed)
		return pass_on(writer, n_bytes);
	done = write_from(writer, writer->buffer.data, n_bytes);
	writer->fill -= done;
	memmove(writer->buffer.data, writer->buffer.data + done, writer->fill);
	if (writer->closed)
		kmt_capture_cpu_writer_discard(writer);
	return writer->error;
}

void *kmt_capture_cpu_writer_room(KmtCaptureCpuWriter *writer, gsize *n_bytes)
{
	gsize room = writer->buffer.capacity - writer->fill;

	/* fill is a multiple of the record size, unless the kernel returned an
	 * incomplete record. */
	*n_bytes = MAX(room - room % writer->record_bytes, 1);
	return writer->buffer.data + writer->fill;
}

int kmt_capture_cpu_writer_add(KmtCaptureCpuWriter *writer, gsize n_bytes)
{
	if (writer->fill == 0 && writer->sink && writer->sink->max_age_us)
		writer->first_us = g_get_monotonic_time();
	writer->fill += n_bytes;
	if (writer->closed)
		kmt_capture_cpu_writer_discard(writer);
	else if (writer->fill == writer->buffer.capacity)
		return write_out(writer, writer->fill);
	return writer->error;
}

/*
 * Return whether kmt_capture_cpu_writer_append() should write the n_bytes at
 * from directly to the file, after the content of the buffer, instead of
 * copying the bytes to the buffer.
 */
static bool is_worth_it(const KmtCaptureCpuWriter *writer, const void *from,
			gsize n_bytes)
{
	guint64 place = kmt_capture_cpu_writer_written(writer) + writer->fill;

	if (writer->closed || writer->sink)
		return false;
	/* With O_DIRECT, small writes would add more events to the trace. */
	return !writer->file.direct ||
	       (n_bytes >= writer->batch_bytes &&
		(place | (guintptr)from | n_bytes) % KMT_CAPTURE_BLOCK_BYTES ==
			0);
}

/* Enlarge the buffer to more than n_bytes. Return 0 or the negative errno. */
static int enlarge(KmtCaptureCpuWriter *writer, gsize n_bytes)
{
	gsize needed = n_bytes + writer->chunk_bytes;

	needed -= needed % writer->chunk_bytes;
	writer->error = kmt_capture_buffer_resize(&writer->buffer, needed);
	if (writer->error)
		kmt_capture_cpu_writer_discard(writer);
	return writer->error;
}

int kmt_capture_cpu_writer_reserve(KmtCaptureCpuWriter *writer, gsize n_bytes)
{
	if (!writer->sink || writer->closed ||
	    writer->fill + n_bytes < writer->buffer.capacity)
		return writer->error;
	write_out(writer, writer->fill);
	return n_bytes < writer->buffer.capacity ? writer->error
						 : enlarge(writer, n_bytes);
}

int kmt_capture_cpu_writer_append(KmtCaptureCpuWriter *writer, const void *from,
				  gsize n_bytes)
{
	const guint8 *rest = from;

	if (is_worth_it(writer, from, n_bytes)) {
		gsize done = 0;

		if (writer->fill > 0)
			write_out(writer, writer->fill);
		if (writer->fill == 0)
			done = write_from(writer, rest, n_bytes);
		rest += done;
		n_bytes -= done;
	}
	while (n_bytes > 0) {
		gsize room;
		void *to = kmt_capture_cpu_writer_room(writer, &room);
		gsize n = MIN(room, n_bytes);

		memcpy(to, rest, n);
		kmt_capture_cpu_writer_add(writer, n);
		rest += n;
		n_bytes -= n;
	}
	return writer->error;
}

int kmt_capture_cpu_writer_take_back(KmtCaptureCpuWriter *writer, gsize n_bytes)
{
	gsize unsaved = (gsize)MIN(
		atomic_load_explicit(&writer->unsaved, memory_order_relaxed),
		n_bytes);
	gsize in_memory;

	figure_add(&writer->unsaved, -(guint64)unsaved);
	n_bytes -= unsaved;
	in_memory = MIN(writer->fill, n_bytes);
	writer->fill -= in_memory;
	n_bytes -= in_memory;
	if (n_bytes > 0) {
		cut(writer, kmt_capture_cpu_writer_written(writer) - n_bytes);
		figure_add(&writer->written, -(guint64)n_bytes);
	}
	return writer->error;
}

/* Return the time until the buffered records are too old, in microseconds. */
static gint64 time_left_us(const KmtCaptureCpuWriter *writer)
{
	return writer->first_us + writer->sink->max_age_us -
	       g_get_monotonic_time();
}

/* Return whether the sink limits the age of records, and the buffer has some.
 */
static bool has_deadline(const KmtCaptureCpuWriter *writer)
{
	return writer->sink && writer->sink->max_age_us && !writer->closed &&
	       writer->fill >= writer->record_bytes;
}

/* Close the writer if the sink failed meanwhile. */
static void check_sink(KmtCaptureCpuWriter *writer)
{
	const KmtCaptureCpuSink *sink = writer->sink;

	if (!sink || !sink->class->error || writer->closed)
		return;
	writer->error = sink->class->error(writer->sink);
	if (writer->error)
		kmt_capture_cpu_writer_discard(writer);
}

int kmt_capture_cpu_writer_flush(KmtCaptureCpuWriter *writer)
{
	gsize unit = writer->record_bytes;

	check_sink(writer);
	if (writer->closed)
		return writer->error;
	if ((writer->file.direct || writer->sink) &&
	    writer->fill < writer->batch_bytes &&
	    !(has_deadline(writer) && time_left_us(writer) <= 0))
		return 0;
	if (writer->file.direct)
		unit = writer->chunk_bytes;
	return write_out(writer, writer->fill - writer->fill % unit);
}

int kmt_capture_cpu_writer_flush_all(KmtCaptureCpuWriter *writer)
{
	if (writer->closed || writer->fill < writer->record_bytes)
		return writer->error;
	return write_out(writer,
			 writer->fill - writer->fill % writer->record_bytes);
}

void kmt_capture_cpu_writer_take_time(KmtCaptureCpuWriter *writer, bool on)
{
	if (writer->sink && writer->sink->class->take_time)
		writer->sink->class->take_time(writer->sink, on);
}

int kmt_capture_cpu_writer_wait_ms(const KmtCaptureCpuWriter *writer)
{
	if (!has_deadline(writer))
		return -1;
	return (int)(MAX(time_left_us(writer), 0) / 1000 + 1);
}

int kmt_capture_cpu_writer_finish(KmtCaptureCpuWriter *writer)
{
	gsize chunks = writer->fill - writer->fill % writer->chunk_bytes;
	gsize whole;

	if (!writer->closed && writer->file.direct && chunks > 0)
		write_out(writer, chunks);
	whole = writer->fill - writer->fill % writer->record_bytes;
	if (!writer->closed && whole > 0) {
		if (writer->file.direct)
			kmt_capture_direct_file_set_direct(&writer->file,
							   false);
		write_out(writer, whole);
	}
	figure_add(&writer->unsaved, writer->fill);
	writer->fill = 0;
	if (writer->sink && writer->sink->class->finish) {
		int r = writer->sink->class->finish(writer->sink);

		if (writer->error == 0)
			writer->error = r;
	}
	return writer->error;
}

void kmt_capture_cpu_writer_abandon(KmtCaptureCpuWriter *writer)
{
	if (writer->sink && writer->sink->class->discard)
		writer->sink->class->discard(writer->sink);
}

void kmt_capture_cpu_writer_discard(KmtCaptureCpuWriter *writer)
{
	writer->closed = true;
	figure_add(&writer->unsaved, writer->fill);
	writer->fill = 0;
}

int kmt_capture_cpu_writer_sync(KmtCaptureCpuWriter *writer)
{
	if (!writer->sink)
		return kmt_capture_direct_file_sync(&writer->file);
	return writer->sink->class->sync
		       ? writer->sink->class->sync(writer->sink)
		       : 0;
}

int kmt_capture_cpu_writer_error(const KmtCaptureCpuWriter *writer)
{
	return writer->error;
}

/* Return the bytes that the sink has received and then lost. */
static guint64 lost_bytes(const KmtCaptureCpuWriter *writer)
{
	return writer->sink ? atomic_load(&writer->sink->lost) : 0;
}

guint64 kmt_capture_cpu_writer_written(const KmtCaptureCpuWriter *writer)
{
	return atomic_load_explicit(&writer->written, memory_order_relaxed) -
	       lost_bytes(writer);
}

guint64 kmt_capture_cpu_writer_unsaved(const KmtCaptureCpuWriter *writer)
{
	return atomic_load_explicit(&writer->unsaved, memory_order_relaxed) +
	       lost_bytes(writer);
}

gboolean kmt_capture_cpu_writer_frames(const KmtCaptureCpuWriter *writer,
				       KmtCaptureCpuFrames *frames)
{
	if (!writer->sink || !writer->sink->class->frames)
		return FALSE;
	writer->sink->class->frames(writer->sink, frames);
	return TRUE;
}

guint64 kmt_capture_cpu_writer_file_bytes(const KmtCaptureCpuWriter *writer)
{
	KmtCaptureCpuFrames frames;

	return kmt_capture_cpu_writer_frames(writer, &frames)
		       ? frames.file_bytes
		       : kmt_capture_cpu_writer_written(writer);
}

pid_t kmt_capture_cpu_writer_thread(const KmtCaptureCpuWriter *writer)
{
	return writer->sink ? writer->sink->thread : 0;
}
