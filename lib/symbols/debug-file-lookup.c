// SPDX-License-Identifier: GPL-2.0-or-later
/* Look up addresses in the compile units of a debug file. */
#include "config.h"

#include "lib/symbols/address-ranges.h"
#include "lib/symbols/debug-file-private.h"

#include <dwarf.h>
#include <string.h>

/*
 * Limit of the nesting of scopes. No compiler nests scopes this deep; deeper
 * ones come from a damaged file.
 */
#define MAX_DEPTH 256

void kmt_sym_source_location_clear(KmtSymSourceLocation *location)
{
	g_clear_pointer(&location->file, g_free);
	g_clear_pointer(&location->inlined, g_ptr_array_unref);
	g_clear_pointer(&location->unit_dir, g_free);
}

static KmtSymCompileUnit *find_unit(const KmtSymDebugFile *file,
				    Dwarf_Addr address)
{
	guint index;

	if (!kmt_sym_address_ranges_find(file->ranges, address, &index))
		return NULL;
	return &g_array_index(file->units, KmtSymCompileUnit, index);
}

/*
 * Add the functions below @parent. Namespaces are entered, because some
 * languages (C++, Rust) put functions into namespaces.
 */
static void add_functions(KmtSymCompileUnit *unit, Dwarf_Die *parent,
			  guint depth)
{
	Dwarf_Die child;

	if (depth > MAX_DEPTH || dwarf_child(parent, &child) != 0)
		return;
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_namespace)
			add_functions(unit, &child, depth + 1);
		if (tag != DW_TAG_subprogram)
			continue;
		kmt_sym_address_ranges_add(unit->ranges, &child,
					   unit->functions->len);
		g_array_append_val(unit->functions, child);
	} while (dwarf_siblingof(&child, &child) == 0);
}

/*
 * Find the function that contains @address. The first call for a unit collects
 * its functions, because thousands of types lie between the functions of a
 * unit.
 */
static gboolean find_function(KmtSymCompileUnit *unit, Dwarf_Addr address,
			      Dwarf_Die *function)
{
	guint index;

	if (!unit->functions) {
		unit->functions = g_array_new(FALSE, FALSE, sizeof(Dwarf_Die));
		unit->ranges = kmt_sym_address_ranges_new();
		add_functions(unit, &unit->die, 0);
		kmt_sym_address_ranges_sort(unit->ranges);
	}
	if (!kmt_sym_address_ranges_find(unit->ranges, address, &index))
		return FALSE;
	*function = g_array_index(unit->functions, Dwarf_Die, index);
	return TRUE;
}

/*
 * Replace *scope by its child (block or inlined call) that contains @address.
 * Return FALSE if there is no such child.
 */
static gboolean enter_scope(Dwarf_Die *scope, Dwarf_Addr address)
{
	Dwarf_Die child;

	if (dwarf_child(scope, &child) != 0)
		return FALSE;
	do {
		int tag = dwarf_tag(&child);

		if ((tag == DW_TAG_inlined_subroutine ||
		     tag == DW_TAG_lexical_block) &&
		    dwarf_haspc(&child, address) > 0) {
			*scope = child;
			return TRUE;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
	return FALSE;
}

/*
 * Return the names of the inlined functions at @address, innermost first,
 * NULL-terminated. The scopes are entered from outermost to innermost, so the
 * array is reversed at the end.
 */
static GPtrArray *find_inlined(KmtSymCompileUnit *unit, Dwarf_Addr address)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	gboolean found;
	Dwarf_Die scope;
	guint depth, i, n;

	found = find_function(unit, address, &scope);
	for (depth = 0; found && depth < MAX_DEPTH; depth++) {
		const char *name;

		if (!enter_scope(&scope, address))
			break;
		if (dwarf_tag(&scope) != DW_TAG_inlined_subroutine)
			continue;
		name = dwarf_diename(&scope);
		g_ptr_array_add(names, g_strdup(name ? name : "?"));
	}
	n = names->len;
	for (i = 0; i < n / 2; i++) {
		gpointer other = names->pdata[i];

		names->pdata[i] = names->pdata[n - 1 - i];
		names->pdata[n - 1 - i] = other;
	}
	g_ptr_array_add(names, NULL);
	return names;
}

/*
 * Return the absolute directory in which the compiler ran. If DW_AT_comp_dir is
 * a relative path, it is interpreted relative to "/"; if the attribute is
 * missing, the result is "/".
 */
static char *unit_directory(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	const char *directory =
		dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));

	return g_canonicalize_filename(directory ? directory : "", "/");
}

static char *unit_path(Dwarf_Die *unit, const char *directory)
{
	const char *name = dwarf_diename(unit);

	return name ? g_canonicalize_filename(name, directory) : NULL;
}

gboolean kmt_sym_debug_file_unit(const KmtSymDebugFile *file, guint64 address,
				 char **path, char **directory)
{
	KmtSymCompileUnit *unit = find_unit(file, address - file->bias);

	if (!unit)
		return FALSE;
	*directory = unit_directory(&unit->die);
	*path = unit_path(&unit->die, *directory);
	return TRUE;
}

gboolean kmt_sym_debug_file_lookup(KmtSymDebugFile *file, guint64 address,
				   KmtSymSourceLocation *location)
{
	Dwarf_Addr file_address = address - file->bias;
	KmtSymCompileUnit *unit = find_unit(file, file_address);
	Dwarf_Line *line;
	const char *path;
	int number = 0;

	memset(location, 0, sizeof(*location));
	if (!unit)
		return FALSE;
	location->unit_dir = unit_directory(&unit->die);
	location->inlined = find_inlined(unit, file_address);
	line = dwarf_getsrc_die(&unit->die, file_address);
	path = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	/* Line 0 means that the compiler attributes the instruction to no line.
	 */
	if (path && dwarf_lineno(line, &number) == 0 && number > 0) {
		location->file =
			g_canonicalize_filename(path, location->unit_dir);
		location->line = (guint)number;
	}
	return TRUE;
}

char *kmt_sym_debug_file_source_root(const KmtSymDebugFile *file)
{
	static const char end[] = "/init/main.c";
	guint i;

	for (i = 0; i < file->units->len; i++) {
		Dwarf_Die *unit =
			&g_array_index(file->units, KmtSymCompileUnit, i).die;
		const char *name = dwarf_diename(unit);
		g_autofree char *directory = NULL;
		g_autofree char *path = NULL;

		if (!name || !g_str_has_suffix(name, "main.c"))
			continue;
		directory = unit_directory(unit);
		path = unit_path(unit, directory);
		if (g_str_has_suffix(path, end))
			return g_strndup(path, strlen(path) - strlen(end));
	}
	return NULL;
}
