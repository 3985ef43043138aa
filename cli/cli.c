// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

int kmt_cli_fail(const char *program, const char *message)
{
	fprintf(stderr, "%s: %s\n", program, message);
	return EXIT_FAILURE;
}

int kmt_cli_fail_usage(const char *program, const char *message)
{
	kmt_cli_fail(program, message);
	fprintf(stderr, "Try '%s --help' for more information.\n", program);
	return EXIT_FAILURE;
}

gboolean kmt_cli_parse_number(const char *text, guint64 max, const char *option,
			      guint64 *number, GError **error)
{
	if (!text || g_ascii_string_to_unsigned(text, 10, 0, max, number, NULL))
		return TRUE;
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
		    "%s '%s': not a number from 0 to %" G_GUINT64_FORMAT,
		    option, text, max);
	return FALSE;
}
