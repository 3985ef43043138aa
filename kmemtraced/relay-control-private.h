/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of a KmtdControl that relay-control.c and relay-files.c share. */
#ifndef KMEMTRACED_RELAY_CONTROL_PRIVATE_H
#define KMEMTRACED_RELAY_CONTROL_PRIVATE_H

#include <dirent.h>

#include "lib/capture/error.h"
#include "kmemtraced/relay-control.h"

struct kmtd_control {
	char *path; /* path of DEBUGFS/kmemtrace */
	guint abi_version;
	guint record_bytes;
	int dir_fd;
	int enabled_fd;	 /* file "enabled"; holds the locks, if any */
	int overruns_fd; /* file "total_overruns" */
	/*
	 * The open directory. Listing it again allocates nothing in the kernel,
	 * while each opening would allocate memory.
	 */
	DIR *listing;
};

/* Return the error code for an errno of open() or read(). */
KmtDaemonError kmtd_control_error_code(int errnum);

/*
 * Set *n to the number in the file @name. Return FALSE and set an error if the
 * file cannot be read or contains no number.
 */
gboolean kmtd_control_read_number(KmtdControl *control, const char *name,
				  guint64 *n, GError **error);

#endif
