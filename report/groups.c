// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/base/printable.h"
#include "report/groups-private.h"

/* ---- keys ---- */

static guint64 key_hash(gconstpointer user, guint32 number)
{
	return kmt_groups_hash(user, kmt_groups_key(user, number),
			       kmt_groups_n_words(user));
}

static gboolean key_equal(gconstpointer user, guint32 number, gconstpointer key)
{
	return memcmp(kmt_groups_key(user, number), key,
		      kmt_groups_n_words(user) * sizeof(guint64)) == 0;
}

static guint64 text_hash(gconstpointer user, guint32 number)
{
	const KmtGroups *groups = user;

	return kmt_hash(groups->seed,
			kmt_str_hash(groups->texts->pdata[number]));
}

static gboolean text_equal(gconstpointer user, guint32 number,
			   gconstpointer key)
{
	const KmtGroups *groups = user;

	return strcmp(groups->texts->pdata[number], key) == 0;
}

static guint64 chain_hash(gconstpointer user, guint32 number)
{
	const KmtChain *chain = kmt_groups_chain_at(user, number);

	return kmt_groups_hash(user, chain->addresses, chain->n);
}

static gboolean chain_equal(gconstpointer user, guint32 number,
			    gconstpointer key)
{
	const KmtChain *x = kmt_groups_chain_at(user, number), *y = key;

	return x->n == y->n && x->tag == y->tag &&
	       memcmp(x->addresses, y->addresses, x->n * sizeof(guint64)) == 0;
}

/* Return whether two classes with the same key may have different groups. */
static gboolean depend_on_size(const KmtGroupsOptions *o)
{
	return kmt_by_has(o->by, KMT_BY_SIZE) ||
	       kmt_by_has(o->by, KMT_BY_CACHE) ||
	       !kmt_filter_matches_size(o->filter, 0) ||
	       !kmt_filter_matches_size(o->filter, G_MAXUINT64);
}

KmtGroups *kmt_groups_new(const KmtGroupsOptions *options,
			  const KmtMatchKeys *match_keys)
{
	KmtGroups *groups = g_new0(KmtGroups, 1);

	groups->options = *options;
	groups->match_keys = match_keys;
	groups->has_tags = match_keys->parts & KMT_MATCH_KEY_TAG &&
			   kmt_by_has(options->by, KMT_BY_CALLSITE);
	groups->seed = kmt_hash_seed();
	kmt_index_init(&groups->index, key_hash, key_equal);
	if (!depend_on_size(options))
		groups->recent =
			g_new0(KmtGroupOfClass, 1 << KMT_GROUPS_RECENT_BITS);
	groups->text_bytes = g_string_chunk_new(4096);
	groups->texts = g_ptr_array_new();
	kmt_index_init(&groups->text_index, text_hash, text_equal);
	groups->sources = kmt_match_intern_new(KMT_GROUPS_SOURCE_WORDS);
	groups->values = g_array_new(FALSE, FALSE, sizeof(guint64));
	groups->chains = g_array_new(FALSE, FALSE, sizeof(KmtChain));
	kmt_index_init(&groups->chain_index, chain_hash, chain_equal);
	return groups;
}

static void clear_detail(KmtDetail *detail)
{
	kmt_histogram_clear(&detail->lifetimes);
	kmt_histogram_clear(&detail->sizes);
	kmt_histogram_clear(&detail->ages);
}

void kmt_groups_free(KmtGroups *groups)
{
	guint32 i;

	if (!groups)
		return;
	for (i = 0; groups->options.details && i < groups->n_groups; i++)
		clear_detail(kmt_groups_detail(groups, i));
	for (i = 0; i < groups->n_groups; i += KMT_GROUPS_CHUNK) {
		g_aligned_free(groups->states[i / KMT_GROUPS_CHUNK]);
		g_free(groups->keys[i / KMT_GROUPS_CHUNK]);
		if (groups->options.details)
			g_free(groups->details[i / KMT_GROUPS_CHUNK]);
	}
	for (i = 0; i < groups->n_deferred; i++) {
		if (groups->deferred[i])
			kmt_deferred_clear(groups->deferred[i]);
		g_free(groups->deferred[i]);
	}
	g_free(groups->deferred);
	g_free(groups->states);
	g_free(groups->keys);
	g_free(groups->details);
	kmt_index_clear(&groups->index);
	g_free(groups->recent);
	g_string_chunk_free(groups->text_bytes);
	g_ptr_array_unref(groups->texts);
	kmt_index_clear(&groups->text_index);
	kmt_match_intern_free(groups->sources);
	g_array_unref(groups->values);
	g_array_unref(groups->chains);
	kmt_index_clear(&groups->chain_index);
	g_free(groups);
}

