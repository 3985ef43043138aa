// SPDX-License-Identifier: GPL-2.0-only
/* The programs that record the events of an unmodified kernel. */
#include <linux/types.h>
#include <stdbool.h>

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel.h"
#include "ring.h"

char programs_license[] SEC("license") = "GPL";

/* --- settings
 * ----------------------------------------------------------------- */

/* Set by kmemtraced before it loads the programs; see bpf-programs.c. */
const volatile __u32 n_slots = 1; /* record slots of a buffer, a power of 2 */
const volatile bool recover = false; /* the second programs are attached */
/* kvfree_call_rcu() gets the offset of its head instead of the address of the
 * memory, until Linux 6.2. */
const volatile bool defer_by_offset = false;
/* kmem_cache_alloc_bulk() returns a bool instead of a number. */
const volatile bool bulk_returns_bool = false;
/* kmemtraced knows the functions of the kernel, so it can find callers. */
const volatile bool find_callers = false;

/*
 * Not 0 while events are recorded. kmemtraced attaches the programs before and
 * detaches them later, one after the other.
 */
SEC(".data.switch") volatile __u32 recording = 0;

SEC(".data.counters") volatile struct kmtd_bpf_counters counters = {0};

/* --- buffers
 * ------------------------------------------------------------------ */

/*
 * Programs may take a position between the check for room and the addition to
 * head of the programs that they interrupt or, where programs can be preempted,
 * of other tasks. So many positions stay free.
 */
#define UNFINISHED_MAX 64

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32);
	__uint(max_entries, 1); /* the possible CPUs, set by kmemtraced */
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(map_flags, BPF_F_MMAPABLE);
			__uint(key_size, sizeof(__u32));
			__uint(value_size, sizeof(struct kmtd_bpf_record));
			__uint(max_entries, 1);
		});
} buffers SEC(".maps");

/* Events of CPUs that have no buffer yet. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__uint(max_entries, 1); /* the possible CPUs, set by kmemtraced */
	__type(value, __u64);
} unbuffered SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << KMTD_BPF_MARK_BITS);
	__type(key, __u32);
	__type(value, __u64);
} marks SEC(".maps");

extern const int __preempt_count __ksym __weak;
extern const struct pcpu_hot pcpu_hot __ksym __weak;

static __always_inline __u32 preempt_count(void)
{
#ifdef KMTD_BPF_NO_CONTEXT
	return 0;
#else
	if (bpf_core_type_exists(struct pcpu_hot))
		return ((struct pcpu_hot *)bpf_this_cpu_ptr(&pcpu_hot))
			->preempt_count;
	return *(int *)bpf_this_cpu_ptr(&__preempt_count);
#endif
}

/* Bits of preempt_count in Linux 6.1 to 7.2. */
#define SOFTIRQ_SERVING 0x00000100
#define HARDIRQ_MASK	0x000f0000
#define NMI_MASK	0x00f00000

/* KMEMTRACE_FLAG_ */
#define FLAG_HARDIRQ 1
#define FLAG_SOFTIRQ 2

/* The buffer of this CPU, and the context of the event. */
struct context {
	struct kmtd_bpf_control *control;
	void *buffer;
	__u32 flags;
};

/* Count an event of a CPU that has no buffer yet. */
static __noinline int lose_unbuffered(__u32 cpu)
{
	__u64 *n = bpf_map_lookup_elem(&unbuffered, &cpu);

	if (n && recording)
		__sync_fetch_and_add(n, 1);
	return 0;
}

static __always_inline bool enter(struct context *context)
{
	__u32 cpu = bpf_get_smp_processor_id(), zero = 0;
	__u32 count = preempt_count();

	context->buffer = bpf_map_lookup_elem(&buffers, &cpu);
	if (!context->buffer) {
		lose_unbuffered(cpu);
		return false;
	}
	context->control = bpf_map_lookup_elem(context->buffer, &zero);
	if (!context->control)
		return false;
	context->flags = 0;
	if (count & SOFTIRQ_SERVING)
		context->flags = FLAG_SOFTIRQ;
	if (count & (HARDIRQ_MASK | NMI_MASK))
		context->flags |= FLAG_HARDIRQ;
	return true;
}

