/* SPDX-License-Identifier: GPL-2.0-only OR GPL-2.0-or-later */
/*
 * What the BPF programs write and kmemtraced reads.
 *
 * The buffer of a CPU is an array map that kmemtraced maps into its memory: a
 * power of two of record slots. Positions count records since the start and
 * never wrap; position p is in the slot p % n. The control blocks of all CPUs
 * are the elements of another map.
 *
 * Writers, which are programs on the buffer's CPU and may interrupt each other,
 * take a position by an atomic addition to head, fill the slot, and store its
 * first word last. The first word of a slot without a complete record is 0. The
 * reader clears the first word of each slot before it advances tail. The reader
 * is pinned to the same CPU, so compiler barriers suffice on both sides.
 */
#ifndef KMEMTRACED_BPF_RING_H
#define KMEMTRACED_BPF_RING_H

/* Most functions that report a large kmalloc() twice. */
#define KMTD_BPF_INNER_MAX 32

/* What the programs must know about the kernel and the recording. */
struct kmtd_bpf_settings {
	__u32 n_slots; /* record slots of a buffer, a power of 2 */
	__u32 page_bytes;
	__u32 struct_page_bytes;  /* size of struct page */
	__u32 gfp_comp;		  /* __GFP_COMP */
	__u32 n_percpu;		  /* copies of per-CPU memory */
	__u32 sample;		  /* record one of so many allocations */
	__u64 size_min, size_max; /* bytes */
	__u8 filtered;		  /* one of the filters below is set */
	__u8 by_size, by_cache, by_pid, by_comm, by_cgroup;
	__u8 children;		  /* children of recorded tasks are recorded */
	__u8 recover;		  /* the second programs are attached */
	__u8 find_callers;	  /* kmemtraced knows the functions */
	__u8 defer_by_offset;	  /* kvfree_call_rcu() gets the offset of its
				   * head instead of the address of the memory */
	__u8 bulk_returns_bool;	  /* kmem_cache_alloc_bulk() returns a bool */
	__u8 page_bulk_has_list;  /* alloc_pages_bulk() has 6 arguments, the
				   * fifth is a list */
	__u8 split_by_number;	  /* split_page_memcg() gets a number of pages
				   * instead of an order */
	__u8 split_has_new_order; /* split_page_memcg() gets both orders */
	__u8 vfree_calls_atomic;  /* vfree() calls vfree_atomic() in interrupts
				   */
	__u8 krealloc_gfp_argument; /* index of the argument gfp of krealloc()
				     */
	__u8 stacks;		    /* records have stacks */
	/* Functions that report a large kmalloc() with a call site inside them
	 * and again with that of their caller. begin < return address <= end.
	 */
	__u32 n_inner;
	struct {
		__u64 begin, end;
	} inner[KMTD_BPF_INNER_MAX];
};

/* What the attached programs do. kmemtraced attaches them one after the other.
 */
enum kmtd_bpf_recording {
	KMTD_BPF_IDLE,
	/* The first programs leave their marks, which the second ones remove.
	 */
	KMTD_BPF_MARKING,
	KMTD_BPF_RECORDING,
};

/* What kmemtraced tells the attached programs. */
struct kmtd_bpf_state {
	__u32 recording; /* enum kmtd_bpf_recording */
	__u32 own_tgid;	 /* kmemtraced; 0: its events are recorded, too */
	/* Written by describe_machine(); 0: unknown. */
	__u64 pages;   /* address of the first struct page */
	__u64 memory;  /* virtual address of the first page */
	__u64 vmalloc; /* first address of vmalloc(), before pages */
};

