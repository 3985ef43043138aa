// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/symbols/debug-file.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <string.h>

/*
 * Limit of the nesting of scopes. No compiler nests scopes this deep; deeper
 * ones come from a damaged file.
 */
#define MAX_DEPTH 256

/*
 * Address range of a compile unit or a function, start inclusive, end
 * exclusive. @index selects the unit or the function in its array. One function
 * may have several ranges, because compilers place cold code apart from hot
 * code.
 */
typedef struct {
	guint64 start;
	guint64 end;
	guint index;
} AddressRange;

/* One compile unit: the output of one compiler invocation. */
typedef struct {
	Dwarf_Die die;
	GArray *functions; /* Dwarf_Die of each function; NULL until first
			    * needed */
	GArray *ranges;	   /* AddressRange of the functions, sorted by start */
} CompileUnit;

struct KmtSymDebugFile {
	Dwfl_Callbacks callbacks;
	Dwfl *dwfl;
	Dwfl_Module *module;
	char *debug_dir;
	char *build_id;
	Dwarf *dwarf;
	Dwarf_Addr bias; /* address in libdwfl's layout minus address in the
			  * debug information */
	GArray *units;	 /* CompileUnit elements */
	GArray *ranges;	 /* AddressRange of the units, sorted by start */
};

G_DEFINE_QUARK(kmt_sym_debug_file_error, kmt_sym_debug_file_error)

static char *to_hex(const guint8 *bytes, int n)
{
	GString *hex = g_string_new(NULL);
	int i;

	for (i = 0; i < n; i++)
		g_string_append_printf(hex, "%02x", bytes[i]);
	return g_string_free(hex, FALSE);
}

static char *module_build_id(Dwfl_Module *module)
{
	const unsigned char *bytes;
	GElf_Addr address;
	int n = dwfl_module_build_id(module, &bytes, &address);

	return n > 0 ? to_hex(bytes, n) : NULL;
}

/*
 * Callback of libdwfl: find the debug information of a stripped file, only in
 * the given debug directory. libdwfl's own search would also read system
 * directories and use the network.
 */
static int find_debuginfo(Dwfl_Module *module, void **userdata,
			  const char *name, Dwarf_Addr base,
			  const char *file_name, const char *debuglink_file,
			  GElf_Word debuglink_crc, char **debuginfo_file_name)
{
	const KmtSymDebugFile *file = *userdata;
	g_autofree char *id = module_build_id(module);
	g_autofree char *path = NULL;
	int fd;

	if (!file || !file->debug_dir || !id || strlen(id) < 4)
		return -1;
	path = g_strdup_printf("%s/.build-id/%.2s/%s.debug", file->debug_dir,
			       id, id + 2);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	/* libdwfl releases the string with free(), so g_strdup() does not fit.
	 */
	if (fd >= 0)
		*debuginfo_file_name = strdup(path);
	return fd;
}

static gboolean set_error(GError **error, KmtSymDebugFileError code,
			  const char *path, const char *problem)
{
	const char *reason = dwfl_errmsg(-1);

	g_set_error(error, KMT_SYM_DEBUG_FILE_ERROR, (gint)code, "'%s' %s%s%s",
		    path, problem, reason ? ": " : "", reason ? reason : "");
	return FALSE;
}

static gboolean open_module(KmtSymDebugFile *file, const char *path,
			    GError **error)
{
	void **userdata = NULL;

	file->callbacks.find_elf = dwfl_build_id_find_elf;
	file->callbacks.find_debuginfo = find_debuginfo;
	file->callbacks.section_address = dwfl_offline_section_address;
	file->dwfl = dwfl_begin(&file->callbacks);
	if (!file->dwfl)
		return set_error(error, KMT_SYM_DEBUG_FILE_ERROR_OPEN, path,
				 "cannot be opened");
	dwfl_report_begin(file->dwfl);
	file->module = dwfl_report_offline(file->dwfl, "kernel", path, -1);
	dwfl_report_end(file->dwfl, NULL, NULL);
	if (!file->module)
		return set_error(error, KMT_SYM_DEBUG_FILE_ERROR_OPEN, path,
				 "cannot be read");
	dwfl_module_info(file->module, &userdata, NULL, NULL, NULL, NULL, NULL,
			 NULL);
	*userdata = file;
	file->build_id = module_build_id(file->module);
	return TRUE;
}

static gint compare_ranges(gconstpointer a, gconstpointer b)
{
	const AddressRange *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/*
 * Find the range that contains @address in an array sorted by start. Return
 * FALSE if there is none.
 */
static gboolean find_range(const GArray *sorted, guint64 address, guint *index)
{
	const AddressRange *ranges =
		(const AddressRange *)(const void *)sorted->data;
	guint low = 0, high = sorted->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address >= ranges[low - 1].end)
		return FALSE;
	*index = ranges[low - 1].index;
	return TRUE;
}

static void add_ranges(GArray *ranges, Dwarf_Die *die, guint index)
{
	AddressRange range = {.index = index};
	Dwarf_Addr base;
	ptrdiff_t offset = 0;

	while ((offset = dwarf_ranges(die, offset, &base, &range.start,
				      &range.end)) > 0)
		if (range.start < range.end)
			g_array_append_val(ranges, range);
}

static void clear_unit(gpointer data)
{
	CompileUnit *unit = data;

	if (!unit->functions)
		return;
	g_array_unref(unit->functions);
	g_array_unref(unit->ranges);
}

