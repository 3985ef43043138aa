// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/capture/error.h"
#include "lib/capture/zstd-sink.h"

/*
 * Number of buffers of a CPU, without the buffer that the reader fills. Five
 * buffers of 1 MB absorb a burst of 80,000 events.
 */
#define N_BUFFERS 5

/* A frame is written at the latest this time after its first record. */
#define MAX_AGE_US ((gint64)5 * G_USEC_PER_SEC)

/*
 * Compression is too slow if the reader has waited longer than MAX_WAIT_US
 * since the queue was last empty, or is about to wait longer than MAX_GROUP_US
 * for one group of frames. The buffers of the kernel hold 0.15 to 0.25 s of
 * 10^6 events/s on one CPU.
 */
#define MAX_WAIT_US  100000
#define MAX_GROUP_US 20000

/* The thread calls few functions and has no large variables on its stack. */
#define STACK_BYTES (256 * 1024)

typedef struct {
	KmtCaptureBuffer buffer;
	gsize n_bytes; /* bytes of records in the buffer */
} FullBuffer;

typedef struct {
	KmtCaptureCpuSink base;
	KmtZstdFile *file;
	KmtZstdEncoder *encoder;
	gsize record_bytes;
	atomic_int error; /* negative errno of the first failure, or 0 */
	bool is_finished;
} SimpleSink;

typedef struct {
	SimpleSink simple;
	pthread_t thread;
	bool has_thread;

	pthread_mutex_t mutex;	     /* protects the fields below */
	pthread_cond_t has_work;     /* the queue has buffers, or must_end */
	pthread_cond_t has_empty;    /* an empty buffer was returned */
	FullBuffer queue[N_BUFFERS]; /* oldest first */
	guint n_queued;
	KmtCaptureBuffer empty[N_BUFFERS];
	guint n_empty;
	bool must_end;	  /* end when the queue is empty */
	bool is_ready;	  /* the thread has set its id */
	bool takes_time;  /* nothing is lost while the reader waits */
	bool is_slow;	  /* a group takes longer than MAX_GROUP_US */
	gint64 waited_us; /* time that the reader has waited since
			   * the queue was empty */
	bool is_late; /* compression is too slow, until the queue is empty */
} ThreadSink;

/* Set the error, unless there is one. r: 0 or a negative errno. */
static void set_error(SimpleSink *sink, int r)
{
	int none = 0;

	atomic_compare_exchange_strong(&sink->error, &none, r);
}

/*
 * Write the records to the file, and count those that are not in the file as
 * lost.
 */
static void append(SimpleSink *sink, const guint8 *records, gsize n_bytes,
		   bool is_stored)
{
	gsize n_done;
	int r = kmt_zstd_file_append(sink->file, sink->encoder, records,
				     n_bytes, sink->record_bytes, is_stored,
				     &n_done);

	atomic_fetch_add(&sink->base.lost, n_bytes - n_done);
	set_error(sink, r);
}

/* ---- without a thread ---- */

static int simple_write(KmtCaptureCpuSink *base, KmtCaptureBuffer *buffer,
			gsize n_bytes)
{
	SimpleSink *sink = (SimpleSink *)base;

	int r = atomic_load(&sink->error);

	/* A failure is returned by the next call, because the sink has counted
	 * which of these records are lost. */
	if (r == 0)
		append(sink, buffer->data, n_bytes, false);
	return r;
}

static int simple_error(KmtCaptureCpuSink *base)
{
	return atomic_load(&((SimpleSink *)base)->error);
}

/* Write the seek table, if the file has all records. */
static int simple_finish(KmtCaptureCpuSink *base)
{
	SimpleSink *sink = (SimpleSink *)base;

	if (atomic_load(&sink->error) == 0 && !sink->is_finished)
		set_error(sink,
			  kmt_zstd_file_finish(sink->file, sink->encoder));
	sink->is_finished = true;
	return atomic_load(&sink->error);
}

static int simple_sync(KmtCaptureCpuSink *base)
{
	return kmt_zstd_file_sync(((SimpleSink *)base)->file);
}

static void simple_frames(const KmtCaptureCpuSink *base,
			  KmtCaptureCpuFrames *frames)
{
	kmt_zstd_file_figures(((const SimpleSink *)base)->file, frames);
}

