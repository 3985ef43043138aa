/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A capture directory without records, for tests of its tables. */
#ifndef KMEMTRACE_TESTS_CAPTURE_FIXTURE_H
#define KMEMTRACE_TESTS_CAPTURE_FIXTURE_H

#include "lib/input/capture.h"

/*
 * Create a directory with an empty cpu0.out. The caller removes the directory
 * with fixture_remove().
 */
char *fixture_new(void);

/*
 * Write a file of the directory. @length is -1 for the whole string; if @text
 * is NULL, no file is written.
 */
void fixture_put(const char *directory, const char *name, const char *text,
		 gssize length);

/* Open the capture, which must be valid. The caller frees it. */
KmtInputCapture *fixture_open(const char *directory);

/* Remove the directory with all of its files, and free its name. */
void fixture_remove(char *directory);

#endif
