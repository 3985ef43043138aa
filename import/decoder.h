/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes raw tracepoint data to import events, using the format files that
 * accompany the data.
 */
#ifndef KMEMTRACE_IMPORT_DECODER_H
#define KMEMTRACE_IMPORT_DECODER_H

#include "import/callers.h"
#include "import/import.h"
#include "lib/tracepoints/tracepoint-format.h"

typedef struct KmtImportDecoder KmtImportDecoder;

/*
 * Parse the format file of a tracepoint and add the tracepoint to formats. The
 * files of tracepoints that are not memory tracepoints are ignored. formats is
 * a struct tep_handle; the parameter type matches KmtImportFormatFunc. Returns
 * FALSE and sets *error if the text cannot be parsed.
 */
gboolean kmt_import_decoder_add_format(gpointer formats, const char *system,
				       const char *name, const char *text,
				       GError **error);

/*
 * Create a decoder for the memory tracepoints that formats contains; free it
 * with kmt_import_decoder_free(). page_bytes is the page size of the recorded
 * machine, cpus its number of possible CPUs or 0. Returns NULL and sets *error
 * if a tracepoint lacks a required field. Formats without any memory tracepoint
 * are not an error.
 */
KmtImportDecoder *kmt_import_decoder_new(struct tep_handle *formats,
					 guint page_bytes, guint cpus,
					 GError **error);
void kmt_import_decoder_free(KmtImportDecoder *decoder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtImportDecoder, kmt_import_decoder_free)

/*
 * Return the name of the tracepoint with this event ID, or NULL if it is not a
 * memory tracepoint. The string is static.
 */
const char *kmt_import_decoder_name(const KmtImportDecoder *decoder,
				    guint64 id);

/* The callchain of an event: n return addresses, the innermost first. */
typedef struct {
	const guint64 *addresses;
	guint n;
	KmtImportCallers *callers;
} KmtImportDecoderStack;
/*
 * Return whether n_bytes are enough for the fields of the event's format. An
 * event of an unknown tracepoint needs only the common fields. decoder is a
 * KmtImportDecoder; the parameter type matches KmtDatEventFunc.
 */
gboolean kmt_import_decoder_is_complete(gconstpointer decoder,
					const guint8 *data, gsize n_bytes);

/*
 * Decode an event of n_bytes and add it to import, or count it there if it gets
 * no record. time is in ns. Returns FALSE and sets *error if the event is
 * damaged; other errors are those of kmt_import_add().
 */
gboolean kmt_import_decoder_add_event(KmtImportDecoder *decoder,
				      KmtImport *import, guint cpu, gint64 time,
				      const guint8 *data, gsize n_bytes,
				      GError **error);

/*
 * Expect ftrace's events kernel_stack in the data that
 * kmt_import_decoder_add_event() receives. From this call on, events must
 * arrive CPU by CPU in the order of the ring buffer. An event kernel_stack
 * contains the stack of the last earlier event of its CPU and context; see
 * stack-queue.h. import and callers must outlive decoder.
 */
void kmt_import_decoder_expect_stacks(KmtImportDecoder *decoder,
				      KmtImport *import,
				      KmtImportCallers *callers);

/*
 * Add events that wait for their stack to the import. Call the function after
 * the last event of each CPU. Errors are those of kmt_import_add().
 */
gboolean kmt_import_decoder_flush(KmtImportDecoder *decoder, GError **error);

/*
 * Decode an event and add it with its callchain; stack may be NULL. Errors are
 * those of kmt_import_decoder_add_event().
 */
gboolean kmt_import_decoder_add_sample(KmtImportDecoder *decoder,
				       KmtImport *import, guint cpu,
				       gint64 time, const guint8 *data,
				       gsize n_bytes,
				       const KmtImportDecoderStack *stack,
				       GError **error);

#endif
