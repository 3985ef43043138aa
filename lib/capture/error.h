/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can go wrong in kmemtraced.  A message tells what failed, on what, and
 * why; what to do about it hangs on the code alone and is added by main.c.
 */
#ifndef KMEMTRACE_CAPTURE_ERROR_H
#define KMEMTRACE_CAPTURE_ERROR_H

#include <glib.h>

#define KMT_DAEMON_ERROR (kmt_daemon_error_quark())
GQuark kmt_daemon_error_quark(void);

typedef enum {
	KMT_DAEMON_ERROR_NO_DEBUGFS,	 /* nothing is mounted there */
	KMT_DAEMON_ERROR_NO_KMEMTRACE,	 /* debugfs, but no kmemtrace in it */
	KMT_DAEMON_ERROR_PERMISSION,	 /* of debugfs */
	KMT_DAEMON_ERROR_LOCKDOWN,	 /* the kernel refuses even root */
	KMT_DAEMON_ERROR_ABI,		 /* records of another version */
	KMT_DAEMON_ERROR_CONTROL,	 /* a control file made no sense */
	KMT_DAEMON_ERROR_BUSY,		 /* another kmemtraced is running */
	KMT_DAEMON_ERROR_ENABLE,	 /* tracing cannot be switched on */
	KMT_DAEMON_ERROR_DISABLE,	 /* tracing cannot be switched off */
	KMT_DAEMON_ERROR_EXISTS,	 /* there is a capture already */
	KMT_DAEMON_ERROR_DIRECTORY,	 /* the capture directory is unusable */
	KMT_DAEMON_ERROR_UNSAFE,	 /* others can tamper with it */
	KMT_DAEMON_ERROR_FOREIGN,	 /* a file there is not a capture's */
	KMT_DAEMON_ERROR_DIRECTORY_BUSY, /* another kmemtraced writes there */
	KMT_DAEMON_ERROR_DISK_FULL,	 /* also a quota, or a size limit */
	KMT_DAEMON_ERROR_WRITE,		 /* any other failure to write */
	KMT_DAEMON_ERROR_READ,		 /* a CPU's records, or a table */
	KMT_DAEMON_ERROR_CPU_GONE,	 /* a CPU's file went away */
	KMT_DAEMON_ERROR_ABANDONED,	 /* the user did not wait for the end */
	KMT_DAEMON_ERROR_INTERRUPTED,	 /* before recording began */
	KMT_DAEMON_ERROR_RESOURCES,	 /* memory, threads, descriptors */
	KMT_DAEMON_ERROR_SOURCE,	 /* no such source, or not that way */
	KMT_DAEMON_ERROR_NO_TRACEFS,	 /* nothing is mounted there */
	KMT_DAEMON_ERROR_TRACEFS,	 /* a file of it cannot be used */
	KMT_DAEMON_ERROR_LEFT,		 /* an instance cannot be removed */
	KMT_DAEMON_ERROR_NO_TRACEPOINT,	 /* the kernel lacks one */
	KMT_DAEMON_ERROR_FIELD,		 /* it is there, but not as needed */
	KMT_DAEMON_ERROR_NO_LIBRARY,	 /* built without libtraceevent */
	KMT_DAEMON_ERROR_PROCESS,	 /* a process to trace is not there */
	KMT_DAEMON_ERROR_COMMAND,	 /* the command cannot be started */
	KMT_DAEMON_ERROR_REFUSED,	 /* the kernel does not take it */
	KMT_DAEMON_ERROR_RESET,		 /* tracing was begun anew meanwhile */
	KMT_DAEMON_ERROR_INTERFERED,	 /* somebody changed the instance */
	KMT_DAEMON_ERROR_FROZEN,	 /* a trace of before had to be saved */
	KMT_DAEMON_ERROR_NO_SNAPSHOTS,	 /* the kernel does not know of them */
	KMT_DAEMON_ERROR_NO_SNAPSHOT,	 /* none was taken */
	KMT_DAEMON_ERROR_STOPPED,	 /* tracing was, instead of one */
	KMT_DAEMON_ERROR_REPLACED,	 /* another came before it was saved */
	KMT_DAEMON_N_ERRORS
} KmtDaemonError;

/*
 * Sets *error to "<what is formatted>: <text of errnum>".  errnum is a positive
 * errno value.
 */
void kmt_capture_set_errno(GError **error, KmtDaemonError code, int errnum,
			   const char *format, ...) G_GNUC_PRINTF(4, 5);

/* DISK_FULL or WRITE, as fits errnum. */
KmtDaemonError kmt_capture_write_error_code(int errnum);

#endif
