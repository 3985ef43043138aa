// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The callers of the page allocator in the source "bpf".
 *
 * The tracepoints of pages have no caller, and bpf_get_stack() costs thousands
 * of instructions. A return address has its place on the stack at a fixed
 * distance from that of its caller, because the frame of a function has a fixed
 * size at each of its calls. kmemtraced learns these distances from samples of
 * the stack, and the programs find the callers by the table of distances.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "kmemtraced/bpf-private.h"
#include "lib/capture/error.h"

/* Functions of the allocator, which are no callers. A suffix of the compiler,
 * as in x.isra.0, is ignored. */
static const char *const allocator_functions[] = {
	"__alloc_contig_pages",
	"__alloc_frozen_pages_noprof",
	"__alloc_pages",
	"__alloc_pages_direct_compact",
	"__alloc_pages_mpol",
	"__alloc_pages_noprof",
	"__alloc_pages_slowpath",
	"__alloc_percpu",
	"__alloc_percpu_gfp",
	"__alloc_reserved_percpu",
	"__folio_alloc",
	"__folio_alloc_noprof",
	"__folio_put",
	"__folio_split",
	"__free_contig_range_common",
	"__free_frozen_pages",
	"__free_pages",
	"__free_pages_core",
	"__free_pages_ok",
	"__free_pages_prepare",
	"__get_free_pages",
	"__split_huge_page",
	"__split_unmapped_folio",
	"alloc_contig_frozen_pages_noprof",
	"alloc_contig_pages",
	"alloc_contig_pages_noprof",
	"alloc_frozen_pages_nolock_noprof",
	"alloc_frozen_pages_noprof",
	"alloc_page_interleave",
	"alloc_pages",
	"alloc_pages_bulk_array_mempolicy",
	"alloc_pages_bulk_array_mempolicy_noprof",
	"alloc_pages_bulk_mempolicy_noprof",
	"alloc_pages_exact",
	"alloc_pages_exact_nid",
	"alloc_pages_exact_nid_noprof",
	"alloc_pages_exact_noprof",
	"alloc_pages_mpol",
	"alloc_pages_mpol_noprof",
	"alloc_pages_node_noprof",
	"alloc_pages_nolock_noprof",
	"alloc_pages_noprof",
	"alloc_pages_preferred_many",
	"folio_alloc",
	"folio_alloc_mpol_noprof",
	"folio_alloc_noprof",
	"folios_put_refs",
	"free_contig_range",
	"free_frozen_pages",
	"free_pages",
	"free_pages_exact",
	"free_pages_prepare",
	"free_pcp_prepare",
	"free_the_page",
	"free_unref_folios",
	"free_unref_page",
	"free_unref_page_list",
	"free_unref_page_prepare",
	"get_free_pages_noprof",
	"get_zeroed_page",
	"get_zeroed_page_noprof",
	"make_alloc_exact",
	"put_pages_list",
	"release_pages",
	"split_folio_to_list",
	"split_huge_page_to_list",
	"split_huge_page_to_list_to_order",
	"split_page",
	"vma_alloc_folio",
	"vma_alloc_folio_noprof",
};

/* Functions that split and release free pages, or complete a free that was
 * recorded before. For other events they are parts of the allocator. */
static const char *const preparing_functions[] = {
	"alloc_contig_frozen_range_noprof",
	"alloc_contig_range",
	"alloc_contig_range_noprof",
	"compact_zone",
	"delayed_vfree_work",
	"isolate_freepages",
	"isolate_freepages_block",
	"isolate_freepages_range",
	"release_free_list",
	"release_freepages",
	"split_free_frozen_pages",
	"split_free_pages",
	"split_map_pages",
};

/* Functions of the allocator that always return to code that runs programs,
 * while these are attached to their exit. */
static const char *const hooked_functions[] = {
	"__alloc_pages_bulk",
	"alloc_pages_bulk_noprof",
	"pcpu_alloc",
	"pcpu_alloc_noprof",
};

typedef enum {
	CALLER,
	INTERRUPT, /* a caller at which the stack of an interrupt begins */
	ALLOCATOR,
	HOOKED,
	PREPARING,
	TRACING
} Part;

/* A function that is no caller or begins an interrupt, or one that programs are
 * attached to. */
typedef struct {
	guint64 begin, end;
	Part part;
	gint start; /* enum kmtd_bpf_start of the programs that are attached to
		     * the function; -1: none */
} Range;

