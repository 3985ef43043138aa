/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the event source "bpf", and the operations that the files
 * bpf-*.c implement.
 */
#ifndef KMEMTRACED_BPF_PRIVATE_H
#define KMEMTRACED_BPF_PRIVATE_H

#include <stdatomic.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "kmemtraced/bpf/ring.h"
#include "kmemtraced/event-source.h"
#include "kmemtraced/online-cpus.h"
#include "kmemtraced/task-cgroups.h"
#include "kmemtraced/task-names.h"
#include "lib/tracepoints/inner-functions.h"

/* What the options -F, -p, -c and --cgroup demand. */
typedef struct {
	char *text; /* as the kernel's kmemtrace writes it; NULL: no filter */
	gboolean by_size;
	guint64 size_min, size_max; /* bytes */
	char **caches;		    /* globs of names; NULL: all caches */
	GArray *pids;		    /* of guint32; empty: all tasks */
	gboolean children;
	GPtrArray *cgroups;  /* of char *, globs of paths; empty: all cgroups */
	GPtrArray *commands; /* of char *, names of tasks, possibly with a final
			      * '*'; empty: all tasks */
	guint32 sample;	     /* 0: all allocations */
} KmtdBpfFilter;

/* The programs and maps in the kernel. They exist as long as this process. */
typedef struct {
	struct bpf_object *object;
	struct bpf_map *buffers; /* the buffer of each CPU */
	guint n_possible;	 /* the highest possible CPU, plus 1 */
	guint n_percpu;		 /* copies of per-CPU memory */
	guint32 n_slots;	 /* record slots of a buffer, a power of 2 */
	gboolean has_context;	 /* records tell interrupts from tasks */
	gboolean has_paths;	 /* programs can be attached to functions */
	gboolean recover;	 /* a second program records missed events */
	gboolean find_callers;	 /* the names of functions are known */
	/* Functions that report a large kmalloc() twice. Not owned. */
	const KmtTracepointInner *inner;
	guint stack_depth; /* callers of a stack, at most; 0: no stacks */
	KmtdBpfFilter filter;
	GHashTable *links;    /* name of a program to its struct bpf_link */
	GHashTable *attached; /* set of the names of the attached programs;
			       * survives that they are detached */
	GHashTable
		*absent; /* set of the names of paths that the kernel lacks */
	int count_skipped_fd;	 /* the program count_skipped; -1: none */
	guint struct_page_bytes; /* size of struct page */
	/* Variables of the programs, in shared memory. */
	struct kmtd_bpf_state *state;
	struct kmtd_bpf_counters *counters;
	struct kmtd_bpf_control *controls; /* by CPU, n_possible elements */
	struct kmtd_bpf_mark_set
		*mark_sets; /* KMTD_BPF_MARK_SETS for each of these CPUs */
} KmtdBpfPrograms;

/* Which part of the kernel a function belongs to. */
typedef enum {
	KMTD_BPF_CALLER,    /* none of the parts below */
	KMTD_BPF_INTERRUPT, /* a caller at which the stack of an interrupt
			     * begins */
	KMTD_BPF_ALLOCATOR,
	KMTD_BPF_HOOKED,    /* of the allocator, and always returns to code that
			     * runs programs, while these are attached to its exit
			     */
	KMTD_BPF_PREPARING, /* splits or releases free pages, or completes a
			     * free that was recorded before */
	KMTD_BPF_TRACING
} KmtdBpfPart;

/* A function that is no mere caller, or that programs are attached to. */
typedef struct {
	guint64 begin, end;
	KmtdBpfPart part;
	gint start; /* enum kmtd_bpf_start of the programs that are attached to
		     * the function; -1: none */
} KmtdBpfFunction;

/* The functions of the kernel. Any thread may use them; they never change. */
typedef struct kmtd_bpf_functions KmtdBpfFunctions;

/* The callers of the page allocator. Any thread may use it. */
typedef struct kmtd_bpf_callers KmtdBpfCallers;

/* The call stacks of events. Any thread may use them. */
typedef struct kmtd_bpf_stacks KmtdBpfStacks;

/* The names of tasks and caches. Any thread may use it. */
typedef struct kmtd_bpf_names KmtdBpfNames;

