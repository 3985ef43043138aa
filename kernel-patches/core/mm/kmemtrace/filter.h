/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: a filter of allocations, and its parser. */
#ifndef _MM_KMEMTRACE_FILTER_H
#define _MM_KMEMTRACE_FILTER_H

#include <linux/types.h>

struct cgroup;

/* Largest number of cgroups in a filter. */
#define KMEMTRACE_FILTER_CGROUPS	16

struct kmemtrace_filter {
	char		*text;		/* the filter's words, one space between them */
	char		*names;		/* comma-separated name patterns, or NULL */
	unsigned long	*caches;	/* bitmap of cache numbers; NULL: any memory */
	unsigned long	*pids;		/* bitmap of pids; NULL: all tasks */
	/* The filter has a reference to each of these cgroups. */
	struct cgroup	*cgroups[KMEMTRACE_FILTER_CGROUPS];
	unsigned int	n_cgroups;	/* 0: any cgroup */
	bool		by_size;	/* size_min and size_max are valid */
	bool		by_pid;		/* the text has pid= */
	bool		children;	/* add new children of matching tasks to pids */
	size_t		size_min;	/* bytes */
	size_t		size_max;	/* bytes, inclusive */
	u32		sample;		/* record 1 of this many allocations; 1: all */
};

/*
 * Parse the text of a filter.  @text is changed.  Paths of cgroups begin at the root
 * of the caller's cgroup namespace.  Return a filter, which
 * kmemtrace_free_filter() frees; NULL if the text means no filter; or ERR_PTR(-EINVAL)
 * or ERR_PTR(-ENOMEM).  On -EINVAL *@why is a static message about the error, otherwise
 * NULL.  Sleeps.
 */
struct kmemtrace_filter *kmemtrace_parse_filter(char *text, const char **why);

/* Free a filter, which may be NULL.  May sleep. */
void kmemtrace_free_filter(struct kmemtrace_filter *filter);

#endif /* _MM_KMEMTRACE_FILTER_H */
