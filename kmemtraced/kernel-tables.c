// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/capture/error.h"
#include "kmemtraced/kernel-tables.h"

/*
 * Copy one table from @directory into the capture. Warn if the table cannot be
 * read. Return FALSE and set an error if it cannot be written.
 */
static gboolean copy_table(KmtdTables *tables, const char *directory,
			   const char *name, gboolean *hidden, GError **error)
{
	g_autofree char *source = g_build_filename(directory, name, NULL);
	g_autoptr(GError) problem = NULL;
	g_autofree char *text = NULL;

	if (tables->output->class->copy_table(tables->output, source, name,
					      hidden, &problem) ||
	    !problem)
		return TRUE;
	/*
	 * The capture is usable without a table that cannot be read. Any other
	 * error is a failed write.
	 */
	if (!g_error_matches(problem, KMT_DAEMON_ERROR,
			     KMT_DAEMON_ERROR_READ)) {
		g_propagate_error(error, g_steal_pointer(&problem));
		return FALSE;
	}
	text = g_strdup_printf("%s; the capture does not include it",
			       problem->message);
	tables->warning(text);
	return TRUE;
}

static char *read_modules(const KmtdTables *tables)
{
	g_autofree char *path = g_build_filename(tables->proc, "modules", NULL);
	char *text = NULL;

	g_file_get_contents(path, &text, NULL, NULL);
	return text;
}

gboolean kmtd_tables_copy(KmtdTables *tables, GError **error)
{
	gboolean hidden = FALSE;

	tables->modules = read_modules(tables);
	if (!copy_table(tables, tables->proc, "kallsyms", &hidden, error) ||
	    !copy_table(tables, tables->proc, "modules", NULL, error))
		return FALSE;
	if (hidden)
		tables->warning(
			"the kernel hides the addresses in kallsyms, so that "
			"the report will show none of its names; allow them "
			"with 'sysctl kernel.kptr_restrict=1' and the "
			"capability CAP_SYSLOG, or give the report a "
			"System.map");
	return TRUE;
}

/* Write a table if the source supplies it instead of the kernel. */
static gboolean write_table(KmtdTables *tables, const char *name,
			    GError **error)
{
	g_autofree char *text = NULL;

	if (tables->source && tables->source->class->table)
		text = tables->source->class->table(tables->source, name);
	return !text || tables->output->class->write_table(tables->output, name,
							   text, error);
}

gboolean kmtd_tables_copy_records(KmtdTables *tables, GError **error)
{
	if (!write_table(tables, "tasks", error) ||
	    !write_table(tables, "caches", error) ||
	    !write_table(tables, "cgroups", error) ||
	    !write_table(tables, "stacks", error))
		return FALSE;
	return !tables->directory ||
	       (copy_table(tables, tables->directory, "info", NULL, error) &&
		copy_table(tables, tables->directory, "caches", NULL, error) &&
		copy_table(tables, tables->directory, "tasks", NULL, error) &&
		copy_table(tables, tables->directory, "cgroups", NULL, error) &&
		copy_table(tables, tables->directory, "marks", NULL, error) &&
		copy_table(tables, tables->directory, "stacks", NULL, error) &&
		copy_table(tables, tables->directory, "tags", NULL, error));
}

void kmtd_tables_read_slabs(KmtdTables *tables)
{
	g_autofree char *path =
		g_build_filename(tables->proc, "slabinfo", NULL);

	if (!tables->slabinfo)
		g_file_get_contents(path, &tables->slabinfo, NULL, NULL);
}

gboolean kmtd_tables_write_slabs(KmtdTables *tables, GError **error)
{
	return !tables->slabinfo ||
	       tables->output->class->write_table(tables->output, "slabinfo",
						  tables->slabinfo, error);
}

gboolean kmtd_tables_renew(KmtdTables *tables, GError **error)
{
	g_autofree char *modules = read_modules(tables);

	if (!kmtd_tables_copy_records(tables, error) ||
	    !kmtd_tables_write_slabs(tables, error))
		return FALSE;
	if (g_strcmp0(modules, tables->modules) == 0)
		return TRUE;
	if (!copy_table(tables, tables->proc, "kallsyms", NULL, error) ||
	    !copy_table(tables, tables->proc, "modules", NULL, error))
		return FALSE;
	g_free(tables->modules);
	tables->modules = g_steal_pointer(&modules);
	return TRUE;
}

void kmtd_tables_clear(KmtdTables *tables)
{
	g_clear_pointer(&tables->modules, g_free);
	g_clear_pointer(&tables->slabinfo, g_free);
}
