// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/capture/error.h"
#include "kmemtraced/event-source.h"

static KmtdSource *open_best(const KmtdSourceOptions *options, GError **error)
{
	g_autoptr(GError) no_relay = NULL;
	KmtdSource *source;

	source = kmtd_relay_open(options, &no_relay);
	if (source)
		return source;
	/*
	 * To record only some processes, use the tracepoints after any error:
	 * kmemtrace may be in the kernel but have no filter, and tracepoints
	 * need no such filter.
	 */
	if (options->n_pids)
		return kmtd_ftrace_open(options, error);
	if (!g_error_matches(no_relay, KMT_DAEMON_ERROR,
			     KMT_DAEMON_ERROR_NO_DEBUGFS) &&
	    !g_error_matches(no_relay, KMT_DAEMON_ERROR,
			     KMT_DAEMON_ERROR_NO_KMEMTRACE)) {
		g_propagate_error(error, g_steal_pointer(&no_relay));
		return NULL;
	}
	source = kmtd_ftrace_open(options, error);
	if (!source)
		g_prefix_error(error,
			       "cannot record from kmemtrace: %s, nor from the "
			       "kernel's tracepoints: ",
			       no_relay->message);
	return source;
}

static KmtdSource *open_bpf(const KmtdSourceOptions *options, GError **error)
{
#ifdef HAVE_BPF
	return kmtd_bpf_open(options, error);
#else
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_BPF,
		    "this kmemtraced was built without the source bpf");
	return NULL;
#endif
}

KmtdSource *kmtd_source_open(const char *name, const KmtdSourceOptions *options,
			     GError **error)
{
	if (!name)
		return open_best(options, error);
	if (g_str_equal(name, "ftrace") && options->filter) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_SOURCE,
			    "the source ftrace has no filter but -p");
		return NULL;
	}
	if (g_str_equal(name, "ftrace"))
		return kmtd_ftrace_open(options, error);
	if (g_str_equal(name, "bpf"))
		return open_bpf(options, error);
	if (!g_str_equal(name, "relay")) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_SOURCE,
			    "there is no source '%s'", name);
		return NULL;
	}
	if (options->buffer_kb) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_SOURCE,
			    "the buffers of the source relay are made at boot, "
			    "by kmemtrace.subbufs=");
		return NULL;
	}
	return kmtd_relay_open(options, error);
}