/* Kinds of records. */
enum kmtd_bpf_kind {
	KMTD_BPF_NONE, /* the slot has no complete record */
	KMTD_BPF_KMALLOC,
	KMTD_BPF_KFREE,
	KMTD_BPF_CACHE_ALLOC, /* a: struct kmem_cache * */
	KMTD_BPF_CACHE_FREE,  /* a: as for KMTD_BPF_CACHE_ALLOC; b: 1 if the
			       * object may be of kmalloc(), otherwise 0 */
	KMTD_BPF_PAGE_ALLOC,  /* ptr: struct page *; a: order */
	KMTD_BPF_PAGE_FREE,   /* as KMTD_BPF_PAGE_ALLOC */
	KMTD_BPF_PAGE_BULK,   /* one of many allocated pages, as PAGE_ALLOC */
	KMTD_BPF_VMALLOC,     /* a: requested bytes */
	KMTD_BPF_VFREE,
	KMTD_BPF_PERCPU_ALLOC, /* a: requested bytes for each CPU */
	KMTD_BPF_PERCPU_FREE,
	KMTD_BPF_DEFER, /* handed over to kfree_rcu() */
	KMTD_BPF_LOST,	/* a: number of events; b: time of the first one */
	KMTD_BPF_N_KINDS
};

/* A record has the size of a cache line of most machines. */
struct kmtd_bpf_record {
	__u32 kind; /* enum kmtd_bpf_kind; bits 8 to 15: KMEMTRACE_FLAG_ */
	__u32 pid;
	__u64 time; /* ns, CLOCK_MONOTONIC; read after the slot was taken */
	__u64 ptr;  /* address, unless the kind says otherwise */
	__u64 call_site; /* 0: see sample */
	__u64 a;	 /* requested bytes, unless the kind says otherwise */
	__u64 b;	 /* allocated bytes, unless the kind says otherwise */
	__u32 gfp;
	__s32 node;
	/* Id of the sample that has the call site, from 1 to
	 * KMTD_BPF_SAMPLE_LATE - 1; KMTD_BPF_SAMPLE_LATE; 0: none. */
	__u32 sample;
	__u32 stack; /* id of the call stack, from 1 on; 0: none */
};

/* The control block of a CPU has a cache line of its own. */
struct kmtd_bpf_control {
	__u64 head;	  /* written by the programs only */
	__u64 tail;	  /* written by the reader only */
	__u64 n_lost;	  /* events lost since the last LOST record */
	__u64 lost_since; /* time of the first of them */
	/*
	 * The kernel counts how often it skipped each program. Lost events are
	 * those for which it skipped both programs: the skipped runs of first
	 * programs, except those that a second program replaced, which may have
	 * run on another CPU. The kernel does not count skipped probes: each
	 * reduces this number by one.
	 */
	__u64 n_replaced;
	__u64 n_own; /* events that kmemtraced has caused, not recorded */
	__u32 sample_index;  /* of the next allocation in its block */
	__u32 sample_chosen; /* the allocation of the block to record */
	__u64 reserved;
};

/*
 * Marks of the events that a first program has recorded, each until the second
 * program of the event has seen the mark. The kernel skips a program that
 * interrupts itself; the second program then finds no mark, and records the
 * event. Both programs find the mark by the address of their arguments on the
 * stack, which no other unfinished event has.
 *
 * Each CPU has its own marks, in sets that other events of the CPU share. Where
 * tasks can be preempted, a task may move to another CPU between the two
 * programs; the second one then finds the mark among those of the other CPU. A
 * mark remains if the kernel skips the second program; kmemtraced removes a
 * mark after KMTD_BPF_MARK_NS. A task that is preempted between the two
 * programs for longer has its event recorded twice.
 */
#define KMTD_BPF_MARK_SETS 32
#define KMTD_BPF_MARK_WAYS 8 /* marks of a set, which is a cache line */
#define KMTD_BPF_MARK_NS   4000000000

struct kmtd_bpf_mark_set {
	__u64 marks[KMTD_BPF_MARK_WAYS]; /* 0: no mark */
};

/*
 * Where a program begins to look for its caller: an element of the map starts.
 */
