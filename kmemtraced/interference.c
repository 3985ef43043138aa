// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <kmemtrace_abi.h>

#include "lib/capture/error.h"
#include "kmemtraced/interference.h"
#include "lib/tracepoints/kmem-events.h"
#include "lib/tracepoints/task-events.h"

#define CAPTURE	   "capture"
#define EVENT_PID  "set_event_pid"
#define TRACING_ON "tracing_on"

/* Interval at which all values are compared even without a reported write. */
#define COMPARE_US ((gint64)5 * G_USEC_PER_SEC)

#define NOT_SEEN                                                               \
	"events while another program had changed the instance in tracefs"

typedef struct {
	char *name;	    /* path inside the instance */
	char *value;	    /* value at the start; NULL: not compared */
	char *new_value;    /* last differing value; NULL: none or unknown */
	const char *event;  /* name in the key events_off; NULL: not listed */
	gboolean is_filter; /* the setting selects the events to record */
	gboolean changed;
} Setting;

struct kmtd_interference {
	KmtdInstance *instance;
	GPtrArray *settings; /* of Setting * */
	int fd;		     /* inotify descriptor; -1: none */
	GHashTable *watches; /* watch descriptor to directory name */
	/*
	 * Descriptors of the watched directories. They keep the inodes in
	 * memory: some kernels recreate unused inodes below events/, and the
	 * watches of the old inodes would be lost.
	 */
	GArray *directories;
	gint64 compare_us; /* time of the next comparison */
};

/* Settings whose values are compared. The value of EVENT_PID is compared only
 * if the kernel itself does not change EVENT_PID. add_event() adds the settings
 * of the tracepoints. */
static const struct {
	const char *name;
	gboolean is_filter;
} compared[] = {
	{TRACING_ON, FALSE},
	{"trace_clock", FALSE},
	{"current_tracer", FALSE},
	{"buffer_size_kb", FALSE},
	{"buffer_subbuf_size_kb", FALSE},
	{"options/overwrite", FALSE},
	{"options/event-fork", TRUE},
	{"tracing_cpumask", TRUE},
	{EVENT_PID, TRUE},
	{"set_event_notrace_pid", TRUE},
};

/*
 * Files for which only a write is detected. Their values are not compared.
 * add_event() adds the files of the tracepoint groups.
 */
static const char *const written[] = {
	"trace",     "free_buffer",   "snapshot",
	"set_event", "trace_options", "events/enable",
};

static void setting_free(gpointer data)
{
	Setting *setting = data;

	g_free(setting->name);
	g_free(setting->value);
	g_free(setting->new_value);
	g_free(setting);
}

static Setting *find(const KmtdInterference *interference, const char *name)
{
	for (guint i = 0; i < interference->settings->len; i++) {
		Setting *setting = interference->settings->pdata[i];

		if (g_str_equal(setting->name, name))
			return setting;
	}
	return NULL;
}

/*
 * Add a setting and take ownership of @name. Return the setting, which may have
 * existed before, or NULL if this kernel has no such file.
 */
static Setting *add(KmtdInterference *interference, char *name,
		    gboolean is_compared)
{
	Setting *setting = find(interference, name);
	g_autofree char *owned = name;

	if (setting || !kmtd_instance_has(interference->instance, name))
		return setting;
	setting = g_new0(Setting, 1);
	setting->name = g_steal_pointer(&owned);
	if (is_compared)
		setting->value = kmtd_instance_read(interference->instance,
						    setting->name, NULL);
	g_ptr_array_add(interference->settings, setting);
	return setting;
}

/*
 * Return the name that the source "relay" uses for the event of a tracepoint.
 */
static const char *relay_name(const KmtTracepointName *point)
{
	static const char *const names[][2] = {
		[KMEMTRACE_TYPE_KMALLOC] = {"kmalloc", "kfree"},
		[KMEMTRACE_TYPE_CACHE] = {"cache_alloc", "cache_free"},
		[KMEMTRACE_TYPE_PAGES] = {"page_alloc", "page_free"},
		[KMEMTRACE_TYPE_PERCPU] = {"percpu_alloc", "percpu_free"},
		[KMEMTRACE_TYPE_VMALLOC] = {"vmalloc", "vfree"},
	};

	return names[point->type_id][point->event_id == KMEMTRACE_EVENT_FREE];
}

/* Watch a directory of the instance; "" is the instance itself. */
static void watch(KmtdInterference *interference, const char *name)
{
	g_autofree char *path = g_build_filename(
		kmtd_instance_path(interference->instance), name, NULL);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), wd;

	if (fd < 0)
		return;
	g_array_append_val(interference->directories, fd);
	wd = inotify_add_watch(interference->fd, path, IN_MODIFY);
	if (wd >= 0)
		g_hash_table_insert(interference->watches, GINT_TO_POINTER(wd),
				    g_strdup(name));
}

