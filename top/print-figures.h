/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures as members of a JSON object, which all JSON documents share. */
#ifndef KMEMTRACE_TOP_PRINT_FIGURES_H
#define KMEMTRACE_TOP_PRINT_FIGURES_H

#include "lib/cli/json-writer.h"
#include "top/top-view.h"

/* Version of the documents; it changes if a member changes its meaning. */
#define KMT_TOP_JSON_VERSION 1

/* Add the figures to the object that has begun. */
void kmt_top_json_figures(KmtJson *json, const KmtTopFigures *figures);

#endif
