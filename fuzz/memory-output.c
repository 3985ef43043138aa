// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "fuzz/memory-output.h"

#include <json-glib/json-glib.h>

FILE *kmt_memory_output_open(KmtMemoryOutput *output)
{
	output->stream = open_memstream(&output->text, &output->size);
	return output->stream;
}

char *kmt_memory_output_close(KmtMemoryOutput *output)
{
	fclose(output->stream);
	g_assert_true(g_utf8_validate_len(output->text, output->size, NULL));
	return output->text;
}

void kmt_memory_output_check_json(const char *text)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	g_autoptr(GError) error = NULL;

	json_parser_load_from_data(parser, text, -1, &error);
	g_assert_no_error(error);
}
