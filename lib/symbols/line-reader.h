/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The whole of a text file, in memory that may be written to. */
#ifndef KMEMTRACE_SYMBOLS_LINE_READER_H
#define KMEMTRACE_SYMBOLS_LINE_READER_H

#include <glib.h>

/* Bytes of value 0 that follow the text and may be read and written. */
#define KMT_SYM_TEXT_PADDING 32

typedef struct {
	char *text;
	gsize size; /* bytes, without the padding */
	/* private: */
	gsize mapped; /* bytes to unmap; 0: text is of the heap */
} KmtSymTextFile;

/*
 * A regular file is mapped: nothing is copied but the pages that are written
 * to.  Anything else is read, and no further than a few bytes beyond max_bytes:
 * the caller has to refuse a larger size.  Errors are G_FILE_ERROR and name the
 * path.
 */
gboolean kmt_sym_text_file_open(KmtSymTextFile *file, const char *path,
				gsize max_bytes, GError **error);
void kmt_sym_text_file_clear(KmtSymTextFile *file);

#endif
