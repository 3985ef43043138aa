/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The members of a JSON document, by json-glib, which keeps integers as gint64
 * and takes strings for UTF-8.  key is NULL for an element of an array.
 *
 * All strings have to come in through here: see kmt_json_integer().
 */
#ifndef KMEMTRACE_JSON_H
#define KMEMTRACE_JSON_H

#include <stdio.h>

#include <json-glib/json-glib.h>

#include "trace/match.h"

/* End them with json_builder_end_object() and json_builder_end_array(). */
void kmt_json_begin_object(JsonBuilder *builder, const char *key);
void kmt_json_begin_array(JsonBuilder *builder, const char *key);

/* An integer of any sign; exact, also where it does not fit into a gint64. */
void kmt_json_integer(JsonBuilder *builder, const char *key, gboolean negative,
		      guint64 magnitude);
void kmt_json_u64(JsonBuilder *builder, const char *key, guint64 value);
void kmt_json_i64(JsonBuilder *builder, const char *key, gint64 value);

/* "0x..." of so many digits at least. */
void kmt_json_hex(JsonBuilder *builder, const char *key, guint64 value,
		  int digits);

void kmt_json_null(JsonBuilder *builder, const char *key);
void kmt_json_flag(JsonBuilder *builder, const char *key, gboolean value);

/* NULL becomes null; what is no UTF-8 is replaced. */
void kmt_json_text(JsonBuilder *builder, const char *key, const char *value);

/* Likewise for the name of a file, which may be in any encoding. */
void kmt_json_path(JsonBuilder *builder, const char *key, const char *path);

/* What check and report tell alike, as members of the object begun last. */
void kmt_json_loss(JsonBuilder *builder, const KmtCapture *capture);
void kmt_json_not_seen(JsonBuilder *builder, const KmtCapture *capture);
/* "events_off", "filter", "filter_changed", "sample": what was not recorded
 * because nobody wanted it. */
void kmt_json_choice(JsonBuilder *builder, const KmtCapture *capture);
void kmt_json_findings(JsonBuilder *builder, const KmtFindings *findings);

/* Prints the whole, indent blanks for each level. */
void kmt_json_print(JsonBuilder *builder, guint indent, FILE *out);

#endif