static __noinline int lose(struct kmtd_bpf_control *control)
{
	if (!control)
		return 0;
	if (*(volatile __u64 *)&control->n_lost == 0)
		control->lost_since = bpf_ktime_get_ns();
	__sync_fetch_and_add(&control->n_lost, 1);
	return 0;
}

static __always_inline struct kmtd_bpf_record *
take_slot(struct context *context)
{
	__u32 slot = __sync_fetch_and_add(&context->control->head, 1);

	slot = KMTD_BPF_CONTROL_SLOTS + (slot & (n_slots - 1));
	return bpf_map_lookup_elem(context->buffer, &slot);
}

/* Complete a record: the first word of the slot makes it visible. */
static __always_inline void commit(struct context *context,
				   struct kmtd_bpf_record *record, __u32 kind,
				   __u32 pid)
{
	record->pid = pid;
	barrier();
	*(volatile __u32 *)&record->kind = kind | context->flags << 8;
}

static __always_inline struct kmtd_bpf_record *reserve(struct context *context)
{
	struct kmtd_bpf_control *control = context->control;
	__u64 head = *(volatile __u64 *)&control->head;

	if (head - *(volatile __u64 *)&control->tail >=
	    n_slots - UNFINISHED_MAX) {
		lose(control);
		return NULL;
	}
	if (*(volatile __u64 *)&control->n_lost) {
		struct kmtd_bpf_record *record;
		__u64 since = control->lost_since;
		__u64 n = __sync_lock_test_and_set(&control->n_lost, 0);

		record = n ? take_slot(context) : NULL;
		if (record) {
			record->a = n;
			record->b = since;
			record->time = bpf_ktime_get_ns();
			commit(context, record, KMTD_BPF_LOST, 0);
		}
	}
	return take_slot(context);
}

/*
 * Return whether the first program of this event has recorded it. @token
 * identifies the event among those with the same address of arguments.
 */
static __always_inline bool seen(struct context *context, const void *ctx,
				 bool second, __u64 token)
{
	__u64 *mark, old, at;
	__u32 key;

	if (!recover)
		return false;
	/* The verifier refuses arithmetic with the pointer, but no copy of its
	 * lower half. */
	asm volatile("r2 = %1; w2 = w2; %0 = r2" : "=r"(at) : "r"(ctx) : "r2");
	key = at * 0x9e3779b97f4a7c15ULL >> (64 - KMTD_BPF_MARK_BITS);
	mark = bpf_map_lookup_elem(&marks, &key);
	if (!mark)
		return false;
	token = (token ^ token >> 32) << 32 >> 32 | at << 32;
	if (!second) {
		old = *mark;
		*mark = token;
		/* The mark of an event whose second program was skipped stays
		 * until the next event with this address. */
		if (old && old >> 32 != at)
			__sync_fetch_and_add(&counters.n_mark_collisions, 1);
		return false;
	}
	if (*mark == token) {
		*mark = 0;
		return true;
	}
	__sync_fetch_and_add(&context->control->n_replaced, 1);
	return false;
}

/* --- callers
 * ------------------------------------------------------------------ */

/* Names of tasks and caches. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} names SEC(".maps");

/* Samples of stacks. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 * 1024 * 1024);
} samples SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << KMTD_BPF_FRAME_BITS);
	__type(key, __u32);
	__type(value, __u64);
} frames SEC(".maps");

/*
 * For each enum kmtd_bpf_start, the distance in bytes from the arguments of the
 * program to the first return address outside of tracing; 0: not known yet.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KMTD_BPF_N_STARTS);
	__type(key, __u32);
	__type(value, __u32);
} starts SEC(".maps");

/* The longest chain of functions inside of the page allocator. */
#define CHAIN_MAX 8

