// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "lib/cli/color.h"

static const char *const sequences[] = {
	[KMT_COLOR_HEADING] = "\033[1m",  [KMT_COLOR_GOOD] = "\033[32m",
	[KMT_COLOR_WARNING] = "\033[33m", [KMT_COLOR_ERROR] = "\033[1;31m",
	[KMT_COLOR_SHARE] = "\033[36m",
};

static gboolean stdout_has_colors;
static gboolean stderr_has_colors;

gboolean kmt_color_is_capable(int fd)
{
	const char *term = g_getenv("TERM");

	return term && *term && !g_str_equal(term, "dumb") && isatty(fd);
}

gboolean kmt_color_set_up(const char *when, GError **error)
{
	const char *no_color = g_getenv("NO_COLOR");

	if (!when || g_str_equal(when, "auto")) {
		gboolean wanted = !no_color || !*no_color;

		stdout_has_colors =
			wanted && kmt_color_is_capable(STDOUT_FILENO);
		stderr_has_colors =
			wanted && kmt_color_is_capable(STDERR_FILENO);
		return TRUE;
	}
	if (!g_str_equal(when, "always") && !g_str_equal(when, "never")) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "--color '%s' is none of auto, always and never",
			    when);
		return FALSE;
	}
	stdout_has_colors = stderr_has_colors = g_str_equal(when, "always");
	return TRUE;
}

static gboolean has_colors(const FILE *stream)
{
	return (stream == stdout && stdout_has_colors) ||
	       (stream == stderr && stderr_has_colors);
}

const char *kmt_color_begin(const FILE *stream, KmtColor color)
{
	return has_colors(stream) ? sequences[color] : "";
}

const char *kmt_color_end(const FILE *stream)
{
	return has_colors(stream) ? "\033[0m" : "";
}

void kmt_color_puts(FILE *stream, KmtColor color, const char *text)
{
	fprintf(stream, "%s%s%s", kmt_color_begin(stream, color), text,
		kmt_color_end(stream));
}

void kmt_color_warn(const char *program, const char *text)
{
	fprintf(stderr, "%s: %swarning:%s %s\n", program,
		kmt_color_begin(stderr, KMT_COLOR_WARNING),
		kmt_color_end(stderr), text);
}
