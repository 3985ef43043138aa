// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/input/libarchive.h"

#ifdef HAVE_LIBARCHIVE

#include <gmodule.h>

#include "lib/input/capture.h"

/* The only version with the interface that archive.h declares. */
#define SONAME "libarchive.so.13"

/*
 * ELF note by which packaging tools find the libraries that a program loads
 * with dlopen(3): type and JSON as the "dlopen metadata" convention of the
 * UAPI group defines them.
 */
#define DLOPEN_NOTE_TYPE 0x407c0c0a
#define DLOPEN_NOTE_JSON                                                       \
	"[{\"feature\":\"archive\","                                           \
	"\"description\":\"Reads compressed captures and tars\","              \
	"\"priority\":\"recommended\",\"soname\":[\"" SONAME "\"]}]"

static const struct {
	guint32 name_size, description_size, type;
	char name[4];
	char description[(sizeof(DLOPEN_NOTE_JSON) + 3) & ~3u];
} dlopen_note __attribute__((used, aligned(4), section(".note.dlopen"))) = {
	.name_size = sizeof(dlopen_note.name),
	.description_size = sizeof(dlopen_note.description),
	.type = DLOPEN_NOTE_TYPE,
	.name = "FDO",
	.description = DLOPEN_NOTE_JSON,
};

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
