// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <sys/stat.h>

#include "import/ctf-graph.h"

/* Maximum depth of subdirectories in which the reader searches for traces. */
#define DEPTH 4

/*
 * Return whether visited already contains the directory path, possibly under
 * another name such as a symbolic link. The function adds path to visited. A
 * directory that stat() cannot read counts as visited.
 */
static gboolean was_visited(GHashTable *visited, const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ||
	       !g_hash_table_add(visited,
				 g_strdup_printf("%" G_GINT64_MODIFIER
						 "x:%" G_GINT64_MODIFIER "x",
						 (guint64)st.st_dev,
						 (guint64)st.st_ino));
}

/*
 * If path contains a file named metadata, add path to traces. Otherwise search
 * the subdirectories of path in the same way, down to depth levels.
 */
static void find_traces(GPtrArray *traces, GHashTable *visited,
			const char *path, guint depth)
{
	g_autofree char *metadata = g_build_filename(path, "metadata", NULL);
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	const char *name;

	if (was_visited(visited, path))
		return;
	if (g_file_test(metadata, G_FILE_TEST_IS_REGULAR)) {
		g_ptr_array_add(traces, g_strdup(path));
		return;
	}
	while (dir && depth && (name = g_dir_read_name(dir))) {
		g_autofree char *below = g_build_filename(path, name, NULL);

		if (g_file_test(below, G_FILE_TEST_IS_DIR))
			find_traces(traces, visited, below, depth - 1);
	}
}

void kmt_ctf_find_traces(GPtrArray *traces, const char *path)
{
	g_autoptr(GHashTable) visited =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	find_traces(traces, visited, path, DEPTH);
}

static const bt_plugin *find_plugin(const char *name)
{
	const bt_plugin *plugin = NULL;

	bt_plugin_find(name, BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE,
		       &plugin);
	return plugin;
}

gboolean kmt_ctf_graph_load_plugins(KmtCtfGraph *g)
{
	g->ctf = find_plugin("ctf");
	g->utils = find_plugin("utils");
	return g->ctf && g->utils;
}

static const bt_component_source *add_source(KmtCtfGraph *g, const char *trace)
{
	const bt_component_class_source *class =
		bt_plugin_borrow_source_component_class_by_name_const(g->ctf,
								      "fs");
	const bt_component_source *source = NULL;
	bt_value *params = bt_value_map_create();
	bt_value *inputs = NULL;

	if (class && params &&
	    bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) ==
		    BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK &&
	    bt_value_array_append_string_element(inputs, trace) ==
		    BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK)
		bt_graph_add_source_component(g->graph, class, trace, params,
					      BT_LOGGING_LEVEL_NONE, &source);
	bt_value_put_ref(params);
	return source;
}

/*
 * Connect all output ports of source to muxer. The muxer always has one
 * unconnected input port, its last one.
 */
static gboolean connect_source(KmtCtfGraph *g,
			       const bt_component_source *source,
			       const bt_component_filter *muxer)
{
	guint64 n = bt_component_source_get_output_port_count(source);

	for (guint64 i = 0; i < n; i++) {
		guint64 last =
			bt_component_filter_get_input_port_count(muxer) - 1;

		if (bt_graph_connect_ports(
			    g->graph,
			    bt_component_source_borrow_output_port_by_index_const(
				    source, i),
			    bt_component_filter_borrow_input_port_by_index_const(
				    muxer, last),
			    NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
			return FALSE;
	}
	return TRUE;
}

gboolean
kmt_ctf_graph_build(KmtCtfGraph *g, const GPtrArray *traces,
		    bt_graph_simple_sink_component_consume_func consume,
		    gpointer data)
{
	const bt_component_class_filter *class =
		bt_plugin_borrow_filter_component_class_by_name_const(g->utils,
								      "muxer");
	const bt_component_filter *muxer;
	const bt_component_sink *sink;

	g->graph = bt_graph_create(0);
	if (!g->graph || !class ||
	    bt_graph_add_filter_component(g->graph, class, "muxer", NULL,
					  BT_LOGGING_LEVEL_NONE, &muxer) !=
		    BT_GRAPH_ADD_COMPONENT_STATUS_OK)
		return FALSE;
	for (guint i = 0; i < traces->len; i++) {
		const bt_component_source *source =
			add_source(g, traces->pdata[i]);

		if (!source || !connect_source(g, source, muxer))
			return FALSE;
	}
	return bt_graph_add_simple_sink_component(g->graph, "sink", NULL,
						  consume, NULL, data, &sink) ==
		       BT_GRAPH_ADD_COMPONENT_STATUS_OK &&
	       bt_graph_connect_ports(
		       g->graph,
		       bt_component_filter_borrow_output_port_by_index_const(
			       muxer, 0),
		       bt_component_sink_borrow_input_port_by_index_const(sink,
									  0),
		       NULL) == BT_GRAPH_CONNECT_PORTS_STATUS_OK;
}

void kmt_ctf_graph_clear(KmtCtfGraph *g)
{
	bt_graph_put_ref(g->graph);
	bt_plugin_put_ref(g->ctf);
	bt_plugin_put_ref(g->utils);
}