/*
 * Add a compile unit. The unit's own range list is used instead of
 * .debug_aranges, because not every compiler writes .debug_aranges. The ranges
 * of a split unit are in its skeleton, @die; its functions are in @split.
 */
static void add_unit(KmtSymDebugFile *file, Dwarf_Die *die, Dwarf_Die *split)
{
	CompileUnit unit = {.die = split->addr ? *split : *die};

	add_ranges(file->ranges, die, file->units->len);
	g_array_append_val(file->units, unit);
}

static gboolean read_units(KmtSymDebugFile *file)
{
	Dwarf_CU *unit = NULL;

	file->units = g_array_new(FALSE, FALSE, sizeof(CompileUnit));
	g_array_set_clear_func(file->units, clear_unit);
	file->ranges = g_array_new(FALSE, FALSE, sizeof(AddressRange));
	file->dwarf = dwfl_module_getdwarf(file->module, &file->bias);
	if (!file->dwarf)
		return FALSE;
	for (;;) {
		Dwarf_Die die = {0}, split = {0};
		uint8_t type;

		if (dwarf_get_units(file->dwarf, unit, &unit, NULL, &type, &die,
				    &split) != 0)
			break;
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			add_unit(file, &die, &split);
	}
	g_array_sort(file->ranges, compare_ranges);
	return file->ranges->len > 0;
}

KmtSymDebugFile *kmt_sym_debug_file_open(const char *path,
					 const char *debug_dir, GError **error)
{
	g_autoptr(KmtSymDebugFile) file = g_new0(KmtSymDebugFile, 1);

	file->debug_dir = g_strdup(debug_dir);
	if (!open_module(file, path, error))
		return NULL;
	if (!read_units(file)) {
		set_error(error, KMT_SYM_DEBUG_FILE_ERROR_NO_INFO, path,
			  "has no debug information that can be used");
		return NULL;
	}
	return g_steal_pointer(&file);
}

void kmt_sym_debug_file_free(KmtSymDebugFile *file)
{
	if (!file)
		return;
	if (file->dwfl)
		dwfl_end(file->dwfl);
	if (file->units)
		g_array_unref(file->units);
	if (file->ranges)
		g_array_unref(file->ranges);
	g_free(file->debug_dir);
	g_free(file->build_id);
	g_free(file);
}

const char *kmt_sym_debug_file_build_id(const KmtSymDebugFile *file)
{
	return file->build_id;
}

void kmt_sym_debug_file_foreach_symbol(const KmtSymDebugFile *file,
				       KmtSymDebugSymbolFunc func,
				       gpointer user)
{
	int i, n = dwfl_module_getsymtab(file->module);

	for (i = 0; i < n; i++) {
		GElf_Word section = SHN_UNDEF;
		GElf_Addr address;
		GElf_Sym symbol;
		const char *name =
			dwfl_module_getsym_info(file->module, i, &symbol,
						&address, &section, NULL, NULL);
		int type;

		if (!name || !*name || section == SHN_UNDEF ||
		    section == SHN_ABS)
			continue;
		type = GELF_ST_TYPE(symbol.st_info);
		if (type != STT_SECTION && type != STT_FILE)
			func(name, address, section, user);
	}
}

gboolean kmt_sym_debug_file_text(const KmtSymDebugFile *file, guint64 *address,
				 guint *section)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(file->module, &bias);
	Elf_Scn *scn = NULL;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		return FALSE;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(scn, &header))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name || strcmp(name, ".text") != 0)
			continue;
		*address = header.sh_addr + bias;
		*section = (guint)elf_ndxscn(scn);
		return TRUE;
	}
	return FALSE;
}

void kmt_sym_source_location_clear(KmtSymSourceLocation *location)
{
	g_clear_pointer(&location->file, g_free);
	g_clear_pointer(&location->inlined, g_ptr_array_unref);
	g_clear_pointer(&location->unit_dir, g_free);
}

static CompileUnit *find_unit(const KmtSymDebugFile *file, Dwarf_Addr address)
{
	guint index;

	if (!find_range(file->ranges, address, &index))
		return NULL;
	return &g_array_index(file->units, CompileUnit, index);
}

/*
 * Add the functions below @parent. Namespaces are entered, because some
 * languages (C++, Rust) put functions into namespaces.
 */
static void add_functions(CompileUnit *unit, Dwarf_Die *parent, guint depth)
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
		add_ranges(unit->ranges, &child, unit->functions->len);
		g_array_append_val(unit->functions, child);
	} while (dwarf_siblingof(&child, &child) == 0);
}

/*
 * Find the function that contains @address. The first call for a unit collects
 * its functions, because thousands of types lie between the functions of a
 * unit.
 */
static gboolean find_function(CompileUnit *unit, Dwarf_Addr address,
			      Dwarf_Die *function)
{
	guint index;

	if (!unit->functions) {
		unit->functions = g_array_new(FALSE, FALSE, sizeof(Dwarf_Die));
		unit->ranges = g_array_new(FALSE, FALSE, sizeof(AddressRange));
		add_functions(unit, &unit->die, 0);
		g_array_sort(unit->ranges, compare_ranges);
	}
	if (!find_range(unit->ranges, address, &index))
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
static GPtrArray *find_inlined(CompileUnit *unit, Dwarf_Addr address)
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
 * Return the absolute directory in which the compiler ran. The attribute may be
 * missing or relative; it is then completed from "/".
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
	CompileUnit *unit = find_unit(file, address - file->bias);

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
	CompileUnit *unit = find_unit(file, file_address);
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
			&g_array_index(file->units, CompileUnit, i).die;
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
