// SPDX-License-Identifier: GPL-2.0-only
/* kmemtrace: the text of a filter, as user space writes it to the file filter. */

#include <linux/bitmap.h>
#include <linux/cgroup.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/string_helpers.h>
#include <linux/threads.h>

#include "filter.h"
#include "format.h"

#define KMEMTRACE_SAMPLE_MAX	1000000

/*
 * Parse a size in bytes or a range of sizes: "100", "100-", "-200", or "100-200".
 * Return a message about what is wrong, or NULL.
 */
static const char *kmemtrace_parse_size(struct kmemtrace_filter *filter,
					char *value)
{
	char *max = strchr(value, '-');
	unsigned long long bytes;

	filter->size_min = 0;
	filter->size_max = SIZE_MAX;
	if (max)
		*max++ = '\0';
	if (*value) {
		if (kstrtoull(value, 10, &bytes) || bytes > SIZE_MAX)
			return "size is no number of bytes";
		filter->size_min = bytes;
		if (!max)
			filter->size_max = bytes;
	}
	if (max && *max) {
		if (kstrtoull(max, 10, &bytes) || bytes > SIZE_MAX)
			return "size is no number of bytes";
		filter->size_max = bytes;
	}
	if (!*value && !(max && *max))
		return "size has neither a least nor a largest number of bytes";
	if (filter->size_min > filter->size_max)
		return "size begins above its end";
	filter->by_size = true;
	return NULL;
}

static const char *kmemtrace_parse_caches(struct kmemtrace_filter *filter,
					  char *value)
{
	const char *name;
	size_t n;

	if (kmemtrace_abi < 2)
		return "version 1 of the records does not know caches";
	for (name = value;; name += n + 1) {
		n = strcspn(name, ",");
		if (!n)
			return "cache has an empty name";
		if (n >= 64)
			return "cache has a name of more than 63 characters";
		if (!name[n])
			break;
	}
	filter->names = value;
	return NULL;
}

static const char *kmemtrace_parse_pids(struct kmemtrace_filter *filter,
					char *value)
{
	unsigned int pid;
	char *word;

	filter->by_pid = true;
	while ((word = strsep(&value, ","))) {
		if (kstrtouint(word, 10, &pid) || pid >= PID_MAX_LIMIT)
			return "pid is not the number of a task";
		__set_bit(pid, filter->pids);
	}
	return NULL;
}

#ifdef CONFIG_CGROUPS
/*
 * Parse the paths of cgroups.  A character is written as in the table cgroups, or as
 * its octal escape sequence.
 */
static const char *kmemtrace_parse_cgroups(struct kmemtrace_filter *filter,
					   char *value)
{
	struct cgroup *cgrp;
	char *path;

	while ((path = strsep(&value, ","))) {
		if (filter->n_cgroups == KMEMTRACE_FILTER_CGROUPS)
			return "cgroup has more than 16 paths";
		if (*path != '/')
			return "cgroup has a path that does not begin with a slash";
		string_unescape_inplace(path, UNESCAPE_OCTAL);
		cgrp = cgroup_get_from_path(path);
		if (IS_ERR(cgrp))
			return "cgroup is not the path of a cgroup of version 2";
		filter->cgroups[filter->n_cgroups++] = cgrp;
	}
	return NULL;
}

static void kmemtrace_put_cgroups(struct kmemtrace_filter *filter)
{
	while (filter->n_cgroups)
		cgroup_put(filter->cgroups[--filter->n_cgroups]);
}
#else
static const char *kmemtrace_parse_cgroups(struct kmemtrace_filter *filter,
					   char *value)
{
	return "this kernel has no cgroups";
}

static void kmemtrace_put_cgroups(struct kmemtrace_filter *filter)
{
}
#endif

