/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: a filter, and its text. */
#ifndef _MM_KMEMTRACE_FILTER_H
#define _MM_KMEMTRACE_FILTER_H

#include <linux/types.h>

struct kmemtrace_filter {
	char		*text;		/* as it was written, one space each */
	char		*names;		/* of caches, with commas; or NULL */
	unsigned long	*caches;	/* by number; NULL: all, also of none */
	unsigned long	*pids;		/* NULL: all */
	bool		by_size;
	bool		by_pid;
	bool		children;
	size_t		size_min;
	size_t		size_max;
	u32		sample;		/* one of so many; 1: all */
};

/*
 * Parse @text, which is changed.  Return a filter, or NULL for no filter, or an
 * ERR_PTR.  *@why: what is wrong with the text; NULL if there is no memory.
 */
struct kmemtrace_filter *kmemtrace_parse_filter(char *text, const char **why);

/* Free a filter, which may be NULL. */
void kmemtrace_free_filter(struct kmemtrace_filter *filter);

#endif /* _MM_KMEMTRACE_FILTER_H */
