/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cgroups that the option --cgroup selects, for the kernel's own filter. */
#ifndef KMEMTRACED_CGROUP_PATHS_H
#define KMEMTRACED_CGROUP_PATHS_H

#include <glib.h>

/* The most paths that the kernel's filter can have. */
#define KMTD_CGROUP_PATHS_MAX 16

/*
 * Return the paths of the existing cgroups that match one of @globs, as the
 * word cgroup= of the kernel's filter needs them: without those below another
 * one of them, which the filter selects as well, and with octal escape
 * sequences. @proc is the mount point of procfs. Return NULL and set an error
 * if no cgroup or too many cgroups match. Free the result with g_strfreev().
 */
char **kmtd_cgroup_paths(const char *proc, char *const *globs, GError **error);

#endif
