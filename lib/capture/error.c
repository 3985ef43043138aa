// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <stdarg.h>

#include "lib/capture/error.h"

G_DEFINE_QUARK(kmt - daemon - error - quark, kmt_daemon_error)

void kmt_capture_set_errno(GError **error, KmtDaemonError code, int errnum,
			   const char *format, ...)
{
	g_autofree char *what = NULL;
	va_list args;

	/* The cleanup process passes NULL, because it may be unable to allocate
	 * memory. */
	if (!error)
		return;
	va_start(args, format);
	what = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error(error, KMT_DAEMON_ERROR, code, "%s: %s", what,
		    g_strerror(errnum));
}

KmtDaemonError kmt_capture_write_error_code(int errnum)
{
	switch (errnum) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return KMT_DAEMON_ERROR_DISK_FULL;
	case EMFILE:
	case ENFILE:
	case ENOMEM:
		return KMT_DAEMON_ERROR_RESOURCES;
	default:
		return KMT_DAEMON_ERROR_WRITE;
	}
}
