/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a part of a stream as a capture directory, see kmemtrace(5). */
#ifndef KMEMTRACE_TOP_RAW_CAPTURE_H
#define KMEMTRACE_TOP_RAW_CAPTURE_H

#include "lib/capture/stream-format.h"
#include "top/table-directory.h"

typedef struct KmtTopCapture KmtTopCapture;

/* Lost events of each CPU: an array of n counters. */
typedef struct {
	const KmtStreamCounters *cpus;
	guint n;
} KmtTopLosses;

/*
 * Begin a capture in the directory path, which must not have one. capture gives
 * the CPUs. Return NULL and set *error on failure.
 */
KmtTopCapture *kmt_top_capture_new(const char *path, KmtTopTables *tables,
				   const KmtInputCapture *capture,
				   const KmtTopLosses *losses, GError **error);

/* Add the payload of a records frame of capture->files[file]. Return FALSE and
 * set *error if it cannot be written. */
gboolean kmt_top_capture_add(KmtTopCapture *capture, guint file,
			     const guint8 *records, gsize length,
			     GError **error);

/* Return the number of bytes so far. */
guint64 kmt_top_capture_bytes(const KmtTopCapture *capture);

/*
 * Complete the capture with the tables of this moment, and publish it. Return
 * FALSE and set *error on failure; the capture then is not complete.
 */
gboolean kmt_top_capture_finish(KmtTopCapture *capture,
				const KmtTopLosses *losses, GError **error);
void kmt_top_capture_free(KmtTopCapture *capture);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtTopCapture, kmt_top_capture_free)

#endif