/* The paths whose programs look for the caller, and where they begin. */
static const struct {
	enum kmtd_bpf_start start;
	const char *path;
} starts[] = {
	{KMTD_BPF_START_BULK_ALLOC, "bulk_alloc"},
	{KMTD_BPF_START_BULK_FREE, "bulk_free"},
	{KMTD_BPF_START_DEFER, "defer"},
	{KMTD_BPF_START_RCU_SHEAF, "rcu_sheaf"},
	{KMTD_BPF_START_RCU_SHEAF, "rcu_sheaf_nobarn"},
	{KMTD_BPF_START_KREALLOC, "krealloc_in_place"},
	{KMTD_BPF_START_KMALLOC_NOLOCK, "alloc_nolock"},
	{KMTD_BPF_START_KFREE_NOLOCK, "free_nolock"},
	{KMTD_BPF_START_PAGE_BULK, "page_bulk"},
	{KMTD_BPF_START_SPLIT, "split"},
	{KMTD_BPF_START_SPLIT_FOLIO, "split_folio"},
	{KMTD_BPF_START_CONTIG, "contig"},
	{KMTD_BPF_START_TARGET, "migration_target"},
	{KMTD_BPF_START_UNUSED_TARGET, "unused_target"},
	{KMTD_BPF_START_VMAP, "mapped_area"},
	{KMTD_BPF_START_VFREE, "vfree_area"},
	{KMTD_BPF_START_VFREE_ATOMIC, "vfree_area_atomic"},
	{KMTD_BPF_START_PERCPU_ALLOC, "percpu_alloc"},
	{KMTD_BPF_START_PERCPU_FREE, "percpu_free"},
};

/* The first addresses of a sample, if the program is attached to a function: in
 * the function that takes the sample, the program, and the code that runs it.
 */
#define HOOK_ADDRESSES 3

/* The callers of the latest samples, by id. */
#define SAMPLES_KEPT 65536

/*
 * Number of samples that must agree before the programs use a distance. A copy
 * of a return address may lie in the unused part of a frame by chance.
 */
#define AGREEMENTS 2

/* The frame of a return address, learned from samples. */
typedef struct {
	guint64 frame;	     /* value for the map frames */
	guint agreements;    /* samples that gave this value */
	gboolean is_refused; /* samples contradicted each other */
} Frame;

struct kmtd_bpf_callers {
	GArray *functions;	      /* of Range, ascending */
	guint64 text_begin, text_end; /* the kernel's code; 0: unknown */
	GMutex lock;		      /* protects the members below */
	struct ring_buffer *queue;
	GHashTable *known; /* return address to Frame */
	struct {
		guint64 id, caller;
	} * kept; /* SAMPLES_KEPT elements */
	int frames_fd, starts_fd;
	guint32 starts[KMTD_BPF_N_STARTS];
	guint64 n_samples, n_contradictions, n_full;
};

static int compare_names(const void *key, const void *element)
{
	return strcmp(key, *(const char *const *)element);
}

/* Return whether the sorted array has the name. */
static gboolean contains(const char *const *names, gsize n, const char *name)
{
	return bsearch(name, names, n, sizeof(*names), compare_names) != NULL;
}

static Part part_of(char *name)
{
	name[strcspn(name, ".")] = '\0';
	if (g_str_has_prefix(name, "bpf_trace_run") ||
	    g_str_has_prefix(name, "__bpf_trace_mm_page_") ||
	    g_str_has_prefix(name, "__traceiter_mm_page_"))
		return TRACING;
	if (g_str_has_prefix(name, "asm_sysvec_") ||
	    g_str_equal(name, "asm_common_interrupt") ||
	    g_str_equal(name, "asm_exc_nmi"))
		return INTERRUPT;
	if (contains(preparing_functions, G_N_ELEMENTS(preparing_functions),
		     name))
		return PREPARING;
	if (contains(hooked_functions, G_N_ELEMENTS(hooked_functions), name))
		return HOOKED;
	return contains(allocator_functions, G_N_ELEMENTS(allocator_functions),
			name)
		       ? ALLOCATOR
		       : CALLER;
}

