// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "kmemtraced/online-cpus.h"
#include "lib/capture/error.h"

struct kmtd_online_cpus {
	int fd;	      /* the file with the online CPUs in sysfs */
	GArray *seen; /* of guint: all CPUs that were seen online, ascending */
};

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

/* Add the CPUs that are online now, such as "0-3,5". */
static void follow(KmtdOnlineCpus *cpus)
{
	char text[4096];
	ssize_t n = pread(cpus->fd, text, sizeof(text) - 1, 0);
	char *p = text;

	if (n <= 0)
		return;
	text[n] = '\0';
	while (g_ascii_isdigit(*p)) {
		guint64 first = g_ascii_strtoull(p, &p, 10), last = first;

		if (*p == '-')
			last = g_ascii_strtoull(p + 1, &p, 10);
		for (guint64 cpu = first; cpu <= last && cpu < 65536; cpu++)
			add_cpu(cpus->seen, (guint)cpu);
		if (*p == ',')
			p++;
	}
}

KmtdOnlineCpus *kmtd_online_cpus_open(const char *sys, GError **error)
{
	g_autofree char *path = g_build_filename(sys, "devices", "system",
						 "cpu", "online", NULL);
	g_autoptr(KmtdOnlineCpus) cpus = g_new0(KmtdOnlineCpus, 1);

	cpus->seen = g_array_new(FALSE, FALSE, sizeof(guint));
	cpus->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (cpus->fd < 0) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_READ, errno,
				      "cannot open %s", path);
		return NULL;
	}
	follow(cpus);
	if (cpus->seen->len > 0)
		return g_steal_pointer(&cpus);
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_READ,
		    "%s lists no CPU", path);
	return NULL;
}

const GArray *kmtd_online_cpus_seen(const KmtdOnlineCpus *cpus)
{
	return cpus->seen;
}

GArray *kmtd_online_cpus_follow(KmtdOnlineCpus *cpus)
{
	follow(cpus);
	return g_array_copy(cpus->seen);
}

void kmtd_online_cpus_free(KmtdOnlineCpus *cpus)
{
	if (!cpus)
		return;
	g_array_unref(cpus->seen);
	if (cpus->fd >= 0)
		close(cpus->fd);
	g_free(cpus);
}
