// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/symbols/address-ranges.h"
#include "lib/symbols/debug-file-private.h"

#include <dwarf.h>
#include <fcntl.h>
#include <string.h>

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

static void clear_unit(gpointer data)
{
	KmtSymCompileUnit *unit = data;

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
	KmtSymCompileUnit unit = {.die = split->addr ? *split : *die};

	kmt_sym_address_ranges_add(file->ranges, die, file->units->len);
	g_array_append_val(file->units, unit);
}

static gboolean read_units(KmtSymDebugFile *file)
{
	Dwarf_CU *unit = NULL;

	file->units = g_array_new(FALSE, FALSE, sizeof(KmtSymCompileUnit));
	g_array_set_clear_func(file->units, clear_unit);
	file->ranges = kmt_sym_address_ranges_new();
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
	kmt_sym_address_ranges_sort(file->ranges);
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