/* ---- groups ---- */

/* Allocate aligned chunks, so that each KmtCounters starts at a cache line. */
static void add_chunk(KmtGroups *groups)
{
	guint32 chunk = groups->n_groups / KMT_GROUPS_CHUNK;

	groups->states = g_renew(KmtGroupState *, groups->states, chunk + 1);
	groups->states[chunk] =
		g_aligned_alloc0(KMT_GROUPS_CHUNK, sizeof(KmtGroupState),
				 _Alignof(KmtGroupState));
	groups->keys = g_renew(guint64 *, groups->keys, chunk + 1);
	groups->keys[chunk] =
		g_new(guint64, KMT_GROUPS_CHUNK * kmt_groups_n_words(groups));
	if (!groups->options.details)
		return;
	groups->details = g_renew(KmtDetail *, groups->details, chunk + 1);
	groups->details[chunk] = g_new0(KmtDetail, KMT_GROUPS_CHUNK);
}

static guint32 find_group(KmtGroups *groups, guint32 class_id,
			  const KmtMatchKey *key, guint64 bytes_alloc)
{
	const KmtBy *by = groups->options.by;
	guint64 words[2 + KMT_N_DIMENSIONS], hash;
	guint32 number;
	guint i;

	words[0] = by->kinds ? key->type : kmt_kind_layer((KmtKind)key->type);
	for (i = 0; i < by->n; i++)
		words[i + 1] = kmt_groups_value_of(groups, by->dimensions[i],
						   class_id, key, bytes_alloc);
	if (groups->has_tags)
		words[i + 1] = (guintptr)kmt_groups_key_site(groups, key).tag;
	hash = kmt_groups_hash(groups, words, kmt_groups_n_words(groups));
	number = kmt_index_find(&groups->index, groups, hash, words);
	if (number != KMT_INDEX_NONE)
		return number;
	number = groups->n_groups;
	if (number % KMT_GROUPS_CHUNK == 0)
		add_chunk(groups);
	memcpy((guint64 *)kmt_groups_key(groups, number), words,
	       kmt_groups_n_words(groups) * sizeof(guint64));
	kmt_index_add(&groups->index, groups, hash);
	return groups->n_groups++;
}

static guint32 find_group_of_class(KmtGroups *groups, guint32 class_id)
{
	const KmtGroupsOptions *o = &groups->options;
	KmtMatchKey key = kmt_match_keys_of_class(groups->match_keys, class_id);
	KmtMatchSize bytes =
		kmt_match_keys_size_of_class(groups->match_keys, class_id);
	const KmtInputCpuFile *file = o->capture->files->pdata[key.file];

	if (!kmt_filter_matches_key(o->filter, &key, file->cpu,
				    o->symbolizer) ||
	    !kmt_filter_matches_size(o->filter, bytes.req))
		return KMT_NO_GROUP;
	return find_group(groups, class_id, &key, bytes.alloc);
}

/* Return the slot for the key of a class. A collision only costs time, so the
 * hash needs no seed. */
static KmtGroupOfClass *recent_slot(const KmtGroups *groups,
				    const KmtMatchClass *class)
{
	guint64 hash = (class->call_site ^ (guint64) class->values << 32) *
		       G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);

	return &groups->recent[hash >> (64 - KMT_GROUPS_RECENT_BITS)];
}

/*
 * Most classes differ from an earlier one only in their size. With the cache of
 * recent classes, the first record of a class takes 300 instructions less.
 */
guint32 kmt_groups_of_class(KmtGroups *groups, guint32 class_id)
{
	const KmtMatchClassTable *classes = groups->match_keys->classes;
	const KmtMatchClass *class, *other;
	KmtGroupOfClass *slot;

	if (!groups->recent)
		return find_group_of_class(groups, class_id);
	class = kmt_match_class_of_number(classes, class_id);
	slot = recent_slot(groups, class);
	if (slot->class_number) {
		other = kmt_match_class_of_number(classes,
						  slot->class_number - 1);
		if (other->call_site == class->call_site &&
		    other->head == class->head &&
		    other->values == class->values)
			return slot->group;
	}
	*slot = (KmtGroupOfClass){class_id + 1,
				  find_group_of_class(groups, class_id)};
	return slot->group;
}

KmtDeferred *kmt_groups_add_deferred(KmtGroups *groups, guint32 group)
{
	if (group >= groups->n_deferred) {
		guint32 n = groups->n_groups;

		groups->deferred = g_renew(KmtDeferred *, groups->deferred, n);
		memset(groups->deferred + groups->n_deferred, 0,
		       (n - groups->n_deferred) * sizeof(KmtDeferred *));
		groups->n_deferred = n;
	}
	if (!groups->deferred[group])
		groups->deferred[group] = g_new0(KmtDeferred, 1);
	return groups->deferred[group];
}

