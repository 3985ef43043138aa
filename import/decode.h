/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Raw data of tracepoints into events, by the formats that came with it. */
#ifndef KMEMTRACE_IMPORT_DECODE_H
#define KMEMTRACE_IMPORT_DECODE_H

#include "import/import.h"
#include "tracepoints/format.h"

typedef struct KmtDecoder KmtDecoder;

/*
 * Looks up the tracepoints in formats.  One that lacks a field is an error;
 * that there is none of memory is not.
 */
KmtDecoder *kmt_decoder_new(struct tep_handle *formats, guint page_bytes,
			    guint cpus, GError **error);
void kmt_decoder_free(KmtDecoder *decoder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtDecoder, kmt_decoder_free)

/* Hands the event, of n_bytes, over to import, or counts it there. */
gboolean kmt_decoder_take(KmtDecoder *decoder, KmtImport *import, guint cpu,
			  gint64 time, const guint8 *data, gsize n_bytes,
			  GError **error);

#endif