/* A cache as the records describe it. */
typedef struct {
	guint32 object_size, size; /* bytes; 0: unknown */
	guint16 number;		   /* KMEMTRACE_CACHE_NONE: unknown */
	gboolean is_left_out;	   /* by the filter */
	gboolean is_kmalloc;	   /* a cache of kmalloc() */
} KmtdBpfCache;

/* Number of caches that a stream finds without a lock. */
#define KMTD_BPF_KNOWN_CACHES 256

#define KMTD_BPF_RECENT_PAGES 16

typedef struct kmtd_bpf_stream KmtdBpfStream;

/* The source. */
typedef struct {
	KmtdSource source;
	KmtdBpfPrograms programs;
	KmtdBpfFunctions *functions;
	KmtdBpfCallers *callers;
	KmtdBpfNames *names;   /* NULL until the programs are loaded */
	KmtdBpfStacks *stacks; /* NULL: records have no stacks */
	char *proc;
	gboolean keep_own;
	gboolean is_on;
	_Atomic gboolean is_over; /* no program runs any more */
	/* Valid if is_over: the balance of CPUs that are offline, or had no
	 * stream for a time; and events that such CPUs have lost. */
	_Atomic gint64 rest;
	_Atomic guint64 n_unbuffered;
	guint64 n_skipped_before; /* programs of all CPUs, before the recording
				   */
	GMutex balance_lock;	  /* of the member given of all streams */
	KmtdOnlineCpus *cpus;
	GPtrArray *streams; /* of KmtdBpfStream *; main thread only */
	/* The streams by CPU, n_possible elements; any thread. */
	_Atomic(KmtdBpfStream *) *by_cpu;
	guint64 buffer_kb; /* see KmtdSourceOptions */
	void (*warning)(const char *text);
} KmtdBpf;

/* The stream of one CPU. */
struct kmtd_bpf_stream {
	KmtdCpuStream base;
	KmtdBpf *bpf;
	guint cpu;
	gboolean is_first; /* reports the skipped events of all CPUs, if the
			    * kernel does not count them by CPU */
	int fd;		   /* the map that is the CPU's buffer */
	struct kmtd_bpf_record *slots;
	gsize map_bytes;
	guint page_bytes;
	gint64 last_ns;		/* time of the last record */
	_Atomic guint64 n_lost; /* events in the LOST records so far */
	/*
	 * The runs of first programs that the CPU has skipped since the start,
	 * minus the events that second programs have recorded on this CPU.
	 * Negative if these replaced first programs on other CPUs.
	 */
	_Atomic gint64 balance;
	gint64 balance_before; /* at the start */
	_Atomic gint64 given;  /* replaced events that other streams have
				* subtracted from their own balance */
	/* Events that both programs skipped. */
	guint64 n_skipped_last;	    /* at the last look */
	guint64 n_skipped_settled;  /* reported, or replaced on another CPU */
	guint64 n_skipped_reported; /* in the LOST records so far */
	gint64 looked_ns[2]; /* times of the last look and the one before */
	guint64 n_to_report; /* skipped events without a LOST record */
	gint64 lost_ns;	     /* they occurred after this time */
	guint64 n_backwards;
	/* The marks of the CPU at the last look for old ones, and its time. */
	guint64 old_marks[KMTD_BPF_MARK_SETS * KMTD_BPF_MARK_WAYS];
	gint64 marks_ns;
	/* The latest pages of the tracepoint; see is_duplicate(). */
	struct {
		guint64 page; /* address of struct page; 0: unused */
		guint32 pid;
	} recent[KMTD_BPF_RECENT_PAGES];
	guint n_recent;
	guint generation; /* of the caches in known */
	struct {
		guint64 address; /* 0: unused */
		KmtdBpfCache cache;
	} known[KMTD_BPF_KNOWN_CACHES];
};

/*
 * Parse the filter of the options. Return FALSE and set an error on failure.
 * Clear @filter with kmtd_bpf_filter_clear(), also after a failure.
 */
gboolean kmtd_bpf_filter_parse(KmtdBpfFilter *filter,
			       const KmtdSourceOptions *options,
			       GError **error);
void kmtd_bpf_filter_clear(KmtdBpfFilter *filter);

/* Give the maps of the filter in @object, which is not loaded yet, their size.
 */
