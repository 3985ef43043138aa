// SPDX-License-Identifier: GPL-2.0-or-later
/* The source relay: a kernel with kmemtrace. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <kmemtrace_abi.h>

#include "kmemtraced/control.h"
#include "kmemtraced/error.h"
#include "kmemtraced/source.h"

typedef struct {
	KmtSource source;
	KmtControl *control;
} Relay;

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

static void relay_feed_free(KmtFeed *feed)
{
	if (feed->fd >= 0)
		close(feed->fd);
	g_free(feed->name);
	g_free(feed);
}

static const KmtFeedClass feed_class = {
	.read = relay_read,
	.free = relay_feed_free,
};

static KmtFeed *relay_open_cpu(KmtSource *source, guint cpu, GError **error)
{
	g_autoptr(KmtFeed) feed = g_new0(KmtFeed, 1);

	feed->class = &feed_class;
	feed->timeout_ms = -1;
	feed->name = g_strdup_printf("cpu%u", cpu);
	feed->fd = openat(kmt_control_fd(control_of(source)), feed->name,
			  O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (feed->fd < 0) {
		kmt_set_errno(error, KMT_DAEMON_ERROR_READ, errno,
			      "cannot open %s in debugfs", feed->name);
		return NULL;
	}
	return g_steal_pointer(&feed);
}

static gboolean relay_is_enabled(KmtSource *source, gboolean *enabled,
				 GError **error)
{
	return kmt_control_is_enabled(control_of(source), enabled, error);
}

static gboolean relay_enable(KmtSource *source, GError **error)
{
	return kmt_control_enable(control_of(source), error);
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
	g_autoptr(GHashTable) table =
		kmt_control_consumed(control_of(source), error);
	GHashTableIter iter;
	gpointer n;

	if (!table)
		return FALSE;
	*consumed = FALSE;
	g_hash_table_iter_init(&iter, table);
	while (g_hash_table_iter_next(&iter, NULL, &n))
		if (*(guint64 *)n > 0)
			*consumed = TRUE;
	return TRUE;
}

static GArray *relay_cpus(KmtSource *source)
{
	return kmt_control_cpus(control_of(source));
}

static void relay_describe(KmtSource *source, GKeyFile *meta)
{
	g_key_file_set_string(meta, "capture", "clock", "sched_clock");
	g_key_file_set_uint64(meta, "capture", "subbufs", source->n_subbufs);
	g_key_file_set_uint64(meta, "capture", "subbuf_size",
			      source->subbuf_bytes);
}

static void relay_free(KmtSource *source)
{
	kmt_control_close(control_of(source));
	g_free(source->what);
	g_free(source->watch_path);
	g_free(source->tables_path);
	g_free(source);
}

static const KmtSourceClass source_class = {
	.name = "relay",
	.keeps_records = TRUE,
	.is_enabled = relay_is_enabled,
	.enable = relay_enable,
	.disable = relay_disable,
	.total_overruns = relay_total_overruns,
	.overruns = relay_overruns,
	.any_consumed = relay_any_consumed,
	.cpus = relay_cpus,
	.open_cpu = relay_open_cpu,
	.describe = relay_describe,
	.free = relay_free,
};

KmtSource *kmt_relay_open(const KmtSourceOptions *options, GError **error)
{
	Relay *relay = g_new0(Relay, 1);
	g_autoptr(KmtSource) source = &relay->source;

	source->class = &source_class;
	source->what = g_strdup("kmemtrace in the kernel");
	relay->control = kmt_control_open(options->debugfs, error);
	if (!relay->control ||
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