static void simple_free(KmtCaptureCpuSink *base)
{
	kmt_zstd_file_free(((SimpleSink *)base)->file);
	g_free(base);
}

static const KmtCaptureCpuSinkClass simple_class = {
	.write = simple_write,
	.error = simple_error,
	.finish = simple_finish,
	.sync = simple_sync,
	.frames = simple_frames,
	.free = simple_free,
};

static void init(SimpleSink *sink, const KmtCaptureCpuSinkClass *class,
		 KmtZstdFile *file, KmtZstdEncoder *encoder, guint cpu,
		 gsize record_bytes)
{
	sink->base.class = class;
	sink->base.cpu = cpu;
	/* Pass buffers on when they are full, or too old. */
	sink->base.batch_bytes = G_MAXSIZE;
	sink->file = file;
	sink->encoder = encoder;
	sink->record_bytes = record_bytes;
}

KmtCaptureCpuSink *kmt_zstd_sink_new_simple(KmtZstdFile *file,
					    KmtZstdEncoder *encoder, guint cpu,
					    gsize record_bytes)
{
	SimpleSink *sink = g_new0(SimpleSink, 1);

	init(sink, &simple_class, file, encoder, cpu, record_bytes);
	return &sink->base;
}

/* ---- with a thread ---- */

/*
 * Return whether the next buffer is to be stored uncompressed. mutex is held;
 * the buffer is not in the queue any more.
 */
static bool must_store(ThreadSink *sink)
{
	const KmtZstdFile *file = sink->simple.file;

	if (sink->n_queued == 0) {
		sink->waited_us = 0;
		sink->is_late = false;
	} else if (sink->waited_us > MAX_WAIT_US ||
		   (sink->n_empty <= 1 && sink->is_slow)) {
		sink->is_late = true;
	}
	return sink->is_late && !sink->takes_time &&
	       kmt_zstd_file_stores_faster(file);
}

/* Remove the oldest buffer from the queue. mutex is held. */
static FullBuffer dequeue(ThreadSink *sink)
{
	FullBuffer first = sink->queue[0];

	sink->n_queued--;
	for (guint i = 0; i < sink->n_queued; i++)
		sink->queue[i] = sink->queue[i + 1];
	return first;
}

/* Write the oldest buffer, and return it to the reader. mutex is held. */
static void write_first(ThreadSink *sink)
{
	FullBuffer full = dequeue(sink);
	bool is_stored = must_store(sink);

	if (atomic_load(&sink->simple.error)) {
		atomic_fetch_add(&sink->simple.base.lost, full.n_bytes);
	} else {
		kmt_zstd_file_set_urgent(sink->simple.file, false);
		pthread_mutex_unlock(&sink->mutex);
		append(&sink->simple, full.buffer.data, full.n_bytes,
		       is_stored);
		pthread_mutex_lock(&sink->mutex);
		sink->is_slow = kmt_zstd_file_encode_us(sink->simple.file) >
				MAX_GROUP_US;
	}
	sink->empty[sink->n_empty++] = full.buffer;
	pthread_cond_signal(&sink->has_empty);
}

static void *zstd_thread(void *data)
{
	ThreadSink *sink = data;

	pthread_mutex_lock(&sink->mutex);
	sink->simple.base.thread = (pid_t)syscall(SYS_gettid);
	sink->is_ready = true;
	pthread_cond_signal(&sink->has_empty);
	for (;;) {
		while (sink->n_queued == 0 && !sink->must_end)
			pthread_cond_wait(&sink->has_work, &sink->mutex);
		if (sink->n_queued == 0)
			break;
		write_first(sink);
	}
	pthread_mutex_unlock(&sink->mutex);
	return NULL;
}

static int thread_write(KmtCaptureCpuSink *base, KmtCaptureBuffer *buffer,
			gsize n_bytes)
{
	ThreadSink *sink = (ThreadSink *)base;
	gint64 start_us = 0;
	int r;

	pthread_mutex_lock(&sink->mutex);
	if (sink->n_empty == 0)
		start_us = g_get_monotonic_time();
	while (sink->n_empty == 0)
		pthread_cond_wait(&sink->has_empty, &sink->mutex);
	if (start_us)
		sink->waited_us += g_get_monotonic_time() - start_us;
	r = atomic_load(&sink->simple.error);
	if (r == 0) {
		sink->queue[sink->n_queued++] = (FullBuffer){*buffer, n_bytes};
		*buffer = sink->empty[--sink->n_empty];
		/* At a high level, compressing the rest of the current group
		 * would take longer than the reader can wait. */
		if (sink->n_empty <= 1 && sink->is_slow && !sink->takes_time)
			kmt_zstd_file_set_urgent(sink->simple.file, true);
		pthread_cond_signal(&sink->has_work);
	}
	pthread_mutex_unlock(&sink->mutex);
	return r;
}

