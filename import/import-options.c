// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "import/import-options.h"
#include "lib/capture/zstd-encoder.h"
#include "lib/cli/cli.h"
#include "lib/cli/color.h"

void kmt_import_options_clear(KmtImportOptions *o)
{
	g_free(o->abi);
	g_free(o->buffer);
	g_free(o->build_id_dir);
	g_free(o->cpus);
	g_free(o->color);
	g_free(o->kallsyms);
	g_free(o->modules);
	g_free(o->proc);
	g_free(o->sys);
	g_free(o->stall);
	g_strfreev(o->operands);
}

#define HELP_SUMMARY                                                           \
	"Convert a recording of the kernel's memory tracepoints into a "       \
	"capture. The\nrecording is that of perf record, trace-cmd record, "   \
	"or a writer of CTF such as\nLTTng and perf data convert."

#define HELP_DESCRIPTION                                                       \
	"Several PERF.DATA are the files of one perf record "                  \
	"--switch-output.\nOUTDIR is created if it is missing.\n\n"            \
	"Exit status: 0 if all was imported, 1 if nothing was imported, 2 if " \
	"the input is\ndamaged and only its undamaged part was imported.\n"

/* GOptionArgFunc of --compress[=LEVEL]; data is no object of the caller. */
static int compress_level;

static gboolean parse_compress(const char *name, const char *text,
			       gpointer data, GError **error)
{
	return kmt_zstd_parse_level(text, &compress_level, error);
}

GOptionContext *kmt_import_options_parse(char **argv, KmtImportOptions *o,
					 GError **error)
{
	const GOptionEntry entries[] = {
		{"buffer", 'B', 0, G_OPTION_ARG_STRING, &o->buffer,
		 "trace.dat: import the buffer of the instance NAME (default: "
		 "the first one with memory events)",
		 "NAME"},
		{"abi", 0, 0, G_OPTION_ARG_STRING, &o->abi,
		 "Write records of this version, 1 or 2 (default: 2)",
		 "VERSION"},
		{"cpus", 0, 0, G_OPTION_ARG_STRING, &o->cpus,
		 "Set the number of possible CPUs of the recorded machine "
		 "(default: from the file)",
		 "N"},
		{"kallsyms", 0, 0, G_OPTION_ARG_FILENAME, &o->kallsyms,
		 "Use this copy of /proc/kallsyms of the recorded machine",
		 "FILE"},
		{"modules", 0, 0, G_OPTION_ARG_FILENAME, &o->modules,
		 "Use this copy of /proc/modules of the recorded machine",
		 "FILE"},
		{"buildid-dir", 0, 0, G_OPTION_ARG_FILENAME, &o->build_id_dir,
		 "Search perf's build-id cache in DIR for the symbols of an "
		 "earlier kernel (default: ~/.debug)",
		 "DIR"},
		{"compress", 0, G_OPTION_FLAG_OPTIONAL_ARG,
		 G_OPTION_ARG_CALLBACK, (gpointer)parse_compress,
		 "Compress the records by zstd with LEVEL from 1 to 19 "
		 "(default: 1), into cpu<n>.out.zst",
		 "LEVEL"},
		{"force", 'f', 0, G_OPTION_ARG_NONE, &o->force,
		 "Replace an existing capture in OUTDIR when the import is "
		 "complete",
		 NULL},
		KMT_COLOR_OPTION(&o->color),
		{"quiet", 'q', 0, G_OPTION_ARG_NONE, &o->quiet,
		 "Print only errors", NULL},
		KMT_CLI_OPTION_HELP(&o->help),
		KMT_CLI_OPTION_VERSION(&o->version),
		{"proc", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME,
		 &o->proc, NULL, NULL},
		{"sys", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &o->sys,
		 NULL, NULL},
		{"stall", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING,
		 &o->stall, NULL, NULL},
		{G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY,
		 &o->operands, NULL,
		 "PERF.DATA...|TRACE.DAT|CTF-DIRECTORY OUTDIR"},
		{NULL, 0, 0, 0, NULL, NULL, NULL},
	};
	g_autoptr(GOptionContext) context = g_option_context_new(NULL);
	g_auto(GStrv) rest = NULL;

	g_option_context_set_help_enabled(context, FALSE);
	g_option_context_set_summary(context, HELP_SUMMARY);
	g_option_context_set_description(context, HELP_DESCRIPTION);
	rest = kmt_cli_parse(context, entries, argv, error);
	o->compress_level = compress_level;
	return rest ? g_steal_pointer(&context) : NULL;
}
