// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/tracepoints/inner-functions.h"

/*
 * Return whether a symbol is one of the functions. n is the length of name. A
 * suffix of the compiler, as in x.isra.0 or x.cold, is ignored.
 */
static gboolean is_inner(const char *name, gsize n)
{
	static const char *const functions[] = {
		"__do_kmalloc_node",
		"__kmalloc_flags_noprof",
		"__kmalloc_noprof",
		"__kmalloc_node_noprof",
		"__kmalloc_node_track_caller_noprof",
		"__kvmalloc_node_noprof",
	};
	const char *dot = memchr(name, '.', n);

	if (dot)
		n = (gsize)(dot - name);
	for (gsize i = 0; i < G_N_ELEMENTS(functions); i++)
		if (strlen(functions[i]) == n &&
		    memcmp(functions[i], name, n) == 0)
			return TRUE;
	return FALSE;
}

/*
 * Parse the next line of *text, such as "ffffffff81000000 T _text", and advance
 * *text. Return the address of a function, or 0 for another line. *name
 * receives the name and *n its length.
 */
static guint64 next_function(const char **text, const char **name, gsize *n)
{
	const char *line = *text;
	const char *end = line + strcspn(line, "\n");
	char *p;
	guint64 address = g_ascii_strtoull(line, &p, 16);

	*text = *end ? end + 1 : end;
	if (p == line || end - p < 4 || p[0] != ' ' || p[2] != ' ' ||
	    !strchr("tTwW", p[1]))
		return 0;
	*name = p + 3;
	*n = strcspn(*name, " \t\n");
	return address;
}

void kmt_tracepoint_inner_read(KmtTracepointInner *inner, const char *text)
{
	const char *line = text, *name;
	gsize n;

	*inner = (KmtTracepointInner){0};
	while (*line) {
		guint64 address = next_function(&line, &name, &n);

		if (!address)
			continue;
		inner->is_known = TRUE;
		if (is_inner(name, n) && inner->n < KMT_TRACEPOINT_INNER_MAX) {
			inner->ranges[inner->n].begin = address;
			inner->ranges[inner->n++].end = G_MAXUINT64;
		}
	}
	/* Modules make kallsyms unsorted, so each line may end a range. */
	for (line = text; *line && inner->n;) {
		guint64 address = next_function(&line, &name, &n);

		for (guint i = 0; address && i < inner->n; i++)
			if (address > inner->ranges[i].begin &&
			    address < inner->ranges[i].end)
				inner->ranges[i].end = address;
	}
}

gboolean kmt_tracepoint_inner_has(const KmtTracepointInner *inner,
				  guint64 return_address)
{
	/* If a call is the last instruction of a function, the return address
	 * is the first address after the function. */
	for (guint i = 0; i < inner->n; i++)
		if (return_address > inner->ranges[i].begin &&
		    return_address <= inner->ranges[i].end)
			return TRUE;
	return FALSE;
}
