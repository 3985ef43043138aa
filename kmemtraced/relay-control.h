/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's side: the files of DEBUGFS/kmemtrace and what they mean.
 *
 * One thread.  While a KmtdControl is open no other kmemtraced can open one on
 * the same debugfs.
 */
#ifndef KMEMTRACED_RELAY_CONTROL_H
#define KMEMTRACED_RELAY_CONTROL_H

#include <glib.h>

typedef struct kmtd_control KmtdControl;

/*
 * Checks that there is a kmemtrace to talk to and that it speaks a known
 * version, and locks it.
 */
KmtdControl *kmtd_control_open(const char *debugfs, GError **error);
/*
 * The same without the lock, beside one that has it: only to be read from, and
 * never in a process that has the lock.
 */
KmtdControl *kmtd_control_open_to_read(const char *debugfs, GError **error);
void kmtd_control_close(KmtdControl *control);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdControl, kmtd_control_close)

/* The directory: for the CPUs' files, and to be watched.  Owned by control. */
int kmtd_control_fd(const KmtdControl *control);
const char *kmtd_control_path(const KmtdControl *control);

/* The version of the kernel's records, and the bytes of each. */
guint kmtd_control_abi_version(const KmtdControl *control);
guint kmtd_control_record_bytes(const KmtdControl *control);

gboolean kmtd_control_is_enabled(KmtdControl *control, gboolean *enabled,
				 GError **error);

/*
 * Switching on starts at zero: unread records are thrown away.  When switching
 * off has returned, all records can be read.
 */
gboolean kmtd_control_enable(KmtdControl *control, GError **error);
gboolean kmtd_control_disable(KmtdControl *control, GError **error);

/* Geometry of a CPU's buffer. */
gboolean kmtd_control_geometry(KmtdControl *control, guint64 *n_subbufs,
			       guint64 *subbuf_bytes, GError **error);

/*
 * Events lost since tracing was last switched on.  Per CPU: a table of CPU
 * number (GUINT_TO_POINTER) to a guint64 *.
 */
gboolean kmtd_control_total_overruns(KmtdControl *control, guint64 *n_events,
				     GError **error);
GHashTable *kmtd_control_overruns(KmtdControl *control, GError **error);

/* A file of the directory as text, or as such a table. */
char *kmtd_control_read(KmtdControl *control, const char *name, GError **error);
GHashTable *kmtd_control_per_cpu(KmtdControl *control, const char *name,
				 GError **error);

/*
 * Has any reader taken bytes since tracing was last switched on, by a table of
 * the name?  A kernel that has none does not tell: FALSE.
 */
gboolean kmtd_control_any_consumed(KmtdControl *control, const char *name,
				   gboolean *consumed, GError **error);

/*
 * Whether there is such a file; its text without the last newline; and a write
 * of all of text.
 */
gboolean kmtd_control_has(KmtdControl *control, const char *name);
char *kmtd_control_get(KmtdControl *control, const char *name, GError **error);
gboolean kmtd_control_set(KmtdControl *control, const char *name,
			  const char *text, GError **error);

/*
 * Return whether the file has this text, apart from the last newline.  It
 * allocates nothing.  For the cleanup process, which holds no record lock: to
 * close "enabled" would drop that.
 */
gboolean kmtd_control_holds(KmtdControl *control, const char *name,
			    const char *text);

/*
 * The CPUs that have a file, ascending, as an array of guint.  Causes no
 * allocation in the kernel, so that it can be asked often.
 */
GArray *kmtd_control_cpus(KmtdControl *control);

/* Number of name if it is "cpu<n>", the name of a CPU's file. */
gboolean kmtd_control_parse_cpu(const char *name, guint *cpu);

#endif
