/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmemtrace.meta: what a reader on another machine needs to know of a capture.
 * kmemtrace(5) describes each key.
 */
#ifndef KMEMTRACE_CAPTURE_META_H
#define KMEMTRACE_CAPTURE_META_H

#include <glib.h>

/* What is known when recording begins. */
typedef struct {
	const char *sys;    /* where sysfs is mounted */
	const char *proc;   /* and procfs */
	const char *source; /* its name */
	guint abi_version;  /* of the records */
	guint record_bytes;
	gboolean continues; /* an earlier reader took the first part */
	gboolean was_enabled;
} KmtCaptureMetaStart;

/*
 * The meta of a capture that is not complete.  It is one with meta_end or, if
 * that never comes, one that was cut off.
 */
GKeyFile *kmt_capture_meta_new(const KmtCaptureMetaStart *start);

/* Whether an earlier reader took the first part, if that turns out later. */
void kmt_capture_meta_set_continues(GKeyFile *meta, gboolean continues);

/* Names a CPU of the capture and its node. */
void kmt_capture_meta_add_cpu(GKeyFile *meta, const char *sys, guint cpu);

/* What one CPU's file has in the end. */
void kmt_capture_meta_set_cpu(GKeyFile *meta, guint cpu, guint64 bytes,
			      const guint64 *overruns);

/* Totals.  overruns, here and above: NULL if they are not known. */
void kmt_capture_meta_end(GKeyFile *meta, guint64 bytes,
			  const guint64 *overruns, gboolean complete);

/* The running kernel's GNU build id in hexadecimal, or NULL. */
char *kmt_capture_meta_build_id(const char *sys);

/* Sets a time, start_time or end_time, to now. */
void kmt_capture_meta_set_time(GKeyFile *meta, const char *key);

#endif