static const char *kmemtrace_parse_sample(struct kmemtrace_filter *filter,
					  char *value)
{
	if (kstrtou32(value, 10, &filter->sample) || !filter->sample ||
	    filter->sample > KMEMTRACE_SAMPLE_MAX)
		return "sample is not a number from 1 to 1000000";
	return NULL;
}

void kmemtrace_free_filter(struct kmemtrace_filter *filter)
{
	if (!filter)
		return;
	kmemtrace_put_cgroups(filter);
	kvfree(filter->caches);
	kvfree(filter->pids);
	kfree(filter->names);
	kfree(filter->text);
	kfree(filter);
}

/*
 * Parse one word of a filter, such as "pid=1,2" or "children".  Each key may occur
 * once.  Return a message about what is wrong, or NULL.
 */
static const char *kmemtrace_parse_word(struct kmemtrace_filter *filter,
					char *word)
{
	char *value = strchr(word, '=');
	const char *c;

	for (c = word; *c; c++)
		if (!isascii(*c) || !isgraph(*c))
			return "a character is not one of printable ASCII";
	if (!value) {
		if (strcmp(word, "children"))
			return "a word is neither KEY=VALUE nor children";
		filter->children = true;
		return NULL;
	}
	*value++ = '\0';
	if (!strcmp(word, "size"))
		return filter->by_size ? "size is there twice" :
					 kmemtrace_parse_size(filter, value);
	if (!strcmp(word, "cache"))
		return filter->names ? "cache is there twice" :
				       kmemtrace_parse_caches(filter, value);
	if (!strcmp(word, "pid"))
		return filter->by_pid ? "pid is there twice" :
					kmemtrace_parse_pids(filter, value);
	if (!strcmp(word, "cgroup"))
		return filter->n_cgroups ? "cgroup is there twice" :
					   kmemtrace_parse_cgroups(filter, value);
	if (!strcmp(word, "sample"))
		return filter->sample ? "sample is there twice" :
					kmemtrace_parse_sample(filter, value);
	return "a key is none of size, cache, pid, cgroup, sample";
}

struct kmemtrace_filter *kmemtrace_parse_filter(char *text, const char **why)
{
	struct kmemtrace_filter *filter;
	char *word, *names;
	size_t n = 0;

	*why = NULL;
	text = strim(text);
	if (!*text || !strcmp(text, "none"))
		return NULL;
	filter = kzalloc(sizeof(*filter), GFP_KERNEL);
	if (!filter)
		return ERR_PTR(-ENOMEM);
	filter->text = kmalloc(strlen(text) + 1, GFP_KERNEL);
	filter->pids = kvcalloc(BITS_TO_LONGS(PID_MAX_LIMIT), sizeof(long),
				GFP_KERNEL);
	if (!filter->text || !filter->pids)
		goto no_memory;
	while (!*why && (word = strsep(&text, " \t\n"))) {
		if (!*word)
			continue;
		n += sprintf(filter->text + n, "%s%s", n ? " " : "", word);
		*why = kmemtrace_parse_word(filter, word);
	}
	if (!*why && filter->children && !filter->by_pid)
		*why = "children is there without pid";
	/*
	 * filter->names points into text, which the caller frees, so
	 * kmemtrace_free_filter() must not free it.
	 */
	names = filter->names;
	filter->names = NULL;
	if (*why) {
		kmemtrace_free_filter(filter);
		return ERR_PTR(-EINVAL);
	}
	filter->sample = filter->sample ?: 1;
	if (!filter->by_pid) {
		kvfree(filter->pids);
		filter->pids = NULL;
	}
	if (names) {
		filter->names = kstrdup(names, GFP_KERNEL);
		filter->caches = kvcalloc(BITS_TO_LONGS(U16_MAX + 1),
					  sizeof(long), GFP_KERNEL);
		if (!filter->names || !filter->caches)
			goto no_memory;
	}
	return filter;

no_memory:
	kmemtrace_free_filter(filter);
	return ERR_PTR(-ENOMEM);
}
