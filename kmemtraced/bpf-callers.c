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
	} * kept; /* SAMPLES_KEPT elements */
	int frames_fd, starts_fd;
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
	callers->kept = g_malloc0_n(SAMPLES_KEPT, sizeof(*callers->kept));
	return callers;
}

void kmtd_bpf_callers_free(KmtdBpfCallers *callers)
{
	if (!callers)
		return;
	kmtd_bpf_callers_detach(callers);
	g_hash_table_unref(callers->known);
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
		KmtdBpfPart part = kmtd_bpf_functions_part(
			callers->functions, sample->callers[last]);

		if (last > begin && is_trampoline(callers, sample, last))
			continue;
		is_event = part != KMTD_BPF_PREPARING ||
			   !may_be_no_event(sample->start);
		if (part == KMTD_BPF_CALLER || part == KMTD_BPF_INTERRUPT ||
		    !is_event)
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
