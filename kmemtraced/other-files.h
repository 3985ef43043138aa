/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files in the output directory that belong to no capture. */
#ifndef KMEMTRACED_OTHER_FILES_H
#define KMEMTRACED_OTHER_FILES_H

#include "kmemtraced/capture-session.h"

/*
 * If the capture is written into the current directory because -D is missing,
 * and the directory has a file that belongs to no capture, print a warning with
 * an example of -D.
 */
void kmtd_other_files_warn(const KmtdSessionOptions *options,
			   const KmtdSessionUi *ui);

#endif
