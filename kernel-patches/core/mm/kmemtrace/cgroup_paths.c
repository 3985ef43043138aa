// SPDX-License-Identifier: GPL-2.0-only
/* kmemtrace: a ring of the paths of removed cgroups. */

#include <linux/align.h>
#include <linux/build_bug.h>
#include <linux/hash.h>
#include <linux/overflow.h>
#include <linux/string.h>

#include "cgroup_paths.h"

struct kmemtrace_cgroup_path {
	u64	id;
	u64	older;		/* position of the next older path of the chain; 0: none */
	char	path[];
};

void kmemtrace_cgroup_paths_init(struct kmemtrace_cgroup_paths *paths, void *ring,
				 size_t size)
{
	memset(paths, 0, sizeof(*paths));
	paths->ring = ring;
	paths->size = size;
	/* Position 0 means that there is no path. */
	paths->end = size;
}

static struct kmemtrace_cgroup_path *
kmemtrace_path_at(const struct kmemtrace_cgroup_paths *paths, u64 pos)
{
	return (void *)(paths->ring + (pos & (paths->size - 1)));
}

void kmemtrace_cgroup_paths_add(struct kmemtrace_cgroup_paths *paths, u64 id,
				const char *path)
{
	u64 *newest = &paths->newest[hash_64(id, KMEMTRACE_CGROUP_CHAIN_BITS)];
	size_t n = strnlen(path, KMEMTRACE_CGROUP_PATH_MAX) + 1, bytes;
	struct kmemtrace_cgroup_path *entry;
	u64 space;

	if (n > KMEMTRACE_CGROUP_PATH_MAX)
		return;
	bytes = ALIGN(struct_size(entry, path, n), sizeof(u64));
	/* A path is not divided: leave the rest of the ring unused. */
	space = paths->size - (paths->end & (paths->size - 1));
	if (space < bytes)
		paths->end += space;
	entry = kmemtrace_path_at(paths, paths->end);
	entry->id = id;
	entry->older = *newest;
	memcpy(entry->path, path, n);
	*newest = paths->end;
	paths->end += bytes;
}

const char *kmemtrace_cgroup_paths_find(const struct kmemtrace_cgroup_paths *paths,
					u64 id)
{
	u64 pos = paths->newest[hash_64(id, KMEMTRACE_CGROUP_CHAIN_BITS)];
	const struct kmemtrace_cgroup_path *entry;

	/* Older paths than those of the last paths->size bytes are overwritten. */
	for (; pos && pos + paths->size >= paths->end; pos = entry->older) {
		entry = kmemtrace_path_at(paths, pos);
		if (entry->id == id)
			return entry->path;
	}
	return NULL;
}