void kmtd_bpf_filter_size_maps(const KmtdBpfFilter *filter,
			       struct bpf_object *object);

/* Set the members of @settings that depend on the filter. */
void kmtd_bpf_filter_describe(const KmtdBpfFilter *filter,
			      struct kmtd_bpf_settings *settings);

/*
 * Let the loaded programs of @object know the tasks and the caches of the
 * filter. Return FALSE and set an error on failure.
 */
gboolean kmtd_bpf_filter_apply(const KmtdBpfFilter *filter,
			       const struct bpf_object *object, GError **error);

/* Let the programs know a new cache. Return whether its objects are recorded.
 */
gboolean kmtd_bpf_filter_learn(const KmtdBpfFilter *filter,
			       const struct bpf_object *object, guint64 cache,
			       const char *name);

/*
 * Set *passes to whether the filter selects the cgroup @id with this path, and
 * store the result for the programs. Return FALSE if the map of the programs is
 * full: they record the tasks of this cgroup.
 */
gboolean kmtd_bpf_filter_learn_cgroup(const KmtdBpfFilter *filter,
				      const struct bpf_object *object,
				      guint64 id, const char *path,
				      gboolean *passes);

/* The cache is destroyed; another one may get its address. */
void kmtd_bpf_filter_forget(const struct bpf_object *object, guint64 cache);

/* Set an error: it is not possible to @what. @code is an errno. */
void kmtd_bpf_set_error(GError **error, int code, const char *what);

/* Return the map whose name ends in @suffix, or NULL. */
struct bpf_map *kmtd_bpf_find_map(struct bpf_object *object,
				  const char *suffix);

/* Create a map for a buffer. Return its descriptor, or -1 and set errno. */
int kmtd_bpf_create_buffer(guint32 n_slots);

/* Find the kernel's counters of skipped runs, for the functions below. */
void kmtd_bpf_find_counters(KmtdBpfPrograms *programs);

/*
 * Load the programs into the kernel, with buffers of @n_slots records, a power
 * of 2. Return FALSE and set an error on failure. Release them with
 * kmtd_bpf_programs_unload(), also after a failure.
 */
gboolean kmtd_bpf_programs_load(KmtdBpfPrograms *programs, guint32 n_slots,
				GError **error);
void kmtd_bpf_programs_unload(KmtdBpfPrograms *programs);

/*
 * Return how often the kernel has skipped the first programs, because they
 * interrupted themselves: on all CPUs, or on @cpu. The second function
 * allocates memory in the kernel, and returns FALSE if the CPU is offline. If
 * the kernel does not publish the counters by CPU, *n is the sum of all CPUs
 * for @is_first_cpu, and 0 for the other CPUs.
 */
guint64 kmtd_bpf_programs_skipped(const KmtdBpfPrograms *programs);
gboolean kmtd_bpf_programs_skipped_on(const KmtdBpfPrograms *programs,
				      guint cpu, gboolean is_first_cpu,
				      guint64 *n);

/*
 * Tell the programs what they must know about the kernel, whose types are in
 * @btf (NULL: unknown).
 */
void kmtd_bpf_paths_describe(const KmtdBpfPrograms *programs,
			     const struct btf *btf,
			     struct kmtd_bpf_settings *settings);

/*
 * Return whether the tracepoints of the kernel, whose types are in @btf, have
 * the arguments that the programs read: those since Linux 6.1.
 */
gboolean kmtd_bpf_paths_fit(const struct btf *btf);

/*
 * Choose the function of this kernel for each program of a path. Programs
 * without a function are not loaded.
 */
void kmtd_bpf_paths_choose(KmtdBpfPrograms *programs, const struct btf *btf);

/*
 * After the programs were attached: attach probes where programs could not be
 * attached to a function, and detach the programs that are of no use without a
 * program that could not be attached.
 */
void kmtd_bpf_paths_complete(KmtdBpfPrograms *programs);

/* Return the functions that the path @name can have, an array of 4 strings of
 * which the unused ones are NULL, or NULL if there is no such path. */
const char *const *kmtd_bpf_paths_functions(const char *name);

/* Return the number of ways to allocate or free memory that the attached
 * programs do not record. */
guint kmtd_bpf_paths_n_gaps(const KmtdBpfPrograms *programs);

