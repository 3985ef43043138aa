// SPDX-License-Identifier: GPL-2.0-or-later
/* Streams of the source "bpf": the slots of a CPU's buffer, as records. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <kmemtrace_abi.h>

#include "kmemtraced/bpf-private.h"
#include "lib/capture/error.h"
#include "lib/tracepoints/kmem-events.h"

/* The buffer wakes no reader. The reader looks for records so often. */
#define READ_INTERVAL_MS 10

/* PCPU_MIN_ALLOC_SIZE of the kernel, in bytes. */
#define PERCPU_ALIGNMENT 4

static struct kmtd_bpf_control *control_of(const KmtdBpfStream *stream)
{
	return &stream->bpf->programs.controls[stream->cpu];
}

static struct kmtd_bpf_record *slot_at(const KmtdBpfStream *stream,
				       guint64 position)
{
	guint64 mask = stream->bpf->programs.n_slots - 1;

	return &stream->slots[position & mask];
}

static gint64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (gint64)now.tv_sec * 1000000000 + now.tv_nsec;
}

/*
 * Remove marks that have not changed for KMTD_BPF_MARK_NS, because the kernel
 * has skipped the second program of their event.
 */
static void remove_old_marks(KmtdBpfStream *stream)
{
	const KmtdBpfPrograms *programs = &stream->bpf->programs;
	struct kmtd_bpf_mark_set *sets =
		&programs->mark_sets[stream->cpu * KMTD_BPF_MARK_SETS];
	guint64 *marks = (guint64 *)sets;
	gint64 time = now_ns();

	if (time - stream->marks_ns < KMTD_BPF_MARK_NS)
		return;
	stream->marks_ns = time;
	for (gsize i = 0; i < G_N_ELEMENTS(stream->old_marks); i++) {
		guint64 mark = __atomic_load_n(&marks[i], __ATOMIC_RELAXED);

		if (mark && mark == stream->old_marks[i])
			__atomic_compare_exchange_n(&marks[i], &mark, 0, FALSE,
						    __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED);
		stream->old_marks[i] = mark;
	}
}

/* ---- records ---- */

/*
 * Return the time of the record at @position. The program takes the slot before
 * it reads the clock, and may be interrupted in between, so the records of the
 * interrupt follow but have earlier times. The true time is then not later than
 * theirs. @end: position after the last complete record.
 */
static gint64 time_of(const KmtdBpfStream *stream, guint64 position,
		      guint64 end)
{
	guint64 time = slot_at(stream, position)->time;

	while (++position < end && slot_at(stream, position)->time < time)
		time = slot_at(stream, position)->time;
	return (gint64)time;
}

static void set_sizes(struct kmemtrace_event_v2 *to, guint64 requested,
		      guint64 allocated, const struct kmtd_bpf_record *from)
{
	to->v1.bytes_req = requested;
	to->v1.bytes_alloc = allocated;
	to->v1.gfp_flags = from->gfp;
	to->v1.node = from->node;
}

/*
 * Return the virtual address of a page, from the address of its struct page; or
 * another address that no other page has, if the programs do not know the
 * layout of the kernel's memory.
 */
static guint64 page_address(const KmtdBpfStream *stream, guint64 page)
{
	const KmtdBpfPrograms *programs = &stream->bpf->programs;
	const struct kmtd_bpf_state *state = programs->state;
	guint64 mask = (G_GUINT64_CONSTANT(1) << 52) - 1;
	guint64 n = (page - state->pages) / programs->struct_page_bytes;

	if (state->pages && state->memory)
		return state->memory + n * stream->page_bytes;
	return (n * stream->page_bytes & mask) | KMEMTRACE_PTR_PHYSICAL;
}

static gboolean is_vmalloc(const KmtdBpfStream *stream, guint64 address)
{
	const struct kmtd_bpf_state *state = stream->bpf->programs.state;

	return state->vmalloc && address >= state->vmalloc &&
	       address < state->pages;
}

