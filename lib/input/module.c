// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <gmodule.h>

#include "lib/input/capture.h"
#include "lib/input/module.h"

gboolean kmt_module_load(const char *soname, const char *name,
			 const KmtModuleFunction *functions, guint n,
			 GError **error)
{
	GModule *module = g_module_open(soname, G_MODULE_BIND_LAZY);
	guint i;

	if (!module) {
		g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_READ,
			    "%s cannot be loaded: %s", name, g_module_error());
		return FALSE;
	}
	for (i = 0; i < n; i++) {
		if (g_module_symbol(module, functions[i].name,
				    functions[i].function))
			continue;
		g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_READ,
			    "%s is too old: %s", name, g_module_error());
		g_module_close(module);
		return FALSE;
	}
	g_module_make_resident(module);
	return TRUE;
}