enum kmtd_bpf_start {
	KMTD_BPF_START_PAGE_ALLOC,
	KMTD_BPF_START_PAGE_FREE,
	KMTD_BPF_START_BULK_ALLOC,
	KMTD_BPF_START_BULK_FREE,
	KMTD_BPF_START_DEFER,
	KMTD_BPF_START_RCU_SHEAF,
	KMTD_BPF_START_KREALLOC,
	KMTD_BPF_START_KMALLOC_NOLOCK,
	KMTD_BPF_START_KFREE_NOLOCK,
	KMTD_BPF_START_PAGE_BULK,
	KMTD_BPF_START_SPLIT,
	KMTD_BPF_START_SPLIT_FOLIO,
	KMTD_BPF_START_CONTIG,
	KMTD_BPF_START_TARGET,
	KMTD_BPF_START_UNUSED_TARGET,
	KMTD_BPF_START_VMAP,
	KMTD_BPF_START_VFREE,
	KMTD_BPF_START_VFREE_ATOMIC,
	KMTD_BPF_START_PERCPU_ALLOC,
	KMTD_BPF_START_PERCPU_FREE,
	KMTD_BPF_N_STARTS
};

/*
 * In place of a caller: compaction and alloc_contig_range() split and release
 * free pages, which nobody has allocated, and a worker completes frees that
 * were recorded before. That is no event.
 */
#define KMTD_BPF_NO_EVENT 1

/*
 * The map frames tells, for each return address, where the next one is on the
 * stack. The address is in one of the two elements of the pair that
 * kmtd_bpf_frame_hash() chooses. An element has
 * - bits 0 to 47: those of the return address; 0: the element is unused,
 * - bits 48 to 59: the distance to the next return address in words,
 * - bit 60: the function is a caller, not a part of the allocator,
 * - bit 61: the function has the tracepoint or the hook,
 * - bit 62: a caller whose pages are not allocated; see KMTD_BPF_NO_EVENT.
 */
#define KMTD_BPF_FRAME_BITS	16
#define KMTD_BPF_FRAME_ADDRESS	((1ULL << 48) - 1)
#define KMTD_BPF_FRAME_SHIFT	48
#define KMTD_BPF_FRAME_DISTANCE 0xfffULL
#define KMTD_BPF_FRAME_CALLER	(1ULL << 60)
#define KMTD_BPF_FRAME_FIRST	(1ULL << 61)
#define KMTD_BPF_FRAME_NO_EVENT (1ULL << 62)

/* Return the first element of the pair. The second one is the next element. */
static inline __u32 kmtd_bpf_frame_hash(__u64 address)
{
	return (__u32)(address * 0x9e3779b97f4a7c15ULL >>
		       (64 - KMTD_BPF_FRAME_BITS)) &
	       ~1U;
}

#define KMTD_BPF_SAMPLE_CALLERS 24
#define KMTD_BPF_SAMPLE_CHUNK	16 /* words that are read at once */
#define KMTD_BPF_SAMPLE_WORDS	160

/* A stack, from which kmemtraced learns the map frames. */
struct kmtd_bpf_sample {
	__u32 id;	 /* from 1 on */
	__u32 start;	 /* enum kmtd_bpf_start */
	__u32 n_words;	 /* valid elements of words */
	__s32 n_callers; /* bytes in callers, or a negative errno */
	__u64 callers[KMTD_BPF_SAMPLE_CALLERS]; /* innermost first */
	/* The stack from the arguments of the program on. */
	__u64 words[KMTD_BPF_SAMPLE_WORDS];
};

/*
 * While kmemtraced does not read samples fast enough, the programs put each
 * different stack into a map with so many elements instead. The field sample of
 * a record then has this flag, the start, and the id of the stack.
 */
#define KMTD_BPF_LATE_STACKS	   8192
#define KMTD_BPF_SAMPLE_LATE	   (1U << 31)
#define KMTD_BPF_SAMPLE_START_BIT  24
#define KMTD_BPF_SAMPLE_START_MASK 0x7fU

/*
 * The maps of stacks have so many elements each, and a stack can be only in the
 * element that its hash chooses. If another stack is there, the programs use
 * the second map, with another hash. The ids of its stacks follow those of the
 * first map.
 */
