// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <string.h>

#include "lib/base/printable.h"
#include "report/object-filter.h"

void kmt_filter_init(KmtFilter *filter)
{
	memset(filter, 0, sizeof(*filter));
	filter->size_max = G_MAXUINT64;
	filter->lifetime_max = G_MAXUINT64;
}

void kmt_filter_clear(KmtFilter *filter)
{
	g_clear_pointer(&filter->cpus, g_array_unref);
	g_clear_pointer(&filter->nodes, g_array_unref);
	g_strfreev(filter->callsite);
	g_strfreev(filter->module);
	g_strfreev(filter->cgroup);
}

static gboolean invalid_value(GError **error, const char *option,
			      const char *text, const char *form)
{
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
		    "%s '%s': not %s", option, text, form);
	return FALSE;
}

gboolean kmt_filter_set_kinds(KmtFilter *filter, const char *text,
			      GError **error)
{
	g_auto(GStrv) words = g_strsplit(*text ? text : ",", ",", -1);
	guint i;

	for (i = 0; words[i]; i++) {
		if (strcmp(words[i], "kmalloc") == 0)
			filter->kinds |= 1u << KMT_KIND_KMALLOC;
		else if (strcmp(words[i], "cache") == 0)
			filter->kinds |= 1u << KMT_KIND_CACHE;
		else if (strcmp(words[i], "slab") == 0)
			filter->kinds |=
				1u << KMT_KIND_KMALLOC | 1u << KMT_KIND_CACHE;
		else if (strcmp(words[i], "pages") == 0 ||
			 strcmp(words[i], "page") == 0)
			filter->kinds |= 1u << KMT_KIND_PAGES;
		else if (strcmp(words[i], "percpu") == 0)
			filter->kinds |= 1u << KMT_KIND_PERCPU;
		else if (strcmp(words[i], "vmalloc") == 0)
			filter->kinds |= 1u << KMT_KIND_VMALLOC;
		else
			return invalid_value(
				error, "--kind", words[i],
				"kmalloc, cache, slab, pages, percpu or "
				"vmalloc");
	}
	return TRUE;
}

/*
 * Read a number at *text and move *text behind the number. Return FALSE if
 * there is no number or it exceeds 64 bits.
 */
static gboolean read_number(const char **text, guint64 *number)
{
	char *end;

	if (!g_ascii_isdigit(**text))
		return FALSE;
	errno = 0;
	*number = g_ascii_strtoull(*text, &end, 10);
	*text = end;
	return !errno;
}

static gboolean in_list(const GArray *list, gint64 number)
{
	guint i;

	for (i = 0; number >= 0 && i < list->len; i++) {
		const KmtRange *range = &g_array_index(list, KmtRange, i);

		if ((guint64)number >= range->from &&
		    (guint64)number <= range->to)
			return TRUE;
	}
	return FALSE;
}

/* Read a list such as "0-3,7". Return NULL if the text is not a list. */
static GArray *read_list(const char *text)
{
	g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(KmtRange));

	for (;;) {
		KmtRange range;

		if (!read_number(&text, &range.from))
			return NULL;
		range.to = range.from;
		if (*text == '-') {
			text++;
			if (!read_number(&text, &range.to) ||
			    range.to < range.from)
				return NULL;
		}
		g_array_append_val(list, range);
		if (!*text)
			return g_steal_pointer(&list);
		if (*text++ != ',')
			return NULL;
	}
}

static gboolean set_list(GArray **list, const char *option, const char *text,
			 GError **error)
{
	GArray *read = read_list(text);

	if (!read)
		return invalid_value(error, option, text, "a list as 0-3,7");
	if (*list)
		g_array_unref(*list);
	*list = read;
	return TRUE;
}

gboolean kmt_filter_set_cpus(KmtFilter *filter, const char *text,
			     GError **error)
{
	return set_list(&filter->cpus, "--cpu", text, error);
}

gboolean kmt_filter_set_nodes(KmtFilter *filter, const char *text,
			      GError **error)
{
	return set_list(&filter->nodes, "--node", text, error);
}

typedef struct {
	const char *name;
	guint64 factor;
} QuantityUnit;

static const QuantityUnit size_units[] = {{"k", 1 << 10}, {"K", 1 << 10},
					  {"M", 1 << 20}, {"G", 1 << 30},
					  {"", 1},	  {NULL, 0}};
