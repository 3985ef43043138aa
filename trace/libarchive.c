// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "trace/libarchive.h"

#ifdef HAVE_LIBARCHIVE

#include <gmodule.h>

#include "trace/capture.h"

/* The only one that has what archive.h declares. */
#define SONAME "libarchive.so.13"

static KmtLibarchive library;

static gboolean load(GError **error)
{
	static const struct {
		const char *name;
		gpointer *function;
	} functions[] = {
#define FUNCTION(name) {#name, (gpointer *)&library.name},
		KMT_LIBARCHIVE_FUNCTIONS(FUNCTION)
#undef FUNCTION
	};
	GModule *module = g_module_open(SONAME, G_MODULE_BIND_LAZY);
	guint i;

	if (!module) {
		g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_READ,
			    "libarchive cannot be loaded: %s",
			    g_module_error());
		return FALSE;
	}
	for (i = 0; i < G_N_ELEMENTS(functions); i++) {
		if (g_module_symbol(module, functions[i].name,
				    functions[i].function))
			continue;
		g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_READ,
			    "libarchive is too old: %s", g_module_error());
		g_module_close(module);
		return FALSE;
	}
	g_module_make_resident(module);
	return TRUE;
}

const KmtLibarchive *kmt_libarchive(GError **error)
{
	static GMutex mutex;
	static gboolean loaded;
	g_autoptr(GMutexLocker) locker = g_mutex_locker_new(&mutex);

	if (!loaded)
		loaded = load(error);
	return loaded ? &library : NULL;
}

#endif
