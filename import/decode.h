/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Raw data of tracepoints into events, by the formats that came with it. */
#ifndef KMEMTRACE_IMPORT_DECODE_H
#define KMEMTRACE_IMPORT_DECODE_H

#include "import/callers.h"
#include "import/import.h"
#include "lib/tracepoints/tracepoint-format.h"

typedef struct KmtImportDecoder KmtImportDecoder;

/*
 * Looks up the tracepoints in formats.  One that lacks a field is an error;
 * that there is none of memory is not.
 */
KmtImportDecoder *kmt_import_decoder_new(struct tep_handle *formats,
					 guint page_bytes, guint cpus,
					 GError **error);
void kmt_import_decoder_free(KmtImportDecoder *decoder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtImportDecoder, kmt_import_decoder_free)

/* The name of the tracepoint with that id, if records are made of it. */
const char *kmt_import_decoder_name(const KmtImportDecoder *decoder,
				    guint64 id);

/* A callchain that goes with an event: return addresses, innermost first. */
typedef struct {
	const guint64 *addresses;
	guint n;
	KmtImportCallers *callers;
} KmtImportDecoderStack;
/*
 * Whether n_bytes suffice for the fields that the event's format describes; an
 * event of no known tracepoint needs the common fields alone.
 */
gboolean kmt_import_decoder_is_whole(gconstpointer decoder, const guint8 *data,
				     gsize n_bytes);

/* Hands the event, of n_bytes, over to import, or counts it there. */
gboolean kmt_import_decoder_take(KmtImportDecoder *decoder, KmtImport *import,
				 guint cpu, gint64 time, const guint8 *data,
				 gsize n_bytes, GError **error);

/*
 * From now on kmt_import_decoder_take() gets the events of ftrace's ring
 * buffer, CPU by CPU, in which an event kernel_stack has the stack of the event
 * before. callers has to outlive decoder.
 */
void kmt_import_decoder_expect_stacks(KmtImportDecoder *decoder,
				      KmtImport *import,
				      KmtImportCallers *callers);

/* Hands over events that wait for their stacks: their CPU has no more. */
gboolean kmt_import_decoder_flush(KmtImportDecoder *decoder, GError **error);

/* Hands over an event with its callchain; stack may be NULL. */
gboolean kmt_import_decoder_take_sample(KmtImportDecoder *decoder,
					KmtImport *import, guint cpu,
					gint64 time, const guint8 *data,
					gsize n_bytes,
					const KmtImportDecoderStack *stack,
					GError **error);

#endif
