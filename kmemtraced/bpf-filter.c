// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The filter of the source "bpf": the options -F, -p, -c and --cgroup in the
 * syntax of the kernel's kmemtrace.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>

#include "kmemtraced/bpf-private.h"
#include "kmemtraced/filter-text.h"
#include "lib/capture/error.h"

#define SAMPLE_MAX 1000000

static void set_wrong(GError **error, const char *word, const char *why)
{
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_FILTER,
		    "the filter has the word '%s': %s", word, why);
}

/* Parse "100", "100-", "-200" or "100-200". Return a message or NULL. */
static const char *parse_size(KmtdBpfFilter *filter, const char *value)
{
	const char *dash = strchr(value, '-');
	g_autofree char *min = dash ? g_strndup(value, (gsize)(dash - value))
				    : g_strdup(value);
	const char *max = dash ? dash + 1 : min;

	if (filter->by_size)
		return "size is there twice";
	filter->by_size = TRUE;
	filter->size_max = G_MAXUINT64;
	if (!*min && !*max)
		return "size has neither a least nor a largest number of bytes";
	if ((*min && !g_ascii_string_to_unsigned(min, 10, 0, G_MAXUINT64,
						 &filter->size_min, NULL)) ||
	    (*max && !g_ascii_string_to_unsigned(max, 10, 0, G_MAXUINT64,
						 &filter->size_max, NULL)))
		return "size is no number of bytes";
	return filter->size_min > filter->size_max ? "size begins above its end"
						   : NULL;
}

static const char *parse_caches(KmtdBpfFilter *filter, const char *value)
{
	if (filter->caches)
		return "cache is there twice";
	filter->caches = g_strsplit(value, ",", -1);
	for (char **name = filter->caches; *name; name++)
		if (!**name)
			return "cache has an empty name";
	return NULL;
}

static const char *parse_pids(KmtdBpfFilter *filter, const char *value)
{
	g_auto(GStrv) words = g_strsplit(value, ",", -1);

	for (char **word = words; *word; word++) {
		guint64 pid;
		guint32 number;

		if (!g_ascii_string_to_unsigned(*word, 10, 0, KMTD_BPF_PIDS - 1,
						&pid, NULL))
			return "pid is not the number of a task";
		number = (guint32)pid;
		g_array_append_val(filter->pids, number);
	}
	return NULL;
}

static const char *parse_cgroups(KmtdBpfFilter *filter, const char *value)
{
	g_auto(GStrv) globs = g_strsplit(value, ",", -1);

	for (char **glob = globs; *glob; glob++) {
		if (**glob != '/')
			return "cgroup has a path without '/' at its begin";
		g_ptr_array_add(filter->cgroups, g_strdup(*glob));
	}
	return globs[0] ? NULL : "cgroup has no path";
}

static const char *parse_commands(KmtdBpfFilter *filter, const char *value)
{
	g_auto(GStrv) names = g_strsplit(value, ",", -1);

	for (char **name = names; *name; name++) {
		const char *star = strchr(*name, '*');

		if (!**name)
			return "comm has an empty name";
		if (star && star[1])
			return "comm has a '*' before the end of a name";
		if (strlen(*name) > KMTD_BPF_COMM_BYTES - 1 + (star != NULL))
			return "comm has a name of more than 15 bytes";
		g_ptr_array_add(filter->commands, g_strdup(*name));
	}
	if (filter->commands->len > KMTD_BPF_COMMS)
		return "comm has too many names";
	return names[0] ? NULL : "comm has no name";
}

static const char *parse_sample(KmtdBpfFilter *filter, const char *value)
{
	guint64 n;

	if (filter->sample)
		return "sample is there twice";
	if (!g_ascii_string_to_unsigned(value, 10, 1, SAMPLE_MAX, &n, NULL))
		return "sample is not a number from 1 to 1000000";
	filter->sample = (guint32)n;
	return NULL;
}

static const char *parse_word(KmtdBpfFilter *filter, const char *word)
{
	static const struct {
		const char *key;
		const char *(*parse)(KmtdBpfFilter *filter, const char *value);
	} keys[] = {{"size=", parse_size},	{"cache=", parse_caches},
		    {"pid=", parse_pids},	{"comm=", parse_commands},
		    {"cgroup=", parse_cgroups}, {"sample=", parse_sample}};

	if (g_str_equal(word, "children")) {
		filter->children = TRUE;
		return NULL;
	}
	for (gsize i = 0; i < G_N_ELEMENTS(keys); i++)
		if (g_str_has_prefix(word, keys[i].key))
			return keys[i].parse(filter,
					     word + strlen(keys[i].key));
	return "a word is none of size=, cache=, pid=, comm=, cgroup=, "
	       "sample=, and children";
}

gboolean kmtd_bpf_filter_parse(KmtdBpfFilter *filter,
			       const KmtdSourceOptions *options, GError **error)
{
	g_auto(GStrv) words = NULL;

	filter->pids = g_array_new(FALSE, FALSE, sizeof(guint32));
	filter->cgroups = g_ptr_array_new_with_free_func(g_free);
	filter->commands = g_ptr_array_new_with_free_func(g_free);
	if (!kmtd_filter_text(options, &filter->text, error))
		return FALSE;
	if (!filter->text)
		return TRUE;
	if (g_str_equal(filter->text, "none")) {
		g_clear_pointer(&filter->text, g_free);
		return TRUE;
	}
	words = g_strsplit_set(filter->text, " \t\n", -1);
	for (char **word = words; *word; word++) {
		const char *why = **word ? parse_word(filter, *word) : NULL;

		if (why) {
			set_wrong(error, *word, why);
			return FALSE;
		}
	}
	return TRUE;
}

