/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Advice that is printed after an error message of kmemtraced. */
#ifndef KMEMTRACED_ERROR_ADVICE_H
#define KMEMTRACED_ERROR_ADVICE_H

#include <glib.h>

/* Return what the user can do after @error, or NULL without advice. */
const char *kmtd_error_advice(const GError *error);

/*
 * Return the state of the capture after @error, or NULL if there is no text for
 * this error. The text applies only if there is a capture.
 */
const char *kmtd_error_capture_state(const GError *error);

#endif
