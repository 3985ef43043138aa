// SPDX-License-Identifier: GPL-2.0-or-later
/* Look up addresses in a table of symbols. */
#include "config.h"

#include "lib/base/address-search.h"
#include "lib/symbols/kallsyms-private.h"

#include <string.h>

/*
 * Limit of the length of a function in bytes. An address this far behind a
 * symbol, or farther, does not belong to the symbol.
 */
#define MAX_FUNCTION_BYTES (1u << 20)

void kmt_sym_table_free(KmtSymTable *symbols)
{
	if (!symbols)
		return;
	g_free(symbols->entries);
	g_array_unref(symbols->modules);
	kmt_sym_text_file_clear(&symbols->file);
	g_free(symbols);
}

guint64 kmt_sym_table_stext(const KmtSymTable *symbols)
{
	return symbols->kernel.start;
}

guint64 kmt_sym_table_text(const KmtSymTable *symbols)
{
	return symbols->text;
}

/*
 * Return the name of an entry, NUL-terminated. Several threads may terminate
 * the same name at once; all store the same byte.
 */
static const char *entry_name(const KmtSymTable *symbols,
			      const KmtSymTableEntry *entry)
{
	char *name = symbols->file.text + entry->name;
	char *end = name + entry->length;

	if (__atomic_load_n(end, __ATOMIC_RELAXED))
		__atomic_store_n(end, '\0', __ATOMIC_RELAXED);
	return name;
}

static const KmtSymTableModule *entry_module(const KmtSymTable *symbols,
					     const KmtSymTableEntry *entry)
{
	return entry->module
		       ? &g_array_index(symbols->modules, KmtSymTableModule,
					entry->module - 1u)
		       : NULL;
}

guint kmt_sym_table_count(const KmtSymTable *symbols)
{
	return symbols->n_entries;
}

void kmt_sym_table_get(const KmtSymTable *symbols, guint index,
		       KmtSymEntry *entry)
{
	const KmtSymTableEntry *e = &symbols->entries[index];
	const KmtSymTableModule *module = entry_module(symbols, e);

	entry->address = e->address;
	entry->name = entry_name(symbols, e);
	entry->module = module ? module->name : NULL;
	entry->code = e->code;
}

/*
 * Return the number + 1 of a module; 0 if the table has no symbols of the
 * module.
 */
static guint module_number(const KmtSymTable *symbols, const char *module)
{
	guint i;

	for (i = 0; i < symbols->modules->len; i++)
		if (strcmp(g_array_index(symbols->modules, KmtSymTableModule, i)
				   .name,
			   module) == 0)
			return i + 1;
	return 0;
}

void kmt_sym_table_foreach_of_module(const KmtSymTable *symbols,
				     const char *module, KmtSymFunc func,
				     gpointer user)
{
	guint i, number = module_number(symbols, module);
	KmtSymEntry entry;

	for (i = 0; number && i < symbols->n_entries; i++) {
		if (symbols->entries[i].module != number)
			continue;
		kmt_sym_table_get(symbols, i, &entry);
		func(&entry, user);
	}
}

guint64 kmt_sym_table_module_start(const KmtSymTable *symbols,
				   const char *module)
{
	guint number = module_number(symbols, module);

	return number ? g_array_index(symbols->modules, KmtSymTableModule,
				      number - 1)
				.range.start
		      : 0;
}

static gboolean in_range(const KmtSymTableRange *range, guint64 address)
{
	return address >= range->start && address < range->end;
}

/*
 * Return whether @address can belong to the function: it is near the start of
 * the function and, as far as the ends of the sections are known, in a section
 * of the kernel itself or of the same module.
 */
static gboolean in_section(const KmtSymTable *symbols,
			   const KmtSymTableEntry *entry, guint64 address)
{
	const KmtSymTableModule *module = entry_module(symbols, entry);

	if (address - entry->address >= MAX_FUNCTION_BYTES)
		return FALSE;
	if (module) {
		/* The ends of the module's other sections are not known. */
		if (!in_range(&module->range, entry->address))
			return TRUE;
		return in_range(&module->range, address);
	}
	if (!symbols->kernel.end)
		return TRUE;
	return in_range(&symbols->kernel, address) ||
	       in_range(&symbols->init, address);
}

/*
 * Find the nearest symbol at or below @address. Return this symbol if it is a
 * function that can contain @address, otherwise NULL.
 */
static const KmtSymTableEntry *find(const KmtSymTable *symbols, guint64 address)
{
	const KmtSymTableEntry *entry;
	guint n = kmt_count_addresses_to(symbols->entries, symbols->n_entries,
					 sizeof(*entry), address);

	if (n == 0)
		return NULL;
	entry = &symbols->entries[n - 1];
	if (!entry->code || !in_section(symbols, entry, address))
		return NULL;
	return entry;
}

/*
 * A return address is the address of the instruction after the call.  If the
 * call is the last instruction of its function (the callee does not return),
 * the return address already belongs to the next function.  The byte before the
 * return address therefore selects the function, and the offset is computed
 * from the return address itself.  The kernel's %pB format does the same in
 * backtraces.
 */
gboolean kmt_sym_table_lookup(const KmtSymTable *symbols, guint64 address,
			      KmtSymbol *symbol)
{
	const KmtSymTableEntry *entry =
		address ? find(symbols, address - 1) : NULL;
	const KmtSymTableModule *module;

	/* No function contains the byte before the address. The address may be
	 * the start of the first function of a section. */
	if (!entry)
		entry = find(symbols, address);
	if (!entry)
		return FALSE;
	module = entry_module(symbols, entry);
	symbol->name = entry_name(symbols, entry);
	symbol->module = module ? module->name : NULL;
	symbol->offset = address - entry->address;
	symbol->line = 0;
	return TRUE;
}
