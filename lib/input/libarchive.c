// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/input/libarchive.h"

#ifdef HAVE_LIBARCHIVE

#include "lib/input/module.h"

/* The only one that has what archive.h declares. */
#define SONAME "libarchive.so.13"

static KmtLibarchive library;

static gboolean load(GError **error)
{
	static const KmtModuleFunction functions[] = {
#define FUNCTION(name) {#name, (gpointer *)&library.name},
		KMT_LIBARCHIVE_FUNCTIONS(FUNCTION)
#undef FUNCTION
	};

	return kmt_module_load(SONAME, "libarchive", functions,
			       G_N_ELEMENTS(functions), error);
}

const KmtLibarchive *kmt_libarchive(GError **error)
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
