/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a session writes its records, tables, and kmemtrace.meta: a capture
 * directory, or a stream.
 *
 * The main thread makes all calls. A function with an error argument returns
 * FALSE or NULL and sets the error on failure.
 */
#ifndef KMEMTRACED_CAPTURE_OUTPUT_H
#define KMEMTRACED_CAPTURE_OUTPUT_H

#include <glib.h>

#include "lib/capture/capture-writer.h"
#include "lib/capture/stream-writer.h"
#include "kmemtraced/event-source.h"

typedef struct kmtd_output KmtdOutput;

/* Operations of an output. */
typedef struct {
	/* Begin with the records of @source, before all calls below. May be
	 * NULL. */
	void (*begin)(KmtdOutput *output, const KmtdSource *source);
	/* Create the writer of a CPU's records, which the caller frees before
	 * the output. */
	KmtCaptureCpuWriter *(*cpu_writer)(KmtdOutput *output,
					   const KmtdSource *source, guint cpu,
					   GError **error);
	/* See kmt_capture_writer_copy_table(). */
	gboolean (*copy_table)(KmtdOutput *output, const char *path,
			       const char *name, gboolean *hidden,
			       GError **error);
	/* See kmt_capture_writer_write_table(). */
	gboolean (*write_table)(KmtdOutput *output, const char *name,
				const char *text, GError **error);
	/* Write kmemtrace.meta, for a capture of @n_cpus CPUs in the end.
	 * @is_final: all other files are complete. */
	gboolean (*write_meta)(KmtdOutput *output, GKeyFile *meta, guint n_cpus,
			       gboolean is_final, GError **error);
	/*
	 * Return the error of writing @cpu, whose records failed with @errnum,
	 * where @unsaved bytes of all CPUs were not written. NULL means that
	 * the failure is a normal end of the recording.
	 */
	GError *(*write_error)(const KmtdOutput *output, guint cpu, int errnum,
			       guint64 unsaved);
	/* Return the place for a message, such as "into .", newly allocated. */
	char *(*describe)(const KmtdOutput *output);
	/* Free the output. */
	void (*free)(KmtdOutput *output);
} KmtdOutputClass;

/* Common part of an output. */
struct kmtd_output {
	const KmtdOutputClass *class;
	/* The capture directory, which belongs to the output; NULL: none. */
	KmtCaptureWriter *directory;
	/* The stream, which belongs to the caller; NULL: none. */
	KmtStreamWriter *stream;
};

/* Return an output to the directory of @writer, which it owns. */
KmtdOutput *kmtd_output_to_directory(KmtCaptureWriter *writer);

/* Return an output to the stream of @writer, on descriptor @fd. The caller
 * frees the writer after the output. */
KmtdOutput *kmtd_output_to_stream(KmtStreamWriter *writer, int fd);

/* Free an output. NULL is ignored. */
static inline void kmtd_output_free(KmtdOutput *output)
{
	if (output)
		output->class->free(output);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdOutput, kmtd_output_free)

#endif
