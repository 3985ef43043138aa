// SPDX-License-Identifier: GPL-2.0-or-later
/* The trees of the flame graphs in the HTML report. */
#include "config.h"

#include "report/html-private.h"
#include "lib/base/hash.h"

#include <stdlib.h>
#include <string.h>

#define ALLOWANCE 600000
/* Limit of the nodes in memory. Deeper frames count in their caller. */
#define MAX_NODES (1U << 20)
#define NO_NODE	  G_MAXUINT32

/* A frame with the figures of the allocations made exactly there. */
typedef struct {
	guint32 parent; /* a lower index; NO_NODE for a kind */
	guint32 frame;	/* index in names */
	guint64 live, allocated, requested, peak, allocs;
	double share;	/* the largest share of the subtree in any figure */
	gsize bytes;	/* upper limit of the bytes in the document */
	guint32 number; /* in the document */
	gboolean is_kept;
} TreeNode;

/* A slot of a direct-mapped cache of frames. */
typedef struct {
	guint64 key;	      /* an address, or a size in bytes */
	const KmtSymTag *tag; /* of an address */
	guint32 name_plus_1;  /* index in names plus 1; 0: the slot is empty */
} FrameSlot;

/* A slot of a direct-mapped cache of stacks. */
typedef struct {
	guint64 call_site;
	gint64 tag_time;
	guint32 stack;
	guint32 node;
	guint8 kind;
	guint8 is_used;
} StackSlot;

/* A power of 2. A kernel has some 50,000 different stacks. */
#define SLOTS 65536

typedef struct {
	GArray *nodes;	      /* TreeNode */
	KmtIndex index;	      /* parent and frame -> node */
	GPtrArray *names;     /* char * */
	GHashTable *numbers;  /* name -> index + 1 */
	guint32 *html_names;  /* index in the names of the document, by name */
	FrameSlot *functions; /* caches of SLOTS slots */
	FrameSlot *sizes;
	StackSlot *stacks;
	/* The last result of group_node(). */
	guint32 last_group; /* KMT_NO_GROUP: none */
	guint8 last_kind;
	guint32 last_node;
	guint64 seed;
	gboolean is_cut;
} FrameTree;

static TreeNode *node_at(const FrameTree *tree, guint32 i)
{
	return &g_array_index(tree->nodes, TreeNode, i);
}

static guint64 node_hash(gconstpointer user, guint32 number)
{
	const FrameTree *tree = user;
	const TreeNode *node = node_at(tree, number);

	return kmt_hash(tree->seed, (guint64)node->parent << 32 | node->frame);
}

static gboolean node_equal(gconstpointer user, guint32 number,
			   gconstpointer key)
{
	const TreeNode *x = node_at(user, number), *y = key;

	return x->parent == y->parent && x->frame == y->frame;
}

static void tree_init(FrameTree *tree)
{
	*tree = (FrameTree){
		.nodes = g_array_new(FALSE, FALSE, sizeof(TreeNode)),
		.names = g_ptr_array_new_with_free_func(g_free),
		.numbers = g_hash_table_new(kmt_str_hash, g_str_equal),
		.functions = g_new0(FrameSlot, SLOTS),
		.sizes = g_new0(FrameSlot, SLOTS),
		.stacks = g_new0(StackSlot, SLOTS),
		.last_group = KMT_NO_GROUP,
		.seed = kmt_hash_seed(),
	};
	kmt_index_init(&tree->index, node_hash, node_equal);
}

static void tree_clear(FrameTree *tree)
{
	g_array_unref(tree->nodes);
	g_ptr_array_unref(tree->names);
	g_hash_table_unref(tree->numbers);
	g_free(tree->html_names);
	g_free(tree->functions);
	g_free(tree->sizes);
	g_free(tree->stacks);
	kmt_index_clear(&tree->index);
}

static guint32 name_number(FrameTree *tree, const char *name)
{
	guint n = GPOINTER_TO_UINT(g_hash_table_lookup(tree->numbers, name));
	char *copy;

	if (n)
		return n - 1;
	copy = g_strdup(name);
	g_ptr_array_add(tree->names, copy);
	g_hash_table_insert(tree->numbers, copy,
			    GUINT_TO_POINTER(tree->names->len));
	return tree->names->len - 1;
}

/* Return the child of @parent for a frame. If there is no room for another
 * node, return @parent. */