static gint compare_ranges(gconstpointer a, gconstpointer b)
{
	const Range *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Return a new table of the functions that programs are attached to: name to
 * enum kmtd_bpf_start plus 1. */
static GHashTable *hooked_functions_by_name(void)
{
	GHashTable *table = g_hash_table_new(g_str_hash, g_str_equal);

	for (gsize i = 0; i < G_N_ELEMENTS(starts); i++) {
		const char *const *functions =
			kmtd_bpf_paths_functions(starts[i].path);

		for (guint j = 0; functions && j < 4 && functions[j]; j++)
			g_hash_table_insert(
				table, (gpointer)functions[j],
				GUINT_TO_POINTER(starts[i].start + 1));
	}
	return table;
}

/* Find the functions of struct Range in kallsyms, which may be unsorted. */
static void find_functions(KmtdBpfCallers *callers, const char *text)
{
	g_autoptr(GHashTable) hooked = hooked_functions_by_name();
	g_autoptr(GArray) symbols = g_array_new(FALSE, FALSE, sizeof(Range));
	const char *line = text;

	while (line && *line) {
		char *rest, name[128];
		Range symbol = {.begin = g_ascii_strtoull(line, &rest, 16)};

		if (symbol.begin && rest[0] == ' ' && rest[1] &&
		    strchr("tTwW", rest[1]) && rest[2] == ' ') {
			gsize n = MIN(strcspn(rest + 3, "\t\n"),
				      sizeof(name) - 1);

			memcpy(name, rest + 3, n);
			name[n] = '\0';
			if (g_str_equal(name, "_stext"))
				callers->text_begin = symbol.begin;
			if (g_str_equal(name, "_etext"))
				callers->text_end = symbol.begin;
			symbol.part = part_of(name);
			symbol.start = GPOINTER_TO_INT(g_hash_table_lookup(
					       hooked, name)) -
				       1;
			g_array_append_val(symbols, symbol);
		}
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	g_array_sort(symbols, compare_ranges);
	for (guint i = 0; i < symbols->len; i++) {
		Range range = g_array_index(symbols, Range, i);
		guint j = i + 1;

		if (range.part == CALLER && range.start < 0)
			continue;
		while (j < symbols->len &&
		       g_array_index(symbols, Range, j).begin == range.begin)
			j++;
		range.end = j < symbols->len
				    ? g_array_index(symbols, Range, j).begin
				    : G_MAXUINT64;
		g_array_append_val(callers->functions, range);
	}
}

/* Return the range that contains a return address, or NULL. */
static const Range *find_range(const KmtdBpfCallers *callers, guint64 address)
{
	guint low = 0, high = callers->functions->len;
	const Range *range;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(callers->functions, Range, middle).begin <
		    address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	range = &g_array_index(callers->functions, Range, low - 1);
	return address <= range->end ? range : NULL;
}

/* Return which part of the kernel contains a return address. */
static Part find_part(const KmtdBpfCallers *callers, guint64 address)
{
	const Range *range = find_range(callers, address);

	return range ? range->part : CALLER;
}

gboolean kmtd_bpf_callers_is_tracing(const KmtdBpfCallers *callers,
				     guint64 address)
{
	return address < callers->text_begin || address >= callers->text_end ||
	       find_part(callers, address) == TRACING;
}

gboolean kmtd_bpf_callers_is_interrupt(const KmtdBpfCallers *callers,
				       guint64 address)
{
	return find_part(callers, address) == INTERRUPT;
}

KmtdBpfCallers *kmtd_bpf_callers_new(const char *proc)
{
	KmtdBpfCallers *callers = g_new0(KmtdBpfCallers, 1);
	g_autofree char *path = g_build_filename(proc, "kallsyms", NULL);
	g_autofree char *text = NULL;

	g_mutex_init(&callers->lock);
	callers->functions = g_array_new(FALSE, FALSE, sizeof(Range));
	callers->known = g_hash_table_new_full(g_int64_hash, g_int64_equal,
					       g_free, g_free);
	callers->kept = g_malloc0_n(SAMPLES_KEPT, sizeof(*callers->kept));
	if (g_file_get_contents(path, &text, NULL, NULL))
		find_functions(callers, text);
	return callers;
}

void kmtd_bpf_callers_free(KmtdBpfCallers *callers)
{
	if (!callers)
		return;
	kmtd_bpf_callers_detach(callers);
	g_array_unref(callers->functions);
	g_hash_table_unref(callers->known);
	g_free(callers->kept);
	g_mutex_clear(&callers->lock);
	g_free(callers);
}

gboolean kmtd_bpf_callers_is_usable(const KmtdBpfCallers *callers)
{
	return callers->text_begin && callers->text_end &&
	       callers->functions->len;
}

/*
 * Write the frame of a return address into the pair of elements that its hash
 * chooses, beside a frame of another address. Samples of a third address are
 * refused, because the programs would ask for it again and again.
 */
static void publish(KmtdBpfCallers *callers, guint64 address, guint64 frame)
{
	guint32 key = kmtd_bpf_frame_hash(address);

	for (guint i = 0; i < 2; i++, key++) {
		guint64 present = 0;

		if (bpf_map_lookup_elem(callers->frames_fd, &key, &present) ||
		    (present && ((present ^ address) & KMTD_BPF_FRAME_ADDRESS)))
			continue;
		bpf_map_update_elem(callers->frames_fd, &key, &frame, BPF_ANY);
		return;
	}
	callers->n_full++;
}

/*
 * Learn the value of a return address for the map frames. If samples contradict
 * each other, the frame has no fixed size, and the programs never use it.
 */
static void learn_frame(KmtdBpfCallers *callers, guint64 address,
			guint64 distance, guint64 flags)
{
	guint64 frame = (address & KMTD_BPF_FRAME_ADDRESS) |
			distance << KMTD_BPF_FRAME_SHIFT | flags;
	Frame *known = g_hash_table_lookup(callers->known, &address);

	if (!known) {
		known = g_new0(Frame, 1);
		known->frame = frame;
		g_hash_table_insert(callers->known,
				    g_memdup2(&address, sizeof(address)),
				    known);
	}
	if (known->is_refused)
		return;
	if (known->frame != frame) {
		known->is_refused = TRUE;
		callers->n_contradictions++;
		if (known->agreements >= AGREEMENTS)
			publish(callers, address,
				address & KMTD_BPF_FRAME_ADDRESS);
		return;
	}
	if (++known->agreements == AGREEMENTS)
		publish(callers, address, frame);
}

static void learn_start(KmtdBpfCallers *callers, guint32 start, guint32 words,
			gboolean direct)
{
	guint32 bytes = words * (guint32)sizeof(guint64) |
			(direct ? KMTD_BPF_START_DIRECT : 0);

	if (start >= KMTD_BPF_N_STARTS || callers->starts[start] == bytes)
		return;
	callers->starts[start] = bytes;
	bpf_map_update_elem(callers->starts_fd, &start, &bytes, BPF_ANY);
}

/*
 * Return the index of @address in the words from @from on, or n_words if the
 * words contain the address not exactly once before @next, the address that
 * follows on the stack (0: none).
 */
static guint32 find_word(const struct kmtd_bpf_sample *sample, guint32 from,
			 guint64 address, guint64 next)
{
	guint32 found = sample->n_words;

	for (guint32 i = from; i < sample->n_words; i++) {
		if (next && sample->words[i] == next && found < sample->n_words)
			break;
		if (sample->words[i] != address)
			continue;
		if (found < sample->n_words)
			return sample->n_words;
		found = i;
	}
	return found;
}

/*
 * Return the index of the function with the tracepoint or hook, or @n. *@direct
 * receives whether that function is not on the stack; the index is then that of
 * the address that called it.
 */
static guint find_first(const KmtdBpfCallers *callers,
			const struct kmtd_bpf_sample *sample, guint n,
			gboolean *direct)
{
	guint first = 0;

	*direct = FALSE;
	if (sample->start != KMTD_BPF_START_PAGE_ALLOC &&
	    sample->start != KMTD_BPF_START_PAGE_FREE) {
		const Range *range =
			n > HOOK_ADDRESSES
				? find_range(callers,
					     sample->callers[HOOK_ADDRESSES])
				: NULL;

		*direct = !range || range->start != (gint)sample->start;
		return MIN(n, HOOK_ADDRESSES);
	}
	/* The code of the programs is outside of the kernel's. */
	while (first < n && (sample->callers[first] < callers->text_begin ||
			     sample->callers[first] >= callers->text_end))
		first++;
	for (guint i = first; i < n; i++)
		if (find_part(callers, sample->callers[i]) == TRACING)
			first = i + 1;
	return first;
}

static guint64 next_caller(const struct kmtd_bpf_sample *sample, guint i,
			   guint n)
{
	return i + 1 < n ? sample->callers[i + 1] : 0;
}

/* Learn where the callers from @first to @last are on the stack. @flags: of the
 * last one. */
static void learn_chain(KmtdBpfCallers *callers,
			const struct kmtd_bpf_sample *sample, guint first,
			guint last, guint n, guint64 flags, gboolean direct)
{
	guint32 at = find_word(sample, 0, sample->callers[first],
			       next_caller(sample, first, n));

	if (at == sample->n_words)
		return;
	learn_start(callers, sample->start, at, direct);
	for (guint i = first; i < last; i++) {
		guint32 next = find_word(sample, at + 1, sample->callers[i + 1],
					 next_caller(sample, i + 1, n));

		if (next == sample->n_words ||
		    next - at > KMTD_BPF_FRAME_DISTANCE)
			return;
		learn_frame(callers, sample->callers[i], next - at,
			    i == first && !direct ? KMTD_BPF_FRAME_FIRST : 0);
		at = next;
	}
	learn_frame(callers, sample->callers[last], 0, flags);
}

/*
 * Return whether caller @i is code that the kernel generates to run programs at
 * the exit of a function. That function is a part of the allocator, and no
 * other code of a module calls it.
 */
static gboolean is_trampoline(const KmtdBpfCallers *callers,
			      const struct kmtd_bpf_sample *sample, guint i)
{
	guint64 address = sample->callers[i];

	return (address < callers->text_begin ||
		address >= callers->text_end) &&
	       find_part(callers, sample->callers[i - 1]) == HOOKED;
}

/* Return whether the search ends at a PREPARING function: whether the event is
 * a free or a split. */
static gboolean may_be_no_event(guint32 start)
{
	return start == KMTD_BPF_START_PAGE_FREE ||
	       start == KMTD_BPF_START_VFREE || start == KMTD_BPF_START_SPLIT ||
	       start == KMTD_BPF_START_SPLIT_FOLIO;
}

static int take_sample(void *data, void *event, size_t n_bytes)
{
	KmtdBpfCallers *callers = data;
	const struct kmtd_bpf_sample *sample = event;
	gboolean is_event = TRUE, direct;
	guint n, first, last, begin;

	if (n_bytes < sizeof(*sample) || sample->n_callers <= 0)
		return 0;
	callers->n_samples++;
	n = MIN((guint)sample->n_callers / (guint)sizeof(guint64),
		KMTD_BPF_SAMPLE_CALLERS);
	first = find_first(callers, sample, n, &direct);
	/* The function with the tracepoint is never a caller. */
	begin = direct ? first : first + 1;
	for (last = begin; last < n; last++) {
		Part part = find_part(callers, sample->callers[last]);

		if (last > begin && is_trampoline(callers, sample, last))
			continue;
		is_event = part != PREPARING || !may_be_no_event(sample->start);
		if (part == CALLER || part == INTERRUPT || !is_event)
			break;
	}
	if (last >= n)
		return 0;
	callers->kept[sample->id % SAMPLES_KEPT].id = sample->id;
	callers->kept[sample->id % SAMPLES_KEPT].caller =
		is_event ? sample->callers[last] : KMTD_BPF_NO_EVENT;
	learn_chain(callers, sample, first, last, n,
		    is_event ? KMTD_BPF_FRAME_CALLER : KMTD_BPF_FRAME_NO_EVENT,
		    direct);
	return 0;
}

gboolean kmtd_bpf_callers_attach(KmtdBpfCallers *callers,
				 struct bpf_object *object, GError **error)
{
	callers->frames_fd = bpf_object__find_map_fd_by_name(object, "frames");
	callers->starts_fd = bpf_object__find_map_fd_by_name(object, "starts");
	callers->queue = ring_buffer__new(
		bpf_object__find_map_fd_by_name(object, "samples"), take_sample,
		callers, NULL);
	if (callers->queue)
		return TRUE;
	kmt_capture_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, errno,
			      "cannot read the samples of stacks from BPF");
	return FALSE;
}

void kmtd_bpf_callers_detach(KmtdBpfCallers *callers)
{
	g_clear_pointer(&callers->queue, ring_buffer__free);
}

int kmtd_bpf_callers_fd(KmtdBpfCallers *callers)
{
	return ring_buffer__epoll_fd(callers->queue);
}

void kmtd_bpf_callers_poll(KmtdBpfCallers *callers)
{
	g_mutex_lock(&callers->lock);
	ring_buffer__consume(callers->queue);
	g_mutex_unlock(&callers->lock);
}

guint64 kmtd_bpf_callers_find(KmtdBpfCallers *callers, guint64 id)
{
	guint64 caller = 0;

	g_mutex_lock(&callers->lock);
	if (callers->kept[id % SAMPLES_KEPT].id != id)
		ring_buffer__consume(callers->queue);
	if (callers->kept[id % SAMPLES_KEPT].id == id)
		caller = callers->kept[id % SAMPLES_KEPT].caller;
	g_mutex_unlock(&callers->lock);
	return caller;
}

void kmtd_bpf_callers_describe(KmtdBpfCallers *callers, GKeyFile *meta)
{
	g_mutex_lock(&callers->lock);
	g_key_file_set_uint64(meta, "capture", "stack_samples",
			      callers->n_samples);
	g_key_file_set_uint64(meta, "capture", "stack_contradictions",
			      callers->n_contradictions);
	g_mutex_unlock(&callers->lock);
}
