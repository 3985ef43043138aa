/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Load a complete text file into writable memory. */
#ifndef KMEMTRACE_SYMBOLS_LINE_READER_H
#define KMEMTRACE_SYMBOLS_LINE_READER_H

#include <glib.h>

/* Number of zero bytes that follow the text and may be read and written. */
#define KMT_SYM_TEXT_PADDING 32

typedef struct {
	char *text;
	gsize size; /* bytes, without the padding */
	/* private: */
	gsize mapped; /* bytes to unmap; 0: text is on the heap */
} KmtSymTextFile;

/*
 * Load the file at @path. A regular file that is not empty is mapped privately
 * if possible, so that only pages that are written to are copied. Any other
 * file is read to its end, or until slightly more than @max_bytes are read. The
 * caller must reject a size above @max_bytes. Errors are G_FILE_ERROR and name
 * the path. kmt_sym_text_file_clear() frees the text.
 */
gboolean kmt_sym_text_file_open(KmtSymTextFile *file, const char *path,
				gsize max_bytes, GError **error);
void kmt_sym_text_file_clear(KmtSymTextFile *file);

#endif
