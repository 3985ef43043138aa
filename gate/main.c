// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "gate/gate.h"
#include "lib/base/printable.h"
#include "lib/cli/cli.h"
#include "lib/cli/color.h"
#include "lib/cli/set-up.h"
#include "lib/recovery/recovery.h"
#include "report/output-file.h"

#include <stdlib.h>

#define PROGRAM "kmemtrace-gate"
#define OUT_OF_MEMORY                                                          \
	"raise the limit (ulimit -v, or that of the control group), or "       \
	"reduce the work: --jobs 1, fewer dimensions in a rule, or a part of " \
	"the captures by from, to, or for"

/* Exit status beside EXIT_FAILURE, which stands for a wrong option or rule,
 * unreadable input, exhausted memory, or failed output. */
enum {
	EXIT_PASSED = 0,
	EXIT_EXCEEDED = 2,
	EXIT_UNDECIDED = 3,
};

/* Files that options name. NULL: the option is absent. */
typedef struct {
	KmtOutputFile *junit;
	KmtOutputFile *markdown;
} OutputFiles;

static void output_files_clear(OutputFiles *files)
{
	kmt_output_file_free(files->junit);
	kmt_output_file_free(files->markdown);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(OutputFiles, output_files_clear)

static gboolean open_file(const char *option, const char *path,
			  KmtOutputFile **file, GError **error)
{
	if (!path)
		return TRUE;
	*file = kmt_output_file_open(option, path, error);
	return *file != NULL;
}

static gboolean write_file(const KmtGate *gate, KmtOutputFile *file,
			   void (*print)(const KmtGate *gate, FILE *out),
			   GError **error)
{
	if (!file)
		return TRUE;
	print(gate, kmt_output_file_stream(file));
	return kmt_output_file_commit(file, error);
}

/* Print how each rule is understood. */
static int print_rules(const GPtrArray *rules, gboolean is_quiet)
{
	guint i;

	for (i = 0; !is_quiet && i < rules->len; i++) {
		const KmtGateRule *rule = rules->pdata[i];
		g_autofree char *text = kmt_gate_rule_describe(rule);
		g_autofree char *meaning = kmt_printable(text);
		g_autofree char *name = kmt_printable(rule->name);

		printf("line %u: %s: %s\n", rule->line, name, meaning);
	}
	return kmt_cli_close_stdout(PROGRAM, EXIT_PASSED);
}

static int exit_status(const KmtGate *gate)
{
	if (kmt_gate_count(gate, KMT_GATE_EXCEEDED))
		return EXIT_EXCEEDED;
	return kmt_gate_count(gate, KMT_GATE_UNDECIDED) ? EXIT_UNDECIDED
							: EXIT_PASSED;
}

/* Return whether an option sends another format to standard output. */
static gboolean takes_stdout(const KmtGateOptions *options)
{
	return g_strcmp0(options->junit, "-") == 0 ||
	       g_strcmp0(options->markdown, "-") == 0;
}

static int run(const KmtGateOptions *options)
{
	g_autoptr(GError) error = NULL;
	g_auto(OutputFiles) files = {0};
	g_autoptr(GPtrArray) rules =
		kmt_gate_rules_read(options->rules, &error);
	g_autoptr(KmtGate) gate = NULL;
	guint i;

	if (!rules)
		return kmt_cli_fail_error(PROGRAM, error);
	if (options->check)
		return print_rules(rules, options->quiet);
	if (!open_file("--junit", options->junit, &files.junit, &error) ||
	    !open_file("--markdown", options->markdown, &files.markdown,
		       &error))
		return kmt_cli_fail_error(PROGRAM, error);
	gate = kmt_gate_run(options, rules, &error);
	if (!gate)
		return kmt_cli_fail_error(PROGRAM, error);
	for (i = 0; !options->quiet && i < gate->warnings->len; i++)
		kmt_color_warn(PROGRAM, gate->warnings->pdata[i]);
	if (!options->quiet && !takes_stdout(options))
		kmt_gate_text(gate, stdout);
	if (!write_file(gate, files.junit, kmt_gate_junit, &error) ||
	    !write_file(gate, files.markdown, kmt_gate_markdown, &error))
		return kmt_cli_fail_error(PROGRAM, error);
	return kmt_cli_close_stdout(PROGRAM, exit_status(gate));
}

int main(int argc, char **argv)
{
	g_auto(KmtGateOptions) options = {0};
	g_autoptr(GError) error = NULL;
	g_autoptr(GOptionContext) context = NULL;
	int status;

	kmt_cli_set_up_reader(PROGRAM, OUT_OF_MEMORY);
	context = kmt_gate_options_parse(argv, &options, &error);
	if (kmt_cli_must_exit(PROGRAM, context, error, options.help,
			      options.version, &status))
		return status;
	(void)kmt_recovery_run(PROGRAM);
	if (!kmt_color_set_up(options.color, &error) ||
	    !kmt_gate_options_check(&options, &error))
		return kmt_cli_fail_usage(PROGRAM, error->message);
	return run(&options);
}