static void add_event(KmtdInterference *interference, const char *system,
		      const char *name, const char *event)
{
	g_autofree char *group = g_build_filename("events", system, NULL);
	g_autofree char *directory = g_build_filename(group, name, NULL);
	Setting *setting;

	setting = add(interference, g_build_filename(directory, "enable", NULL),
		      TRUE);
	if (!setting)
		return;
	setting->event = event;
	setting = add(interference, g_build_filename(directory, "filter", NULL),
		      TRUE);
	if (setting)
		setting->is_filter = TRUE;
	add(interference, g_build_filename(directory, "trigger", NULL), TRUE);
	add(interference, g_build_filename(group, "enable", NULL), FALSE);
	setting = add(interference, g_build_filename(group, "filter", NULL),
		      FALSE);
	if (setting)
		setting->is_filter = TRUE;
	if (interference->fd >= 0) {
		watch(interference, group);
		watch(interference, directory);
	}
}

static void add_settings(KmtdInterference *interference,
			 gboolean follows_children)
{
	for (gsize i = 0; i < G_N_ELEMENTS(compared); i++) {
		Setting *setting =
			add(interference, g_strdup(compared[i].name),
			    !follows_children ||
				    !g_str_equal(compared[i].name, EVENT_PID));

		if (setting)
			setting->is_filter = compared[i].is_filter;
	}
	for (gsize i = 0; i < G_N_ELEMENTS(written); i++)
		add(interference, g_strdup(written[i]), FALSE);
	for (guint i = 0; i < kmt_tracepoint_n_names; i++) {
		const KmtTracepointName *point = &kmt_tracepoint_names[i];

		add_event(interference, point->system, point->name,
			  relay_name(point));
	}
	for (guint i = 0; i < KMT_TRACEPOINT_N_TASKS; i++)
		add_event(interference, KMT_TASK_SYSTEM,
			  kmt_tracepoint_task_names[i], NULL);
}

KmtdInterference *kmtd_interference_new(KmtdInstance *instance,
					gboolean follows_children)
{
	KmtdInterference *interference = g_new0(KmtdInterference, 1);

	interference->instance = instance;
	interference->settings = g_ptr_array_new_with_free_func(setting_free);
	interference->watches = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	interference->directories = g_array_new(FALSE, FALSE, sizeof(int));
	interference->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (interference->fd >= 0) {
		watch(interference, "");
		watch(interference, "options");
		watch(interference, "events");
	}
	add_settings(interference, follows_children);
	interference->compare_us = g_get_monotonic_time() + COMPARE_US;
	return interference;
}

int kmtd_interference_fd(const KmtdInterference *interference)
{
	return interference->fd;
}

void kmtd_interference_add(KmtdInterference *interference, const char *name)
{
	Setting *setting = find(interference, name);

	if (!setting) {
		setting = g_new0(Setting, 1);
		setting->name = g_strdup(name);
		g_ptr_array_add(interference->settings, setting);
	}
	setting->changed = TRUE;
}

/*
 * Set @changed in the setting whose file an inotify event reports. Return FALSE
 * if the event is about a file that is no setting: a write to trace_marker, for
 * example, changes no record.
 */
static gboolean process_event(KmtdInterference *interference,
			      const struct inotify_event *event)
{
	const char *directory = g_hash_table_lookup(interference->watches,
						    GINT_TO_POINTER(event->wd));
	g_autofree char *name = NULL;
	Setting *setting;

	if (event->mask & IN_Q_OVERFLOW)
		kmtd_interference_add(interference, "files");
	if (!directory || event->len == 0)
		return FALSE;
	name = *directory ? g_build_filename(directory, event->name, NULL)
			  : g_strdup(event->name);
	setting = find(interference, name);
	if (setting)
		setting->changed = TRUE;
	return setting != NULL;
}

/*
 * Process all pending inotify events. Return whether a setting was written.
 * Writes to other files do not count: a program that writes to trace_marker all
 * the time must not cause a comparison each time.
 */
static gboolean process_events(KmtdInterference *interference)
{
	gboolean any = FALSE;
	union {
		struct inotify_event event;
		char bytes[4096];
	} block;
	ssize_t n;

	if (interference->fd < 0)
		return FALSE;
	while ((n = read(interference->fd, &block, sizeof(block))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *event =
				(const void *)(block.bytes + at);

			any |= process_event(interference, event);
			at += (ssize_t)(sizeof(*event) + event->len);
		}
	}
	return any;
}

