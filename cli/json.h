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

#include "trace/match.h"

/* A document that is being made: a JsonBuilder. */
typedef struct _JsonBuilder KmtJson;

/* Before any of the others: json-glib is loaded when it is needed.  Errors are
 * those of kmt_module_load().  One thread. */
gboolean kmt_json_load(GError **error);

KmtJson *kmt_json_new(void);
void kmt_json_free(KmtJson *builder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtJson, kmt_json_free)

void kmt_json_begin_object(KmtJson *builder, const char *key);
void kmt_json_end_object(KmtJson *builder);
void kmt_json_begin_array(KmtJson *builder, const char *key);
void kmt_json_end_array(KmtJson *builder);

/* An integer of any sign; exact, also where it does not fit into a gint64. */
void kmt_json_integer(KmtJson *builder, const char *key, gboolean negative,
		      guint64 magnitude);
void kmt_json_u64(KmtJson *builder, const char *key, guint64 value);
void kmt_json_double(KmtJson *builder, const char *key, double value);
void kmt_json_i64(KmtJson *builder, const char *key, gint64 value);

/* "0x..." of so many digits at least. */
void kmt_json_hex(KmtJson *builder, const char *key, guint64 value, int digits);

void kmt_json_null(KmtJson *builder, const char *key);
void kmt_json_flag(KmtJson *builder, const char *key, gboolean value);

/* NULL becomes null; what is no UTF-8 is replaced. */
void kmt_json_text(KmtJson *builder, const char *key, const char *value);

/* Likewise for the name of a file, which may be in any encoding. */
void kmt_json_path(KmtJson *builder, const char *key, const char *path);

/* What check and report tell alike, as members of the object begun last. */
void kmt_json_loss(KmtJson *builder, const KmtCapture *capture);
void kmt_json_not_seen(KmtJson *builder, const KmtCapture *capture);
/* "events_off", "filter", "filter_changed", "sample": what was not recorded
 * because nobody wanted it. */
void kmt_json_choice(KmtJson *builder, const KmtCapture *capture);
void kmt_json_findings(KmtJson *builder, const KmtFindings *findings);

/* Prints the whole, indent blanks for each level. */
void kmt_json_print(KmtJson *builder, guint indent, FILE *out);

#endif
