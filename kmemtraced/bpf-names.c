// SPDX-License-Identifier: GPL-2.0-or-later
/* The names of tasks and caches of the source "bpf". */
#include "config.h"

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <kmemtrace_abi.h>

#include "kmemtraced/bpf-private.h"
#include "lib/capture/error.h"
#include "lib/tracepoints/learned-names.h"

/* A cache that records name by the address of its struct kmem_cache. */
typedef struct {
	KmtdBpfCache cache;
	gint64 until; /* time of its destruction, in ns; G_MAXINT64: none */
} CacheAt;

struct kmtd_bpf_names {
	const KmtdBpfPrograms *programs;
	GMutex lock; /* protects all members below */
	struct ring_buffer *queue;
	KmtdTaskNames *tasks;
	KmtdTaskChanges changes;
	KmtdTaskCgroups *cgroups;
	guint n_selected; /* cgroups that the filter selects */
	guint n_unknown;  /* cgroups that the programs do not know */
	KmtTracepointTables *caches;
	GHashTable *by_address; /* guint64 * to GArray of CacheAt, by until */
	guint generation;	/* number of destroyed caches */
	int describe_fd;	/* the program describe_cache */
	int described_fd;	/* the map of its result */
};

static void add_task(KmtdBpfNames *names, const struct kmtd_bpf_name *name)
{
	KmtTracepointTaskChange change = {
		.time = (gint64)name->time,
		.pid = name->pid,
		.renamed = name->kind == KMTD_BPF_TASK_RENAME,
	};

	if (name->kind == KMTD_BPF_TASK_NEW)
		kmtd_task_cgroups_fork(names->cgroups, name->parent, name->tgid,
				       name->pid, name->cgroup, change.time);
	memcpy(change.name, name->name, sizeof(change.name));
	memcpy(change.old_name, name->old_name, sizeof(change.old_name));
	kmtd_task_changes_add(&names->changes, &change);
}

/* Return the caches that had this address, the current one last. */
static GArray *caches_at(KmtdBpfNames *names, guint64 address)
{
	GArray *array = g_hash_table_lookup(names->by_address, &address);

	if (!array) {
		array = g_array_new(FALSE, FALSE, sizeof(CacheAt));
		g_hash_table_insert(names->by_address,
				    g_memdup2(&address, sizeof(address)),
				    array);
	}
	return array;
}

static void set_cache(KmtdBpfNames *names,
		      const struct kmtd_bpf_cache *described,
		      KmtdBpfCache *cache)
{
	cache->object_size = described->object_size;
	cache->size = described->size;
	cache->is_kmalloc = g_str_has_prefix(described->name, "kmalloc-") ||
			    g_str_has_prefix(described->name, "dma-kmalloc-");
	cache->number = kmt_tracepoint_tables_cache(
		names->caches, described->name, described->object_size,
		described->size);
}

/* Let the kernel describe the cache that has this address now. */
static gboolean describe(KmtdBpfNames *names, guint64 address,
			 KmtdBpfCache *cache)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &address,
		    .ctx_size_in = sizeof(address));
	struct kmtd_bpf_cache described;
	guint32 zero = 0;

	if (bpf_prog_test_run_opts(names->describe_fd, &options) ||
	    bpf_map_lookup_elem(names->described_fd, &zero, &described) ||
	    described.size == 0)
		return FALSE;
	set_cache(names, &described, cache);
	cache->is_left_out = !kmtd_bpf_filter_learn(&names->programs->filter,
						    names->programs->object,
						    address, described.name);
	return TRUE;
}

static CacheAt *last_cache(GArray *array)
{
	return array->len ? &g_array_index(array, CacheAt, array->len - 1)
			  : NULL;
}

/* The current cache of an address ends. Another cache may get the address. */
static void end_cache(KmtdBpfNames *names, const struct kmtd_bpf_name *name)
{
	GArray *array = caches_at(names, name->cache);
	CacheAt *last = last_cache(array);

	if (!last || last->until != G_MAXINT64) {
		CacheAt at = {0};

		set_cache(names, &name->described, &at.cache);
		g_array_append_val(array, at);
		last = last_cache(array);
	}
	last->until = (gint64)name->time;
	names->generation++;
	kmtd_bpf_filter_forget(names->programs->object, name->cache);
}

/* Pass a cgroup to the filter, and count the cgroup if it is selected. */
static void learn_cgroup(guint64 id, const char *path, gpointer data)
{
	KmtdBpfNames *names = data;
	gboolean passes;

	if (!kmtd_bpf_filter_learn_cgroup(&names->programs->filter,
					  names->programs->object, id, path,
					  &passes))
		names->n_unknown++;
	if (passes)
		names->n_selected++;
}

static int take_name(void *data, void *event, size_t n_bytes)
{
	KmtdBpfNames *names = data;
	const struct kmtd_bpf_name *name = event;
	const struct kmtd_bpf_cgroup *cgroup = event;

	if (n_bytes < sizeof(*name))
		return 0;
	switch (name->kind) {
	case KMTD_BPF_CACHE_GONE:
		end_cache(names, name);
		break;
	case KMTD_BPF_CGROUP_NEW:
		kmtd_task_cgroups_add(names->cgroups, cgroup->id, cgroup->path);
		learn_cgroup(cgroup->id, cgroup->path, names);
		break;
	case KMTD_BPF_TASK_MOVE:
		kmtd_task_cgroups_move(names->cgroups, name->pid,
				       name->is_whole != 0, name->cgroup,
				       (gint64)name->time);
		break;
	default:
		add_task(names, name);
	}
	return 0;
}

