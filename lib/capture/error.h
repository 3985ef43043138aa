/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors of recording and of writing captures. A message says what failed, on
 * which object, and why. kmemtraced/error-advice.c has the advice for most
 * error codes.
 */
#ifndef KMEMTRACE_CAPTURE_ERROR_H
#define KMEMTRACE_CAPTURE_ERROR_H

#include <glib.h>

#define KMT_DAEMON_ERROR (kmt_daemon_error_quark())
GQuark kmt_daemon_error_quark(void);

typedef enum {
	KMT_DAEMON_ERROR_NO_DEBUGFS,   /* debugfs is not mounted at the path */
	KMT_DAEMON_ERROR_NO_KMEMTRACE, /* debugfs has no directory kmemtrace */
	KMT_DAEMON_ERROR_PERMISSION, /* no permission for debugfs or tracefs */
	KMT_DAEMON_ERROR_LOCKDOWN,   /* EPERM, as lockdown causes for root */
	KMT_DAEMON_ERROR_ABI,	     /* unknown version or size of records */
	KMT_DAEMON_ERROR_CONTROL,    /* a control file cannot be used */
	KMT_DAEMON_ERROR_BUSY,	     /* another kmemtraced is running, or its
				      * cleanup process */
	KMT_DAEMON_ERROR_ENABLE,     /* tracing cannot be switched on */
	KMT_DAEMON_ERROR_DISABLE,    /* tracing cannot be switched off */
	KMT_DAEMON_ERROR_EXISTS,    /* the directory has a capture or records */
	KMT_DAEMON_ERROR_DIRECTORY, /* the capture directory is unusable */
	KMT_DAEMON_ERROR_UNSAFE,    /* other users can tamper with the
				     * directory */
	KMT_DAEMON_ERROR_FOREIGN,   /* a user's file has the name of a capture
				     * file */
	KMT_DAEMON_ERROR_DIRECTORY_BUSY, /* another program writes to the
					  * directory */
	KMT_DAEMON_ERROR_DISK_FULL,	 /* no disk space, or a quota or size
					  * limit */
	KMT_DAEMON_ERROR_WRITE,		 /* any other failure to write */
	KMT_DAEMON_ERROR_READ,		 /* records, a table, or another file
					  * cannot be read */
	KMT_DAEMON_ERROR_CPU_GONE,	 /* a CPU's file in debugfs
					  * disappeared */
	KMT_DAEMON_ERROR_ABANDONED,	 /* the user stopped waiting for the
					  * disk */
	KMT_DAEMON_ERROR_INTERRUPTED,	/* interrupted before recording began */
	KMT_DAEMON_ERROR_RESOURCES,	/* no memory, thread, process, or
					 * descriptor */
	KMT_DAEMON_ERROR_SOURCE,	/* unknown source, or unsuitable
					 * options */
	KMT_DAEMON_ERROR_NO_TRACEFS,	/* tracefs is not mounted at the path */
	KMT_DAEMON_ERROR_TRACEFS,	/* a file of tracefs cannot be used */
	KMT_DAEMON_ERROR_LEFT,		/* a stale instance cannot be removed */
	KMT_DAEMON_ERROR_NO_TRACEPOINT, /* the kernel lacks a tracepoint */
	KMT_DAEMON_ERROR_FIELD,		/* a field of a tracepoint is
					 * unsuitable */
	KMT_DAEMON_ERROR_NO_LIBRARY,	/* built without libtraceevent */
	KMT_DAEMON_ERROR_BPF,		/* BPF programs cannot be used */
	KMT_DAEMON_ERROR_PROCESS,    /* the process to trace does not exist */
	KMT_DAEMON_ERROR_COMMAND,    /* the command cannot be started */
	KMT_DAEMON_ERROR_REFUSED,    /* the kernel refuses the value written to
				      * a control file */
	KMT_DAEMON_ERROR_FILTER,     /* the syntax of a filter is wrong */
	KMT_DAEMON_ERROR_NO_CGROUPS, /* cgroup v2 is not mounted */
	KMT_DAEMON_ERROR_CGROUPS,    /* no cgroup or too many were selected */
	KMT_DAEMON_ERROR_RESET,	     /* another program began a new session
				      * during the recording */
	KMT_DAEMON_ERROR_INTERFERED, /* another program changed the instance */
	KMT_DAEMON_ERROR_FROZEN,     /* only the events of an earlier trace were
				      * saved; the command was not started */
	KMT_DAEMON_ERROR_NO_SNAPSHOTS, /* the kernel has no snapshots */
	KMT_DAEMON_ERROR_NO_SNAPSHOT,  /* no snapshot was taken */
	KMT_DAEMON_ERROR_STOPPED,      /* tracing stopped instead of a
					* snapshot */
	KMT_DAEMON_ERROR_REPLACED,     /* the snapshot was replaced or freed */
	KMT_DAEMON_ERROR_STREAM,       /* the stream cannot be written */
	KMT_DAEMON_ERROR_NO_ZSTD,      /* libzstd cannot be used */
	KMT_DAEMON_N_ERRORS
} KmtDaemonError;

/*
 * Set *error to "<formatted text>: <text of errnum>". errnum is a positive
 * errno value. error may be NULL.
 */
void kmt_capture_set_errno(GError **error, KmtDaemonError code, int errnum,
			   const char *format, ...) G_GNUC_PRINTF(4, 5);

/*
 * Return the error code of a failed write: DISK_FULL; RESOURCES if memory or
 * descriptors are missing; or WRITE for any other errnum.
 */
KmtDaemonError kmt_capture_write_error_code(int errnum);

#endif
