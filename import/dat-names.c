// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <stdlib.h>

#include "import/dat-names.h"

/* Placeholder in the task table for a name that the kernel had discarded. */
#define NO_NAME "<...>"

static gint compare_pids(gconstpointer a, gconstpointer b)
{
	guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;

	return (x > y) - (x < y);
}

/*
 * Parse a line of the task table, such as "7 a task", and name the task if pids
 * contains it.
 */
static void name_task(KmtImport *import, const GArray *pids, const char *line)
{
	char *name;
	guint64 number = g_ascii_strtoull(line, &name, 10);
	guint32 pid = (guint32)number;

	/* An empty GArray has a NULL data pointer, which bsearch() does not
	 * accept. */
	if (name == line || *name != ' ' || number > G_MAXUINT32 ||
	    !pids->len ||
	    !bsearch(&pid, pids->data, pids->len, sizeof(pid), compare_pids))
		return;
	name++;
	if (*name && !g_str_equal(name, NO_NAME))
		kmt_import_name_task(import, pid, 0, name);
}

void kmt_dat_name_tasks(const KmtDatFile *dat, KmtImport *import)
{
	g_autoptr(GArray) pids = kmt_import_unnamed_tasks(import);
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	if (!dat->tasks.left)
		return;
	g_array_sort(pids, compare_pids);
	text = g_strndup((const char *)dat->tasks.next, dat->tasks.left);
	lines = g_strsplit(text, "\n", -1);
	for (guint i = 0; lines[i]; i++)
		name_task(import, pids, lines[i]);
}

/*
 * Return whether a kallsyms contains real addresses. The kernel writes 0 for
 * each address that it hides.
 */
static gboolean has_addresses(const char *text)
{
	for (const char *line = text; line && *line;) {
		if (g_ascii_strtoull(line, NULL, 16))
			return TRUE;
		line = strchr(line, '\n');
		line += line != NULL;
	}
	return FALSE;
}

gboolean kmt_dat_name_functions(const KmtDatFile *dat, KmtImport *import,
				GError **error)
{
	g_autofree char *text = NULL;

	if (!dat->kallsyms.left)
		return TRUE;
	text = g_strndup((const char *)dat->kallsyms.next, dat->kallsyms.left);
	return !has_addresses(text) ||
	       kmt_import_set_kallsyms(import, text, error);
}
