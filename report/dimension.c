// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "report/dimension.h"

static const struct {
	const char *name;
	const char *title;
	const char *plural;
	gboolean kinds;
	KmtMatchKeyParts parts;
} dimensions[KMT_N_DIMENSIONS] = {
	[KMT_BY_CALLSITE] = {"callsite", "call site", "call sites",
			     .kinds = TRUE},
	[KMT_BY_FUNCTION] = {"function", "function", "functions",
			     .kinds = FALSE},
	[KMT_BY_MODULE] = {"module", "module", "modules", .kinds = FALSE},
	[KMT_BY_DIRECTORY] = {"directory", "directory", "directories",
			      .kinds = FALSE},
	[KMT_BY_KIND] = {"kind", "kind", "kinds", .kinds = TRUE},
	[KMT_BY_CACHE] = {"cache", "cache", "caches", .kinds = TRUE,
			  .parts = KMT_MATCH_KEY_CACHE},
	[KMT_BY_SIZE] = {"size", "size", "sizes", .kinds = FALSE},
	[KMT_BY_CPU] = {"cpu", "CPU", "CPUs", .parts = KMT_MATCH_KEY_CPU},
	[KMT_BY_NODE] = {"node", "node", "nodes", .parts = KMT_MATCH_KEY_NODE},
	[KMT_BY_GFP] = {"gfp", "gfp flags", "gfp flags",
			.parts = KMT_MATCH_KEY_GFP},
	[KMT_BY_PID] = {"pid", "pid", "pids", .parts = KMT_MATCH_KEY_PID},
	[KMT_BY_COMM] = {"comm", "command", "commands",
			 .parts = KMT_MATCH_KEY_COMM},
	[KMT_BY_CGROUP] = {"cgroup", "cgroup", "cgroups",
			   .parts = KMT_MATCH_KEY_CGROUP},
	[KMT_BY_CONTEXT] = {"context", "context", "contexts",
			    .parts = KMT_MATCH_KEY_CONTEXT},
	[KMT_BY_MARK] = {"mark", "phase from mark", "phases",
			 .parts = KMT_MATCH_KEY_PHASE},
	[KMT_BY_OWNER] = {"owner", "owner", "owners",
			  .parts = KMT_MATCH_KEY_STACK},
	[KMT_BY_STACK] = {"stack", "stack", "stacks", .kinds = TRUE,
			  .parts = KMT_MATCH_KEY_STACK},
};

const char *kmt_dimension_name(KmtDimension dimension)
{
	return dimensions[dimension].name;
}

const char *kmt_dimension_title(KmtDimension dimension)
{
	return dimensions[dimension].title;
}

const char *kmt_dimension_plural(KmtDimension dimension)
{
	return dimensions[dimension].plural;
}

char *kmt_dimension_names(void)
{
	const char *names[KMT_N_DIMENSIONS + 1] = {NULL};
	guint i;

	for (i = 0; i < KMT_N_DIMENSIONS; i++)
		names[i] = dimensions[i].name;
	return g_strjoinv(", ", (char **)names);
}

gboolean kmt_by_has(const KmtBy *by, KmtDimension dimension)
{
	guint i;

	for (i = 0; i < by->n; i++)
		if (by->dimensions[i] == dimension)
			return TRUE;
	return FALSE;
}

static gboolean add(KmtBy *by, const char *word)
{
	guint i;

	for (i = 0; i < KMT_N_DIMENSIONS; i++) {
		if (g_ascii_strcasecmp(dimensions[i].name, word) != 0)
			continue;
		if (!kmt_by_has(by, i))
			by->dimensions[by->n++] = i;
		by->kinds |= dimensions[i].kinds;
		by->parts |= dimensions[i].parts;
		return TRUE;
	}
	return FALSE;
}

gboolean kmt_by_parse(const char *text, KmtBy *by, GError **error)
{
	g_auto(GStrv) words = g_strsplit(*text ? text : ",", ",", -1);
	guint i;

	memset(by, 0, sizeof(*by));
	for (i = 0; words[i]; i++) {
		g_autofree char *names = NULL;

		if (add(by, words[i]))
			continue;
		names = kmt_dimension_names();
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "--by '%s': the dimensions are %s, or several "
			    "separated by commas",
			    words[i], names);
		return FALSE;
	}
	return TRUE;
}
