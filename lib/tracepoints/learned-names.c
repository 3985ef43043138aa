// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <kmemtrace_abi.h>
#include <string.h>

#include "lib/tracepoints/learned-names.h"

typedef struct {
	char *name;
	guint16 number;
	/* Largest requested size, and allocated size, of the objects in bytes;
	 * 0: no allocation was seen. */
	guint64 object_size, size;
	gboolean shared; /* only in the first cache with this name: another
			  * cache has the same name */
	guint16 first;	 /* number of the first cache with this name; 0 in
			  * the first one */
} Cache;

/* A former name of a task, valid until a time in ns. */
typedef struct {
	guint32 pid;
	gint64 until;
	char *name;
} OldName;

struct KmtTracepointTables {
	GPtrArray *caches;    /* Cache *; the index is the number minus 1 */
	GHashTable *by_name;  /* name -> first Cache with this name */
	GHashTable *by_size;  /* further caches, by first and size */
	GHashTable *tasks;    /* pid -> name; NULL if the name is unknown */
	GArray *old;	      /* OldName */
	guint32 last_pid;     /* pid of the last added task, if any_pid */
	gboolean any_pid;     /* whether a task was added */
	guint64 n_dropped;    /* task names that were lost */
	gint64 dropped_until; /* time in ns of the last such loss */
};

static void cache_free(gpointer data)
{
	g_free(((Cache *)data)->name);
	g_free(data);
}

static void old_name_clear(gpointer data)
{
	g_free(((OldName *)data)->name);
}

static guint size_hash(gconstpointer p)
{
	const Cache *cache = p;

	return g_int64_hash(&cache->size) * 31 + cache->first;
}

static gboolean size_equal(gconstpointer a, gconstpointer b)
{
	const Cache *x = a, *y = b;

	return x->first == y->first && x->size == y->size;
}

KmtTracepointTables *kmt_tracepoint_tables_new(void)
{
	KmtTracepointTables *names = g_new0(KmtTracepointTables, 1);

	names->caches = g_ptr_array_new_with_free_func(cache_free);
	names->by_name = g_hash_table_new(g_str_hash, g_str_equal);
	names->by_size = g_hash_table_new(size_hash, size_equal);
	names->tasks = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	names->old = g_array_new(FALSE, FALSE, sizeof(OldName));
	g_array_set_clear_func(names->old, old_name_clear);
	return names;
}

void kmt_tracepoint_tables_free(KmtTracepointTables *names)
{
	if (!names)
		return;
	g_hash_table_unref(names->by_name);
	g_hash_table_unref(names->by_size);
	g_hash_table_unref(names->tasks);
	g_ptr_array_unref(names->caches);
	g_array_unref(names->old);
	g_free(names);
}

/* Add a cache with the next number. Returns NULL if all numbers are in use. */
static Cache *add_cache(KmtTracepointTables *names, const char *name)
{
	Cache *cache;

	if (names->caches->len >= G_MAXUINT16)
		return NULL;
	cache = g_new0(Cache, 1);
	cache->name = g_strdup(name);
	cache->number = (guint16)(names->caches->len + 1);
	g_ptr_array_add(names->caches, cache);
	return cache;
}

/*
 * Return the cache with the name of first and the size bytes_alloc, which is
 * created if it is new. Returns NULL if all numbers are in use.
 */
static Cache *find_by_size(KmtTracepointTables *names, Cache *first,
			   guint64 bytes_alloc)
{
	const Cache wanted = {.first = first->number, .size = bytes_alloc};
	Cache *cache = g_hash_table_lookup(names->by_size, &wanted);

	if (cache)
		return cache;
	first->shared = TRUE;
	cache = add_cache(names, first->name);
	if (!cache)
		return NULL;
	cache->first = first->number;
	cache->size = bytes_alloc;
	g_hash_table_add(names->by_size, cache);
	return cache;
}

guint16 kmt_tracepoint_tables_cache(KmtTracepointTables *names,
				    const char *name, guint64 bytes_req,
				    guint64 bytes_alloc)
{
	Cache *cache = g_hash_table_lookup(names->by_name, name);

	if (!cache) {
		cache = add_cache(names, name);
		if (!cache)
			return KMEMTRACE_CACHE_NONE;
		g_hash_table_insert(names->by_name, cache->name, cache);
	}
	if (bytes_alloc == 0)
		return cache->shared ? KMEMTRACE_CACHE_NONE : cache->number;
	if (cache->size == 0)
		cache->size = bytes_alloc;
	else if (cache->size != bytes_alloc)
		cache = find_by_size(names, cache, bytes_alloc);
	if (!cache)
		return KMEMTRACE_CACHE_NONE;
	cache->object_size = MAX(cache->object_size, bytes_req);
	return cache->number;
}

void kmt_tracepoint_tables_add_task(KmtTracepointTables *names, guint32 pid)
{
	if (names->any_pid && names->last_pid == pid)
		return;
	names->any_pid = TRUE;
	names->last_pid = pid;
	if (!g_hash_table_contains(names->tasks, GUINT_TO_POINTER(pid)))
		g_hash_table_insert(names->tasks, GUINT_TO_POINTER(pid), NULL);
}

