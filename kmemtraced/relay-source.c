// SPDX-License-Identifier: GPL-2.0-or-later
/* The source relay: a kernel with kmemtrace. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <kmemtrace_abi.h>

#include "kmemtraced/relay-control.h"
#include "lib/capture/error.h"
#include "kmemtraced/info.h"
#include "kmemtraced/buffer-mapping.h"
#include "kmemtraced/event-source.h"

#define NONE	  "none"
#define OVERWRITE "overwrite"

typedef struct {
	KmtSource source;
	KmtControl *control;
	GPtrArray *feeds;     /* of RelayFeed, those that exist */
	char *filter;	      /* what the user wants; or NULL, as it is */
	char *before;	      /* what there was when it was opened */
	gboolean set;	      /* ours is in its place */
	gboolean was_enabled; /* when it was opened */
	guint64 session;      /* that is recorded; 0: not known */
	char *mode;	      /* of the buffers, or NULL: discard */
	const char *reader;   /* as in KmtSourceOptions */
} Relay;

typedef struct {
	KmtFeed feed;
	Relay *relay;
	KmtMapping *mapping; /* or NULL */
} RelayFeed;

static KmtControl *control_of(KmtSource *source)
{
	return ((Relay *)source)->control;
}

/* The kernel's bytes are the records. */
static gssize relay_read(KmtFeed *feed, void *to, gsize n_bytes, gboolean all)
{
	ssize_t n;

	do
		n = read(feed->fd, to, n_bytes);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	return n;
}

static gssize relay_take(KmtFeed *feed, KmtFeedPart *part, gboolean all)
{
	return kmt_mapping_take(((RelayFeed *)feed)->mapping, part, all);
}

static int relay_give(KmtFeed *feed, const KmtFeedPart *part)
{
	return kmt_mapping_give(((RelayFeed *)feed)->mapping, part);
}

static void relay_feed_free(KmtFeed *feed)
{
	RelayFeed *relay_feed = (RelayFeed *)feed;

	g_ptr_array_remove(relay_feed->relay->feeds, feed);
	kmt_mapping_close(relay_feed->mapping);
	if (feed->fd >= 0)
		close(feed->fd);
	g_free(feed->name);
	g_free(feed);
}

static const KmtFeedClass feed_class = {
	.read = relay_read,
	.free = relay_feed_free,
};

static const KmtFeedClass mapped_class = {
	.take = relay_take,
	.give = relay_give,
	.free = relay_feed_free,
};

/* FALSE: it has to be mapped and cannot. */
static gboolean map_feed(const Relay *relay, RelayFeed *feed, GError **error)
{
	if (g_strcmp0(relay->reader, "read") == 0)
		return TRUE;
	feed->mapping = kmt_mapping_open(feed->feed.fd);
	if (feed->mapping) {
		feed->feed.class = &mapped_class;
		return TRUE;
	}
	if (!relay->reader)
		return TRUE;
	kmt_set_errno(error, KMT_DAEMON_ERROR_READ, errno,
		      "cannot map %s in debugfs", feed->feed.name);
	return FALSE;
}

