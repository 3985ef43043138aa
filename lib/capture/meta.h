/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The content of kmemtrace.meta: the properties of a capture that an analysis
 * on another machine needs. kmemtrace(5) describes each key.
 */
#ifndef KMEMTRACE_CAPTURE_META_H
#define KMEMTRACE_CAPTURE_META_H

#include <glib.h>

#include "lib/capture/cpu-sink.h"

/* Properties that are known when recording begins. */
typedef struct {
	const char *sys;    /* mount point of sysfs */
	const char *proc;   /* mount point of procfs */
	const char *source; /* "relay" or "ftrace", the source of the records */
	guint abi_version;  /* version of the records */
	guint record_bytes;
	gboolean continues;   /* the first records may be missing: an earlier
			       * reader consumed them, or they were overwritten */
	gboolean was_enabled; /* tracing was on before kmemtraced started */
} KmtCaptureMetaStart;

/*
 * Return a meta with the key complete set to false. Unless
 * kmt_capture_meta_end() sets the key to true, the capture counts as truncated.
 * The caller frees the result.
 */
GKeyFile *kmt_capture_meta_new(const KmtCaptureMetaStart *start);

/*
 * Change the key continues after kmt_capture_meta_new(); see
 * KmtCaptureMetaStart.
 */
void kmt_capture_meta_set_continues(GKeyFile *meta, gboolean continues);

/* Add the group of a CPU with its NUMA node, or -1 if the node is unknown. */
void kmt_capture_meta_add_cpu(GKeyFile *meta, const char *sys, guint cpu);

/*
 * Set the size of a CPU's file in bytes, the number of its records, and the
 * number *overruns of its lost events; overruns is NULL if that is unknown.
 */
void kmt_capture_meta_set_cpu(GKeyFile *meta, guint cpu, guint64 bytes,
			      const guint64 *overruns);

/* Set the size and the number of frames of a CPU's compressed file. */
void kmt_capture_meta_set_frames(GKeyFile *meta, guint cpu,
				 const KmtCaptureCpuFrames *frames);

/*
 * Set the totals, the end time, and whether the capture is complete. *overruns
 * is the number of lost events; overruns is NULL if that is unknown.
 */
void kmt_capture_meta_end(GKeyFile *meta, guint64 bytes,
			  const guint64 *overruns, gboolean complete);

/*
 * Return the GNU build id of the running kernel in hexadecimal, or NULL. The
 * caller frees the string.
 */
char *kmt_capture_meta_build_id(const char *sys);

/* Set the key start_time or end_time to the current time. */
void kmt_capture_meta_set_time(GKeyFile *meta, const char *key);

#endif
