/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Graph of libbabeltrace2 that merges the events of several CTF traces by time.
 */
#ifndef KMEMTRACE_IMPORT_CTF_GRAPH_H
#define KMEMTRACE_IMPORT_CTF_GRAPH_H

#include <babeltrace2/babeltrace.h>
#include <glib.h>

/* Clear with kmt_ctf_graph_clear(), even after an error. */
typedef struct {
	bt_graph *graph;
	const bt_plugin *ctf, *utils;
} KmtCtfGraph;

/*
 * Append the directory of each trace in the directory tree path to traces, as a
 * newly allocated string. The search is bounded in depth and visits a directory
 * only once.
 */
void kmt_ctf_find_traces(GPtrArray *traces, const char *path);

/*
 * Load the plugins "ctf" and "utils" of babeltrace2. *g must be filled with
 * zeros. Returns FALSE if a plugin is not installed.
 */
gboolean kmt_ctf_graph_load_plugins(KmtCtfGraph *g);

/*
 * Connect a source for each directory in traces with the sink consume(), which
 * receives data. Returns FALSE if a step fails; the cause, if the library
 * reports one, is that of bt_current_thread_take_error().
 */
gboolean
kmt_ctf_graph_build(KmtCtfGraph *g, const GPtrArray *traces,
		    bt_graph_simple_sink_component_consume_func consume,
		    gpointer data);

/* Release the graph and the plugins. */
void kmt_ctf_graph_clear(KmtCtfGraph *g);

#endif