/*
 * Return what the attached programs do not record: a new array of constant
 * strings.
 */
GPtrArray *kmtd_bpf_paths_not_seen(const KmtdBpfPrograms *programs);

/* Wait until no program runs that has begun before the call. */
void kmtd_bpf_programs_wait(const KmtdBpfPrograms *programs, guint cpu, int fd);

/* Return the number of events that @cpu has lost without a buffer since the
 * last call. */
guint64 kmtd_bpf_programs_take_unbuffered(const KmtdBpfPrograms *programs,
					  guint cpu);

/*
 * Called in the cleanup process: close all descriptors, so that the kernel
 * removes the programs when kmemtraced closes its own.
 */
void kmtd_bpf_programs_close_inherited(KmtdBpfPrograms *programs);

/*
 * Let the loaded programs describe the machine in programs->state, and set
 * *tgid to the number of this process in the kernel's own pid namespace. Return
 * FALSE and set an error on failure.
 */
gboolean kmtd_bpf_programs_describe(KmtdBpfPrograms *programs, guint32 *tgid,
				    GError **error);

/* Let the attached programs record events or not. */
void kmtd_bpf_programs_record(KmtdBpfPrograms *programs,
			      enum kmtd_bpf_recording recording);

/* Add the link of an attached program. Takes ownership of @link. */
void kmtd_bpf_programs_add_link(KmtdBpfPrograms *programs, const char *name,
				struct bpf_link *link);

/* Attach all programs, or detach them. */
gboolean kmtd_bpf_programs_attach(KmtdBpfPrograms *programs, GError **error);
void kmtd_bpf_programs_detach(KmtdBpfPrograms *programs);

/*
 * Make the buffer of @cpu. Return the file descriptor of the map, or -1 with an
 * error.
 */
int kmtd_bpf_programs_add_buffer(KmtdBpfPrograms *programs, guint cpu,
				 GError **error);

/*
 * Read the functions of the kernel from kallsyms. @proc is the mount point of
 * procfs. Without permission, no function is known.
 */
KmtdBpfFunctions *kmtd_bpf_functions_new(const char *proc);
void kmtd_bpf_functions_free(KmtdBpfFunctions *functions);
gboolean kmtd_bpf_functions_are_known(const KmtdBpfFunctions *functions);

/* Return the functions that report a large kmalloc() twice. */
const KmtTracepointInner *
kmtd_bpf_functions_inner(const KmtdBpfFunctions *functions);

/* Return the function that contains a return address, or NULL. */
const KmtdBpfFunction *
kmtd_bpf_functions_find(const KmtdBpfFunctions *functions, guint64 address);

/* Return the part of the kernel that contains a return address. */
KmtdBpfPart kmtd_bpf_functions_part(const KmtdBpfFunctions *functions,
				    guint64 address);

/* Return whether an address is in the kernel itself, not in a module or in code
 * that the kernel has generated. */
gboolean kmtd_bpf_functions_is_kernel(const KmtdBpfFunctions *functions,
				      guint64 address);

/* Create the callers. @functions must outlive them. The programs can find
 * callers if the functions are known. */
KmtdBpfCallers *kmtd_bpf_callers_new(const KmtdBpfFunctions *functions);
void kmtd_bpf_callers_free(KmtdBpfCallers *callers);

/*
 * Use the maps and the queue of samples of @object, which holds the loaded
 * programs. Return FALSE and set an error on failure.
 */
gboolean kmtd_bpf_callers_attach(KmtdBpfCallers *callers,
				 struct bpf_object *object, GError **error);
void kmtd_bpf_callers_detach(KmtdBpfCallers *callers);

/* Return a descriptor that is readable while samples wait in the queue. */
int kmtd_bpf_callers_fd(KmtdBpfCallers *callers);

/* Read the samples that wait in the queue. */
void kmtd_bpf_callers_poll(KmtdBpfCallers *callers);

/* Return the caller in the sample @id; 0 if the sample is missing. */
guint64 kmtd_bpf_callers_find(KmtdBpfCallers *callers, guint64 id);

/* Write figures about the samples to @meta. */
void kmtd_bpf_callers_describe(KmtdBpfCallers *callers, GKeyFile *meta);

/*
 * Create the table of stacks with at most @depth callers each. @programs are
 * loaded; they and @functions must outlive the result.
 */