void kmtd_bpf_filter_clear(KmtdBpfFilter *filter)
{
	g_clear_pointer(&filter->pids, g_array_unref);
	g_clear_pointer(&filter->cgroups, g_ptr_array_unref);
	g_clear_pointer(&filter->commands, g_ptr_array_unref);
	g_clear_pointer(&filter->caches, g_strfreev);
	g_clear_pointer(&filter->text, g_free);
}

void kmtd_bpf_filter_size_maps(const KmtdBpfFilter *filter,
			       struct bpf_object *object)
{
	bpf_map__set_max_entries(kmtd_bpf_find_map(object, "cgroup_passes"),
				 filter->cgroups->len ? KMTD_BPF_CGROUPS : 1);
}

void kmtd_bpf_filter_describe(const KmtdBpfFilter *filter,
			      struct kmtd_bpf_settings *settings)
{
	settings->filtered = filter->text != NULL;
	settings->by_size = filter->by_size != 0;
	settings->size_min = filter->size_min;
	settings->size_max = filter->size_max;
	settings->by_cache = filter->caches != NULL;
	settings->by_pid = filter->pids->len > 0;
	settings->by_comm = filter->commands->len > 0;
	settings->by_cgroup = filter->cgroups->len > 0;
	settings->children = filter->children != 0;
	settings->sample = filter->sample;
}

static gboolean add_pids(const KmtdBpfFilter *filter,
			 const struct bpf_object *object)
{
	int map = bpf_object__find_map_fd_by_name(object, "pids");

	for (guint i = 0; i < filter->pids->len; i++) {
		guint32 pid = g_array_index(filter->pids, guint32, i);
		guint32 key = pid / 64;
		guint64 word = 0;

		if (bpf_map_lookup_elem(map, &key, &word))
			return FALSE;
		word |= G_GUINT64_CONSTANT(1) << pid % 64;
		if (bpf_map_update_elem(map, &key, &word, BPF_ANY))
			return FALSE;
	}
	return TRUE;
}

/* A name without '*' also has to match the null byte at its end. */
static gboolean add_commands(const KmtdBpfFilter *filter,
			     const struct bpf_object *object)
{
	int map = bpf_object__find_map_fd_by_name(object, "comms");
	const guint8 passes = 1;

	for (guint i = 0; i < filter->commands->len; i++) {
		const char *name = filter->commands->pdata[i];
		gsize n = strlen(name);
		struct kmtd_bpf_comm key = {0};

		n = name[n - 1] == '*' ? n - 1 : n + 1;
		key.n_bits = (guint32)n * 8;
		memcpy(key.name, name, n);
		if (bpf_map_update_elem(map, &key, &passes, BPF_ANY))
			return FALSE;
	}
	return TRUE;
}

gboolean kmtd_bpf_filter_learn_cgroup(const KmtdBpfFilter *filter,
				      const struct bpf_object *object,
				      guint64 id, const char *path,
				      gboolean *passes)
{
	guint8 value;

	*passes = TRUE;
	if (!filter->cgroups->len)
		return TRUE;
	*passes = kmtd_filter_has_cgroup(filter->cgroups, path);
	value = *passes != 0;
	return bpf_map_update_elem(
		       bpf_object__find_map_fd_by_name(object, "cgroup_passes"),
		       &id, &value, BPF_ANY) == 0;
}

static gboolean is_named(const KmtdBpfFilter *filter, const char *name)
{
	for (char **glob = filter->caches; *glob; glob++)
		if (g_pattern_match_simple(*glob, name))
			return TRUE;
	return FALSE;
}

gboolean kmtd_bpf_filter_learn(const KmtdBpfFilter *filter,
			       const struct bpf_object *object, guint64 cache,
			       const char *name)
{
	int map = bpf_object__find_map_fd_by_name(object, "cache_passes");
	guint8 passes;

	if (!filter->caches)
		return TRUE;
	passes = is_named(filter, name) != 0;
	bpf_map_update_elem(map, &cache, &passes, BPF_ANY);
	return passes;
}

void kmtd_bpf_filter_forget(const struct bpf_object *object, guint64 cache)
{
	bpf_map_delete_elem(
		bpf_object__find_map_fd_by_name(object, "cache_passes"),
		&cache);
}

/* Let the programs know each cache that exists. */
static gboolean add_caches(const KmtdBpfFilter *filter,
			   const struct bpf_object *object)
{
	const struct bpf_program *program =
		bpf_object__find_program_by_name(object, "list_caches");
	int map = bpf_object__find_map_fd_by_name(object, "listed");
	guint64 arguments = 0;
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &arguments,
		    .ctx_size_in = sizeof(arguments));

	if (bpf_prog_test_run_opts(bpf_program__fd(program), &options))
		return FALSE;
	for (guint32 i = 0; i < options.retval; i++) {
		struct kmtd_bpf_listed cache;

		if (bpf_map_lookup_elem(map, &i, &cache))
			return FALSE;
		kmtd_bpf_filter_learn(filter, object, cache.cache,
				      cache.described.name);
	}
	return TRUE;
}

gboolean kmtd_bpf_filter_apply(const KmtdBpfFilter *filter,
			       const struct bpf_object *object, GError **error)
{
	if (add_pids(filter, object) && add_commands(filter, object) &&
	    (!filter->caches || add_caches(filter, object)))
		return TRUE;
	kmtd_bpf_set_error(error, errno, "set the filter of the BPF programs");
	return FALSE;
}