void kmt_groups_finish(KmtGroups *groups, const guint64 epochs[KMT_N_KINDS])
{
	guint32 i;

	for (i = 0; i < groups->n_groups; i++) {
		const guint64 *key = kmt_groups_key(groups, i);
		const KmtCounters counters = *kmt_groups_counters(groups, i);
		KmtDeferred *deferred = kmt_groups_deferred(groups, i);

		if (deferred)
			kmt_deferred_finish(deferred, epochs[key[0]]);

		*kmt_groups_at(groups, i) = (KmtGroup){
			.kind = (KmtKind)key[0],
			.values = key + 1,
			.totals = kmt_counters_totals(&counters),
			/* Equal epochs mean that the group had an event after
			 * the last peak of its kind, so at_peak is valid.
			 * Otherwise the live bytes of the group are unchanged
			 * since that peak. */
			.at_peak = counters.epoch == epochs[key[0]]
					   ? counters.at_peak
					   : kmt_counters_live(&counters),
			.detail = groups->options.details
					  ? kmt_groups_detail(groups, i)
					  : NULL,
			.deferred = deferred,
		};
	}
}

/* ---- text and order ---- */

const KmtChain *kmt_groups_chain(const KmtGroups *groups, const KmtGroup *group,
				 guint i)
{
	return kmt_groups_chain_at(groups, group->values[i]);
}

/* Format a call chain as "callee < caller < its caller". */
static char *chain_text(const KmtGroups *groups, const KmtGroup *group, guint i)
{
	const KmtChain *chain = kmt_groups_chain(groups, group, i);
	GString *text = g_string_new(NULL);
	guint j;

	for (j = 0; j < chain->n; j++) {
		KmtSymSite frame = kmt_groups_frame(groups, chain, j);
		g_autofree char *name = kmt_symbolizer_format(
			groups->options.symbolizer, &frame);

		g_string_append(text, j ? " < " : "");
		if (name)
			g_string_append(text, name);
		else
			g_string_append_printf(text,
					       "0x%016" G_GINT64_MODIFIER "x",
					       frame.address);
	}
	return g_string_free(text, FALSE);
}

/* Return whether the values of a dimension are indexes of texts. */
static gboolean has_texts(KmtDimension dimension)
{
	switch (dimension) {
	case KMT_BY_FUNCTION:
	case KMT_BY_MODULE:
	case KMT_BY_DIRECTORY:
	case KMT_BY_CACHE:
	case KMT_BY_COMM:
	case KMT_BY_CGROUP:
	case KMT_BY_CONTEXT:
	case KMT_BY_OWNER:
		return TRUE;
	default:
		return FALSE;
	}
}

char *kmt_groups_value(const KmtGroups *groups, const KmtGroup *group, guint i)
{
	KmtDimension dimension = groups->options.by->dimensions[i];
	guint64 value = group->values[i];
	KmtSymSite site;
	char *name;

	if (has_texts(dimension))
		return g_strdup(groups->texts->pdata[value]);
	switch (dimension) {
	case KMT_BY_CALLSITE:
		kmt_groups_site(groups, group, &site);
		name = kmt_symbolizer_describe(groups->options.symbolizer,
					       &site);
		return name ? name
			    : g_strdup_printf("0x%016" G_GINT64_MODIFIER "x",
					      value);
	case KMT_BY_STACK:
		return chain_text(groups, group, i);
	case KMT_BY_PID:
		if (value == NO_PID)
			return g_strdup("(not recorded)");
		return g_strdup_printf("%" G_GUINT64_FORMAT, value);
	case KMT_BY_KIND:
		return g_strdup(kmt_kind_name((KmtKind)value));
	case KMT_BY_NODE:
		if ((gint64)value < 0)
			return g_strdup("any");
		return g_strdup_printf("%" G_GUINT64_FORMAT, value);
	case KMT_BY_MARK:
		return kmt_phases_label(groups->options.phases, value);
	case KMT_BY_GFP:
		return kmt_symbolizer_gfp(groups->options.symbolizer, value);
	case KMT_BY_SIZE:
	case KMT_BY_CPU:
	default:
		return g_strdup_printf("%" G_GUINT64_FORMAT, value);
	}
}

char *kmt_groups_text(const KmtGroups *groups, const KmtGroup *group)
{
	GString *text = g_string_new(NULL);
	guint i;

	for (i = 0; i < groups->options.by->n; i++) {
		g_autofree char *value = kmt_groups_value(groups, group, i);

		g_string_append_printf(text, "%s%s", i ? ", " : "", value);
	}
	return g_string_free(text, FALSE);
}