/* Describe the cache of a record, without a lock if the stream knows it. */
static KmtdBpfCache find_cache(KmtdBpfStream *stream, guint64 address,
			       gint64 time)
{
	guint i = (guint)(address / 64 % KMTD_BPF_KNOWN_CACHES);

	if (stream->known[i].address == address)
		return stream->known[i].cache;
	stream->known[i].cache = (KmtdBpfCache){0};
	stream->known[i].address =
		kmtd_bpf_names_cache(stream->bpf->names, address, time,
				     &stream->known[i].cache)
			? address
			: 0;
	return stream->known[i].cache;
}

/* Return FALSE if the filter leaves the cache out. */
static gboolean set_cache(KmtdBpfStream *stream,
			  const struct kmtd_bpf_record *from, gint64 time,
			  struct kmemtrace_event_v2 *to)
{
	KmtdBpfCache cache = find_cache(stream, from->a, time);

	if (from->b == 0 || !cache.is_kmalloc) {
		to->v1.type_id = KMEMTRACE_TYPE_CACHE;
		to->cache = cache.number;
	}
	if (to->v1.event_id == KMEMTRACE_EVENT_ALLOC)
		set_sizes(to, MAX(cache.object_size, 1), MAX(cache.size, 1),
			  from);
	return !cache.is_left_out;
}

static guint64 round_up(guint64 n, guint64 unit)
{
	return (n + unit - 1) / unit * unit;
}

/*
 * alloc_pages_bulk() takes its last page from alloc_pages() if need be, whose
 * tracepoint records the page, too. Return whether the record is the second one
 * of such a page.
 */
static gboolean is_duplicate(KmtdBpfStream *stream,
			     const struct kmtd_bpf_record *from)
{
	guint kind = from->kind & 0xff;

	if (kind == KMTD_BPF_PAGE_ALLOC && from->a == 0) {
		stream->recent[stream->n_recent % KMTD_BPF_RECENT_PAGES].page =
			from->ptr;
		stream->recent[stream->n_recent % KMTD_BPF_RECENT_PAGES].pid =
			from->pid;
		stream->n_recent++;
		return FALSE;
	}
	if (kind != KMTD_BPF_PAGE_BULK && kind != KMTD_BPF_PAGE_FREE)
		return FALSE;
	for (guint i = 0; i < KMTD_BPF_RECENT_PAGES; i++) {
		if (stream->recent[i].page != from->ptr)
			continue;
		stream->recent[i].page = 0;
		if (kind == KMTD_BPF_PAGE_BULK &&
		    stream->recent[i].pid == from->pid)
			return TRUE;
	}
	return FALSE;
}

/* Return the number of the stack of a record. */
static guint32 find_stack(KmtdBpfStream *stream,
			  const struct kmtd_bpf_record *from, guint64 call_site)
{
	KmtdBpfStacks *stacks = stream->bpf->stacks;

	return stacks ? kmtd_bpf_stacks_find(stacks, from->stack, call_site)
		      : KMEMTRACE_STACK_NONE;
}

/* Convert a record of @time. Return FALSE if it is to be left out. */
static gboolean convert(KmtdBpfStream *stream,
			const struct kmtd_bpf_record *from, gint64 time,
			struct kmemtrace_event_v2s *event)
{
	struct kmemtrace_event_v2 *to = &event->v2;
	guint64 n_cpus = stream->bpf->programs.n_percpu;
	gboolean passes = TRUE;

