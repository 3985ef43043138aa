/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A JSON writer that prints each member when it is added and keeps nothing, so
 * that a document of any length takes constant memory.  Integers are exact in
 * 64 bits, and the output is valid UTF-8 whatever the strings hold.
 *
 * key names the member of an object; it is ASCII, unique in its object, and
 * NULL for an element of an array.  Errors of writing stick in the stream.
 */
#ifndef KMEMTRACE_CLI_JSON_WRITER_H
#define KMEMTRACE_CLI_JSON_WRITER_H

#include <glib.h>
#include <stdio.h>

typedef struct KmtJson KmtJson;

/* Begins a document on out, which must live as long; indent: blanks for each
 * level. */
KmtJson *kmt_json_new(FILE *out, guint indent);
/* Every object and array must have ended. */
void kmt_json_free(KmtJson *json);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtJson, kmt_json_free)

/* The end of the outermost object or array ends the document with a newline. */
void kmt_json_begin_object(KmtJson *json, const char *key);
void kmt_json_end_object(KmtJson *json);
void kmt_json_begin_array(KmtJson *json, const char *key);
void kmt_json_end_array(KmtJson *json);

void kmt_json_integer(KmtJson *json, const char *key, gboolean negative,
		      guint64 magnitude);
void kmt_json_u64(KmtJson *json, const char *key, guint64 value);
void kmt_json_i64(KmtJson *json, const char *key, gint64 value);

/* Enough digits to read the same value back; null if value is not finite. */
void kmt_json_double(KmtJson *json, const char *key, double value);

/* A string of "0x" and at least so many digits. */
void kmt_json_hex(KmtJson *json, const char *key, guint64 value, int digits);

void kmt_json_null(KmtJson *json, const char *key);
void kmt_json_flag(KmtJson *json, const char *key, gboolean value);

/* A string; NULL becomes null, and each byte that is not UTF-8 U+FFFD. */
void kmt_json_text(KmtJson *json, const char *key, const char *value);

/* The name of a file, which may be in any encoding; NULL becomes null. */
void kmt_json_path(KmtJson *json, const char *key, const char *path);

#endif
