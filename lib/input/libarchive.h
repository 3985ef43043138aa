/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of libarchive, which is loaded with dlopen(3) only when an input is
 * compressed or a tar. A program start takes 0.8 ms without libarchive, and
 * linking with libarchive would add 1.4 ms. These 1.4 ms are a tenth of the
 * time for a report on a small capture.
 */
#ifndef KMEMTRACE_INPUT_LIBARCHIVE_H
#define KMEMTRACE_INPUT_LIBARCHIVE_H

#ifdef HAVE_LIBARCHIVE

#include <archive.h>
#include <archive_entry.h>
#include <glib.h>

#define KMT_INPUT_LIBARCHIVE_FUNCTIONS(X)                                      \
	X(archive_entry_filetype)                                              \
	X(archive_entry_pathname)                                              \
	X(archive_entry_size)                                                  \
	X(archive_entry_sparse_count)                                          \
	X(archive_error_string)                                                \
	X(archive_filter_code)                                                 \
	X(archive_read_data)                                                   \
	X(archive_read_data_block)                                             \
	X(archive_read_free)                                                   \
	X(archive_read_new)                                                    \
	X(archive_read_next_header)                                            \
	X(archive_read_open)                                                   \
	X(archive_read_open_memory)                                            \
	X(archive_read_support_filter_gzip)                                    \
	X(archive_read_support_filter_zstd)                                    \
	X(archive_read_support_format_empty)                                   \
	X(archive_read_support_format_raw)                                     \
	X(archive_read_support_format_tar)                                     \
	X(archive_set_error)

typedef struct {
#define KMT_INPUT_LIBARCHIVE_FUNCTION(name) __typeof__(name) *name;
	KMT_INPUT_LIBARCHIVE_FUNCTIONS(KMT_INPUT_LIBARCHIVE_FUNCTION)
#undef KMT_INPUT_LIBARCHIVE_FUNCTION
} KmtInputLibarchive;

/*
 * Return the functions of libarchive. The first successful call loads the
 * library, which then stays loaded. Return NULL and set an error of
 * KMT_OPTIONAL_LIBRARY_ERROR if the library cannot be loaded or lacks a
 * function. Any thread may call this function.
 */
const KmtInputLibarchive *kmt_input_libarchive_get(GError **error);

#endif
#endif
