// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "import/input-file.h"

/* Magic numbers at the start of the supported files. */
#define PERF_MAGIC	   "PERFILE2"
#define PERF_MAGIC_SWAPPED "2ELIFREP"
#define TRACE_DAT_MAGIC	   "\027\010\104tracing"
#define MAGIC_BYTES	   10

typedef char Magic[MAGIC_BYTES];

static gboolean read_magic(const char *path, Magic magic, GError **error)
{
	FILE *file = fopen(path, "re");
	gsize n;

	if (!file) {
		g_set_error_literal(error, KMT_IMPORT_ERROR,
				    KMT_IMPORT_ERROR_INPUT, g_strerror(errno));
		return FALSE;
	}
	n = fread(magic, 1, MAGIC_BYTES, file);
	fclose(file);
	return n > 0 || kmt_import_fail(error, "it is empty: copy it again, or "
					       "record again");
}

static gboolean is_perf(const Magic magic)
{
	return memcmp(magic, PERF_MAGIC, 8) == 0 ||
	       memcmp(magic, PERF_MAGIC_SWAPPED, 8) == 0;
}

static gboolean is_trace_dat(const Magic magic)
{
	return memcmp(magic, TRACE_DAT_MAGIC, MAGIC_BYTES) == 0;
}

/*
 * Return whether path is a directory of perf record --threads. Its file "data"
 * is a perf.data.
 */
static gboolean is_thread_directory(const char *path)
{
	g_autofree char *data = g_build_filename(path, "data", NULL);

	return g_file_test(data, G_FILE_TEST_IS_REGULAR);
}

/*
 * Return whether path is a temporary file of trace-cmd such as
 * "trace.dat.cpu0". The file contains the raw pages of one CPU; trace-cmd
 * removes it when the recording ends normally.
 */
static gboolean is_cpu_file(const char *path)
{
	return g_regex_match_simple("\\.cpu[0-9]+$", path, 0, 0);
}

/*
 * Return the paths, quoted as words of a shell command. The caller frees the
 * text.
 */
static char *quote_all(char *const *paths)
{
	GString *text = g_string_new(NULL);

	for (; *paths; paths++) {
		g_autofree char *quoted = g_shell_quote(*paths);

		g_string_append_printf(text, "%s%s", text->len ? " " : "",
				       quoted);
	}
	return g_string_free(text, FALSE);
}

static gboolean fail_cpu_files(char *const *paths, GError **error)
{
	g_autofree char *files = quote_all(paths);

	g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
		    "trace-cmd record was killed before it joined the files of "
		    "all CPUs to a trace.dat: join them first, on the recorded "
		    "machine, with trace-cmd restore -o trace.dat %s",
		    files);
	return FALSE;
}

/*
 * Set *error to a message that explains how to import several inputs if at
 * least one of them is not from perf. Returns FALSE.
 */
static gboolean fail_several(char *const *paths, const char *path,
			     const Magic magic, GError **error)
{
	g_autofree char *files = quote_all(paths);

	if (g_file_test(path, G_FILE_TEST_IS_DIR))
		g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
			    "several directories of CTF must be in one "
			    "directory: mkdir all && cp -r %s all && "
			    "kmemtrace-import all OUTDIR",
			    files);
	else if (is_cpu_file(path))
		return fail_cpu_files(paths, error);
	else if (is_trace_dat(magic))
		g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
			    "several trace.dat cannot become one capture, "
			    "because each may have its own clock and tasks: "
			    "import them one by one: for f in %s; do "
			    "kmemtrace-import \"$f\" \"$f.capture\"; done",
			    files);
	else
		g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
			    "%s is not a perf.data: several files must come "
			    "from one perf record --switch-output",
			    path);
	return FALSE;
}

static gboolean check_several(char *const *paths, GError **error)
{
	for (guint i = 0; paths[i]; i++) {
		Magic magic = {0};

		if (is_thread_directory(paths[i]))
			continue;
		if (g_file_test(paths[i], G_FILE_TEST_IS_DIR))
			return fail_several(paths, paths[i], magic, error);
		if (!read_magic(paths[i], magic, error)) {
			g_prefix_error(error, "%s: ", paths[i]);
			return FALSE;
		}
		if (!is_perf(magic))
			return fail_several(paths, paths[i], magic, error);
	}
	return TRUE;
}

gboolean kmt_import_read(KmtImport *import, char *const *paths,
			 const char *buffer, GError **error)
{
	const char *const *all = (const char *const *)paths;
	const char *path = paths[0];
	Magic magic = {0};

	if (paths[1] && !check_several(paths, error))
		return FALSE;
	if (is_thread_directory(path))
		return kmt_import_perf_data(import, all, error);
	if (g_file_test(path, G_FILE_TEST_IS_DIR))
		return kmt_import_ctf(import, path, error);
	if (!read_magic(path, magic, error))
		return FALSE;
	if (is_perf(magic))
		return kmt_import_perf_data(import, all, error);
	if (is_trace_dat(magic))
		return kmt_import_trace_dat(import, path, buffer, error);
	if (is_cpu_file(path))
		return fail_cpu_files(paths, error);
	return kmt_import_fail(
		error, "it is not a perf.data, a trace.dat, or a directory of "
		       "CTF: name one of these, and decompress it before");
}
