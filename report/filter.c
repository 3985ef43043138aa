// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <string.h>

#include "report/filter.h"

void kmt_filter_init(KmtFilter *filter)
{
	memset(filter, 0, sizeof(*filter));
	filter->size_max = G_MAXUINT64;
	filter->lifetime_max = G_MAXUINT64;
}

void kmt_filter_clear(KmtFilter *filter)
{
	g_free(filter->cpus);
	g_free(filter->nodes);
	g_free(filter->callsite);
	g_free(filter->module);
}

static gboolean bad(GError **error, const char *option, const char *text,
		    const char *form)
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
		else if (strcmp(words[i], "pages") == 0)
			filter->kinds |= 1u << KMT_KIND_PAGES;
		else
			return bad(error, "--kind", words[i],
				   "kmalloc, cache, slab or pages");
	}
	return TRUE;
}

/* A number at *text, which moves behind it. */
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

/* Is number in list, which is "0-3,7"?  Or, with number -1, is list one? */
static gboolean in_list(const char *list, gint64 number, gboolean *is_list)
{
	gboolean in = FALSE;

	for (;;) {
		guint64 from, to;

		*is_list = read_number(&list, &from);
		to = from;
		if (*is_list && *list == '-') {
			list++;
			*is_list = read_number(&list, &to) && to >= from;
		}
		*is_list = *is_list && (!*list || *list == ',');
		if (!*is_list)
			return FALSE;
		if (number >= 0)
			in |= (guint64)number >= from && (guint64)number <= to;
		if (!*list++)
			return in;
	}
}

static gboolean set_list(char **list, const char *option, const char *text,
			 GError **error)
{
	gboolean is_list;

	in_list(text, -1, &is_list);
	if (!is_list)
		return bad(error, option, text, "a list as 0-3,7");
	g_free(*list);
	*list = g_strdup(text);
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
} Unit;

static const Unit size_units[] = {
	{"k", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"", 1}, {NULL, 0}};
static const Unit time_units[] = {
	{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};

/* A number with a unit at *text, which moves behind it. */
static gboolean read_quantity(const char **text, const Unit *units,
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

static gboolean read_range(const char *text, const Unit *units, guint64 *min,
			   guint64 *max)
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
	       bad(error, "--size", text,
		   "a range of bytes as 64-4k, 4k- or 192");
}

gboolean kmt_filter_set_lifetime(KmtFilter *filter, const char *text,
				 GError **error)
{
	filter->lifetime = TRUE;
	return read_range(text, time_units, &filter->lifetime_min,
			  &filter->lifetime_max) ||
	       bad(error, "--lifetime", text,
		   "a range of times as 100us-2s, 1ms- or -10ns");
}

gboolean kmt_filter_set_glob(char **glob, const char *option, const char *text,
			     GError **error)
{
	if (!*text)
		return bad(error, option, text,
			   "a name, in which * and ? stand for others");
	g_free(*glob);
	*glob = g_strdup(text);
	return TRUE;
}

gboolean kmt_filter_is_set(const KmtFilter *filter)
{
	return filter->kinds || filter->cpus || filter->nodes ||
	       filter->size_min || filter->size_max < G_MAXUINT64 ||
	       filter->callsite || filter->module || filter->lifetime;
}

KmtCellParts kmt_filter_parts(const KmtFilter *filter)
{
	/* Whether the node was remote is asked again when lifetimes are known.
	 */
	return (filter->cpus ? KMT_CELL_CPU : 0) |
	       (filter->nodes || filter->lifetime ? KMT_CELL_NODE : 0);
}

static gboolean matches_name(const KmtFilter *filter, const KmtCell *cell,
			     const KmtNames *names)
{
	g_autofree char *name = NULL;
	KmtSymbol symbol;
	gboolean known = kmt_names_symbol(names, cell->call_site, &symbol);

	if (!known)
		name = g_strdup_printf("0x%016" G_GINT64_MODIFIER "x",
				       cell->call_site);
	if (filter->callsite &&
	    !g_pattern_match_simple(filter->callsite,
				    known ? symbol.name : name))
		return FALSE;
	if (!filter->module)
		return TRUE;
	return known && g_pattern_match_simple(filter->module,
					       symbol.module ? symbol.module
							     : "vmlinux");
}

gboolean kmt_filter_cell(const KmtFilter *filter, const KmtCell *cell,
			 guint cpu, const KmtNames *names)
{
	gboolean is_list;

	if (filter->kinds && !(filter->kinds >> cell->type & 1))
		return FALSE;
	if (filter->cpus && !in_list(filter->cpus, cpu, &is_list))
		return FALSE;
	if (filter->nodes && !in_list(filter->nodes, cell->node, &is_list))
		return FALSE;
	if (filter->callsite || filter->module)
		return matches_name(filter, cell, names);
	return TRUE;
}
