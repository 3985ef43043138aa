// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/input/name-tables-private.h"
#include "lib/input/tag-table.h"

/*
 * Only the members tags_table, tags, dropped and warnings of tables are used.
 */
struct KmtInputTagTable {
	KmtInputTables tables;
};

/* Compare by address, then by the time when the code was freed. */
static gint compare_tags(gconstpointer a, gconstpointer b)
{
	const KmtInputTag *x = a, *y = b;

	if (x->address != y->address)
		return x->address > y->address ? 1 : -1;
	return (x->went > y->went) - (x->went < y->went);
}

static gboolean are_equal(const KmtInputTag *a, const KmtInputTag *b)
{
	return a->line == b->line && strcmp(a->module, b->module) == 0 &&
	       strcmp(a->function, b->function) == 0 &&
	       strcmp(a->file, b->file) == 0;
}

/*
 * Sort the call sites and keep one for each pair of address and went. Return
 * the number of addresses at which several call sites have the same went but
 * differ in the source line, function or module; no kernel writes such a table.
 */
static guint sort_tags(GArray *tags)
{
	guint i, kept = MIN(tags->len, 1), twice = 0;
	gboolean counted = FALSE; /* twice includes the address of the last kept
				   * call site */

	g_array_sort(tags, compare_tags);
	for (i = 1; i < tags->len; i++) {
		const KmtInputTag *tag = &g_array_index(tags, KmtInputTag, i);
		KmtInputTag *last = &g_array_index(tags, KmtInputTag, kept - 1);

		if (tag->address != last->address)
			counted = FALSE;
		if (compare_tags(tag, last) != 0) {
			g_array_index(tags, KmtInputTag, kept++) = *tag;
		} else if (!counted && !are_equal(tag, last)) {
			twice++;
			counted = TRUE;
		}
	}
	g_array_set_size(tags, kept);
	return twice;
}

KmtInputTagTable *kmt_input_tag_table_new(const KmtInputCapture *capture)
{
	KmtInputTagTable *table = g_new0(KmtInputTagTable, 1);
	KmtInputTables *tables = &table->tables;
	guint twice;

	tables->tags = g_array_new(FALSE, FALSE, sizeof(KmtInputTag));
	tables->warnings = g_ptr_array_new_with_free_func(g_free);
	if (!kmt_input_capture_has_owners(capture))
		return table;
	kmt_input_table_read(tables, capture, &tables->tags_table,
			     &kmt_input_tags_format);
	twice = sort_tags(tables->tags);
	if (twice)
		kmt_input_tables_warn(tables,
				      "tags: %u address%s more than one source "
				      "line; the first one is used",
				      twice, twice == 1 ? " has" : "es have");
	if (tables->dropped)
		kmt_input_tables_warn(tables,
				      "tags: %" G_GUINT64_FORMAT
				      " allocation%s "
				      "no source line, because the table of "
				      "the kernel was full",
				      tables->dropped,
				      tables->dropped == 1 ? " has" : "s have");
	return table;
}

void kmt_input_tag_table_free(KmtInputTagTable *table)
{
	if (!table)
		return;
	g_array_unref(table->tables.tags);
	g_ptr_array_unref(table->tables.warnings);
	g_free(table->tables.tags_table.text);
	g_free(table);
}

const KmtInputTag *kmt_input_tag_table_get(const KmtInputTagTable *table,
					   guint *n)
{
	*n = table->tables.tags->len;
	return (const KmtInputTag *)(void *)table->tables.tags->data;
}

const GPtrArray *kmt_input_tag_table_warnings(const KmtInputTagTable *table)
{
	return table->tables.warnings;
}