static guint32 child_of(FrameTree *tree, guint32 parent, guint32 frame)
{
	const TreeNode key = {.parent = parent, .frame = frame};
	guint64 hash =
		kmt_hash(tree->seed, (guint64)key.parent << 32 | key.frame);
	guint32 n = kmt_index_find(&tree->index, tree, hash, &key);

	if (n != KMT_INDEX_NONE)
		return n;
	if (tree->nodes->len >= MAX_NODES && parent != NO_NODE) {
		tree->is_cut = TRUE;
		return parent;
	}
	g_array_append_val(tree->nodes, key);
	kmt_index_add(&tree->index, tree, hash);
	return tree->nodes->len - 1;
}

/* ---- frames of a class ---- */

static guint32 add_function(const KmtHtmlReport *html, FrameTree *tree,
			    const KmtSymSite *site)
{
	KmtSymbol symbol;
	g_autofree char *name = NULL;

	if (!kmt_symbolizer_symbol(html->report->symbolizer, site, &symbol))
		name = kmt_html_site_name(html, site);
	else if (symbol.module)
		name = g_strdup_printf("%s [%s]", symbol.name, symbol.module);
	return name_number(tree, name ? name : symbol.name);
}

/* Return the slot of a value in a cache of SLOTS slots. */
static FrameSlot *slot_of(const FrameTree *tree, FrameSlot *slots, guint64 key)
{
	return &slots[kmt_hash(tree->seed, key) % SLOTS];
}

/* Return the number of the name of a function. */
static guint32 function_number(const KmtHtmlReport *html, FrameTree *tree,
			       const KmtSymSite *site)
{
	FrameSlot *slot = slot_of(tree, tree->functions, site->address);

	if (!slot->name_plus_1 || slot->key != site->address ||
	    slot->tag != site->tag)
		*slot = (FrameSlot){site->address, site->tag,
				    1 + add_function(html, tree, site)};
	return slot->name_plus_1 - 1;
}

/* Return the number of the name of a size. */
static guint32 size_number(FrameTree *tree, guint64 bytes)
{
	FrameSlot *slot = slot_of(tree, tree->sizes, bytes);
	char text[24];

	if (!slot->name_plus_1 || slot->key != bytes) {
		g_snprintf(text, sizeof(text), "%" G_GUINT64_FORMAT " B",
			   bytes);
		*slot = (FrameSlot){bytes, NULL, 1 + name_number(tree, text)};
	}
	return slot->name_plus_1 - 1;
}

/* Return the node of the call chain of a class. */
static guint32 chain_node(const KmtHtmlReport *html, FrameTree *tree,
			  guint32 class_id, const KmtMatchKey *key)
{
	KmtGroups *groups = html->report->aggregate->groups;
	KmtChain chain = kmt_groups_chain_of(groups, class_id, key);
	guint32 node =
		child_of(tree, NO_NODE,
			 name_number(tree, kmt_kind_name((KmtKind)key->type)));
	guint i = chain.n;

	while (i--) {
		KmtSymSite frame = kmt_groups_frame(groups, &chain, i);

		node = child_of(tree, node,
				function_number(html, tree, &frame));
	}
	return node;
}

/* Return the node of the stack of a class. The classes of a call site, which
 * come one after another, share few stacks. */
static guint32 stack_node(const KmtHtmlReport *html, FrameTree *tree,
			  guint32 class_id)
{
	KmtMatchKey key = kmt_match_keys_of_class(
		html->report->aggregate->groups->match_keys, class_id);
	StackSlot *slot =
		&tree->stacks[kmt_hash(tree->seed, key.stack) % SLOTS];

	if (!key.has_owner)
		return chain_node(html, tree, class_id, &key);
	if (!slot->is_used || slot->stack != key.stack ||
	    slot->call_site != key.call_site ||
	    slot->tag_time != key.tag_time || slot->kind != key.type)
		*slot = (StackSlot){
			key.call_site, key.tag_time,
			key.stack,     chain_node(html, tree, class_id, &key),
			key.type,      TRUE};
	return slot->node;
}

/* Return the node of the kind, directory and function of a class of a group. */
static guint32 group_node(const KmtHtmlReport *html, FrameTree *tree,
			  guint32 group, guint8 kind)
{
	KmtSymSite site;
	guint32 node;

	if (tree->last_group == group && tree->last_kind == kind)
		return tree->last_node;
	site = kmt_html_group_site(html, group);
	node = child_of(tree, NO_NODE,
			name_number(tree, kmt_kind_name((KmtKind)kind)));
	node = child_of(tree, node,
			name_number(tree, html->directories[group]));
	node = child_of(tree, node, function_number(html, tree, &site));
	tree->last_group = group;
	tree->last_kind = kind;
	tree->last_node = node;
	return node;
}