	*to = (struct kmemtrace_event_v2){
		.v1 =
			{
				.event_size = (guint16)stream->bpf->source
						      .record_bytes,
				.node = KMEMTRACE_NODE_NONE,
				.event_id = KMEMTRACE_EVENT_FREE,
				.call_site = from->call_site,
				.ptr = from->ptr,
			},
		.pid = from->pid,
		.flags = (from->kind >> 8) & 0xff,
	};
	if (from->sample)
		to->v1.call_site = kmtd_bpf_callers_find(stream->bpf->callers,
							 from->sample);
	switch (from->kind & 0xff) {
	case KMTD_BPF_DEFER:
		to->v1.event_id = KMEMTRACE_EVENT_DEFER;
		if (is_vmalloc(stream, from->ptr))
			to->v1.type_id = KMEMTRACE_TYPE_VMALLOC;
		break;
	case KMTD_BPF_KMALLOC:
		to->v1.event_id = KMEMTRACE_EVENT_ALLOC;
		set_sizes(to, from->a, from->b, from);
		break;
	case KMTD_BPF_CACHE_ALLOC:
		to->v1.event_id = KMEMTRACE_EVENT_ALLOC;
		/* fall through */
	case KMTD_BPF_CACHE_FREE:
		passes = set_cache(stream, from, time, to);
		break;
	case KMTD_BPF_PAGE_ALLOC:
	case KMTD_BPF_PAGE_BULK:
		to->v1.event_id = KMEMTRACE_EVENT_ALLOC;
		set_sizes(to, (guint64)stream->page_bytes << from->a,
			  (guint64)stream->page_bytes << from->a, from);
		/* fall through */
	case KMTD_BPF_PAGE_FREE:
		to->v1.type_id = KMEMTRACE_TYPE_PAGES;
		to->v1.ptr = page_address(stream, from->ptr);
		break;
	case KMTD_BPF_VMALLOC:
		to->v1.event_id = KMEMTRACE_EVENT_ALLOC;
		set_sizes(to, from->a, round_up(from->a, stream->page_bytes),
			  from);
		/* fall through */
	case KMTD_BPF_VFREE:
		to->v1.type_id = KMEMTRACE_TYPE_VMALLOC;
		break;
	case KMTD_BPF_PERCPU_ALLOC:
		to->v1.event_id = KMEMTRACE_EVENT_ALLOC;
		set_sizes(to, from->a * n_cpus,
			  round_up(from->a, PERCPU_ALIGNMENT) * n_cpus, from);
		/* fall through */
	case KMTD_BPF_PERCPU_FREE:
		to->v1.type_id = KMEMTRACE_TYPE_PERCPU;
		break;
	default:
		break;
	}
	if (!passes || to->v1.call_site == KMTD_BPF_NO_EVENT)
		return FALSE;
	event->stack = find_stack(stream, from, to->v1.call_site);
	return TRUE;
}

static void write_lost(KmtdBpfStream *stream, guint64 n, gint64 since,
		       gint64 time, struct kmemtrace_event_v2s *to)
{
	struct kmemtrace_event_lost lost = {
		.event_id = KMEMTRACE_EVENT_LOST,
		.event_size = (guint16)stream->bpf->source.record_bytes,
		.node = KMEMTRACE_NODE_NONE,
		.events = n,
		.since = MIN(since, time),
		.timestamp = time,
	};

	memcpy(to, &lost, sizeof(lost));
	atomic_fetch_add(&stream->n_lost, n);
}

/* Write the skipped events to report, after the last record. */
static void write_skipped(KmtdBpfStream *stream, struct kmemtrace_event_v2s *to)
{
	stream->last_ns = MAX(stream->lost_ns, stream->last_ns);
	write_lost(stream, stream->n_to_report, stream->last_ns,
		   stream->last_ns, to);
	stream->n_to_report = 0;
}

/* Make the time not earlier than that of the previous record. */
static gint64 order_time(KmtdBpfStream *stream, gint64 time)
{
	if (time < stream->last_ns) {
		time = stream->last_ns;
		stream->n_backwards++;
	}
	return time;
}

/*
 * Convert the slot at @position to *event, which is all 0. Return FALSE if the
 * record is to be left out, because there was no event.
 */
static gboolean read_slot(KmtdBpfStream *stream, guint64 position, gint64 time,
			  struct kmemtrace_event_v2s *event)
{
	const struct kmtd_bpf_record *slot = slot_at(stream, position);