void kmt_tracepoint_tables_set_task(KmtTracepointTables *names, guint32 pid,
				    gint64 time, const char *name)
{
	const char *before =
		g_hash_table_lookup(names->tasks, GUINT_TO_POINTER(pid));

	if (before && strcmp(before, name) == 0)
		return;
	if (before) {
		OldName old = {pid, time, g_strdup(before)};

		g_array_append_val(names->old, old);
	}
	g_hash_table_insert(names->tasks, GUINT_TO_POINTER(pid),
			    g_strdup(name));
}

const char *kmt_tracepoint_tables_task(const KmtTracepointTables *names,
				       guint32 pid)
{
	return g_hash_table_lookup(names->tasks, GUINT_TO_POINTER(pid));
}

void kmt_tracepoint_tables_correct_task(KmtTracepointTables *names, guint32 pid,
					const char *name)
{
	g_hash_table_insert(names->tasks, GUINT_TO_POINTER(pid),
			    g_strdup(name));
}

void kmt_tracepoint_tables_drop_tasks(KmtTracepointTables *names, guint64 n,
				      gint64 until)
{
	if (n == 0)
		return;
	names->n_dropped += n;
	names->dropped_until = MAX(names->dropped_until, until);
}

GArray *kmt_tracepoint_tables_unnamed_tasks(const KmtTracepointTables *names)
{
	GArray *pids = g_array_new(FALSE, FALSE, sizeof(guint32));
	GHashTableIter iter;
	gpointer pid, name;

	g_hash_table_iter_init(&iter, names->tasks);
	while (g_hash_table_iter_next(&iter, &pid, &name)) {
		guint32 number = GPOINTER_TO_UINT(pid);

		/* Omit task 0, which is the idle task. */
		if (!name && number)
			g_array_append_val(pids, number);
	}
	return pids;
}

/* Append a name, escaped as in the tables of the kernel, and a newline. */
static void append_name(GString *text, const char *name)
{
	for (; *name; name++) {
		guchar c = (guchar)*name;

		if (c < ' ' || c == '\\' || c == 0x7f)
			g_string_append_printf(text, "\\%03o", c);
		else
			g_string_append_c(text, (char)c);
	}
	g_string_append_c(text, '\n');
}

char *kmt_tracepoint_tables_caches_text(const KmtTracepointTables *names,
					gboolean always)
{
	GString *text;

	if (names->caches->len == 0 && !always)
		return NULL;
	text = g_string_new("# kmemtrace: caches\n# columns: number "
			    "object_size size created destroyed name\n");
	for (guint i = 0; i < names->caches->len; i++) {
		const Cache *cache = names->caches->pdata[i];

		g_string_append_printf(
			text,
			"%u %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " 0 - ",
			cache->number, cache->object_size, cache->size);
		append_name(text, cache->name);
	}
	return g_string_free(text, FALSE);
}

static gint compare_old(gconstpointer a, gconstpointer b)
{
	const OldName *na = a, *nb = b;

	return (na->until > nb->until) - (na->until < nb->until);
}

static gint compare_pids(gconstpointer a, gconstpointer b)
{
	guint pa = GPOINTER_TO_UINT(a), pb = GPOINTER_TO_UINT(b);

	return (pa > pb) - (pa < pb);
}

/* Return the text of a table of tasks, which begins with @head. */
static char *tasks_text(const KmtTracepointTables *names, const char *head,
			gboolean always)
{
	GString *text = g_string_new(head);
	GList *pids =
		g_list_sort(g_hash_table_get_keys(names->tasks), compare_pids);
	gboolean any = names->old->len > 0;

	if (names->n_dropped)
		g_string_append_printf(text,
				       "# dropped: %" G_GUINT64_FORMAT
				       "\n# exact_after: %" G_GINT64_FORMAT
				       "\n",
				       names->n_dropped, names->dropped_until);
	g_array_sort(names->old, compare_old);
	for (guint i = 0; i < names->old->len; i++) {
		const OldName *old = &g_array_index(names->old, OldName, i);

		g_string_append_printf(text, "%u %" G_GINT64_FORMAT " ",
				       old->pid, old->until);
		append_name(text, old->name);
	}
	for (GList *p = pids; p; p = p->next) {
		const char *name = g_hash_table_lookup(names->tasks, p->data);
		guint pid = GPOINTER_TO_UINT(p->data);

		any = any || name;
		g_string_append_printf(text, "%u - ", pid);
		if (name)
			append_name(text, name);
		else
			g_string_append_printf(text, ":%u\n", pid);
	}
	g_list_free(pids);
	return g_string_free(text, !any && !always);
}

char *kmt_tracepoint_tables_tasks_text(const KmtTracepointTables *names,
				       gboolean always)
{
	return tasks_text(names,
			  "# kmemtrace: tasks\n# columns: pid until name\n",
			  always);
}

char *kmt_tracepoint_tables_cgroups_text(const KmtTracepointTables *names)
{
	return tasks_text(names,
			  "# kmemtrace: cgroups\n# columns: pid until path\n",
			  FALSE);
}
