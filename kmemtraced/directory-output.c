// SPDX-License-Identifier: GPL-2.0-or-later
/* The output to a capture directory. */
#include "config.h"

#include "lib/capture/error.h"
#include "kmemtraced/capture-output.h"

static KmtCaptureCpuWriter *directory_cpu_writer(KmtdOutput *output,
						 const KmtdSource *source,
						 guint cpu, GError **error)
{
	return kmt_capture_writer_cpu_file(output->directory, cpu,
					   source->record_bytes,
					   source->batch_bytes, error);
}

static gboolean directory_copy_table(KmtdOutput *output, const char *path,
				     const char *name, gboolean *hidden,
				     GError **error)
{
	return kmt_capture_writer_copy_table(output->directory, path, name,
					     hidden, error);
}

static gboolean directory_write_table(KmtdOutput *output, const char *name,
				      const char *text, GError **error)
{
	return kmt_capture_writer_write_table(output->directory, name, text,
					      error);
}

static gboolean directory_write_meta(KmtdOutput *output, GKeyFile *meta,
				     guint n_cpus, gboolean is_final,
				     GError **error)
{
	if (!is_final)
		return kmt_capture_writer_write_meta(output->directory, meta,
						     n_cpus, error);
	return kmt_capture_writer_end_meta(output->directory, meta, n_cpus,
					   error) &&
	       kmt_capture_writer_sync(output->directory, error);
}

static GError *directory_write_error(const KmtdOutput *output, guint cpu,
				     int errnum, guint64 unsaved)
{
	g_autofree char *name =
		kmt_capture_writer_cpu_name(output->directory, cpu);
	GError *error = NULL;

	kmt_capture_set_errno(
		&error, kmt_capture_write_error_code(errnum), errnum,
		"cannot write %s/%s (%" G_GUINT64_FORMAT
		" bytes of trace were not saved)",
		kmt_capture_writer_path(output->directory), name, unsaved);
	return error;
}

static char *directory_describe(const KmtdOutput *output)
{
	return g_strdup_printf("into %s",
			       kmt_capture_writer_path(output->directory));
}

static void directory_free(KmtdOutput *output)
{
	kmt_capture_writer_close(output->directory);
	g_free(output);
}

static const KmtdOutputClass directory_class = {
	.cpu_writer = directory_cpu_writer,
	.copy_table = directory_copy_table,
	.write_table = directory_write_table,
	.write_meta = directory_write_meta,
	.write_error = directory_write_error,
	.describe = directory_describe,
	.free = directory_free,
};

KmtdOutput *kmtd_output_to_directory(KmtCaptureWriter *writer)
{
	KmtdOutput *output = g_new0(KmtdOutput, 1);

	output->class = &directory_class;
	output->directory = writer;
	return output;
}
