// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/capture/error.h"
#include "kmemtraced/event-source.h"

#define RELAY_BUFFERS                                                          \
	"the buffers of the source relay are made at boot, by "                \
	"kmemtrace.subbufs="

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

/*
 * Return whether another source shall be tried after relay has failed with
 * @error. To record only some processes or cgroups, try another source after
 * any error: the kernel's kmemtrace may lack a filter that another source has.
 */
static gboolean is_without_relay(const GError *error,
				 const KmtdSourceOptions *options)
{
	return options->n_pids || options->cgroups ||
	       (error->domain == KMT_DAEMON_ERROR &&
		(error->code == KMT_DAEMON_ERROR_NO_DEBUGFS ||
		 error->code == KMT_DAEMON_ERROR_NO_KMEMTRACE ||
		 error->code == KMT_DAEMON_ERROR_PERMISSION));
}

/* Return whether @error means that the kernel does not allow BPF programs. */
static gboolean is_without_bpf(const GError *error)
{
	return error->domain == KMT_DAEMON_ERROR &&
	       (error->code == KMT_DAEMON_ERROR_BPF ||
		error->code == KMT_DAEMON_ERROR_PERMISSION ||
		error->code == KMT_DAEMON_ERROR_LOCKDOWN);
}

/* Return the reasons why relay and bpf cannot be used, for a message. */
static char *reasons(const GError *no_relay, const GError *no_bpf)
{
	return g_strdup_printf("from kmemtrace: %s%s%s", no_relay->message,
			       no_bpf ? ", nor with BPF programs: " : "",
			       no_bpf ? no_bpf->message : "");
}

/*
 * Open the source ftrace, after relay and bpf have failed with @no_relay and
 * @no_bpf. @no_bpf is NULL if bpf was not tried. The description of the source
 * has the reason against bpf.
 */
static KmtdSource *open_last(const KmtdSourceOptions *options,
			     const GError *no_relay, const GError *no_bpf,
			     GError **error)
{
	g_autofree char *why = reasons(no_relay, no_bpf);
	g_autofree char *description = NULL;
	g_autoptr(GError) no_ftrace = NULL;
	KmtdSource *source;

	if (options->filter || options->cgroups || options->stacks) {
		g_set_error(error, KMT_DAEMON_ERROR,
			    (no_bpf ? no_bpf : no_relay)->code,
			    "cannot record %s %s",
			    options->stacks ? "stacks" : "with a filter", why);
		return NULL;
	}
	source = kmtd_ftrace_open(options, &no_ftrace);
	if (!source) {
		/* With more privileges, an earlier source may work. */
		gboolean denied = g_error_matches(no_relay, KMT_DAEMON_ERROR,
						  KMT_DAEMON_ERROR_PERMISSION);

		g_set_error(error, KMT_DAEMON_ERROR,
			    (denied ? no_relay : no_ftrace)->code,
			    "cannot record %s, nor from the kernel's "
			    "tracepoints: %s",
			    why, no_ftrace->message);
		return NULL;
	}
	if (!no_bpf)
		return source;
	description = g_steal_pointer(&source->description);
	source->description =
		g_strdup_printf("%s instead of BPF programs, because %s",
				description, no_bpf->message);
	return source;
}

static KmtdSource *open_best(const KmtdSourceOptions *options, GError **error)
{
	g_autoptr(GError) no_relay = NULL;
	g_autoptr(GError) no_bpf = NULL;
	KmtdSource *source;

	source = kmtd_relay_open(options, &no_relay);
	if (source) {
		if (options->buffer_kb && options->warning)
			options->warning("-b has no effect: " RELAY_BUFFERS);
		return source;
	}
	if (!is_without_relay(no_relay, options)) {
		g_propagate_error(error, g_steal_pointer(&no_relay));
		return NULL;
	}
	/* The option -t demands the tracepoints. */
	if (!options->tracefs) {
		source = open_bpf(options, &no_bpf);
		if (source)
			return source;
		if (!is_without_bpf(no_bpf)) {
			g_propagate_error(error, g_steal_pointer(&no_bpf));
			return NULL;
		}
	}
	return open_last(options, no_relay, no_bpf, error);
}

KmtdSource *kmtd_source_open(const char *name, const KmtdSourceOptions *options,
			     GError **error)
{
	if (!name)
		return open_best(options, error);
	if (g_str_equal(name, "ftrace") &&
	    (options->filter || options->cgroups)) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_SOURCE,
			    "the source ftrace has no filter but -p");
		return NULL;
	}
	if (g_str_equal(name, "ftrace") && options->stacks) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_SOURCE,
			    "the source ftrace records no stacks");
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
			    RELAY_BUFFERS);
		return NULL;
	}
	return kmtd_relay_open(options, error);
}