/* Return the element of a return address, or 0. */
static __always_inline __u64 find_frame(__u64 address)
{
	__u32 key = kmtd_bpf_frame_hash(address);
	const __u64 *frame = bpf_map_lookup_elem(&frames, &key);

	if (frame && !((*frame ^ address) & KMTD_BPF_FRAME_ADDRESS))
		return *frame;
	key++;
	frame = bpf_map_lookup_elem(&frames, &key);
	if (frame && !((*frame ^ address) & KMTD_BPF_FRAME_ADDRESS))
		return *frame;
	return 0;
}

/* Return the first caller outside of the allocator, or 0 if it is not known. */
static __always_inline __u64 known_caller(void *ctx, __u32 start_id)
{
	const __u32 *start = bpf_map_lookup_elem(&starts, &start_id);
	__u64 slot, address, frame;

	if (!start || !*start)
		return 0;
	slot = (__u64)ctx + *start;
	for (int i = 0; i < CHAIN_MAX; i++) {
		if (bpf_probe_read_kernel(&address, sizeof(address),
					  (const void *)slot))
			return 0;
		frame = find_frame(address);
		if (!frame || (i == 0 && !(frame & KMTD_BPF_FRAME_FIRST)))
			return 0;
		if (i > 0 && (frame & KMTD_BPF_FRAME_CALLER))
			return address;
		slot += (frame >> KMTD_BPF_FRAME_SHIFT &
			 KMTD_BPF_FRAME_DISTANCE) *
			sizeof(__u64);
	}
	return 0;
}

/* Send a sample of the stack to kmemtraced. Return its id, or 0. */
static __noinline __u64 sample_stack(void *ctx, __u32 start_id)
{
	struct kmtd_bpf_sample *sample;
	__u64 id;

	if (!find_callers)
		return 0;
	sample = counters.sample_budget > 0
			 ? bpf_ringbuf_reserve(&samples, sizeof(*sample), 0)
			 : NULL;
	if (!sample) {
		__sync_fetch_and_add(&counters.n_refused_samples, 1);
		return 0;
	}
	__sync_fetch_and_add(&counters.sample_budget, -1);
	id = __sync_fetch_and_add(&counters.n_samples, 1) + 1;
	sample->id = id;
	sample->start = start_id;
	sample->n_callers =
		bpf_get_stack(ctx, sample->callers, sizeof(sample->callers), 0);
	sample->n_words = 0;
	for (int i = 0; i < KMTD_BPF_SAMPLE_WORDS; i += KMTD_BPF_SAMPLE_CHUNK) {
		if (bpf_probe_read_kernel(
			    &sample->words[i],
			    KMTD_BPF_SAMPLE_CHUNK * sizeof(__u64),
			    (const void *)((__u64)ctx + i * sizeof(__u64))))
			break;
		sample->n_words = i + KMTD_BPF_SAMPLE_CHUNK;
	}
	bpf_ringbuf_submit(sample, 0);
	return id;
}

/* --- tracepoints
 * -------------------------------------------------------------- */

/* The highest value of ptr that is no memory: kmalloc(0) returns 16. */
#define NO_MEMORY_MAX 16

static __always_inline bool is_page(__u32 kind)
{
	return kind == KMTD_BPF_PAGE_ALLOC || kind == KMTD_BPF_PAGE_FREE;
}