static KmtFeed *relay_open_cpu(KmtSource *source, guint cpu, GError **error)
{
	Relay *relay = (Relay *)source;
	RelayFeed *relay_feed = g_new0(RelayFeed, 1);
	g_autoptr(KmtFeed) feed = &relay_feed->feed;
	gboolean enabled = TRUE;

	feed->class = &feed_class;
	feed->fd = -1;
	relay_feed->relay = relay;
	g_ptr_array_add(relay->feeds, feed);
	/* What is overwritten meanwhile need not be written. */
	feed->at_end = g_strcmp0(relay->mode, OVERWRITE) == 0;
	if (!kmt_control_is_enabled(relay->control, &enabled, error))
		return NULL;
	feed->is_off = !enabled;
	feed->timeout_ms = -1;
	feed->name = g_strdup_printf("cpu%u", cpu);
	feed->fd = openat(kmt_control_fd(control_of(source)), feed->name,
			  O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (feed->fd < 0) {
		kmt_set_errno(error, KMT_DAEMON_ERROR_READ, errno,
			      "cannot open %s in debugfs", feed->name);
		return NULL;
	}
	if (!map_feed(relay, relay_feed, error))
		return NULL;
	return g_steal_pointer(&feed);
}

static gboolean relay_is_enabled(KmtSource *source, gboolean *enabled,
				 GError **error)
{
	return kmt_control_is_enabled(control_of(source), enabled, error);
}

/* ---- what is recorded ---- */

/* NULL: the kernel has no such file. */
static KmtInfo *read_info(Relay *relay)
{
	g_autofree char *text =
		kmt_control_has(relay->control, "info")
			? kmt_control_get(relay->control, "info", NULL)
			: NULL;

	return text ? kmt_info_parse(text) : NULL;
}

static void remember_session(Relay *relay)
{
	g_autoptr(KmtInfo) info = read_info(relay);

	relay->session = info ? kmt_info_session(info) : 0;
	kmt_recovery_set_session(relay->source.recovery, relay->session);
}

static gboolean set_filter(Relay *relay, GError **error)
{
	if (!relay->filter)
		return TRUE;
	relay->set =
		kmt_control_set(relay->control, "filter", relay->filter, error);
	return relay->set;
}

static gboolean relay_enable(KmtSource *source, GError **error)
{
	Relay *relay = (Relay *)source;

	if (!set_filter(relay, error) ||
	    !kmt_control_enable(relay->control, error))
		return FALSE;
	remember_session(relay);
	return TRUE;
}

/* Processes are checked, as the kernel takes any number for one. */
static gboolean add_pids(GString *filter, const KmtSourceOptions *options,
			 GError **error)
{
	for (guint i = 0; i < options->n_pids; i++) {
		g_autofree char *path = g_strdup_printf("%s/%d", options->proc,
							options->pids[i]);

		if (!g_file_test(path, G_FILE_TEST_IS_DIR)) {
			g_set_error(error, KMT_DAEMON_ERROR,
				    KMT_DAEMON_ERROR_PROCESS,
				    "there is no process %d", options->pids[i]);
			return FALSE;
		}
		g_string_append_printf(filter, "%s%d",
				       i ? "," : " pid=", options->pids[i]);
	}
	if (options->n_pids && options->children)
		g_string_append(filter, " children");
	return TRUE;
}

/* What the options make of it, if there is anything. */
static gboolean make_filter(Relay *relay, const KmtSourceOptions *options,
			    GError **error)
{
	g_autoptr(GString) filter = g_string_new(options->filter);

	if (!options->filter && !options->n_pids)
		return TRUE;
	if (!kmt_control_has(relay->control, "filter")) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_SOURCE,
			    options->filter
				    ? "this kernel's kmemtrace has no filter"
				    : "this kernel's kmemtrace cannot tell "
				      "processes apart");
		return FALSE;
	}
	if (!add_pids(filter, options, error))
		return FALSE;
	relay->filter =
		g_strstrip(g_string_free(g_steal_pointer(&filter), FALSE));
	relay->before = kmt_control_get(relay->control, "filter", error);
	return relay->before != NULL;
}

/* Tracing that is on goes on, from now on with the filter. */
static gboolean relay_prepare(KmtSource *source, GError **error)
{
	Relay *relay = (Relay *)source;

	if (!relay->was_enabled)
		return TRUE;
	if (!set_filter(relay, error))
		return FALSE;
	remember_session(relay);
	return TRUE;
}

static gboolean relay_disable(KmtSource *source, GError **error)
{
	return kmt_control_disable(control_of(source), error);
}

static gboolean relay_total_overruns(KmtSource *source, guint64 *n_events,
				     GError **error)
{
	return kmt_control_total_overruns(control_of(source), n_events, error);
}

static GHashTable *relay_overruns(KmtSource *source, GError **error)
{
	return kmt_control_overruns(control_of(source), error);
}

static gboolean relay_any_consumed(KmtSource *source, gboolean *consumed,
				   GError **error)
{
	return kmt_control_any_consumed(control_of(source), "consumed",
					consumed, error);
}

static GArray *relay_cpus(KmtSource *source)
{
	return kmt_control_cpus(control_of(source));
}

static void relay_describe(KmtSource *source, GKeyFile *meta)
{
	Relay *relay = (Relay *)source;
	g_autoptr(KmtInfo) info = read_info(relay);
	g_autofree char *now =
		kmt_control_has(relay->control, "filter")
			? kmt_control_get(relay->control, "filter", NULL)
			: NULL;

	g_key_file_set_string(meta, "capture", "clock", "sched_clock");
	g_key_file_set_uint64(meta, "capture", "subbufs", source->n_subbufs);
	g_key_file_set_uint64(meta, "capture", "subbuf_size",
			      source->subbuf_bytes);
	if (relay->mode)
		g_key_file_set_string(meta, "capture", "mode", relay->mode);
	if (!info)
		return;
	if (!now)
		now = g_strdup(NONE);
	if (relay->session)
		kmt_info_describe(info, NULL, meta);
	else
		kmt_info_describe(info, relay->filter ? relay->filter : now,
				  meta);
}