/* Return the node of the directory, function and size of a class. */
static guint32 function_node(const KmtHtmlReport *html, FrameTree *tree,
			     guint32 class_id)
{
	const KmtAggregate *aggregate = html->report->aggregate;
	const KmtHistoryClass *class = &aggregate->history->classes[class_id];
	KmtMatchSize size =
		kmt_match_keys_size_of_class(aggregate->keys, class_id);
	guint32 number = size_number(tree, size.alloc);

	return child_of(tree, group_node(html, tree, class->group, class->kind),
			number);
}

static void fill(const KmtHtmlReport *html, FrameTree *tree,
		 guint32 (*node_of)(const KmtHtmlReport *html, FrameTree *tree,
				    guint32 class_id))
{
	const KmtAggregate *aggregate = html->report->aggregate;
	guint32 g, i;

	/* The groups with most memory come first, so that a full tree lacks
	 * the frames of those with little memory. */
	for (g = 0; g < html->n_groups; g++) {
		guint32 group = html->groups[g];

		for (i = html->class_start[group];
		     i < html->class_start[group + 1]; i++) {
			guint32 id = html->classes[i];
			const KmtHistoryClass *class =
				&aggregate->history->classes[id];
			KmtMatchSize size = kmt_match_keys_size_of_class(
				aggregate->keys, id);
			TreeNode *node = node_at(tree, node_of(html, tree, id));

			node->live += class->live * size.alloc;
			node->allocated += class->allocs * size.alloc;
			node->requested += class->allocs * size.req;
			node->peak += class->at_peak * size.alloc;
			node->allocs += class->allocs;
		}
	}
}

/* ---- the nodes that fit ---- */

static double share(guint64 part, guint64 sum)
{
	return sum ? (double)part / (double)sum : 0;
}

/* Return the bytes that a figure takes as JSON, with its comma. */
static guint digits_of(guint64 value)
{
	guint n = 2;

	while (value /= 10)
		n++;
	return n;
}

/* Return an upper limit of the bytes of a node with these figures. */
static gsize bytes_of(const KmtHtmlReport *html, const TreeNode *node)
{
	return 2 * 8 + 4 + digits_of(kmt_html_scaled(html, node->live)) +
	       2 * digits_of(kmt_html_scaled(html, node->allocated)) +
	       digits_of(kmt_html_scaled(html, node->peak)) +
	       digits_of(kmt_html_scaled(html, node->allocs));
}

/* Set the share and bytes of each node, from the sums of its subtree. */
static void set_shares(const KmtHtmlReport *html, FrameTree *tree)
{
	guint32 n = tree->nodes->len, i;
	g_autofree TreeNode *sums = g_new(TreeNode, MAX(1, n));
	g_autofree guint32 *roots = g_new(guint32, MAX(1, n));

	for (i = 0; i < n; i++) {
		sums[i] = *node_at(tree, i);
		roots[i] =
			sums[i].parent == NO_NODE ? i : roots[sums[i].parent];
	}
	for (i = n; i--;) {
		TreeNode *parent = sums[i].parent == NO_NODE
					   ? NULL
					   : &sums[sums[i].parent];

		if (!parent)
			continue;
		parent->live += sums[i].live;
		parent->allocated += sums[i].allocated;
		parent->requested += sums[i].requested;
		parent->peak += sums[i].peak;
		parent->allocs += sums[i].allocs;
	}
	for (i = 0; i < n; i++) {
		const TreeNode *x = &sums[i], *all = &sums[roots[i]];
		double largest = MAX(share(x->live, all->live),
				     share(x->allocated, all->allocated));

		largest = MAX(largest, share(x->peak, all->peak));
		largest = MAX(largest, share(x->allocs, all->allocs));
		if (x->allocated > x->requested &&
		    all->allocated > all->requested)
			largest = MAX(largest,
				      share(x->allocated - x->requested,
					    all->allocated - all->requested));
		node_at(tree, i)->share = largest;
		node_at(tree, i)->bytes = bytes_of(html, x);
	}
	/* Negative waste may make the share of a child the larger one. */
	for (i = n; i--;) {
		const TreeNode *node = node_at(tree, i);

		if (node->parent != NO_NODE &&
		    node_at(tree, node->parent)->share < node->share)
			node_at(tree, node->parent)->share = node->share;
	}
}