void kmtd_interference_begin(KmtdInterference *interference)
{
	Setting *setting = find(interference, TRACING_ON);

	process_events(interference);
	if (!setting)
		return;
	setting->changed = FALSE;
	g_free(setting->value);
	setting->value = g_strdup("1");
}

static void compare(KmtdInterference *interference)
{
	for (guint i = 0; i < interference->settings->len; i++) {
		Setting *setting = interference->settings->pdata[i];
		g_autoptr(GError) error = NULL;
		g_autofree char *now = NULL;

		if (!setting->value)
			continue;
		now = kmtd_instance_read(interference->instance, setting->name,
					 &error);
		/* If memory or descriptors are short, the value is unknown: do
		 * not report a change. */
		if (g_error_matches(error, KMT_DAEMON_ERROR,
				    KMT_DAEMON_ERROR_RESOURCES))
			continue;
		if (g_strcmp0(now, setting->value) == 0)
			continue;
		setting->changed = TRUE;
		g_free(setting->new_value);
		setting->new_value = g_steal_pointer(&now);
	}
}

void kmtd_interference_poll(KmtdInterference *interference, gboolean now)
{
	gint64 now_us = g_get_monotonic_time();

	if (!process_events(interference) && !now &&
	    now_us < interference->compare_us)
		return;
	compare(interference);
	interference->compare_us = now_us + COMPARE_US;
}

void kmtd_interference_stop(KmtdInterference *interference)
{
	if (!interference)
		return;
	for (guint i = 0; i < interference->directories->len; i++)
		close(g_array_index(interference->directories, int, i));
	g_array_set_size(interference->directories, 0);
	if (interference->fd >= 0)
		close(interference->fd);
	interference->fd = -1;
}

/* Append @words to a list in [capture], and omit duplicates. */
static void append_unique(GKeyFile *meta, const char *key, GPtrArray *words)
{
	g_auto(GStrv) before =
		g_key_file_get_string_list(meta, CAPTURE, key, NULL, NULL);
	g_autoptr(GPtrArray) all = g_ptr_array_new();

	for (char **word = before; word && *word; word++)
		g_ptr_array_add(all, *word);
	for (guint i = 0; i < words->len; i++)
		if (!g_ptr_array_find_with_equal_func(all, words->pdata[i],
						      g_str_equal, NULL))
			g_ptr_array_add(all, words->pdata[i]);
	if (all->len)
		g_key_file_set_string_list(meta, CAPTURE, key,
					   (const char *const *)all->pdata,
					   all->len);
}

/*
 * Append a changed setting to @text, with its new value on one line if known:
 * "tracing_cpumask=1".
 */
static void describe_filter(GString *text, const Setting *setting)
{
	g_string_append_printf(text, "%s%s", text->len ? "; " : "",
			       setting->name);
	if (setting->new_value) {
		g_autofree char *line =
			g_strdelimit(g_strdup(setting->new_value), "\n", ' ');

		g_string_append_printf(text, "=%s", line);
	}
}

gboolean kmtd_interference_conclude(const KmtdInterference *interference,
				    GKeyFile *meta, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new(), off = g_ptr_array_new(),
			     not_seen = g_ptr_array_new();
	g_autoptr(GString) filter = g_string_new(NULL),
			   list = g_string_new(NULL);

	for (guint i = 0; i < interference->settings->len; i++) {
		const Setting *setting = interference->settings->pdata[i];

		if (!setting->changed)
			continue;
		g_ptr_array_add(names, setting->name);
		g_string_append_printf(list, "%s%s", list->len ? ", " : "",
				       setting->name);
		if (setting->event)
			g_ptr_array_add(off, (gpointer)setting->event);
		if (setting->is_filter)
			describe_filter(filter, setting);
	}
	if (names->len == 0)
		return TRUE;
	g_ptr_array_add(not_seen, (gpointer)NOT_SEEN);
	append_unique(meta, "interference", names);
	append_unique(meta, "events_off", off);
	append_unique(meta, "not_seen", not_seen);
	if (filter->len) {
		g_key_file_set_string(meta, CAPTURE, "filter", filter->str);
		g_key_file_set_boolean(meta, CAPTURE, "filter_changed", TRUE);
	}
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_INTERFERED,
		    "another program changed %s in %s during the recording",
		    list->str, kmtd_instance_path(interference->instance));
	return FALSE;
}

void kmtd_interference_free(KmtdInterference *interference)
{
	if (!interference)
		return;
	kmtd_interference_stop(interference);
	g_array_unref(interference->directories);
	g_hash_table_unref(interference->watches);
	g_ptr_array_unref(interference->settings);
	g_free(interference);
}
