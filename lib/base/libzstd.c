// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/base/libzstd.h"

G_DEFINE_QUARK(kmt - libzstd - error - quark, kmt_libzstd_error)

#ifdef HAVE_LIBZSTD

#include <gmodule.h>

#include "lib/base/dlopen-note.h"

/* Name of the library version whose interface zstd.h declares. */
#define SONAME "libzstd.so.1"

KMT_DLOPEN_NOTE("zstd", "Reads and writes compressed captures", "recommended",
		SONAME);

static KmtLibzstd library;

static const struct {
	const char *name;
	gpointer *function;
} functions[] = {
#define FUNCTION(name) {#name, (gpointer *)&library.name},
	KMT_LIBZSTD_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

static gboolean load(GError **error)
{
	GModule *module = g_module_open(SONAME, G_MODULE_BIND_LAZY);

	if (!module) {
		g_set_error(error, KMT_LIBZSTD_ERROR, KMT_LIBZSTD_ERROR_MISSING,
			    SONAME " cannot be loaded: %s", g_module_error());
		return FALSE;
	}
	for (gsize i = 0; i < G_N_ELEMENTS(functions); i++) {
		if (g_module_symbol(module, functions[i].name,
				    functions[i].function))
			continue;
		g_set_error(error, KMT_LIBZSTD_ERROR, KMT_LIBZSTD_ERROR_MISSING,
			    SONAME " is too old: %s", g_module_error());
		g_module_close(module);
		return FALSE;
	}
	g_module_make_resident(module);
	return TRUE;
}

const KmtLibzstd *kmt_libzstd_get(GError **error)
{
	static GMutex mutex;
	static gboolean loaded;
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locker =
		g_mutex_locker_new(&mutex);

	if (!loaded)
		loaded = load(error);
	return loaded ? &library : NULL;
}

gboolean kmt_libzstd_check(GError **error)
{
	return kmt_libzstd_get(error) != NULL;
}

#else

gboolean kmt_libzstd_check(GError **error)
{
	g_set_error(error, KMT_LIBZSTD_ERROR, KMT_LIBZSTD_ERROR_MISSING,
		    "this program was built without libzstd");
	return FALSE;
}

#endif
