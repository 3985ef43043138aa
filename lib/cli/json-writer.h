/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Streaming JSON writer. Each member is printed when it is added, so a
 * document of any length needs constant memory. Integers are exact to 64 bits.
 * The output is valid UTF-8, even if the strings are not.
 *
 * @key is the name of an object's member, in ASCII and unique in the object;
 * @key is NULL for an element of an array and for the outermost value. The
 * writer does not report write errors; the caller checks ferror() of the
 * stream.
 */
#ifndef KMEMTRACE_CLI_JSON_WRITER_H
#define KMEMTRACE_CLI_JSON_WRITER_H

#include <glib.h>
#include <stdio.h>

typedef struct KmtJson KmtJson;

/* Create a writer for one document on @out, which must outlive the writer.
 * @indent is the number of blanks for each level. The caller frees the writer.
 */
KmtJson *kmt_json_new(FILE *out, guint indent);
/* Free the writer. All objects and arrays must have ended. */
void kmt_json_free(KmtJson *json);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtJson, kmt_json_free)

/*
 * Begin or end an object or an array. The end of the outermost one also prints
 * a newline.
 */
void kmt_json_begin_object(KmtJson *json, const char *key);
void kmt_json_end_object(KmtJson *json);
void kmt_json_begin_array(KmtJson *json, const char *key);
void kmt_json_end_array(KmtJson *json);

/* Print an integer of 64 bits and a sign. */
void kmt_json_integer(KmtJson *json, const char *key, gboolean negative,
		      guint64 magnitude);
void kmt_json_u64(KmtJson *json, const char *key, guint64 value);
/* Print an integer, or null if it is unknown. */
void kmt_json_known_u64(KmtJson *json, const char *key, gboolean known,
			guint64 value);
void kmt_json_i64(KmtJson *json, const char *key, gint64 value);

/*
 * Print a number with enough digits to read the same value back; print null if
 * the value is not finite.
 */
void kmt_json_double(KmtJson *json, const char *key, double value);

/* Print a string of "0x" and at least @digits hexadecimal digits. */
void kmt_json_hex(KmtJson *json, const char *key, guint64 value, int digits);

/* Print null, true, or false. */
void kmt_json_null(KmtJson *json, const char *key);
void kmt_json_flag(KmtJson *json, const char *key, gboolean value);

/*
 * Print a string, or null if @value is NULL. Each byte that is not valid UTF-8
 * becomes U+FFFD.
 */
void kmt_json_text(KmtJson *json, const char *key, const char *value);

/* Print a file name, which may have any encoding, or null if @path is NULL. */
void kmt_json_path(KmtJson *json, const char *key, const char *path);

#endif
