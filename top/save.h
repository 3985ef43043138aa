/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saves what the screen shows to a file. */
#ifndef KMEMTRACE_TOP_SAVE_H
#define KMEMTRACE_TOP_SAVE_H

#include <glib.h>
#include <stdio.h>

/* Prints a document to a stream. */
typedef void (*KmtTopSavePrint)(FILE *out, gconstpointer user);

/*
 * Write the document that print() prints to the file path. The file is complete
 * or unchanged, also if the disk is full. A file that exists is replaced only
 * with overwrite; otherwise the error is G_FILE_ERROR_EXIST. Return FALSE and
 * set *error on failure.
 */
gboolean kmt_top_save(const char *path, gboolean overwrite,
		      KmtTopSavePrint print, gconstpointer user,
		      GError **error);

#endif