#define KMTD_BPF_STACKS	   32768
#define KMTD_BPF_STACK_IDS (2 * KMTD_BPF_STACKS)

/* Addresses of a stack that belong to tracing and the programs, at most. */
#define KMTD_BPF_STACK_EXTRA 8

/*
 * A bit in the elements of the map starts: the first return address is that of
 * the caller. Since Linux 6.19 the function that a program is attached to has
 * no return address on the stack when it returns to the program.
 */
#define KMTD_BPF_START_DIRECT (1U << 31)

/* Bits of the map pids: the kernel's PID_MAX_LIMIT. */
#define KMTD_BPF_PIDS 4194304

/* The most caches that list_caches() finds. */
#define KMTD_BPF_CACHES 4096

/* The most cgroups, and names of tasks, that a filter can tell apart. */
#define KMTD_BPF_CGROUPS 16384
#define KMTD_BPF_COMMS	 1024

#define KMTD_BPF_COMM_BYTES 16

/* The key of the map comms: names that begin with n_bits bits of name. */
struct kmtd_bpf_comm {
	__u32 n_bits;
	char name[KMTD_BPF_COMM_BYTES];
};

/* A cache, as the programs describe it. */
struct kmtd_bpf_cache {
	__u32 object_size, size; /* bytes; 0: there is no description */
	char name[96];
};

/* An element of the map listed. */
struct kmtd_bpf_listed {
	__u64 cache; /* struct kmem_cache * */
	struct kmtd_bpf_cache described;
};

/* Kinds of struct kmtd_bpf_name. */
enum kmtd_bpf_name_kind {
	KMTD_BPF_TASK_NEW,
	KMTD_BPF_TASK_RENAME,
	KMTD_BPF_CACHE_GONE, /* the cache is about to be destroyed */
	KMTD_BPF_TASK_MOVE,  /* to another cgroup */
	KMTD_BPF_CGROUP_NEW, /* struct kmtd_bpf_cgroup */
};

/* An event that names something. There is one queue for all CPUs. */
struct kmtd_bpf_name {
	__u32 kind; /* enum kmtd_bpf_name_kind */
	__u32 pid;
	__u64 time;	   /* ns, CLOCK_MONOTONIC */
	char name[16];	   /* tasks: the name from now on */
	char old_name[16]; /* KMTD_BPF_TASK_RENAME: the name until now */
	/* KMTD_BPF_TASK_NEW and KMTD_BPF_TASK_MOVE: */
	__u64 cgroup; /* its id; 0: unknown */
	__u32 parent; /* KMTD_BPF_TASK_NEW: pid of the task that calls fork() */
	__u32 tgid;   /* KMTD_BPF_TASK_NEW */
	__u32 is_whole; /* KMTD_BPF_TASK_MOVE: all tasks of the process */
	__u32 reserved;
	__u64 cache; /* KMTD_BPF_CACHE_GONE: struct kmem_cache * */
	struct kmtd_bpf_cache described; /* KMTD_BPF_CACHE_GONE */
};

#define KMTD_BPF_PATH_BYTES 512

/* A new cgroup. The kind has the same place as in struct kmtd_bpf_name. */
struct kmtd_bpf_cgroup {
	__u32 kind; /* KMTD_BPF_CGROUP_NEW */
	__u32 reserved;
	__u64 id;
	char path[KMTD_BPF_PATH_BYTES]; /* cut off if too long */
};

/* Counters of what could not be reported otherwise, for all CPUs. */
struct kmtd_bpf_counters {
	__u64 n_samples;
	__u64 n_refused_samples; /* callers that neither a sample nor a late
				  * stack describes */
	__u64 n_lost_names;	 /* the queue was full */
	__u64 n_mark_collisions; /* marks that replaced another one, or had no
				  * room */
	__s64 sample_budget;	 /* samples that may be sent until kmemtraced
				  * raises the number */
	__s64 late_budget;	 /* the same for late stacks */
};

#endif
