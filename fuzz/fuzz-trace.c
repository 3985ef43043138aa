// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: a capture of arbitrary bytes (fuzz/container.h). The capture is
 * opened, merged, matched, and checked with all rules. With OPTION_OUTPUT, the
 * outputs of the check are checked, too.
 */
#include "config.h"

#include "fuzz/check-output.h"
#include "fuzz/container.h"
#include "fuzz/exercise.h"
#include "fuzz/scratch.h"
#include "fuzz/target.h"

#define MAX_ERRORS 3

/* Options of a container in addition to the clock tolerance. Slow options are
 * selected by few values. */
#define OPTION_SINGLE_FILE(options) ((options)&8)
#define OPTION_OUTPUT(options)	    (((options) >> 4 & 7) == 1)
#define OPTION_THREADS(options)	    ((options) >> 4 == 15)

static void run_check(const KmtInputCapture *capture, guint8 options,
		      gint64 tolerance_ns)
{
	g_autoptr(KmtCheck) check = kmt_check_new(
		capture, capture->directory != NULL, tolerance_ns, MAX_ERRORS);
	guint64 sum = 0;
	guint i;

	for (i = 0; i < KMT_N_RULES; i++) {
		sum += check->counts[i];
		g_assert_cmpuint(check->kept[i], <=,
				 MIN(check->counts[i], MAX_ERRORS));
		/* The pipeline counted these errors, and the matcher found
		 * their records. */
		if (i >= KMT_N_MARK_RULES)
			g_assert_cmpuint(check->kept[i], ==,
					 MIN(check->counts[i], MAX_ERRORS));
	}
	g_assert_cmpuint(sum, ==, check->total);
	if (OPTION_OUTPUT(options))
		kmt_check_output(check);
}

static void run(const char *const *operands, gint64 tolerance_ns,
		guint8 options)
{
	const KmtInputOptions capture_options = {.random_access = TRUE};
	g_autoptr(GError) error = NULL;
	g_autoptr(KmtInputCapture) capture =
		kmt_input_capture_open(operands, &capture_options, &error);

	g_assert_true((capture == NULL) == (error != NULL));
	if (!capture)
		return;
	kmt_exercise(capture, tolerance_ns, G_MAXINT64,
		     OPTION_THREADS(options));
	run_check(capture, options, tolerance_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_auto(KmtContainer) container = {0};
	const char *operands[] = {kmt_scratch_directory(), NULL};
	g_autofree char *file = NULL;
	gint64 tolerance_ns;

	kmt_exercise_begin();
	kmt_container_parse(&container, data, size);
	kmt_container_extract(&container);
	tolerance_ns = kmt_container_tolerance(&container);
	run(operands, tolerance_ns, container.options);
	/* Check a single CPU file without the rest of the capture, too. */
	if (container.n_files && OPTION_SINGLE_FILE(container.options)) {
		operands[0] = file =
			g_strdup_printf("%s/cpu%u.out", kmt_scratch_directory(),
					container.files[0].cpu);
		run(operands, tolerance_ns, container.options);
	}
	kmt_scratch_clear();
	return 0;
}