/* The kernel counts them in each session. */
static gboolean had_snapshots(const Relay *relay)
{
	g_autofree char *state =
		kmt_control_has(relay->control, "snapshot/take")
			? kmt_control_get(relay->control, "snapshot/take", NULL)
			: NULL;

	return state && g_regex_match_simple("^taken: [1-9]", state,
					     G_REGEX_MULTILINE, 0);
}

static gboolean relay_conclude(KmtSource *source, GKeyFile *meta,
			       GError **error)
{
	Relay *relay = (Relay *)source;
	g_autoptr(KmtInfo) info = read_info(relay);

	source->had_snapshots = had_snapshots(relay);
	if (!info)
		return TRUE;
	kmt_info_describe(info, NULL, meta);
	if (!relay->session || relay->session == kmt_info_session(info))
		return TRUE;
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_RESET,
		    "somebody else began a new session while this one was "
		    "recorded: what was unread then is missing");
	return FALSE;
}

static gboolean relay_initial_state(KmtSource *source, KmtRecoveryState *state)
{
	const Relay *relay = (const Relay *)source;

	state->relay_path = kmt_control_path(relay->control);
	state->was_enabled = relay->was_enabled;
	state->filter = relay->before;
	return !relay->was_enabled || relay->before;
}

/* The mappings are not inherited. */
static void relay_disown(KmtSource *source)
{
	const Relay *relay = (const Relay *)source;

	for (guint i = 0; i < relay->feeds->len; i++)
		close(((const KmtFeed *)relay->feeds->pdata[i])->fd);
}

/*
 * Records that are left in the buffers stay there: the next kmemtraced saves
 * them as those of a trace that was switched off.
 */
static void relay_clean_up(KmtSource *source)
{
	const Relay *relay = (const Relay *)source;

	if (!relay->was_enabled &&
	    !kmt_control_holds(relay->control, "enabled", "0"))
		kmt_control_disable(relay->control, NULL);
	if (relay->before &&
	    !kmt_control_holds(relay->control, "filter", relay->before))
		kmt_control_set(relay->control, "filter", relay->before, NULL);
}

static void relay_free(KmtSource *source)
{
	Relay *relay = (Relay *)source;

	/* Tracing is off, or was somebody else's. */
	if (relay->set)
		kmt_control_set(relay->control, "filter", relay->before, NULL);
	kmt_control_close(relay->control);
	g_ptr_array_unref(relay->feeds);
	g_free(relay->filter);
	g_free(relay->mode);
	g_free(relay->before);
	g_free(source->what);
	g_free(source->watch_path);
	g_free(source->tables_path);
	g_free(source);
}

static const KmtSourceClass source_class = {
	.name = "relay",
	.keeps_records = TRUE,
	.is_enabled = relay_is_enabled,
	.prepare = relay_prepare,
	.enable = relay_enable,
	.disable = relay_disable,
	.total_overruns = relay_total_overruns,
	.overruns = relay_overruns,
	.any_consumed = relay_any_consumed,
	.cpus = relay_cpus,
	.open_cpu = relay_open_cpu,
	.describe = relay_describe,
	.conclude = relay_conclude,
	.initial_state = relay_initial_state,
	.disown = relay_disown,
	.clean_up = relay_clean_up,
	.free = relay_free,
};

/* A kernel that does not tell discards. */
static gboolean read_mode(Relay *relay, GError **error)
{
	if (!kmt_control_has(relay->control, "mode"))
		return TRUE;
	relay->mode = kmt_control_get(relay->control, "mode", error);
	if (!relay->mode)
		return FALSE;
	if (g_str_equal(relay->mode, OVERWRITE))
		relay->source.keeps_newest = TRUE;
	return TRUE;
}

KmtSource *kmt_relay_open(const KmtSourceOptions *options, GError **error)
{
	Relay *relay = g_new0(Relay, 1);
	g_autoptr(KmtSource) source = &relay->source;

	source->class = &source_class;
	source->changes_fd = -1;
	relay->feeds = g_ptr_array_new();
	source->what = g_strdup("kmemtrace in the kernel");
	relay->control = kmt_control_open(options->debugfs, error);
	relay->reader = options->reader;
	if (!relay->control || !read_mode(relay, error) ||
	    !make_filter(relay, options, error) ||
	    !kmt_control_is_enabled(relay->control, &relay->was_enabled,
				    error) ||
	    !kmt_control_geometry(relay->control, &source->n_subbufs,
				  &source->subbuf_bytes, error))
		return NULL;
	source->watch_path = g_strdup(kmt_control_path(relay->control));
	source->tables_path = g_strdup(kmt_control_path(relay->control));
	source->abi_version = kmt_control_abi_version(relay->control);
	source->record_bytes = kmt_control_record_bytes(relay->control);
	source->batch_bytes = source->subbuf_bytes;
	return g_steal_pointer(&source);
}
