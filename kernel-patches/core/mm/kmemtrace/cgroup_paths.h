/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: a ring of the paths of removed cgroups. */
#ifndef _MM_KMEMTRACE_CGROUP_PATHS_H
#define _MM_KMEMTRACE_CGROUP_PATHS_H

#include <linux/sizes.h>
#include <linux/types.h>

/* Size of the longest path in the ring, in bytes, including the final 0. */
#define KMEMTRACE_CGROUP_PATH_MAX	1023

/* Least size of the ring in bytes. */
#define KMEMTRACE_CGROUP_PATHS_MIN	SZ_4K

#define KMEMTRACE_CGROUP_CHAIN_BITS	10

/*
 * The ring, in which new paths replace the oldest ones, and chains of paths for the
 * lookup.  The position of a path is the number of bytes before the path, from an
 * offset on; it never decreases.  The index in the ring is the position modulo the
 * size.
 */
struct kmemtrace_cgroup_paths {
	char	*ring;
	u64	size;	/* bytes of the ring, a power of 2 */
	u64	end;	/* position after the newest path */
	/* Position of the newest path of each chain; 0: none. */
	u64	newest[1 << KMEMTRACE_CGROUP_CHAIN_BITS];
};

/*
 * Initialise @paths with an empty ring at @ring, aligned to 8 bytes.  @size: bytes of
 * the ring, a power of 2 that is at least KMEMTRACE_CGROUP_PATHS_MIN.
 */
void kmemtrace_cgroup_paths_init(struct kmemtrace_cgroup_paths *paths, void *ring,
				 size_t size);

/*
 * Add the path of the cgroup @id.  A path that does not fit into
 * KMEMTRACE_CGROUP_PATH_MAX bytes is not added.  Context: any; the caller serialises
 * all calls for @paths.
 */
void kmemtrace_cgroup_paths_add(struct kmemtrace_cgroup_paths *paths, u64 id,
				const char *path);

/*
 * Return the path of the cgroup @id, which is valid until another path is added, or
 * NULL if the ring does not have the path.  Context: any; the caller serialises all
 * calls for @paths.
 */
const char *kmemtrace_cgroup_paths_find(const struct kmemtrace_cgroup_paths *paths,
					u64 id);

#endif /* _MM_KMEMTRACE_CGROUP_PATHS_H */
