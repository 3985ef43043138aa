// SPDX-License-Identifier: GPL-2.0-or-later
/* The details of a row as one JSON document. */
#include "config.h"

#include "lib/cli/json-writer.h"
#include "top/details-text.h"
#include "top/print-figures.h"

static void add_sizes(KmtJson *json, const KmtTopDetails *details)
{
	kmt_json_begin_array(json, "sizes");
	for (guint i = 0; i < details->n_sizes; i++) {
		const KmtTopSize *size = &details->sizes[i];

		kmt_json_begin_object(json, NULL);
		kmt_json_u64(json, "requested", size->bytes_req);
		kmt_json_u64(json, "allocated", size->bytes);
		kmt_top_json_figures(json, &size->figures);
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
}

static void add_lifetimes(KmtJson *json, const KmtTopDetails *details)
{
	kmt_json_begin_array(json, "lifetimes");
	for (guint i = 0; i < details->n_lifetimes; i++) {
		const KmtTopLifetime *lifetime = &details->lifetimes[i];

		kmt_json_begin_object(json, NULL);
		kmt_json_u64(json, "from_ns", lifetime->from_ns);
		kmt_json_u64(json, "until_ns", lifetime->until_ns);
		kmt_json_u64(json, "frees", lifetime->frees);
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
}

static void add_parts(KmtJson *json, const char *key, const KmtTopPart *parts,
		      guint n_parts)
{
	kmt_json_begin_array(json, key);
	for (guint i = 0; i < n_parts; i++) {
		kmt_json_begin_object(json, NULL);
		kmt_json_text(json, "name", parts[i].name);
		kmt_top_json_figures(json, &parts[i].figures);
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
}

void kmt_top_details_print_json(const KmtTopDetails *details,
				KmtTopGrouping grouping, FILE *out)
{
	g_autoptr(KmtJson) json = kmt_json_new(out, 1);
	const KmtTopRow *row = &details->row;

	kmt_json_begin_object(json, NULL);
	kmt_json_u64(json, "version", KMT_TOP_JSON_VERSION);
	kmt_json_text(json, "by", kmt_top_grouping_name(grouping));
	kmt_json_text(json, "name", row->name);
	kmt_json_text(json, "kind", kmt_top_kind_name(row->kind));
	kmt_json_text(json, "source", details->source);
	kmt_json_text(json, "directory", details->directory);
	kmt_json_text(json, "module", details->module);
	kmt_top_json_figures(json, &row->figures);
	add_sizes(json, details);
	add_lifetimes(json, details);
	add_parts(json, "commands", details->commands, details->n_commands);
	add_parts(json, "caches", details->caches, details->n_caches);
	add_parts(json, "call_sites", details->call_sites,
		  details->n_call_sites);
	kmt_json_end_object(json);
}
