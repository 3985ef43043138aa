// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <linux/magic.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <glib.h>

#include "lib/recovery/kernel-mount.h"

/* The descriptor of a mount without a mount point serves as its path. */
#define DESCRIPTORS "/proc/self/fd/"

static struct {
	const char *type;
	long magic;
	const char *points[2]; /* the usual mount points */
	char *own; /* path of a mount without a mount point, or NULL */
} mounts[] = {
	[KMT_DEBUGFS] = {"debugfs", DEBUGFS_MAGIC, {"/sys/kernel/debug"}},
	[KMT_TRACEFS] = {"tracefs",
			 TRACEFS_MAGIC,
			 {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}},
};

/* Mount a file system without a mount point. Return its path, or NULL. */
static char *mount_without_point(const char *type)
{
	int fs = fsopen(type, FSOPEN_CLOEXEC), fd = -1;

	if (fs < 0)
		return NULL;
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		fd = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	close(fs);
	return fd < 0 ? NULL : g_strdup_printf(DESCRIPTORS "%d", fd);
}

const char *kmt_kernel_mount(KmtKernelMount mount)
{
	struct statfs fs;

	if (mounts[mount].own)
		return mounts[mount].own;
	for (guint i = 0; i < G_N_ELEMENTS(mounts[mount].points); i++) {
		const char *point = mounts[mount].points[i];

		if (point && statfs(point, &fs) == 0 &&
		    fs.f_type == mounts[mount].magic)
			return point;
	}
	mounts[mount].own = mount_without_point(mounts[mount].type);
	return mounts[mount].own ? mounts[mount].own : mounts[mount].points[0];
}

char *kmt_kernel_mount_translate(KmtKernelMount mount, const char *path)
{
	const char *rest;

	if (!g_str_has_prefix(path, DESCRIPTORS))
		return g_strdup(path);
	rest = strchr(path + strlen(DESCRIPTORS), '/');
	return g_strconcat(kmt_kernel_mount(mount), rest, NULL);
}