static __always_inline int record_event(struct bpf_raw_tracepoint_args *ctx,
					__u32 kind, bool second, __u64 ptr,
					__u64 site, __u64 a, __u64 b, __u32 gfp,
					__s32 node)
{
	struct context context;
	struct kmtd_bpf_record *record;
	__u32 start = kind == KMTD_BPF_PAGE_ALLOC ? KMTD_BPF_START_PAGE_ALLOC
						  : KMTD_BPF_START_PAGE_FREE;

	if (!enter(&context) || seen(&context, ctx, second, ptr + kind) ||
	    !recording || ptr <= NO_MEMORY_MAX)
		return 0;
	record = reserve(&context);
	if (!record)
		return 0;
	record->time = bpf_ktime_get_ns();
	if (is_page(kind))
		site = known_caller(ctx, start);
	record->sample = site ? 0 : sample_stack(ctx, start);
	record->ptr = ptr;
	record->call_site = site;
	record->a = a;
	record->b = b;
	record->gfp = gfp;
	record->node = node;
	commit(&context, record, kind, (__u32)bpf_get_current_pid_tgid());
	return 0;
}

#define TRACEPOINT(name, ...)                                                  \
	SEC("raw_tp/" #name)                                                   \
	int name##_first(struct bpf_raw_tracepoint_args *ctx)                  \
	{                                                                      \
		const bool second = false;                                     \
		return record_event(ctx, __VA_ARGS__);                         \
	}                                                                      \
	SEC("raw_tp/" #name)                                                   \
	int name##_second(struct bpf_raw_tracepoint_args *ctx)                 \
	{                                                                      \
		const bool second = true;                                      \
		return record_event(ctx, __VA_ARGS__);                         \
	}

TRACEPOINT(kmalloc, KMTD_BPF_KMALLOC, second, ctx->args[1], ctx->args[0],
	   ctx->args[2], ctx->args[3], ctx->args[4], ctx->args[5])
TRACEPOINT(kfree, KMTD_BPF_KFREE, second, ctx->args[1], ctx->args[0], 0, 0, 0,
	   0)
TRACEPOINT(kmem_cache_alloc, KMTD_BPF_CACHE_ALLOC, second, ctx->args[1],
	   ctx->args[0], ctx->args[2], 0, ctx->args[3], ctx->args[4])
TRACEPOINT(kmem_cache_free, KMTD_BPF_CACHE_FREE, second, ctx->args[1],
	   ctx->args[0], ctx->args[2], 0, 0, 0)
TRACEPOINT(mm_page_alloc, KMTD_BPF_PAGE_ALLOC, second, ctx->args[0], 0,
	   ctx->args[1], 0, ctx->args[2], -1)
TRACEPOINT(mm_page_free, KMTD_BPF_PAGE_FREE, second, ctx->args[0], 0,
	   ctx->args[1], 0, 0, 0)

/* --- functions without a tracepoint
 * ------------------------------------------- */

/* What the records of an operation have in common. */
struct operation {
	__u64 pointers; /* address of the array of the objects' addresses */
	__u64 site, sample;
	__u64 cache;
	__u32 kind;
	__u32 gfp;
};

static __always_inline int record_object(__u64 ptr,
					 const struct operation *operation)
{
	struct context context;
	struct kmtd_bpf_record *record;

	if (ptr <= NO_MEMORY_MAX || !enter(&context))
		return 0;
	record = reserve(&context);
	if (!record)
		return 0;
	record->time = bpf_ktime_get_ns();
	record->ptr = ptr;
	record->call_site = operation->site;
	record->sample = operation->sample;
	record->a = operation->cache;
	record->b = 0;
	record->gfp = operation->gfp;
	record->node = -1;
	commit(&context, record, operation->kind,
	       (__u32)bpf_get_current_pid_tgid());
	return 0;
}

/* Record one object of an operation. Called by bpf_loop(). */
static int record_one(__u32 i, struct operation *operation)
{
	__u64 ptr = 0;

	bpf_probe_read_kernel(
		&ptr, sizeof(ptr),
		(const void *)(operation->pointers + i * sizeof(ptr)));
	return record_object(ptr, operation);
}

/* Return whether this program records the operation, and find its caller. */
static __always_inline bool begin_operation(void *ctx, __u32 start_id,
					    bool second, __u64 token,
					    struct operation *operation)
{
	struct context context;

	if (!enter(&context) ||
	    seen(&context, ctx, second, token + operation->kind) || !recording)
		return false;
	operation->site = known_caller(ctx, start_id);
	operation->sample = operation->site ? 0 : sample_stack(ctx, start_id);
	return true;
}

/* int or bool kmem_cache_alloc_bulk(cache, gfp, n, pointers) */
static __always_inline int bulk_alloc(__u64 *ctx, bool second)
{
	struct operation operation = {.kind = KMTD_BPF_CACHE_ALLOC};
	__u64 gfp = 0, n = 0, result = 0;

	bpf_get_func_arg(ctx, 0, &operation.cache);
	bpf_get_func_arg(ctx, 1, &gfp);
	bpf_get_func_arg(ctx, 2, &n);
	bpf_get_func_arg(ctx, 3, &operation.pointers);
	bpf_get_func_ret(ctx, &result);
	operation.gfp = gfp;
	if (!(bulk_returns_bool ? (__u8)result : (__u32)result))
		n = 0;
	if (begin_operation(ctx, KMTD_BPF_START_BULK_ALLOC, second,
			    operation.pointers, &operation))
		bpf_loop(n, record_one, &operation, 0);
	return 0;
}

/* void kmem_cache_free_bulk(cache or NULL, n, pointers) */
static __always_inline int bulk_free(__u64 *ctx, bool second)
{
	struct operation operation = {0};
	__u64 n = 0;

	bpf_get_func_arg(ctx, 0, &operation.cache);
	bpf_get_func_arg(ctx, 1, &n);
	bpf_get_func_arg(ctx, 2, &operation.pointers);
	operation.kind = operation.cache ? KMTD_BPF_CACHE_FREE : KMTD_BPF_KFREE;
	if (begin_operation(ctx, KMTD_BPF_START_BULK_FREE, second,
			    operation.pointers, &operation))
		bpf_loop(n, record_one, &operation, 0);
	return 0;
}

/* void kvfree_call_rcu(head or NULL, memory) */
static __always_inline int defer(__u64 *ctx, bool second)
{
	struct operation operation = {.kind = KMTD_BPF_DEFER};
	__u64 head = 0, memory = 0;

	bpf_get_func_arg(ctx, 0, &head);
	bpf_get_func_arg(ctx, 1, &memory);
	if (defer_by_offset && head)
		memory = head - memory;
	if (begin_operation(ctx, KMTD_BPF_START_DEFER, second, memory,
			    &operation))
		record_object(memory, &operation);
	return 0;
}

#define HOOK(section, name)                                                    \
	SEC(section) int name##_first(__u64 *ctx)                              \
	{                                                                      \
		return name(ctx, false);                                       \
	}                                                                      \
	SEC(section) int name##_second(__u64 *ctx)                             \
	{                                                                      \
		return name(ctx, true);                                        \
	}

HOOK("fexit", bulk_alloc)
HOOK("fentry", bulk_free)
HOOK("fentry", defer)

/* --- names
 * -------------------------------------------------------------------- */

static __always_inline struct kmtd_bpf_name *new_name(__u32 kind)
{
	struct kmtd_bpf_name *name =
		bpf_ringbuf_reserve(&names, sizeof(*name), 0);

	if (!name) {
		__sync_fetch_and_add(&counters.n_lost_names, 1);
		return NULL;
	}
	__builtin_memset(name, 0, sizeof(*name));
	name->kind = kind;
	name->time = bpf_ktime_get_ns();
	return name;
}

SEC("raw_tp/task_newtask")
int task_newtask(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx->args[0];
	struct kmtd_bpf_name *name = new_name(KMTD_BPF_TASK_NEW);

	if (!name)
		return 0;
	name->pid = BPF_CORE_READ(task, pid);
	BPF_CORE_READ_STR_INTO(&name->name, task, comm);
	bpf_ringbuf_submit(name, 0);
	return 0;
}

SEC("raw_tp/task_rename")
int task_rename(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx->args[0];
	struct kmtd_bpf_name *name = new_name(KMTD_BPF_TASK_RENAME);

	if (!name)
		return 0;
	name->pid = BPF_CORE_READ(task, pid);
	BPF_CORE_READ_STR_INTO(&name->old_name, task, comm);
	bpf_probe_read_kernel_str(name->name, sizeof(name->name),
				  (const void *)ctx->args[1]);
	bpf_ringbuf_submit(name, 0);
	return 0;
}

static __always_inline void describe(const struct kmem_cache *cache,
				     struct kmtd_bpf_cache *to)
{
	const char *name = BPF_CORE_READ(cache, name);

	to->object_size = BPF_CORE_READ(cache, object_size);
	to->size = BPF_CORE_READ(cache, size);
	if (bpf_probe_read_kernel_str(to->name, sizeof(to->name), name) <= 0)
		to->size = 0;
}

/* void kmem_cache_destroy(cache or NULL) */
SEC("fentry")
int cache_gone(__u64 *ctx)
{
	struct kmtd_bpf_name *name;
	__u64 cache = 0;

	bpf_get_func_arg(ctx, 0, &cache);
	name = cache ? new_name(KMTD_BPF_CACHE_GONE) : NULL;
	if (!name)
		return 0;
	name->cache = cache;
	describe((const struct kmem_cache *)cache, &name->described);
	bpf_ringbuf_submit(name, 0);
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kmtd_bpf_cache);
} described SEC(".maps");

/* Describe the cache at the address args[0]. kmemtraced runs this program. */
SEC("raw_tp")
int describe_cache(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 zero = 0;
	struct kmtd_bpf_cache *to = bpf_map_lookup_elem(&described, &zero);

	if (to)
		describe((const struct kmem_cache *)ctx->args[0], to);
	return 0;
}

/* --- skipped programs
 * --------------------------------------------------------- */

/* A program whose skipped runs kmemtraced counts. */
struct counted_program {
	__u32 id; /* 0: end of the list */
	__u32 reserved;
	__u64 stats; /* address of the kernel's counters, per CPU */
};

#define COUNTED_MAX 64

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, COUNTED_MAX);
	__type(key, __u32);
	__type(value, struct counted_program);
} counted SEC(".maps");