	time = order_time(stream, time);
	if ((slot->kind & 0xff) == KMTD_BPF_LOST) {
		write_lost(stream, slot->a, (gint64)slot->b, time, event);
	} else {
		if (is_duplicate(stream, slot) ||
		    !convert(stream, slot, time, event))
			return FALSE;
		event->v2.v1.timestamp = time;
	}
	stream->last_ns = time;
	return TRUE;
}

/*
 * Return the position after the records that can be read: after the last
 * complete record, but before a record whose successor is incomplete, because
 * its time may be too late. *@complete receives the position after the last
 * complete record. Neither is more than @max records beyond the tail.
 */
static guint64 readable_end(const KmtdBpfStream *stream, guint64 max,
			    guint64 *complete)
{
	const struct kmtd_bpf_control *control = control_of(stream);
	guint64 head = __atomic_load_n(&control->head, __ATOMIC_ACQUIRE);
	guint64 position = control->tail;
	guint64 end = MIN(head, position + max);

	while (position < end &&
	       __atomic_load_n(&slot_at(stream, position)->kind,
			       __ATOMIC_ACQUIRE))
		position++;
	*complete = position;
	return position < end && position > control->tail ? position - 1
							  : position;
}

/* Release the slots up to @end. */
static void release(KmtdBpfStream *stream, guint64 end)
{
	struct kmtd_bpf_control *control = control_of(stream);

	for (guint64 i = control->tail; i < end; i++)
		__atomic_store_n(&slot_at(stream, i)->kind, 0,
				 __ATOMIC_RELAXED);
	__atomic_store_n(&control->tail, end, __ATOMIC_RELEASE);
}

/* Forget the known caches if one was destroyed. */
static void check_caches(KmtdBpfStream *stream)
{
	guint generation = kmtd_bpf_names_generation(stream->bpf->names);

	if (generation == stream->generation)
		return;
	stream->generation = generation;
	memset(stream->known, 0, sizeof(stream->known));
}

/*
 * Read at most @max slots, some of which are left out, and write the records to
 * @to. Return the number of bytes written.
 */
static gsize read_some(KmtdBpfStream *stream, guint8 *to, gsize max,
		       guint64 *n_slots)
{
	guint64 first = control_of(stream)->tail, complete, end, i;
	guint record_bytes = stream->bpf->source.record_bytes;
	guint8 *at = to, *limit = to + max * record_bytes;

	end = readable_end(stream, max, &complete);
	/* After the head was read, so that each cache of a record is known. */
	check_caches(stream);
	if (stream->n_to_report) {
		struct kmemtrace_event_v2s event = {0};

		write_skipped(stream, &event);
		memcpy(at, &event, record_bytes);
		at += record_bytes;
	}
	for (i = first; i < end && at < limit; i++) {
		struct kmemtrace_event_v2s event = {0};
		gint64 time = time_of(stream, i, complete);

		if (time > stream->looked_ns[1])
			break;
		if (!read_slot(stream, i, time, &event))
			continue;
		memcpy(at, &event, record_bytes);
		at += record_bytes;
	}
	release(stream, i);
	*n_slots = i - first;
	return (gsize)(at - to);
}

static gssize stream_read(KmtdCpuStream *base, void *to, gsize n_bytes,
			  gboolean all)
{
	KmtdBpfStream *stream = (KmtdBpfStream *)base;
	gsize max = n_bytes / stream->bpf->source.record_bytes, n;
	guint64 n_slots;

	if (max == 0)
		return 0;
	kmtd_bpf_stream_look(stream, now_ns(), all);
	remove_old_marks(stream);
	do
		n = read_some(stream, to, max, &n_slots);
	while (n == 0 && n_slots);
	return (gssize)n;
}

/*
 * The records since the look before the last one are held back. If an
 * incomplete record holds its successors back, they are younger than the last
 * record that was read.
 */