KmtdBpfNames *kmtd_bpf_names_new(const KmtdBpfPrograms *programs,
				 const char *proc, GError **error)
{
	const struct bpf_object *object = programs->object;
	KmtdBpfNames *names = g_new0(KmtdBpfNames, 1);

	names->programs = programs;
	g_mutex_init(&names->lock);
	names->tasks = kmtd_task_names_new(proc);
	names->cgroups = kmtd_task_cgroups_new(proc);
	names->caches = kmt_tracepoint_tables_new();
	kmtd_task_changes_init(&names->changes);
	names->by_address =
		g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
				      (GDestroyNotify)g_array_unref);
	names->describe_fd = bpf_program__fd(
		bpf_object__find_program_by_name(object, "describe_cache"));
	names->described_fd =
		bpf_object__find_map_fd_by_name(object, "described");
	names->queue = ring_buffer__new(
		bpf_object__find_map_fd_by_name(object, "names"), take_name,
		names, NULL);
	if (names->queue)
		return names;
	kmt_capture_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, errno,
			      "cannot read the names of tasks from BPF");
	kmtd_bpf_names_free(names);
	return NULL;
}

void kmtd_bpf_names_free(KmtdBpfNames *names)
{
	if (!names)
		return;
	ring_buffer__free(names->queue);
	kmtd_task_names_free(names->tasks);
	kmtd_task_cgroups_free(names->cgroups);
	kmt_tracepoint_tables_free(names->caches);
	kmtd_task_changes_clear(&names->changes);
	g_hash_table_unref(names->by_address);
	g_mutex_clear(&names->lock);
	g_free(names);
}

int kmtd_bpf_names_fd(KmtdBpfNames *names)
{
	return ring_buffer__epoll_fd(names->queue);
}

void kmtd_bpf_names_poll(KmtdBpfNames *names)
{
	g_mutex_lock(&names->lock);
	ring_buffer__consume(names->queue);
	g_mutex_unlock(&names->lock);
}

gboolean kmtd_bpf_names_begin(KmtdBpfNames *names, guint *n_cgroups,
			      GError **error)
{
	gboolean is_mounted;

	kmtd_task_names_begin(names->tasks);
	g_mutex_lock(&names->lock);
	is_mounted = kmtd_task_cgroups_read(names->cgroups);
	kmtd_task_cgroups_foreach(names->cgroups, learn_cgroup, names);
	*n_cgroups = names->n_selected;
	g_mutex_unlock(&names->lock);
	if (is_mounted || !names->programs->filter.cgroups->len)
		return TRUE;
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_NO_CGROUPS,
		    "cannot select cgroups: cgroup v2 is not mounted");
	return FALSE;
}

void kmtd_bpf_names_end(KmtdBpfNames *names)
{
	kmtd_task_names_end(names->tasks);
	kmtd_bpf_names_poll(names);
}

guint kmtd_bpf_names_n_unknown_cgroups(KmtdBpfNames *names)
{
	guint n;

	g_mutex_lock(&names->lock);
	n = names->n_unknown;
	g_mutex_unlock(&names->lock);
	return n;
}

void kmtd_bpf_names_conclude(KmtdBpfNames *names, gboolean is_exact,
			     gint64 last_ns)
{
	g_autoptr(GPtrArray) changes = g_ptr_array_new();

	g_ptr_array_add(changes, &names->changes);
	kmtd_task_names_merge(names->tasks, changes,
			      is_exact && names->changes.n_dropped == 0,
			      last_ns);
}

gboolean kmtd_bpf_names_cache(KmtdBpfNames *names, guint64 address, gint64 time,
			      KmtdBpfCache *cache)
{
	GArray *array;
	const CacheAt *last;
	gboolean is_known = TRUE;

	g_mutex_lock(&names->lock);
	ring_buffer__consume(names->queue);
	array = caches_at(names, address);
	last = last_cache(array);
	if (!last || last->until < time) {
		CacheAt at = {.until = G_MAXINT64};

		is_known = describe(names, address, &at.cache);
		if (is_known)
			g_array_append_val(array, at);
	}
	if (is_known) {
		guint i = 0;

		while (g_array_index(array, CacheAt, i).until < time)
			i++;
		*cache = g_array_index(array, CacheAt, i).cache;
	}
	g_mutex_unlock(&names->lock);
	return is_known;
}

guint kmtd_bpf_names_generation(KmtdBpfNames *names)
{
	guint generation;

	g_mutex_lock(&names->lock);
	ring_buffer__consume(names->queue);
	generation = names->generation;
	g_mutex_unlock(&names->lock);
	return generation;
}

char *kmtd_bpf_names_table(KmtdBpfNames *names, const char *table)
{
	char *text = NULL;

	g_mutex_lock(&names->lock);
	if (g_str_equal(table, "tasks"))
		text = kmtd_task_names_text(names->tasks);
	else if (g_str_equal(table, "cgroups"))
		text = kmtd_task_cgroups_text(names->cgroups);
	else if (g_str_equal(table, "caches"))
		text = kmt_tracepoint_tables_caches_text(names->caches, FALSE);
	g_mutex_unlock(&names->lock);
	return text;
}
