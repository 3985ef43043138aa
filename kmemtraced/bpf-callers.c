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

#include <bpf/bpf.h>

#include "kmemtraced/bpf-private.h"
#include "lib/capture/error.h"

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
	const KmtdBpfFunctions *functions;
	GMutex lock; /* protects the members below */
	struct ring_buffer *queue;
	GHashTable *known; /* return address to Frame */
	struct {
		guint64 id, caller;
	} * kept;	  /* SAMPLES_KEPT elements */
	GHashTable *late; /* late sample to caller (guint64) */
	int frames_fd, starts_fd, late_fd;
	guint32 starts[KMTD_BPF_N_STARTS];
	guint64 n_samples, n_contradictions, n_full;
};

KmtdBpfCallers *kmtd_bpf_callers_new(const KmtdBpfFunctions *functions)
{
	KmtdBpfCallers *callers = g_new0(KmtdBpfCallers, 1);

	g_mutex_init(&callers->lock);
	callers->functions = functions;
	callers->known = g_hash_table_new_full(g_int64_hash, g_int64_equal,
					       g_free, g_free);
	callers->late = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	callers->kept = g_malloc0_n(SAMPLES_KEPT, sizeof(*callers->kept));
	return callers;
}

void kmtd_bpf_callers_free(KmtdBpfCallers *callers)
{
	if (!callers)
		return;
	kmtd_bpf_callers_detach(callers);
	g_hash_table_unref(callers->known);
	g_hash_table_unref(callers->late);
	g_free(callers->kept);
	g_mutex_clear(&callers->lock);
	g_free(callers);
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
		const KmtdBpfFunction *range =
			n > HOOK_ADDRESSES
				? kmtd_bpf_functions_find(
					  callers->functions,
					  sample->callers[HOOK_ADDRESSES])
				: NULL;

		*direct = !range || range->start != (gint)sample->start;
		return MIN(n, HOOK_ADDRESSES);
	}
	/* The code of the programs is outside of the kernel's. */
	while (first < n && !kmtd_bpf_functions_is_kernel(
				    callers->functions, sample->callers[first]))
		first++;
	for (guint i = first; i < n; i++)
		if (kmtd_bpf_functions_part(callers->functions,
					    sample->callers[i]) ==
		    KMTD_BPF_TRACING)
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
	return !kmtd_bpf_functions_is_kernel(callers->functions,
					     sample->callers[i]) &&
	       kmtd_bpf_functions_part(callers->functions,
				       sample->callers[i - 1]) ==
		       KMTD_BPF_HOOKED;
}

/* Return whether the search ends at a KMTD_BPF_PREPARING function: whether the
 * event is a free or a split. */
static gboolean may_be_no_event(guint32 start)
{
	return start == KMTD_BPF_START_PAGE_FREE ||
	       start == KMTD_BPF_START_VFREE || start == KMTD_BPF_START_SPLIT ||
	       start == KMTD_BPF_START_SPLIT_FOLIO;
}

/* The callers of a sample, from the function with the program to the caller of
 * the event. */
typedef struct {
	guint n;	   /* addresses of the sample */
	guint first, last; /* indexes */
	gboolean direct;   /* see find_first() */
	gboolean is_event; /* see KMTD_BPF_NO_EVENT */
} Chain;

/* Find the caller of the event of a sample. Return FALSE if there is none. */
static gboolean find_chain(const KmtdBpfCallers *callers,
			   const struct kmtd_bpf_sample *sample, Chain *chain)
{
	guint begin;

	if (sample->n_callers <= 0)
		return FALSE;
	chain->n = MIN((guint)sample->n_callers / (guint)sizeof(guint64),
		       KMTD_BPF_SAMPLE_CALLERS);
	chain->first = find_first(callers, sample, chain->n, &chain->direct);
	/* The function with the tracepoint is never a caller. */
	begin = chain->direct ? chain->first : chain->first + 1;
	for (chain->last = begin; chain->last < chain->n; chain->last++) {
		KmtdBpfPart part = kmtd_bpf_functions_part(
			callers->functions, sample->callers[chain->last]);

		if (chain->last > begin &&
		    is_trampoline(callers, sample, chain->last))
			continue;
		chain->is_event = part != KMTD_BPF_PREPARING ||
				  !may_be_no_event(sample->start);
		if (part == KMTD_BPF_CALLER || part == KMTD_BPF_INTERRUPT ||
		    !chain->is_event)
			return TRUE;
	}
	return FALSE;
}

static guint64 chain_caller(const Chain *chain,
			    const struct kmtd_bpf_sample *sample)
{
	return chain->is_event ? sample->callers[chain->last]
			       : KMTD_BPF_NO_EVENT;
}

static int take_sample(void *data, void *event, size_t n_bytes)
{
	KmtdBpfCallers *callers = data;
	const struct kmtd_bpf_sample *sample = event;
	Chain chain;

	if (n_bytes < sizeof(*sample))
		return 0;
	callers->n_samples++;
	if (!find_chain(callers, sample, &chain))
		return 0;
	callers->kept[sample->id % SAMPLES_KEPT].id = sample->id;
	callers->kept[sample->id % SAMPLES_KEPT].caller =
		chain_caller(&chain, sample);
	learn_chain(callers, sample, chain.first, chain.last, chain.n,
		    chain.is_event ? KMTD_BPF_FRAME_CALLER
				   : KMTD_BPF_FRAME_NO_EVENT,
		    chain.direct);
	return 0;
}

/* Return the caller of a late stack, or 0. */
static guint64 look_up_late(const KmtdBpfCallers *callers, guint32 late)
{
	struct kmtd_bpf_sample sample = {
		.start = late >> KMTD_BPF_SAMPLE_START_BIT &
			 KMTD_BPF_SAMPLE_START_MASK,
	};
	guint32 key = late & ((1U << KMTD_BPF_SAMPLE_START_BIT) - 1);
	guint n = 0;
	Chain chain;

	if (bpf_map_lookup_elem(callers->late_fd, &key, sample.callers))
		return 0;
	while (n < KMTD_BPF_SAMPLE_CALLERS && sample.callers[n])
		n++;
	sample.n_callers = (gint)(n * sizeof(guint64));
	return find_chain(callers, &sample, &chain)
		       ? chain_caller(&chain, &sample)
		       : 0;
}

static guint64 find_late(KmtdBpfCallers *callers, guint32 late)
{
	gpointer key = GUINT_TO_POINTER(late);
	guint64 *caller = g_hash_table_lookup(callers->late, key);

	if (!caller) {
		caller = g_new(guint64, 1);
		*caller = look_up_late(callers, late);
		g_hash_table_insert(callers->late, key, caller);
	}
	return *caller;
}

gboolean kmtd_bpf_callers_attach(KmtdBpfCallers *callers,
				 struct bpf_object *object, GError **error)
{
	callers->frames_fd = bpf_object__find_map_fd_by_name(object, "frames");
	callers->starts_fd = bpf_object__find_map_fd_by_name(object, "starts");
	callers->late_fd =
		bpf_object__find_map_fd_by_name(object, "late_stacks");
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
	if (id & KMTD_BPF_SAMPLE_LATE) {
		caller = find_late(callers, (guint32)id);
		g_mutex_unlock(&callers->lock);
		return caller;
	}
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
	g_key_file_set_uint64(meta, "capture", "late_stacks",
			      g_hash_table_size(callers->late));
	g_key_file_set_uint64(meta, "capture", "stack_contradictions",
			      callers->n_contradictions);
	g_mutex_unlock(&callers->lock);
}
