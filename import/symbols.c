// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <stdio.h>

#include "import/symbols.h"
#include "kmemtraced/error.h"
#include "kmemtraced/meta.h"

#define NO_NAMES                                                               \
	"give --kallsyms the machine's /proc/kallsyms, as root sees it, or "   \
	"the report its System.map"

static gboolean copy_given(KmtOutput *output, const char *path,
			   const char *name, GError **error)
{
	GError *problem = NULL;

	if (!path || kmt_output_copy_table(output, path, name, NULL, &problem))
		return TRUE;
	/* No error: there is no such file. */
	if (problem)
		g_propagate_error(error, problem);
	else
		kmt_set_errno(error, KMT_DAEMON_ERROR_READ, ENOENT,
			      "cannot open %s", path);
	return FALSE;
}

/* "ffffffff81000000 T _text": whether it is there. */
static gboolean is_there(const char *kallsyms, const KmtImportKernel *kernel)
{
	FILE *file = fopen(kallsyms, "re");
	unsigned long long address;
	char name[512], type;
	gboolean found = FALSE;

	while (file && !found &&
	       fscanf(file, "%llx %c %511s%*[^\n]", &address, &type, name) == 3)
		found = address == kernel->address &&
			g_str_equal(name, kernel->symbol);
	if (file)
		fclose(file);
	return found;
}

gboolean kmt_symbols_copy(KmtImport *import, KmtOutput *output,
			  const KmtSymbolFiles *files, char **note,
			  GError **error)
{
	const KmtImportKernel *kernel = kmt_import_kernel(import);
	g_autofree char *kallsyms =
		g_build_filename(files->proc, "kallsyms", NULL);
	g_autofree char *modules =
		g_build_filename(files->proc, "modules", NULL);
	g_autofree char *build_id = kmt_meta_build_id(files->sys);

	*note = NULL;
	if (!copy_given(output, files->modules, "modules", error))
		return FALSE;
	if (files->kallsyms)
		return copy_given(output, files->kallsyms, "kallsyms", error);
	if (kmt_import_has_kallsyms(import))
		return TRUE;
	if (!kernel->build_id || !kernel->symbol) {
		*note = g_strdup(
			"the file does not tell the kernel's build, "
			"so that its addresses have no names: " NO_NAMES);
		return TRUE;
	}
	if (g_strcmp0(build_id, kernel->build_id) != 0 ||
	    !is_there(kallsyms, kernel)) {
		*note = g_strdup(
			"this machine does not run the kernel that "
			"was recorded, since the same boot, or hides "
			"its addresses, which have no names then: " NO_NAMES);
		return TRUE;
	}
	*note = g_strdup("the names are of this machine, which runs the kernel "
			 "that was recorded");
	/* A kernel without modules has no list of them. */
	return copy_given(output, kallsyms, "kallsyms", error) &&
	       (files->modules || !g_file_test(modules, G_FILE_TEST_EXISTS) ||
		copy_given(output, modules, "modules", error));
}