KmtdBpfStacks *kmtd_bpf_stacks_new(const KmtdBpfPrograms *programs,
				   const KmtdBpfFunctions *functions,
				   guint depth);
void kmtd_bpf_stacks_free(KmtdBpfStacks *stacks);

/*
 * Return the number in the table of the stack that a program has given @id. The
 * stack begins with @call_site if the unwinder has found it. Return 0 and count
 * the record if there is no such stack.
 */
guint32 kmtd_bpf_stacks_find(KmtdBpfStacks *stacks, guint32 id,
			     guint64 call_site);

/* Return the text of the table, newly allocated. */
char *kmtd_bpf_stacks_text(KmtdBpfStacks *stacks);

/*
 * Create the names. @programs are loaded and must outlive the result. @proc is
 * the mount point of procfs. Return NULL and set an error on failure.
 */
KmtdBpfNames *kmtd_bpf_names_new(const KmtdBpfPrograms *programs,
				 const char *proc, GError **error);
void kmtd_bpf_names_free(KmtdBpfNames *names);

/* Return a descriptor that is readable while names wait in the queue. */
int kmtd_bpf_names_fd(KmtdBpfNames *names);

/* Read the names that wait in the queue. */
void kmtd_bpf_names_poll(KmtdBpfNames *names);

/*
 * Read the names and cgroups of all tasks from /proc, before the recording,
 * when the programs already report changes. Set *n_cgroups to the number of
 * existing cgroups that the filter selects. Return FALSE and set an error if
 * the filter selects cgroups and the machine has none.
 */
gboolean kmtd_bpf_names_begin(KmtdBpfNames *names, guint *n_cgroups,
			      GError **error);

/* Read the names of all tasks from /proc after the recording. */
void kmtd_bpf_names_end(KmtdBpfNames *names);

/* Return the number of cgroups that the filter cannot decide about. */
guint kmtd_bpf_names_n_unknown_cgroups(KmtdBpfNames *names);

/* Complete the names after the recording, whose last record is of @last_ns.
 * @is_exact: the queue has lost no name. */
void kmtd_bpf_names_conclude(KmtdBpfNames *names, gboolean is_exact,
			     gint64 last_ns);

/*
 * Describe in *cache the cache that had this address at @time, in ns. Return
 * FALSE if it is not known.
 */
gboolean kmtd_bpf_names_cache(KmtdBpfNames *names, guint64 address, gint64 time,
			      KmtdBpfCache *cache);

/*
 * Return a number that changes when a cache is destroyed, so that another cache
 * may get its address. Reads the names that wait in the queue.
 */
guint kmtd_bpf_names_generation(KmtdBpfNames *names);

/* Return the text of the table, newly allocated, or NULL if it is empty. */
char *kmtd_bpf_names_table(KmtdBpfNames *names, const char *table);

/* Open the stream of a CPU: KmtdSourceClass.open_cpu. */
KmtdCpuStream *kmtd_bpf_open_cpu(KmtdSource *source, guint cpu, GError **error);

/* Return the number of events that the CPU of the stream has lost so far. */
guint64 kmtd_bpf_stream_overruns(KmtdBpfStream *stream);

/* Return the number of events that kmemtraced has caused on the CPU. */
guint64 kmtd_bpf_stream_own_events(KmtdBpfStream *stream);

/*
 * Begin and end the count of the events that both programs skip: directly
 * before the recording, and after the recording, when no program runs any more.
 */
void kmtd_bpf_streams_begin(KmtdBpf *bpf);
void kmtd_bpf_streams_end(KmtdBpf *bpf);

/* The same as kmtd_bpf_streams_begin() for a CPU that comes online later. */
void kmtd_bpf_stream_begin(KmtdBpfStream *stream);

/*
 * Look for events that were skipped, if some time has passed since the last
 * look or, with @all, at the end, when the CPU runs no program. @time: now, in
 * ns of CLOCK_MONOTONIC. An event may be between its two programs, so only what
 * was missing at the look before is lost. That event occurred between that look
 * and the one before it, at looked_ns[1]. The caller has read no record from
 * after that time.
 */
void kmtd_bpf_stream_look(KmtdBpfStream *stream, gint64 time, gboolean all);

#endif
