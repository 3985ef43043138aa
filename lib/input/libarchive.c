// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/input/libarchive.h"

#ifdef HAVE_LIBARCHIVE

#include <gmodule.h>

#include "lib/base/dlopen-note.h"
#include "lib/input/capture.h"

/* Name of the library version whose interface archive.h declares. */
#define SONAME "libarchive.so.13"

KMT_DLOPEN_NOTE("archive", "Reads compressed captures and tars", "recommended",
		SONAME);

static KmtInputLibarchive library;

static const struct {
	const char *name;
	gpointer *function;
} functions[] = {
#define FUNCTION(name) {#name, (gpointer *)&library.name},
	KMT_INPUT_LIBARCHIVE_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

static gboolean load(GError **error)
{
	GModule *module = g_module_open(SONAME, G_MODULE_BIND_LAZY);
	guint i;

	if (!module) {
		g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_READ,
			    "libarchive cannot be loaded: %s",
			    g_module_error());
		return FALSE;
	}
	for (i = 0; i < G_N_ELEMENTS(functions); i++) {
		if (g_module_symbol(module, functions[i].name,
				    functions[i].function))
			continue;
		g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_READ,
			    "libarchive is too old: %s", g_module_error());
		g_module_close(module);
		return FALSE;
	}
	g_module_make_resident(module);
	return TRUE;
}

const KmtInputLibarchive *kmt_input_libarchive_get(GError **error)
{
	static GMutex mutex;
	static gboolean loaded;
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locker =
		g_mutex_locker_new(&mutex);

	if (!loaded)
		loaded = load(error);
	return loaded ? &library : NULL;
}

#endif