/* Compare two nodes: the larger share first, parents before children. */
static gint compare_nodes(gconstpointer a, gconstpointer b, gpointer user)
{
	guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
	const TreeNode *x = node_at(user, i), *y = node_at(user, j);

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* Keep the nodes with the largest shares that fit into the allowance. Return
 * whether all fit. */
static gboolean choose(KmtHtmlReport *html, FrameTree *tree)
{
	guint32 n = tree->nodes->len, i;
	g_autofree guint32 *order = g_new(guint32, MAX(1, n));
	gsize used = 0;

	for (i = 0; i < n; i++)
		order[i] = i;
	g_qsort_with_data(order, (gint)n, sizeof(*order), compare_nodes, tree);
	kmt_html_allow(html->data, ALLOWANCE);
	tree->html_names = g_new(guint32, MAX(1, tree->names->len));
	memset(tree->html_names, 0xff, tree->names->len * sizeof(guint32));
	for (i = 0; i < n; i++) {
		TreeNode *node = node_at(tree, order[i]);
		guint32 *name = &tree->html_names[node->frame];

		used += node->bytes;
		if (*name == G_MAXUINT32)
			*name = kmt_html_intern(
				html->data, tree->names->pdata[node->frame]);
		if (!kmt_html_has_room(html->data, used))
			break;
		node->is_kept = TRUE;
	}
	return i == n;
}

/* Number the kept nodes and add the figures of each other node to its nearest
 * kept ancestor. */
static void merge_cut_nodes(FrameTree *tree)
{
	guint32 n = tree->nodes->len, number = 0, i;

	for (i = n; i--;) {
		TreeNode *node = node_at(tree, i), *parent;

		if (node->is_kept || node->parent == NO_NODE)
			continue;
		parent = node_at(tree, node->parent);
		parent->live += node->live;
		parent->allocated += node->allocated;
		parent->requested += node->requested;
		parent->peak += node->peak;
		parent->allocs += node->allocs;
	}
	for (i = 0; i < n; i++)
		if (node_at(tree, i)->is_kept)
			node_at(tree, i)->number = number++;
}

static void add_nodes(KmtHtmlReport *html, const FrameTree *tree)
{
	KmtHtmlData *data = html->data;
	guint32 i;

	kmt_html_begin(data, "nodes", '[');
	for (i = 0; i < tree->nodes->len; i++) {
		const TreeNode *node = node_at(tree, i);
		guint64 allocated = kmt_html_scaled(html, node->allocated);

		if (!node->is_kept)
			continue;
		kmt_html_begin(data, NULL, '[');
		kmt_html_i64(
			data, NULL,
			node->parent == NO_NODE
				? -1
				: (gint64)node_at(tree, node->parent)->number);
		kmt_html_u64(data, NULL, tree->html_names[node->frame]);
		kmt_html_u64(data, NULL, kmt_html_scaled(html, node->live));
		kmt_html_u64(data, NULL, allocated);
		kmt_html_i64(data, NULL,
			     (gint64)(allocated -
				      kmt_html_scaled(html, node->requested)));
		kmt_html_u64(data, NULL, kmt_html_scaled(html, node->peak));
		kmt_html_u64(data, NULL, kmt_html_scaled(html, node->allocs));
		kmt_html_end(data, ']');
	}
	kmt_html_end(data, ']');
}

static void add_tree(KmtHtmlReport *html, const char *key,
		     guint32 (*node_of)(const KmtHtmlReport *html,
					FrameTree *tree, guint32 class_id))
{
	FrameTree tree;

	tree_init(&tree);
	fill(html, &tree, node_of);
	set_shares(html, &tree);
	if (!choose(html, &tree) || tree.is_cut)
		kmt_html_cut(html->data,
			     "The flame graph by %s omits small frames: their "
			     "figures count in their caller.",
			     strcmp(key, "tree") ? "stack" : "function");
	merge_cut_nodes(&tree);
	kmt_html_begin(html->data, key, '{');
	add_nodes(html, &tree);
	kmt_html_end(html->data, '}');
	tree_clear(&tree);
}

void kmt_html_add_trees(KmtHtmlReport *html)
{
	if (kmt_input_capture_has_stacks(html->report->capture))
		add_tree(html, "stacks", stack_node);
	else
		kmt_html_null(html->data, "stacks");
	add_tree(html, "tree", function_node);
}
