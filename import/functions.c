// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "import/functions.h"
#include "lib/base/address-search.h"

typedef struct {
	guint64 address;
	char *name;
} Function;

struct KmtImportFunctions {
	char *text;    /* content of kallsyms; Function.name points here */
	GArray *array; /* Function, sorted by address */
};

gboolean kmt_import_kallsyms_next(const char **text,
				  KmtImportKallsymsLine *line)
{
	const char *begin = *text;
	gsize length = strcspn(begin, "\n");
	const char *end = begin + length;
	char *p;

	*text = *end ? end + 1 : end;
	line->address = g_ascii_strtoull(begin, &p, 16);
	/* Behind the address, the line needs a space, the type, a space, and at
	 * least one character. */
	if (p == begin || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return FALSE;
	line->type = p[1];
	line->name = p + 3;
	line->n_name = strcspn(line->name, " \t\n");
	line->is_of_module =
		memchr(line->name, '[', (gsize)(end - line->name)) != NULL;
	return line->n_name > 0;
}

static gint compare(gconstpointer a, gconstpointer b)
{
	const Function *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

KmtImportFunctions *kmt_import_functions_new(char *text)
{
	KmtImportFunctions *f = g_new0(KmtImportFunctions, 1);
	const char *next = text;

	f->text = text;
	f->array = g_array_new(FALSE, FALSE, sizeof(Function));
	while (*next) {
		KmtImportKallsymsLine line;
		Function function;

		if (!kmt_import_kallsyms_next(&next, &line) ||
		    !strchr("tTwW", line.type))
			continue;
		function.address = line.address;
		function.name = text + (line.name - text);
		/* "next" already points behind this byte, so the NUL does not
		 * end the loop. */
		function.name[line.n_name] = '\0';
		g_array_append_val(f->array, function);
	}
	g_array_sort(f->array, compare);
	return f;
}

void kmt_import_functions_free(KmtImportFunctions *f)
{
	if (!f)
		return;
	g_array_unref(f->array);
	g_free(f->text);
	g_free(f);
}

const char *kmt_import_functions_name(gpointer functions, guint64 address)
{
	const KmtImportFunctions *f = functions;
	guint n = kmt_count_addresses_to(f->array->data, f->array->len,
					 sizeof(Function), address);

	return n ? g_array_index(f->array, Function, n - 1).name : NULL;
}