static gint64 stream_settled_until(KmtdCpuStream *base)
{
	KmtdBpfStream *stream = (KmtdBpfStream *)base;
	guint64 tail = control_of(stream)->tail, complete;

	readable_end(stream, stream->bpf->programs.n_slots, &complete);
	if (complete == tail
		    ? __atomic_load_n(&control_of(stream)->head,
				      __ATOMIC_ACQUIRE) == tail
		    : time_of(stream, tail, complete) > stream->looked_ns[1])
		return stream->looked_ns[1];
	return MIN(stream->looked_ns[1], stream->last_ns);
}

guint64 kmtd_bpf_stream_overruns(KmtdBpfStream *stream)
{
	return __atomic_load_n(&control_of(stream)->n_lost, __ATOMIC_RELAXED) +
	       atomic_load(&stream->n_lost);
}

guint64 kmtd_bpf_stream_own_events(KmtdBpfStream *stream)
{
	return __atomic_load_n(&control_of(stream)->n_own, __ATOMIC_RELAXED);
}

static void stream_free(KmtdCpuStream *base)
{
	KmtdBpfStream *stream = (KmtdBpfStream *)base;

	g_ptr_array_remove(stream->bpf->streams, stream);
	atomic_store(&stream->bpf->by_cpu[stream->cpu], NULL);
	if (stream->slots)
		munmap(stream->slots, stream->map_bytes);
	if (stream->fd >= 0)
		close(stream->fd);
	g_free(base->name);
	g_free(stream);
}

static const KmtdCpuStreamClass stream_class = {
	.read = stream_read,
	.settled_until = stream_settled_until,
	.free = stream_free,
};

/* Make the buffer of the stream and map it. */
static gboolean map_buffer(KmtdBpfStream *stream, GError **error)
{
	KmtdBpfPrograms *programs = &stream->bpf->programs;
	void *map;

	stream->fd = kmtd_bpf_programs_add_buffer(programs, stream->cpu, error);
	if (stream->fd < 0)
		return FALSE;
	stream->map_bytes = (gsize)programs->n_slots * sizeof(*stream->slots);
	map = mmap(NULL, stream->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		   stream->fd, 0);
	if (map == MAP_FAILED) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, errno,
				      "cannot map the buffer of CPU %u",
				      stream->cpu);
		return FALSE;
	}
	stream->slots = map;
	/* The cleanup process must not keep the buffer. */
	madvise(map, stream->map_bytes, MADV_DONTFORK);
	return TRUE;
}

KmtdCpuStream *kmtd_bpf_open_cpu(KmtdSource *source, guint cpu, GError **error)
{
	KmtdBpf *bpf = (KmtdBpf *)source;
	KmtdBpfStream *stream = g_new0(KmtdBpfStream, 1);
	gint64 opened_ns = now_ns();
	g_autoptr(KmtdCpuStream) base = &stream->base;

	stream->bpf = bpf;
	stream->cpu = cpu;
	stream->fd = -1;
	stream->is_first = bpf->streams->len == 0;
	stream->last_ns = G_MININT64;
	stream->page_bytes = (guint)sysconf(_SC_PAGESIZE);
	g_ptr_array_add(bpf->streams, stream);
	base->class = &stream_class;
	base->name = g_strdup_printf("the BPF map of CPU %u", cpu);
	base->fd = -1;
	base->cannot_poll = TRUE;
	base->timeout_ms = READ_INTERVAL_MS;
	if (!map_buffer(stream, error))
		return NULL;
	atomic_store(&bpf->by_cpu[cpu], stream);
	if (!bpf->is_on)
		return g_steal_pointer(&base);
	/* The CPU came online during the recording. */
	kmtd_bpf_stream_begin(stream);
	stream->n_to_report =
		kmtd_bpf_programs_take_unbuffered(&bpf->programs, cpu);
	stream->lost_ns = opened_ns;
	return g_steal_pointer(&base);
}
