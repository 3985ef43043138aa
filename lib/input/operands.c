// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/capture/names.h"
#include "lib/input/archive.h"
#include "lib/input/capture-private.h"
#include "lib/input/record-stream.h"

/*
 * Path of the KmtInputCpuFile that reads standard input. kmemtrace.meta and the
 * tables are searched in the directory of the path, and /dev contains none.
 */
#define STDIN_PATH "/dev/stdin"

static gboolean has_file(const char *directory, const char *subdirectory,
			 const char *name)
{
	g_autofree char *path =
		g_build_filename(directory, subdirectory, name, NULL);

	return g_file_test(path, G_FILE_TEST_IS_REGULAR);
}

/*
 * Set an error for a directory in which a capture is being replaced by a newer
 * one. The files in the directory then belong to two captures, or are only a
 * part of one. lib/capture/replace.c describes the steps of a replacement.
 * Always return FALSE.
 */
static gboolean refuse_replacement(const char *path, GError **error)
{
	gboolean whole =
		has_file(path, KMT_CAPTURE_COMPLETE, KMT_CAPTURE_META) &&
		(has_file(path, "", KMT_CAPTURE_META) ||
		 has_file(path, KMT_CAPTURE_COMPLETE, KMT_CAPTURE_OLD_META));

	g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_FORMAT,
		    "the capture in %s is being replaced, or its replacement "
		    "was interrupted: the next kmemtraced or kmemtrace-import "
		    "that writes to the directory completes it%s%s%s",
		    path, whole ? "; the complete new capture is in " : "",
		    whole ? path : "", whole ? "/" KMT_CAPTURE_COMPLETE : "");
	return FALSE;
}

static gboolean refuse_empty(const char *path, const char *new_name,
			     GError **error)
{
	g_set_error(
		error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_NO_FILES,
		"no cpu<n>.out in %s: not the directory of a capture%s%s%s%s",
		path,
		new_name ? "; a recording that did not complete is "
			   "in "
			 : "",
		new_name ? path : "", new_name ? "/" : "",
		new_name ? new_name : "");
	return FALSE;
}

static gboolean add_directory(KmtInputCapture *capture, const char *path,
			      GError **error)
{
	g_autofree char *new_name = NULL;
	g_autoptr(GDir) dir = NULL;
	DIR *check;
	const char *name;
	guint cpu;

	/* Check the directory with opendir(3) first, because the error message
	 * of g_dir_open() would contain the path a second time. */
	check = opendir(path);
	if (!check)
		return kmt_input_fail_open(path, error);
	closedir(check);
	dir = g_dir_open(path, 0, NULL);
	if (!dir)
		return kmt_input_fail_open(path, error);
	capture->directory = g_strdup(path);
	while ((name = g_dir_read_name(dir))) {
		g_autofree char *full = NULL;
		KmtInputCpuFile *file;
		gboolean is_tar;

		if (g_str_equal(name, KMT_CAPTURE_COMPLETE))
			return refuse_replacement(path, error);
		if (kmt_capture_is_new(name) &&
		    has_file(path, name, KMT_CAPTURE_META)) {
			g_free(new_name);
			new_name = g_strdup(name);
		}
		if (!kmt_input_parse_cpu_name(name, &cpu))
			continue;
		full = strcmp(path, ".") == 0
			       ? g_strdup(name)
			       : g_build_filename(path, name, NULL);
		file = kmt_input_add_file_checked(capture, full, cpu, error);
		if (!file || !kmt_input_cpu_file_open(file, FALSE, error) ||
		    !kmt_input_decompress_file(file, &is_tar, error))
			return FALSE;
	}
	if (capture->files->len == 0)
		return refuse_empty(path, new_name, error);
	if (new_name)
		kmt_input_capture_add_note(
			capture,
			"%s/%s has a newer recording, which is in progress "
			"or did not complete; these figures are of the "
			"previous capture",
			path, new_name);
	return TRUE;
}

/* ---- operands ---- */

/*
 * Return the set of the CPU numbers that occur in operand names, so that other
 * operands can get unused numbers. The caller frees the set.
 */
static GHashTable *named_cpus(const char *const *operands)
{
	GHashTable *cpus = g_hash_table_new(NULL, NULL);

	for (; *operands; operands++) {
		g_autofree char *name = g_path_get_basename(*operands);
		guint cpu;

		if (kmt_input_parse_cpu_name(name, &cpu))
			g_hash_table_add(cpus, GUINT_TO_POINTER(cpu));
	}
	return cpus;
}

static KmtInputCpuFile *open_operand(KmtInputCapture *capture,
				     const char *operand, guint cpu,
				     gboolean *is_tar, GError **error)
{
	gboolean is_stdin = strcmp(operand, "-") == 0, ok;
	KmtInputCpuFile *file = kmt_input_add_file_checked(
		capture, is_stdin ? STDIN_PATH : operand, cpu, error);
	int fd;

	if (!file)
		return NULL;
	if (is_stdin) {
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
		ok = fd < 0 ? kmt_input_fail_open("standard input", error)
			    : kmt_input_cpu_file_adopt_fd(file, fd, TRUE,
							  error);
	} else {
		ok = kmt_input_cpu_file_open(file, TRUE, error);
	}
	return ok && kmt_input_decompress_file(file, is_tar, error) ? file
								    : NULL;
}

static gboolean add_operands(KmtInputCapture *capture,
			     const char *const *operands, GError **error)
{
	g_autoptr(GHashTable) named = named_cpus(operands);
	const char *const *o;
	guint free_cpu = 0;

	for (o = operands; *o; o++) {
		g_autofree char *name = g_path_get_basename(*o);
		KmtInputCpuFile *file;
		gboolean is_tar;
		guint cpu;

		if (g_file_test(*o, G_FILE_TEST_IS_DIR)) {
			g_set_error(error, KMT_INPUT_ERROR,
				    KMT_INPUT_ERROR_FORMAT,
				    "%s is a directory: specify one "
				    "directory, or cpu files",
				    *o);
			return FALSE;
		}
		if (!kmt_input_parse_cpu_name(name, &cpu)) {
			while (g_hash_table_contains(
				named, GUINT_TO_POINTER(free_cpu)))
				free_cpu++;
			cpu = free_cpu++;
		}
		file = open_operand(capture, *o, cpu, &is_tar, error);
		if (!file)
			return FALSE;
		if (is_tar && !operands[1])
			return kmt_input_open_tar(capture, file, error);
		if (is_tar) {
			g_set_error(
				error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_FORMAT,
				"%s is a tar: specify one tar, or cpu files",
				*o);
			return FALSE;
		}
	}
	return TRUE;
}

gboolean kmt_input_open_operands(KmtInputCapture *capture,
				 const char *const *operands, GError **error)
{
	if (!operands[1] && g_file_test(operands[0], G_FILE_TEST_IS_DIR))
		return add_directory(capture, operands[0], error);
	return add_operands(capture, operands, error);
}