static const QuantityUnit time_units[] = {
	{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};

/* Read a number with a unit from @units, one of which may be empty, at *text
 * and move *text behind the unit. */
static gboolean read_quantity(const char **text, const QuantityUnit *units,
			      guint64 *value)
{
	guint64 number;

	if (!read_number(text, &number))
		return FALSE;
	for (; units->name; units++) {
		if (!g_str_has_prefix(*text, units->name))
			continue;
		*text += strlen(units->name);
		return !__builtin_mul_overflow(number, units->factor, value);
	}
	return FALSE;
}

static gboolean read_range(const char *text, const QuantityUnit *units,
			   guint64 *min, guint64 *max)
{
	gboolean from;

	*min = 0;
	*max = G_MAXUINT64;
	from = *text != '-';
	if (from && !read_quantity(&text, units, min))
		return FALSE;
	if (!*text) {
		*max = *min;
		return TRUE;
	}
	if (*text++ != '-')
		return FALSE;
	if (!*text)
		return from;
	return read_quantity(&text, units, max) && !*text && *max >= *min;
}

gboolean kmt_filter_set_size(KmtFilter *filter, const char *text,
			     GError **error)
{
	return read_range(text, size_units, &filter->size_min,
			  &filter->size_max) ||
	       invalid_value(error, "--size", text,
			     "a range of bytes as 64-4k, 4k- or 192");
}

gboolean kmt_filter_set_lifetime(KmtFilter *filter, const char *text,
				 GError **error)
{
	filter->lifetime = TRUE;
	return read_range(text, time_units, &filter->lifetime_min,
			  &filter->lifetime_max) ||
	       invalid_value(error, "--lifetime", text,
			     "a range of times as 100us-2s, 1ms- or -10ns");
}

gboolean kmt_filter_set_globs(char ***globs, const char *option,
			      const char *text, GError **error)
{
	g_auto(GStrv) words = g_strsplit(*text ? text : ",", ",", -1);
	guint i;

	for (i = 0; words[i]; i++)
		if (!*words[i])
			return invalid_value(
				error, option, text,
				"a name with optional wildcards * and ?, or "
				"several separated by commas");
	g_strfreev(*globs);
	*globs = g_steal_pointer(&words);
	return TRUE;
}

gboolean kmt_filter_is_set(const KmtFilter *filter)
{
	return filter->kinds || filter->cpus || filter->nodes ||
	       filter->size_min || filter->size_max < G_MAXUINT64 ||
	       filter->callsite || filter->module || filter->cgroup ||
	       filter->lifetime;
}

KmtMatchKeyParts kmt_filter_parts(const KmtFilter *filter)
{
	/* With a lifetime filter, an allocation is counted only when its object
	 * is freed or at the end, so its key must store the node until then. */
	return (filter->cpus ? KMT_MATCH_KEY_CPU : 0) |
	       (filter->nodes || filter->lifetime ? KMT_MATCH_KEY_NODE : 0) |
	       (filter->cgroup ? KMT_MATCH_KEY_CGROUP : 0);
}

static gboolean matches(char *const *globs, const char *name)
{
	for (; *globs; globs++)
		if (g_pattern_match_simple(*globs, name))
			return TRUE;
	return FALSE;
}

/*
 * Return whether a glob equals the address in the form 0x..., even if the
 * address has a symbol.
 */
static gboolean has_address(char *const *globs, guint64 address)
{
	char *end;

	for (; *globs; globs++)
		if (g_str_has_prefix(*globs, "0x") &&
		    g_ascii_strtoull(*globs, &end, 16) == address && !*end)
			return TRUE;
	return FALSE;
}

/* Return whether a glob matches a call site. @function is NULL if the address
 * has no symbol. */
static gboolean matches_callsite(char *const *globs, guint64 address,
				 const char *function, guint64 offset)
{
	g_autofree char *name =
		function ? g_strdup_printf("%s+0x%" G_GINT64_MODIFIER "x",
					   function, offset)
			 : g_strdup_printf("0x%016" G_GINT64_MODIFIER "x",
					   address);

	return (function && matches(globs, function)) || matches(globs, name) ||
	       has_address(globs, address);
}

static gboolean matches_name(const KmtFilter *filter, const KmtMatchKey *key,
			     const KmtSymbolizer *symbolizer)
{
	KmtSymbol symbol = {0};
	KmtSymSite site = kmt_symbolizer_alloc_site(symbolizer, key->call_site,
						    key->tag_time);
	gboolean known = kmt_symbolizer_symbol(symbolizer, &site, &symbol);

	if (filter->callsite &&
	    !matches_callsite(filter->callsite, key->call_site,
			      known ? symbol.name : NULL, symbol.offset))
		return FALSE;
	return !filter->module ||
	       (known && matches(filter->module,
				 symbol.module ? symbol.module : "vmlinux"));
}

/* Return whether a glob matches the cgroup of a key. An unknown cgroup matches
 * no glob. */
static gboolean matches_cgroup(char *const *globs, const KmtMatchKey *key)
{
	/* g_pattern_match_simple() needs valid UTF-8. */
	g_autofree char *path = key->cgroup ? kmt_printable(key->cgroup) : NULL;

	return path && matches(globs, path);
}

gboolean kmt_filter_matches_key(const KmtFilter *filter, const KmtMatchKey *key,
				guint cpu, const KmtSymbolizer *symbolizer)
{
	if (filter->kinds && !(filter->kinds >> key->type & 1))
		return FALSE;
	if (filter->cpus && !in_list(filter->cpus, cpu))
		return FALSE;
	if (filter->nodes && !in_list(filter->nodes, key->node))
		return FALSE;
	if (filter->cgroup && !matches_cgroup(filter->cgroup, key))
		return FALSE;
	if (filter->callsite || filter->module)
		return matches_name(filter, key, symbolizer);
	return TRUE;
}

/* ---- conditions that no object meets ---- */

/* Conditions on names. */
typedef enum {
	NAME_CALLSITE,
	NAME_MODULE,
	NAME_CGROUP,
} NameCondition;

static const struct {
	const char *option;
	const char *unmet;
} name_conditions[] = {
	[NAME_CALLSITE] = {"--callsite", "no call site has such a name"},
	[NAME_MODULE] = {"--module",
			 "no call site is in such a module; built-in code "
			 "belongs to vmlinux, which --by directory divides "
			 "with --vmlinux, --debug-dir or --source"},
	[NAME_CGROUP] = {"--cgroup", "no task that allocated memory was in "
				     "such a cgroup"},
};

/* Return whether a key meets a filter without CPUs. */
static gboolean is_met(const KmtFilter *filter, const KmtSymbolizer *symbolizer,
		       const KmtMatchKeys *keys)
{
	guint32 i;

	for (i = 0; i < keys->classes->n; i++) {
		KmtMatchKey key = kmt_match_keys_of_class(keys, i);

		if (kmt_filter_matches_key(filter, &key, 0, symbolizer))
			return TRUE;
	}
	return FALSE;
}

/*
 * Check each glob separately, so that one misspelt glob in a list is reported.
 */
static void warn_of_globs(char *const *globs, NameCondition condition,
			  const KmtSymbolizer *symbolizer,
			  const KmtMatchKeys *keys, GPtrArray *warnings)
{
	for (; globs && *globs; globs++) {
		char *one[] = {*globs, NULL};
		const KmtFilter filter = {
			.callsite = condition == NAME_CALLSITE ? one : NULL,
			.module = condition == NAME_MODULE ? one : NULL,
			.cgroup = condition == NAME_CGROUP ? one : NULL,
		};

		if (is_met(&filter, symbolizer, keys))
			continue;
		g_ptr_array_add(
			warnings,
			g_strdup_printf("%s '%s': %s",
					name_conditions[condition].option,
					*globs,
					name_conditions[condition].unmet));
	}
}

static gboolean has_cpu(const KmtFilter *filter, const KmtInputCapture *capture)
{
	guint i;

	for (i = 0; i < capture->files->len; i++) {
		const KmtInputCpuFile *file = capture->files->pdata[i];

		if (in_list(filter->cpus, file->cpu))
			return TRUE;
	}
	return FALSE;
}

static gboolean has_node(const KmtFilter *filter,
			 const KmtInputCapture *capture,
			 const KmtMatchKeys *keys)
{
	guint32 i;

	for (i = 0; i < capture->files->len; i++) {
		const KmtInputCpuFile *file = capture->files->pdata[i];

		if (in_list(filter->nodes, file->node))
			return TRUE;
	}
	for (i = 0; i < keys->classes->n; i++)
		if (in_list(filter->nodes,
			    kmt_match_keys_of_class(keys, i).node))
			return TRUE;
	return FALSE;
}

void kmt_filter_warn(const KmtFilter *filter, const KmtInputCapture *capture,
		     const KmtSymbolizer *symbolizer, const KmtMatchKeys *keys,
		     GPtrArray *warnings)
{
	warn_of_globs(filter->callsite, NAME_CALLSITE, symbolizer, keys,
		      warnings);
	warn_of_globs(filter->module, NAME_MODULE, symbolizer, keys, warnings);
	warn_of_globs(filter->cgroup, NAME_CGROUP, symbolizer, keys, warnings);
	if (filter->cpus && !has_cpu(filter, capture))
		g_ptr_array_add(warnings, g_strdup("--cpu: the capture has "
						   "none of these CPUs"));
	if (filter->nodes && !has_node(filter, capture, keys))
		g_ptr_array_add(warnings,
				g_strdup("--node: the capture has none of "
					 "these nodes"));
}
