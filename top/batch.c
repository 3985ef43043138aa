// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/batch.h"

#include <stdio.h>

/* Print a snapshot. Return whether further ones are to be printed. */
static gboolean print_snapshot(KmtTopSnapshot *snapshot,
			       const KmtTopOptions *options)
{
	g_autoptr(KmtTopView) view =
		kmt_top_view_new(snapshot, &options->query);

	if (options->json)
		kmt_top_print_json(view, &options->query, (guint)options->lines,
				   stdout);
	else
		kmt_top_print_text(view, &options->query, (guint)options->lines,
				   stdout);
	return fflush(stdout) == 0 && !view->header->ended;
}

gboolean kmt_top_batch_run(KmtTopEngine *engine, const KmtTopOptions *options,
			   GError **error)
{
	g_autoptr(GError) failure = NULL;
	guint64 n;

	for (n = 0; !options->n_iterations || n < options->n_iterations; n++) {
		g_autoptr(KmtTopSnapshot) snapshot =
			kmt_top_engine_run(engine, options->delay_s, &failure);

		if (!snapshot && failure)
			snapshot = kmt_top_engine_run(engine, options->delay_s,
						      NULL);
		if (!snapshot || !print_snapshot(snapshot, options))
			break;
	}
	if (!failure)
		return TRUE;
	g_propagate_error(error, g_steal_pointer(&failure));
	return FALSE;
}
