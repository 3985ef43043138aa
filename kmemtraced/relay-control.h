/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's side: the files of DEBUGFS/kmemtrace and what they mean.
 *
 * One thread.  While a KmtControl is open no other kmemtraced can open one on
 * the same debugfs.
 */
#ifndef KMEMTRACED_RELAY_CONTROL_H
#define KMEMTRACED_RELAY_CONTROL_H

#include <glib.h>

typedef struct kmt_control KmtControl;

/*
 * Checks that there is a kmemtrace to talk to and that it speaks a known
 * version, and locks it.
 */
KmtControl *kmt_control_open(const char *debugfs, GError **error);
/*
 * The same without the lock, beside one that has it: only to be read from, and
 * never in a process that has the lock.
 */
KmtControl *kmt_control_open_to_read(const char *debugfs, GError **error);
void kmt_control_close(KmtControl *control);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtControl, kmt_control_close)

/* The directory: for the CPUs' files, and to be watched.  Owned by control. */
int kmt_control_fd(const KmtControl *control);
const char *kmt_control_path(const KmtControl *control);

/* The version of the kernel's records, and the bytes of each. */
guint kmt_control_abi_version(const KmtControl *control);
guint kmt_control_record_bytes(const KmtControl *control);

gboolean kmt_control_is_enabled(KmtControl *control, gboolean *enabled,
				GError **error);

/*
 * Switching on starts at zero: unread records are thrown away.  When switching
 * off has returned, all records can be read.
 */
gboolean kmt_control_enable(KmtControl *control, GError **error);
gboolean kmt_control_disable(KmtControl *control, GError **error);

/* Geometry of a CPU's buffer. */
gboolean kmt_control_geometry(KmtControl *control, guint64 *n_subbufs,
			      guint64 *subbuf_bytes, GError **error);

/*
 * Events lost since tracing was last switched on.  Per CPU: a table of CPU
 * number (GUINT_TO_POINTER) to a guint64 *.
 */
gboolean kmt_control_total_overruns(KmtControl *control, guint64 *n_events,
				    GError **error);
GHashTable *kmt_control_overruns(KmtControl *control, GError **error);

/* A file of the directory as text, or as such a table. */
char *kmt_control_read(KmtControl *control, const char *name, GError **error);
GHashTable *kmt_control_per_cpu(KmtControl *control, const char *name,
				GError **error);

/*
 * Has any reader taken bytes since tracing was last switched on, by a table of
 * the name?  A kernel that has none does not tell: FALSE.
 */
gboolean kmt_control_any_consumed(KmtControl *control, const char *name,
				  gboolean *consumed, GError **error);

/*
 * Whether there is such a file; its text without the last newline; and a write
 * of all of text.
 */
gboolean kmt_control_has(KmtControl *control, const char *name);
char *kmt_control_get(KmtControl *control, const char *name, GError **error);
gboolean kmt_control_set(KmtControl *control, const char *name,
			 const char *text, GError **error);

/*
 * Return whether the file has this text, apart from the last newline.  It
 * allocates nothing.  For the cleanup process, which holds no record lock: to
 * close "enabled" would drop that.
 */
gboolean kmt_control_holds(KmtControl *control, const char *name,
			   const char *text);

/*
 * The CPUs that have a file, ascending, as an array of guint.  Causes no
 * allocation in the kernel, so that it can be asked often.
 */
GArray *kmt_control_cpus(KmtControl *control);

/* Number of name if it is "cpu<n>", the name of a CPU's file. */
gboolean kmt_control_parse_cpu(const char *name, guint *cpu);

#endif
