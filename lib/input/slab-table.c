// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include <glib/gstdio.h>

#include "lib/input/slab-table.h"

/* A cache has some 150 bytes in the table, and a kernel has at most 65535 cache
 * numbers. */
#define MAX_TABLE (64u << 20)
/* Numbers of a row before the tunables. */
#define N_LAYOUT 5

struct KmtInputSlabTable {
	char *text;	     /* content of the file, with the names */
	GArray *rows;	     /* array of KmtInputSlabRow */
	GHashTable *by_name; /* name -> index in rows + 1; 0: several rows */
	char *warning;
};

/* Return the content of the file, or NULL. A file that cannot be read has a
 * warning. */
static char *read_text(KmtInputSlabTable *table, const char *path,
		       const char *name, gsize *length)
{
	g_autoptr(GError) error = NULL;
	GStatBuf status;
	char *text;

	if (g_stat(path, &status) == 0 && status.st_size > MAX_TABLE) {
		table->warning = g_strdup_printf(
			"cannot read %s: the file has %" G_GUINT64_FORMAT
			" bytes, and the limit is %u bytes",
			name, (guint64)status.st_size, MAX_TABLE);
		return NULL;
	}
	if (!g_file_get_contents(path, &text, length, &error))
		table->warning = g_strdup_printf("cannot read %s: %s", name,
						 error->message);
	return error ? NULL : text;
}

/* Parse a number that spaces precede, and move *at behind the number. */
static gboolean parse_number(char **at, guint64 *number)
{
	char *digits = *at + strspn(*at, " ");

	if (digits == *at || !g_ascii_isdigit(*digits))
		return FALSE;
	*number = g_ascii_strtoull(digits, at, 10);
	return *number <= G_MAXINT64;
}

/* Parse @label and n numbers, and move *at behind them. */
static gboolean parse_group(char **at, const char *label, guint64 **numbers,
			    guint n)
{
	if (!g_str_has_prefix(*at, label))
		return FALSE;
	*at += strlen(label);
	for (guint i = 0; i < n; i++)
		if (!parse_number(at, numbers[i]))
			return FALSE;
	return TRUE;
}

/*
 * Return the end of the name, which may contain spaces: five numbers lie
 * between the name and @tunables. NULL: there are no five numbers.
 */
static char *find_name_end(char *line, char *tunables)
{
	char *at = tunables;

	for (guint i = 0; i < N_LAYOUT; i++) {
		char *end = at;

		while (at > line && g_ascii_isdigit(at[-1]))
			at--;
		if (at == end)
			return NULL;
		end = at;
		while (at > line && at[-1] == ' ')
			at--;
		if (at == end || at == line)
			return NULL;
	}
	return at;
}

static gboolean parse_row(char *line, KmtInputSlabRow *row)
{
	guint64 active_slabs, shared_available;
	guint64 *layout[] = {&row->active, &row->objects, &row->size,
			     &row->slab_objects, &row->slab_pages};
	guint64 *tunables[] = {&row->limit, &row->batch, &row->shared};
	guint64 *slabs[] = {&active_slabs, &row->slabs, &shared_available};
	char *at = strstr(line, " : tunables");
	char *end = at ? find_name_end(line, at) : NULL;

	if (!end)
		return FALSE;
	at = end;
	if (!parse_group(&at, "", layout, G_N_ELEMENTS(layout)) ||
	    !parse_group(&at, " : tunables", tunables,
			 G_N_ELEMENTS(tunables)) ||
	    !parse_group(&at, " : slabdata", slabs, G_N_ELEMENTS(slabs)))
		return FALSE;
	*end = '\0';
	row->name = line;
	return row->size > 0 && row->slab_objects > 0 && row->slab_pages > 0;
}

static void add_row(KmtInputSlabTable *table, const KmtInputSlabRow *row)
{
	guint number = table->rows->len + 1;

	if (g_hash_table_contains(table->by_name, row->name))
		number = 0;
	g_hash_table_insert(table->by_name, (gpointer)row->name,
			    GUINT_TO_POINTER(number));
	g_array_append_val(table->rows, *row);
}

/* Parse the lines after the first one, which has the version. */
static void parse(KmtInputSlabTable *table, gsize length, const char *name)
{
	char *line = table->text, *end = table->text + length;
	guint64 n_lines = 0, n_bad = 0, first_bad = 0;

	while (line < end) {
		char *next = memchr(line, '\n', (gsize)(end - line));
		KmtInputSlabRow row = {0};
		gboolean is_good = next != NULL;

		n_lines++;
		if (!next)
			next = end;
		*next = '\0';
		if (n_lines == 1)
			is_good &= g_str_has_prefix(line,
						    "slabinfo - version: 2.");
		else if (*line != '#') {
			is_good = is_good && parse_row(line, &row);
			if (is_good)
				add_row(table, &row);
		}
		if (!is_good && !n_bad++)
			first_bad = n_lines;
		line = next + 1;
	}
	if (n_bad)
		table->warning = g_strdup_printf(
			"%s: %" G_GUINT64_FORMAT
			" invalid line%s ignored; the first is line "
			"%" G_GUINT64_FORMAT,
			name, n_bad, n_bad == 1 ? " is" : "s are", first_bad);
}

KmtInputSlabTable *kmt_input_slab_table_new(const KmtInputCapture *capture)
{
	KmtInputSlabTable *table = g_new0(KmtInputSlabTable, 1);
	g_autofree char *path = kmt_input_capture_path(capture, "slabinfo");
	g_autofree char *name = NULL;
	gsize length;

	table->rows = g_array_new(FALSE, FALSE, sizeof(KmtInputSlabRow));
	table->by_name = g_hash_table_new(g_str_hash, g_str_equal);
	if (!path)
		return table;
	name = kmt_input_capture_display_path(capture, path);
	table->text = read_text(table, path, name, &length);
	if (table->text)
		parse(table, length, name);
	return table;
}

void kmt_input_slab_table_free(KmtInputSlabTable *table)
{
	if (!table)
		return;
	g_hash_table_unref(table->by_name);
	g_array_unref(table->rows);
	g_free(table->warning);
	g_free(table->text);
	g_free(table);
}

const KmtInputSlabRow *kmt_input_slab_table_get(const KmtInputSlabTable *table,
						guint *n)
{
	*n = table->rows->len;
	return (const KmtInputSlabRow *)(void *)table->rows->data;
}

const KmtInputSlabRow *kmt_input_slab_table_find(const KmtInputSlabTable *table,
						 const char *name)
{
	guint number =
		GPOINTER_TO_UINT(g_hash_table_lookup(table->by_name, name));

	return number ? &g_array_index(table->rows, KmtInputSlabRow, number - 1)
		      : NULL;
}

const char *kmt_input_slab_table_warning(const KmtInputSlabTable *table)
{
	return table->warning;
}
