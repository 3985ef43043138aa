// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/base/optional-library.h"

#include <gmodule.h>

G_DEFINE_QUARK(kmt - optional - library - error - quark,
	       kmt_optional_library_error)

static gboolean load(const KmtOptionalLibrary *library, GError **error)
{
	GModule *module = g_module_open(library->soname, G_MODULE_BIND_LAZY);

	if (!module) {
		g_set_error(error, KMT_OPTIONAL_LIBRARY_ERROR,
			    KMT_OPTIONAL_LIBRARY_ERROR_MISSING,
			    "%s cannot be loaded: %s", library->title,
			    g_module_error());
		return FALSE;
	}
	for (gsize i = 0; i < library->n_functions; i++) {
		const KmtOptionalLibraryFunction *function =
			&library->functions[i];

		if (g_module_symbol(module, function->name, function->pointer))
			continue;
		g_set_error(error, KMT_OPTIONAL_LIBRARY_ERROR,
			    KMT_OPTIONAL_LIBRARY_ERROR_MISSING,
			    "%s is too old: %s", library->title,
			    g_module_error());
		g_module_close(module);
		return FALSE;
	}
	g_module_make_resident(module);
	return TRUE;
}

gboolean kmt_optional_library_load(KmtOptionalLibrary *library, GError **error)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locker =
		g_mutex_locker_new(&library->mutex);

	if (!library->loaded)
		library->loaded = load(library, error);
	return library->loaded;
}