#ifndef KMTD_BPF_NO_CONTEXT
/* Find the counters of the programs in the map counted. */
SEC("iter/bpf_prog")
int find_counters(struct bpf_iter__bpf_prog *ctx)
{
	struct bpf_prog *program = ctx->prog;
	__u32 id;

	if (!program)
		return 0;
	id = program->aux->id;
	for (__u32 i = 0; i < COUNTED_MAX; i++) {
		__u32 key = i;
		struct counted_program *to =
			bpf_map_lookup_elem(&counted, &key);

		if (to && to->id == id)
			to->stats = (__u64)program->stats;
	}
	return 0;
}

extern const unsigned long this_cpu_off __ksym __weak;

/* Return how often this CPU has skipped the programs in the map counted. */
SEC("raw_tp")
int count_skipped(void *ctx)
{
	__u64 base = *(__u64 *)bpf_this_cpu_ptr(&this_cpu_off);
	__u32 offset = bpf_core_field_offset(struct bpf_prog_stats, misses);
	__u32 n = 0;

	for (__u32 i = 0; i < COUNTED_MAX; i++) {
		__u32 key = i;
		struct counted_program *from =
			bpf_map_lookup_elem(&counted, &key);
		__u64 value = 0;

		if (!from || !from->id)
			break;
		if (from->stats)
			bpf_probe_read_kernel(
				&value, sizeof(value),
				(const void *)(base + from->stats + offset));
		n += value;
	}
	return n;
}
#endif
