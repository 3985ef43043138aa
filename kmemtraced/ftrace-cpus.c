// SPDX-License-Identifier: GPL-2.0-or-later
/* The CPUs of the source "ftrace": all that it has seen online. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "kmemtraced/ftrace-private.h"
#include "lib/capture/error.h"

static void add_cpu(GArray *cpus, guint cpu)
{
	guint i;

	for (i = 0; i < cpus->len; i++) {
		if (g_array_index(cpus, guint, i) == cpu)
			return;
		if (g_array_index(cpus, guint, i) > cpu)
			break;
	}
	g_array_insert_val(cpus, i, cpu);
}

/*
 * Add the online CPUs, such as "0-3,5", to ftrace->cpus. A CPU that goes
 * offline stays in the list, because its buffer stays.
 */
static void follow_online(KmtdFtrace *ftrace)
{
	char text[4096];
	ssize_t n = pread(ftrace->online_fd, text, sizeof(text) - 1, 0);
	char *p = text;

	if (n <= 0)
		return;
	text[n] = '\0';
	while (g_ascii_isdigit(*p)) {
		guint64 first = g_ascii_strtoull(p, &p, 10), last = first;

		if (*p == '-')
			last = g_ascii_strtoull(p + 1, &p, 10);
		for (guint64 cpu = first; cpu <= last && cpu < 65536; cpu++)
			add_cpu(ftrace->cpus, (guint)cpu);
		if (*p == ',')
			p++;
	}
}

GArray *kmtd_ftrace_cpus(KmtdSource *source)
{
	KmtdFtrace *ftrace = (KmtdFtrace *)source;

	follow_online(ftrace);
	return g_array_copy(ftrace->cpus);
}

gboolean kmtd_ftrace_open_online(KmtdFtrace *ftrace, const char *sys,
				 GError **error)
{
	g_autofree char *path = g_build_filename(sys, "devices", "system",
						 "cpu", "online", NULL);

	ftrace->online_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (ftrace->online_fd < 0) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_READ, errno,
				      "cannot open %s", path);
		return FALSE;
	}
	follow_online(ftrace);
	if (ftrace->cpus->len > 0)
		return TRUE;
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_READ,
		    "%s lists no CPU", path);
	return FALSE;
}
