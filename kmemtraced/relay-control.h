/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Access to the control files of a kernel with kmemtrace, in DEBUGFS/kmemtrace.
 *
 * Only one thread may use a KmtdControl. While one kmemtraced has a KmtdControl
 * from kmtd_control_open(), that function fails in any other kmemtraced for the
 * same debugfs; kmtd_control_open_to_read() does not.
 */
#ifndef KMEMTRACED_RELAY_CONTROL_H
#define KMEMTRACED_RELAY_CONTROL_H

#include <glib.h>

typedef struct kmtd_control KmtdControl;

/*
 * Open and lock DEBUGFS/kmemtrace, and check that its version is supported.
 * Return NULL and set an error on failure.
 */
KmtdControl *kmtd_control_open(const char *debugfs, GError **error);

/*
 * Open DEBUGFS/kmemtrace without the lock, for reading only, while another
 * process may hold the lock. The process that holds the lock must not call this
 * function.
 */
KmtdControl *kmtd_control_open_to_read(const char *debugfs, GError **error);

/* Close the files, drop the locks, and free @control. NULL is ignored. */
void kmtd_control_close(KmtdControl *control);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdControl, kmtd_control_close)

/*
 * Return the descriptor of the directory, to open its files. It belongs to
 * @control.
 */
int kmtd_control_fd(const KmtdControl *control);

/* Return the path of the directory. It belongs to @control. */
const char *kmtd_control_path(const KmtdControl *control);

/* Return the version of the kernel's records. */
guint kmtd_control_abi_version(const KmtdControl *control);

/* Return the size of a record in bytes. */
guint kmtd_control_record_bytes(const KmtdControl *control);

/*
 * Set *enabled to whether tracing is on. Return FALSE and set an error if that
 * cannot be read.
 */
gboolean kmtd_control_is_enabled(KmtdControl *control, gboolean *enabled,
				 GError **error);

/*
 * Switch tracing on, which begins a new trace and discards unread records.
 * Return FALSE and set an error on failure.
 */
gboolean kmtd_control_enable(KmtdControl *control, GError **error);

/*
 * Switch tracing off. When the call has returned, all records can be read.
 * Return FALSE and set an error on failure.
 */
gboolean kmtd_control_disable(KmtdControl *control, GError **error);

/*
 * Read the number of sub-buffers in a CPU's buffer, and the size of each one in
 * bytes.
 */
gboolean kmtd_control_geometry(KmtdControl *control, guint64 *n_subbufs,
			       guint64 *subbuf_bytes, GError **error);

/*
 * Set *n_events to the number of events lost on all CPUs since tracing was last
 * switched on. Return FALSE and set an error if the number cannot be read.
 */
gboolean kmtd_control_total_overruns(KmtdControl *control, guint64 *n_events,
				     GError **error);

/*
 * Return the events lost on each CPU since tracing was last switched on, as a
 * new table of CPU number (GUINT_TO_POINTER) to guint64 *. Return NULL and set
 * an error on failure.
 */
GHashTable *kmtd_control_overruns(KmtdControl *control, GError **error);

/*
 * Return the text of the file @name in the directory, without trailing white
 * space, newly allocated. Return NULL and set an error on failure.
 */
char *kmtd_control_read(KmtdControl *control, const char *name, GError **error);

/*
 * Read the file @name, which has a line "cpu<n> NUMBER" for each CPU. Return a
 * new table of CPU number (GUINT_TO_POINTER) to guint64 *, or NULL and set an
 * error.
 */
GHashTable *kmtd_control_per_cpu(KmtdControl *control, const char *name,
				 GError **error);

/*
 * Set *consumed to whether any reader has consumed bytes since tracing was last
 * switched on. The file @name contains the bytes of each CPU. In a kernel
 * without this file, *consumed is FALSE.
 */
gboolean kmtd_control_any_consumed(KmtdControl *control, const char *name,
				   gboolean *consumed, GError **error);

/* Return whether the directory has a file @name. */
gboolean kmtd_control_has(KmtdControl *control, const char *name);

/*
 * Write all of @text to the file @name. Return FALSE and set an error if the
 * file cannot be opened or the kernel refuses the text.
 */
gboolean kmtd_control_write(KmtdControl *control, const char *name,
			    const char *text, GError **error);

/*
 * Return whether the file @name has exactly this text, apart from the last
 * newline. The function allocates no memory. Only the cleanup process may call
 * it for "enabled": closing that file drops the record lock of the calling
 * process, and the cleanup process holds none.
 */
gboolean kmtd_control_equals(KmtdControl *control, const char *name,
			     const char *text);

/*
 * Return the CPUs that have a file, ascending, as a new array of guint. The
 * call causes no allocation in the kernel, so it can be made often.
 */
GArray *kmtd_control_cpus(KmtdControl *control);

/*
 * Set *cpu to the number in @name. Return FALSE if @name is not of the form
 * "cpu<n>", which is the name of a CPU's file: n has at most 5 digits and no
 * leading zeros.
 */
gboolean kmtd_control_parse_cpu(const char *name, guint *cpu);

#endif
