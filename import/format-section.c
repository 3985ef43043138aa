// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "import/format-section.h"
#include "import/import.h"

/*
 * Call func for one format file, which begins with a line such as "name:
 * kfree". A text without this line is skipped.
 */
static gboolean call_with_format(const char *system, const char *text,
				 KmtImportFormatFunc func, gpointer user,
				 GError **error)
{
	const char *end = strchr(text, '\n');
	g_autofree char *name = NULL;

	if (!end || !g_str_has_prefix(text, "name: "))
		return TRUE;
	text += strlen("name: ");
	name = g_strndup(text, (gsize)(end - text));
	return func(user, system, name, text - strlen("name: "), error);
}

gboolean kmt_import_read_formats(KmtByteSpan b, const char *cut_off,
				 KmtImportFormatFunc func, gpointer user,
				 GError **error)
{
	guint32 n_systems = kmt_byte_span_32(&b);

	while (n_systems-- && kmt_byte_span_ok(&b)) {
		const char *system = kmt_byte_span_string(&b);
		guint32 n = kmt_byte_span_32(&b);

		while (n-- && kmt_byte_span_ok(&b)) {
			guint64 size = kmt_byte_span_64(&b);
			const guint8 *bytes = kmt_byte_span_consume(&b, size);
			g_autofree char *text = NULL;

			if (!bytes)
				break;
			text = g_strndup((const char *)bytes, size);
			if (!call_with_format(system, text, func, user, error))
				return FALSE;
		}
	}
	return kmt_byte_span_ok(&b) || kmt_import_fail(error, cut_off);
}
