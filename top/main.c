// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <stdlib.h>

#include "lib/cli/cli.h"
#include "lib/cli/set-up.h"
#include "top/batch.h"
#include "top/frame-reader.h"
#include "top/screen.h"
#include "top/stop-signals.h"
#include "top/top-options.h"

#define PROGRAM "kmemtrace-top"

#define OUT_OF_MEMORY                                                          \
	"raise the limit (ulimit -v, or that of the control group), or track " \
	"fewer objects by --max-objects or --memory"

/* Return the status of a program that a signal has stopped, or the other one.
 * signal_number: the signal that ended the screen, or 0. */
static int status_after_signal(int signal_number, int status)
{
	if (!signal_number)
		signal_number = kmt_top_stop_signal();
	return signal_number ? 128 + signal_number : status;
}

#ifdef HAVE_NCURSES

/* Return whether the screen can be shown; otherwise set *error. */
static gboolean check_output(GError **error)
{
	return kmt_top_screen_check(error);
}

static gboolean show(KmtTopEngine *engine, const KmtTopOptions *options,
		     int *signal_number, GError **error)
{
	const KmtTopScreenOptions screen = {
		.query = options->query,
		.interval_s = options->delay_s,
		.n_iterations = options->n_iterations,
	};

	if (!options->batch)
		return kmt_top_screen_run(engine, &screen, signal_number,
					  error);
	return kmt_top_batch_run(engine, options, error);
}

#else

static gboolean check_output(GError **error)
{
	g_set_error_literal(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
			    "this program was built without ncurses, so it "
			    "needs --batch");
	return FALSE;
}

static gboolean show(KmtTopEngine *engine, const KmtTopOptions *options,
		     int *signal_number, GError **error)
{
	return kmt_top_batch_run(engine, options, error);
}

#endif

static int run(KmtTopOptions *options)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(KmtTopEngine) engine = NULL;
	int signal_number = 0;
	gboolean good;

	if (!kmt_top_stop_signals_catch())
		return kmt_cli_fail(PROGRAM, "cannot create an eventfd");
	options->engine.wake_fd = kmt_top_stop_fd();
	engine = kmt_top_engine_new(&options->engine, &error);
	if (g_error_matches(error, KMT_TOP_ERROR, KMT_TOP_ERROR_STOPPED))
		return status_after_signal(0, EXIT_FAILURE);
	if (!engine)
		return kmt_cli_fail_error(PROGRAM, error);
	good = show(engine, options, &signal_number, &error);
	g_clear_pointer(&engine, kmt_top_engine_free);
	if (!good)
		return kmt_cli_close_stdout(PROGRAM,
					    kmt_cli_fail_error(PROGRAM, error));
	return status_after_signal(signal_number,
				   kmt_cli_close_stdout(PROGRAM, EXIT_SUCCESS));
}

int main(int argc, char **argv)
{
	g_auto(KmtTopOptions) options = {0};
	g_autoptr(GError) error = NULL;
	g_autoptr(GOptionContext) context = NULL;
	int status;

	kmt_cli_set_up_reader(PROGRAM, OUT_OF_MEMORY);
	context = kmt_top_options_parse(argv, &options, &error);
	if (kmt_cli_must_exit(PROGRAM, context, error, options.help,
			      options.version, &status))
		return status;
	if (!options.batch && !check_output(&error))
		return kmt_cli_fail_usage(PROGRAM, error->message);
	return run(&options);
}