gboolean kmt_groups_site(const KmtGroups *groups, const KmtGroup *group,
			 KmtSymSite *site)
{
	const KmtBy *by = groups->options.by;
	guint i;

	for (i = 0; i < by->n; i++) {
		if (by->dimensions[i] != KMT_BY_CALLSITE)
			continue;
		if (groups->has_tags)
			*site = (KmtSymSite){group->values[i],
					     (const KmtSymTag *)(guintptr)
						     group->values[by->n]};
		else
			*site = kmt_symbolizer_alloc_site(
				groups->options.symbolizer, group->values[i],
				G_MAXINT64);
		return TRUE;
	}
	return FALSE;
}

/* Compare the tags of one address. A call site without a tag is first; the tags
 * follow in the order of KmtSymTag.went. */
static int compare_tags(const KmtSymTag *a, const KmtSymTag *b)
{
	return a < b ? -1 : a > b;
}

/* Compare addresses from the innermost function outwards. */
static int compare_chains(const KmtChain *a, const KmtChain *b)
{
	guint i;

	for (i = 0; i < MIN(a->n, b->n); i++) {
		guint64 x = a->addresses[i], y = b->addresses[i];

		if (x != y)
			return x < y ? -1 : 1;
	}
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	return compare_tags(a->tag, b->tag);
}

/*
 * Compare texts by content, because their indexes are in order of appearance.
 */
static int compare_values(const KmtGroups *groups, guint i, guint64 a,
			  guint64 b)
{
	KmtDimension dimension = groups->options.by->dimensions[i];

	if (has_texts(dimension))
		return strcmp(groups->texts->pdata[a], groups->texts->pdata[b]);
	switch (dimension) {
	case KMT_BY_STACK:
		return compare_chains(kmt_groups_chain_at(groups, a),
				      kmt_groups_chain_at(groups, b));
	case KMT_BY_NODE:
		return (gint64)a < (gint64)b ? -1 : (gint64)a > (gint64)b;
	default:
		break;
	}
	return a < b ? -1 : a > b;
}

guint64 kmt_groups_rank(const KmtGroups *groups, const KmtGroup *group)
{
	KmtDimension dimension = groups->options.by->dimensions[0];

	if (has_texts(dimension) || dimension == KMT_BY_STACK)
		return 0;
	/* Node numbers have a sign. */
	return dimension == KMT_BY_NODE
		       ? group->values[0] ^ (G_GUINT64_CONSTANT(1) << 63)
		       : group->values[0];
}

int kmt_groups_compare(const KmtGroups *groups, const KmtGroup *a,
		       const KmtGroup *b)
{
	KmtSymSite x, y;
	guint i;

	for (i = 0; i < groups->options.by->n; i++) {
		int order =
			compare_values(groups, i, a->values[i], b->values[i]);

		if (order)
			return order;
	}
	if (kmt_groups_site(groups, a, &x) && kmt_groups_site(groups, b, &y))
		return compare_tags(x.tag, y.tag);
	return 0;
}

static int compare_numbers(guint64 a, guint64 b)
{
	return a < b ? -1 : a > b;
}

/* Compare by function, module, offset and line. */
static int compare_names(const KmtGroups *groups, const KmtSymSite *a,
			 const KmtSymSite *b)
{
	KmtSymbol x, y;
	gboolean has_x =
		kmt_symbolizer_symbol(groups->options.symbolizer, a, &x);
	gboolean has_y =
		kmt_symbolizer_symbol(groups->options.symbolizer, b, &y);
	int order;

	if (has_x != has_y)
		return has_x ? -1 : 1;
	if (!has_x)
		return compare_numbers(a->address, b->address);
	order = strcmp(x.name, y.name);
	if (!order)
		order = g_strcmp0(x.module, y.module);
	if (!order)
		order = compare_numbers(x.offset, y.offset);
	return order ? order : compare_numbers(x.line, y.line);
}

int kmt_groups_compare_names(const KmtGroups *groups, const KmtGroup *a,
			     const KmtGroup *b)
{
	const KmtBy *by = groups->options.by;
	KmtSymSite x, y;
	guint i;

	for (i = 0; i < by->n; i++) {
		int order;

		if (by->dimensions[i] == KMT_BY_CALLSITE) {
			kmt_groups_site(groups, a, &x);
			kmt_groups_site(groups, b, &y);
			order = compare_names(groups, &x, &y);
		} else {
			order = compare_values(groups, i, a->values[i],
					       b->values[i]);
		}
		if (order)
			return order;
	}
	return 0;
}
