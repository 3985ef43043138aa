/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPUs of this machine that have been online since the start. A CPU that
 * goes offline stays in the list, because its buffer stays. One thread at a
 * time may use a KmtdOnlineCpus.
 */
#ifndef KMEMTRACED_ONLINE_CPUS_H
#define KMEMTRACED_ONLINE_CPUS_H

#include <glib.h>

typedef struct kmtd_online_cpus KmtdOnlineCpus;

/*
 * Open the list of online CPUs below @sys, the mount point of sysfs, and read
 * it. Return NULL and set an error if the list cannot be read or is empty.
 */
KmtdOnlineCpus *kmtd_online_cpus_open(const char *sys, GError **error);

/* Free @cpus. NULL is ignored. */
void kmtd_online_cpus_free(KmtdOnlineCpus *cpus);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdOnlineCpus, kmtd_online_cpus_free)

/* Return the CPUs seen so far, ascending: an array of guint owned by @cpus. */
const GArray *kmtd_online_cpus_seen(const KmtdOnlineCpus *cpus);

/*
 * Read the list again, and return the CPUs seen so far as a new array. The call
 * reads one file of sysfs.
 */
GArray *kmtd_online_cpus_follow(KmtdOnlineCpus *cpus);

#endif
