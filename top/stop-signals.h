/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The signals that stop kmemtrace-top: INT, TERM, and HUP. */
#ifndef KMEMTRACE_TOP_STOP_SIGNALS_H
#define KMEMTRACE_TOP_STOP_SIGNALS_H

#include <glib.h>

/* Handle the signals, unless they were ignored, for the rest of the program.
 * Return FALSE with errno on failure. */
gboolean kmt_top_stop_signals_catch(void);

/* Return an eventfd that becomes readable with the first signal. */
int kmt_top_stop_fd(void);

/* Return the first signal, or 0. */
int kmt_top_stop_signal(void);

#endif