/* End the thread after it has written its queue. */
static void join(ThreadSink *sink)
{
	if (!sink->has_thread)
		return;
	pthread_mutex_lock(&sink->mutex);
	sink->must_end = true;
	pthread_cond_signal(&sink->has_work);
	pthread_mutex_unlock(&sink->mutex);
	pthread_join(sink->thread, NULL);
	sink->has_thread = false;
}

static void free_memory(ThreadSink *sink)
{
	for (guint i = 0; i < sink->n_empty; i++)
		kmt_capture_buffer_free(&sink->empty[i]);
	sink->n_empty = 0;
	g_clear_pointer(&sink->simple.encoder, kmt_zstd_encoder_free);
}

static int thread_finish(KmtCaptureCpuSink *base)
{
	ThreadSink *sink = (ThreadSink *)base;

	int r;

	join(sink);
	r = simple_finish(base);
	free_memory(sink);
	return r;
}

static void thread_take_time(KmtCaptureCpuSink *base, bool on)
{
	ThreadSink *sink = (ThreadSink *)base;

	pthread_mutex_lock(&sink->mutex);
	sink->takes_time = on;
	if (on)
		kmt_zstd_file_set_urgent(sink->simple.file, false);
	pthread_mutex_unlock(&sink->mutex);
}

static void thread_discard(KmtCaptureCpuSink *base)
{
	set_error((SimpleSink *)base, -ECANCELED);
}

static void thread_free(KmtCaptureCpuSink *base)
{
	ThreadSink *sink = (ThreadSink *)base;

	join(sink);
	free_memory(sink);
	pthread_mutex_destroy(&sink->mutex);
	pthread_cond_destroy(&sink->has_work);
	pthread_cond_destroy(&sink->has_empty);
	simple_free(base);
}

static const KmtCaptureCpuSinkClass thread_class = {
	.write = thread_write,
	.error = simple_error,
	.finish = thread_finish,
	.take_time = thread_take_time,
	.discard = thread_discard,
	.sync = simple_sync,
	.frames = simple_frames,
	.free = thread_free,
};

/* Start the thread, and wait for its id. Return 0 or a positive errno. */
static int start_thread(ThreadSink *sink)
{
	pthread_attr_t attr;
	int r;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	r = pthread_create(&sink->thread, &attr, zstd_thread, sink);
	pthread_attr_destroy(&attr);
	if (r)
		return r;
	sink->has_thread = true;
	pthread_mutex_lock(&sink->mutex);
	while (!sink->is_ready)
		pthread_cond_wait(&sink->has_empty, &sink->mutex);
	pthread_mutex_unlock(&sink->mutex);
	return 0;
}

KmtCaptureCpuSink *kmt_zstd_sink_new(KmtZstdFile *file, KmtZstdEncoder *encoder,
				     guint cpu, gsize record_bytes,
				     gsize capacity, GError **error)
{
	ThreadSink *sink = g_new0(ThreadSink, 1);
	int r = 0;

	init(&sink->simple, &thread_class, file, encoder, cpu, record_bytes);
	sink->simple.base.max_age_us = MAX_AGE_US;
	pthread_mutex_init(&sink->mutex, NULL);
	pthread_cond_init(&sink->has_work, NULL);
	pthread_cond_init(&sink->has_empty, NULL);
	for (guint i = 0; i < N_BUFFERS && r == 0; i++) {
		if (kmt_capture_buffer_allocate(&sink->empty[i], capacity,
						true))
			sink->n_empty++;
		else
			r = errno;
	}
	if (r == 0)
		r = start_thread(sink);
	if (r == 0)
		return &sink->simple.base;
	kmt_capture_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, r,
			      "cannot compress the records of CPU %u", cpu);
	thread_free(&sink->simple.base);
	return NULL;
}
