// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/input/capture-private.h"

/*
 * Keys that identify a capture. Two kmemtrace.meta that differ in such a key
 * belong to different captures.
 */
static const char *const identity[] = {"boot_id", "start_time", "build_id",
				       "kernel_release"};

/*
 * Read a key as a number from 0 to G_MAXUINT64. Return FALSE if the value is
 * not such a number. The functions of GKeyFile would accept -1 and numbers that
 * are too large.
 */
static gboolean meta_uint64(GKeyFile *meta, const char *group, const char *key,
			    guint64 *value)
{
	g_autofree char *text = g_key_file_get_value(meta, group, key, NULL);

	return text && g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64,
						  value, NULL);
}

/*
 * Return the NUMA node in a group of kmemtrace.meta, or -1 if the node is
 * missing or invalid.
 */
static gint meta_node(GKeyFile *meta, const char *group)
{
	g_autofree char *text = g_key_file_get_value(meta, group, "node", NULL);
	gint64 node;

	if (!text ||
	    !g_ascii_string_to_signed(text, 10, -1, G_MAXINT32, &node, NULL))
		return -1;
	return (gint)node;
}

/*
 * Return whether a group of kmemtrace.meta is that of a CPU, and set *cpu to
 * the number of the CPU unless cpu is NULL.
 */
static gboolean is_cpu_group(const char *group, guint *cpu)
{
	g_autofree char *name = g_strconcat(group, ".out", NULL);
	guint ignored;

	return kmt_input_parse_cpu_name(name, cpu ? cpu : &ignored);
}

static void apply_to_files(KmtInputCapture *capture)
{
	guint i;

	for (i = 0; i < capture->files->len; i++) {
		KmtInputCpuFile *file = capture->files->pdata[i];
		g_autofree char *group = g_strdup_printf("cpu%u", file->cpu);

		file->has_overruns = meta_uint64(capture->meta, group,
						 "overruns", &file->overruns);
		file->has_expected_size =
			capture->complete &&
			meta_uint64(capture->meta, group, "bytes",
				    &file->expected_size);
		/* The size of a stream is compared at its end, in
		 * record-stream.c. */
		if (file->has_expected_size && !file->stream &&
		    file->size < file->expected_size)
			capture->shortened = TRUE;
		file->node = meta_node(capture->meta, group);
	}
}

/*
 * Return the sum of the lost events of all CPUs in kmemtrace.meta, at most
 * G_MAXUINT64.
 */
static guint64 sum_overruns(GKeyFile *meta)
{
	g_auto(GStrv) groups = g_key_file_get_groups(meta, NULL);
	guint64 sum = 0;
	char **g;

	for (g = groups; *g; g++) {
		guint64 n = 0;

		if (is_cpu_group(*g, NULL))
			meta_uint64(meta, *g, "overruns", &n);
		if (__builtin_add_overflow(sum, n, &sum))
			sum = G_MAXUINT64;
	}
	return sum;
}

/*
 * Read the number of lost events. If the CPUs lost more events than the total,
 * use their sum, so that no loss is hidden. The total may exceed the sum,
 * because a recorder may not know the CPU of a loss.
 */
static void read_overruns(KmtInputCapture *capture)
{
	guint64 sum = sum_overruns(capture->meta);

	capture->has_overruns = meta_uint64(capture->meta, "capture",
					    "overruns", &capture->overruns);
	if (sum == 0 || (capture->has_overruns && sum <= capture->overruns))
		return;
	if (capture->has_overruns)
		kmt_input_capture_add_note(
			capture,
			"kmemtrace.meta reports %" G_GUINT64_FORMAT
			" lost events in total, but %" G_GUINT64_FORMAT
			" on its CPUs: the larger number is used",
			capture->overruns, sum);
	else
		kmt_input_capture_add_note(
			capture,
			"kmemtrace.meta reports no total of the lost events, "
			"but %" G_GUINT64_FORMAT " on its CPUs: their sum is "
			"used",
			sum);
	capture->has_overruns = TRUE;
	capture->overruns = sum;
}

/*
 * Return the number of CPUs in kmemtrace.meta that have no file in the capture,
 * without those that have no events according to kmemtrace.meta.
 */
static guint count_missing(const KmtInputCapture *capture)
{
	g_auto(GStrv) groups = g_key_file_get_groups(capture->meta, NULL);
	guint i, missing = 0;
	char **g;

	for (g = groups; *g; g++) {
		guint64 events = 1;
		guint cpu;

		if (!is_cpu_group(*g, &cpu))
			continue;
		meta_uint64(capture->meta, *g, "events", &events);
		for (i = 0; events && i < capture->files->len; i++) {
			const KmtInputCpuFile *file = capture->files->pdata[i];

			if (file->cpu == cpu)
				break;
		}
		if (events && i == capture->files->len)
			missing++;
	}
	return missing;
}

/* Return whether kmemtrace.meta has the group of any CPU. */
static gboolean lists_cpus(const KmtInputCapture *capture)
{
	g_auto(GStrv) groups = g_key_file_get_groups(capture->meta, NULL);
	char **g;

	for (g = groups; *g; g++)
		if (is_cpu_group(*g, NULL))
			return TRUE;
	return FALSE;
}

/*
 * Return whether the CPU number of a file comes from its name. Operands with
 * other names have arbitrary CPU numbers.
 */
static gboolean is_named_after_cpu(const KmtInputCpuFile *file)
{
	const char *member =
		file->capture->tar ? strrchr(file->path, ':') : NULL;
	g_autofree char *name =
		g_path_get_basename(member ? member + 1 : file->path);
	guint cpu;

	return kmt_input_parse_cpu_name(name, &cpu) && cpu == file->cpu;
}

/*
 * Find the files of CPUs that kmemtrace.meta does not list. kmemtraced adds a
 * CPU that appears during the recording to kmemtrace.meta only at the end, so
 * the list of a capture that was cut off is not complete. A file without
 * records changes no figure.
 */
static void find_unlisted(KmtInputCapture *capture)
{
	const KmtInputCpuFile *first = NULL;
	guint i, n = 0;

	if (!capture->complete || !lists_cpus(capture))
		return;
	for (i = 0; i < capture->files->len; i++) {
		KmtInputCpuFile *file = capture->files->pdata[i];
		g_autofree char *group = g_strdup_printf("cpu%u", file->cpu);

		file->is_unlisted = (file->size || file->stream) &&
				    is_named_after_cpu(file) &&
				    !g_key_file_has_group(capture->meta, group);
		n += file->is_unlisted;
		if (!first && file->is_unlisted)
			first = file;
	}
	capture->unlisted_files = n;
	if (n == 1)
		kmt_input_capture_add_note(
			capture,
			"%s belongs to another capture, since kmemtrace.meta "
			"does not list CPU %u: every figure includes its "
			"records; remove the file from the capture",
			first->path, first->cpu);
	else if (n)
		kmt_input_capture_add_note(
			capture,
			"%u files, of which %s is the first, belong to another "
			"capture, since kmemtrace.meta does not list their "
			"CPUs: every figure includes their records; remove the "
			"files from the capture",
			n, first->path);
}

/*
 * Return FALSE and set *error if the capture has a newer ABI version than this
 * program supports, because the meaning of keys may have changed. name is the
 * name of kmemtrace.meta for messages.
 */
static gboolean is_known_version(GKeyFile *meta, const char *name,
				 GError **error)
{
	g_autofree char *release = NULL;
	guint64 version;

	if (!meta_uint64(meta, "capture", "abi_version", &version) ||
	    version <= KMEMTRACE_ABI_VERSION)
		return TRUE;
	release =
		g_key_file_get_string(meta, "capture", "kernel_release", NULL);
	g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_FORMAT,
		    "cannot read %s: its records are of version "
		    "%" G_GUINT64_FORMAT ", by Linux %s; kmemtrace %s reads "
		    "versions up to %d: use a newer one",
		    name, version, release ? release : "unknown",
		    PACKAGE_VERSION, KMEMTRACE_ABI_VERSION);
	return FALSE;
}

static GKeyFile *load(const char *path, const char *name, GError **error)
{
	g_autoptr(GKeyFile) meta = g_key_file_new();
	g_autoptr(GError) local = NULL;

	if (!g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
		g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_FORMAT,
			    "cannot read %s: not a regular file; remove it to "
			    "read the records alone",
			    name);
		return NULL;
	}
	if (!g_key_file_load_from_file(meta, path, G_KEY_FILE_NONE, &local)) {
		g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_FORMAT,
			    "cannot read %s: %s; repair it, or remove it to "
			    "read the records alone",
			    name, local->message);
		return NULL;
	}
	if (!is_known_version(meta, name, error))
		return NULL;
	return g_steal_pointer(&meta);
}

/*
 * Return the directories of all files without duplicates. The caller frees the
 * array.
 */
static GPtrArray *directories(const KmtInputCapture *capture)
{
	GPtrArray *dirs = g_ptr_array_new_with_free_func(g_free);
	guint i;

	if (capture->directory) {
		g_ptr_array_add(dirs, g_strdup(capture->directory));
		return dirs;
	}
	for (i = 0; i < capture->files->len; i++) {
		const KmtInputCpuFile *file = capture->files->pdata[i];
		g_autofree char *dir = g_path_get_dirname(file->path);

		if (!g_ptr_array_find_with_equal_func(dirs, dir, g_str_equal,
						      NULL))
			g_ptr_array_add(dirs, g_steal_pointer(&dir));
	}
	return dirs;
}

/*
 * Return whether two kmemtrace.meta may belong to one capture: no identifying
 * key has two different values. dir_a and dir_b are the directories of the two
 * files, for the error message.
 */
static gboolean agree(GKeyFile *a, const char *dir_a, GKeyFile *b,
		      const char *dir_b, GError **error)
{
	guint i;

	for (i = 0; i < G_N_ELEMENTS(identity); i++) {
		g_autofree char *va =
			g_key_file_get_string(a, "capture", identity[i], NULL);
		g_autofree char *vb =
			g_key_file_get_string(b, "capture", identity[i], NULL);

		if (!va || !vb || strcmp(va, vb) == 0)
			continue;
		g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_FORMAT,
			    "the files in %s and in %s do not belong to one "
			    "capture: %s in " KMT_INPUT_META_NAME " is %s "
			    "and %s; read one capture at a time",
			    dir_a, dir_b, identity[i], va, vb);
		return FALSE;
	}
	return TRUE;
}

/* Add a note if path is a link that leads to no file. */
static void note_bad_link(KmtInputCapture *capture, const char *path)
{
	g_autofree char *reason = kmt_input_bad_type_reason(path);

	if (reason)
		kmt_input_capture_add_note(
			capture,
			"cannot read %s: %s; the records are read as those of "
			"a capture without kmemtrace.meta",
			path, reason);
}

/*
 * Read kmemtrace.meta from each directory, and keep the first one in
 * capture->meta. If kmemtrace.meta is missing in some of the directories, the
 * files may belong to different captures. In that case set capture->meta to
 * NULL and add a note.
 */
static gboolean read_all(KmtInputCapture *capture, const GPtrArray *dirs,
			 GError **error)
{
	const char *with = NULL, *without = NULL;
	guint i;

	for (i = 0; i < dirs->len; i++) {
		const char *dir = dirs->pdata[i];
		g_autofree char *path =
			g_build_filename(dir, KMT_INPUT_META_NAME, NULL);
		g_autoptr(GKeyFile) meta = NULL;

		if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
			note_bad_link(capture, path);
			without = dir;
			continue;
		}
		meta = load(path, path, error);
		if (!meta)
			return FALSE;
		if (with && !agree(capture->meta, with, meta, dir, error))
			return FALSE;
		if (!with) {
			with = dir;
			capture->meta = g_steal_pointer(&meta);
		}
	}
	if (with && without) {
		g_clear_pointer(&capture->meta, g_key_file_unref);
		kmt_input_capture_add_note(
			capture,
			"there is a " KMT_INPUT_META_NAME " in %s and none "
			"in %s: it is unknown whether the files belong to "
			"one capture",
			with, without);
	}
	return TRUE;
}

static gboolean read_tar(KmtInputCapture *capture, GError **error)
{
	g_autofree char *path =
		kmt_input_tar_path(capture->tar, KMT_INPUT_META_NAME);
	g_autofree char *name = NULL;

	if (!path)
		return TRUE;
	name = kmt_input_tar_display_path(capture, path);
	capture->meta = load(path, name, error);
	return capture->meta != NULL;
}

static GStrv string_list(const KmtInputCapture *capture, const char *key)
{
	GStrv list = NULL;

	if (capture->meta)
		list = g_key_file_get_string_list(capture->meta, "capture", key,
						  NULL, NULL);
	if (list && !list[0])
		g_clear_pointer(&list, g_strfreev);
	return list;
}

gboolean kmt_input_capture_meta_number(const KmtInputCapture *capture,
				       const char *key, guint64 *value)
{
	return capture->meta &&
	       meta_uint64(capture->meta, "capture", key, value);
}

GStrv kmt_input_capture_not_seen(const KmtInputCapture *capture)
{
	return string_list(capture, "not_seen");
}

GStrv kmt_input_capture_listed_files(const KmtInputCapture *capture)
{
	return string_list(capture, "files");
}

GStrv kmt_input_capture_incomplete(const KmtInputCapture *capture)
{
	return string_list(capture, "incomplete");
}

GStrv kmt_input_capture_events_off(const KmtInputCapture *capture)
{
	return string_list(capture, "events_off");
}

char *kmt_input_capture_filter(const KmtInputCapture *capture,
			       gboolean *changed)
{
	*changed = FALSE;
	if (!capture->meta)
		return NULL;
	*changed = g_key_file_get_boolean(capture->meta, "capture",
					  "filter_changed", NULL);
	return g_key_file_get_string(capture->meta, "capture", "filter", NULL);
}

/*
 * Read the event selection of the user: disabled events, the kernel filter and
 * the sampling factor.
 */
static void read_event_selection(KmtInputCapture *capture)
{
	static const struct {
		const char *event;
		guint type;
	} frees[] = {
		{"kfree", KMEMTRACE_TYPE_KMALLOC},
		{"cache_free", KMEMTRACE_TYPE_CACHE},
		{"page_free", KMEMTRACE_TYPE_PAGES},
		{"percpu_free", KMEMTRACE_TYPE_PERCPU},
		{"vfree", KMEMTRACE_TYPE_VMALLOC},
	};
	g_auto(GStrv) off = kmt_input_capture_events_off(capture);
	g_autofree char *how = g_key_file_get_string(capture->meta, "capture",
						     "filter_frees", NULL);
	gboolean changed;
	g_autofree char *filter = kmt_input_capture_filter(capture, &changed);
	gboolean has_sample =
		g_key_file_has_key(capture->meta, "capture", "sample", NULL);
	guint i;

	for (i = 0; off && i < G_N_ELEMENTS(frees); i++)
		if (g_strv_contains((const char *const *)off, frees[i].event))
			capture->frees_not_recorded |= 1U << frees[i].type;
	capture->has_blind_spots |= off != NULL || (filter && changed);
	capture->filtered = filter && g_strcmp0(how, "exact") != 0;
	if (has_sample &&
	    !meta_uint64(capture->meta, "capture", "sample", &capture->sample))
		kmt_input_capture_add_note(
			capture,
			"sample= in kmemtrace.meta is not a number: if the "
			"capture is a sample of the allocations, figures are "
			"of the recorded events");
	/* The recorder writes 0 if the sampling factor changed during the
	 * recording. Figures then cannot be scaled. */
	if (!capture->sample) {
		capture->sample = 1;
		kmt_input_capture_add_note(
			capture, "the kernel recorded a sample of the "
				 "allocations and changed the sampling rate: "
				 "figures are of the recorded events");
	}
}

/*
 * Read whether the recorder was configured to record only some of the events.
 * If so, frees of every type may be missing.
 */
static void read_incomplete(KmtInputCapture *capture)
{
	g_auto(GStrv) reasons = kmt_input_capture_incomplete(capture);

	capture->incomplete = reasons != NULL;
	if (capture->incomplete)
		capture->frees_not_recorded = G_MAXUINT;
}

/*
 * Read whether the capture was imported and, if so, how it reports losses. Some
 * tracing tools report losses without a number, and some do not report losses
 * at all.
 */
static void read_source(KmtInputCapture *capture)
{
	g_autofree char *source =
		g_key_file_get_string(capture->meta, "capture", "source", NULL);
	g_autofree char *losses =
		g_key_file_get_string(capture->meta, "capture", "losses", NULL);

	capture->imported = g_strcmp0(source, "import") == 0;
	if (!capture->imported || capture->has_overruns ||
	    g_strcmp0(losses, "not_reported") == 0)
		return;
	capture->reports_loss = TRUE;
	capture->losses_in_records = g_strcmp0(losses, "unnumbered") == 0;
	kmt_input_capture_add_note(capture,
				   "events were lost during the recording; "
				   "their number is unknown");
}

/*
 * Read a kernel release such as "6.12.3-amd64". Return FALSE if kmemtrace.meta
 * has no release, or if the release does not begin with two numbers.
 */
static gboolean read_release(GKeyFile *meta, guint64 *major, guint64 *minor)
{
	g_autofree char *text =
		g_key_file_get_string(meta, "capture", "kernel_release", NULL);
	char *end;

	if (!text || !g_ascii_isdigit(*text))
		return FALSE;
	*major = g_ascii_strtoull(text, &end, 10);
	if (*end != '.' || !g_ascii_isdigit(end[1]))
		return FALSE;
	*minor = g_ascii_strtoull(end + 1, NULL, 10);
	return TRUE;
}

/* Read abi_version, and whether kfree() frees objects of any cache. */
static void read_version(KmtInputCapture *capture)
{
	guint64 version, major, minor;

	/* load() has refused versions above KMEMTRACE_ABI_VERSION. */
	if (meta_uint64(capture->meta, "capture", "abi_version", &version))
		capture->abi_version = (guint)version;
	if (read_release(capture->meta, &major, &minor))
		capture->kfree_of_caches =
			major > 6 || (major == 6 && minor >= 4);
	else
		capture->kfree_of_caches = capture->abi_version >= 3;
}

gboolean kmt_input_meta_read(KmtInputCapture *capture, GError **error)
{
	g_autoptr(GPtrArray) dirs = NULL;
	g_auto(GStrv) not_seen = NULL;

	capture->sample = 1;
	if (capture->tar) {
		if (!read_tar(capture, error))
			return FALSE;
	} else {
		dirs = directories(capture);
		if (!read_all(capture, dirs, error))
			return FALSE;
	}
	if (!capture->meta)
		return TRUE;
	capture->complete = g_key_file_get_boolean(capture->meta, "capture",
						   "complete", NULL);
	capture->continues = g_key_file_get_boolean(capture->meta, "capture",
						    "continues", NULL);
	read_overruns(capture);
	not_seen = kmt_input_capture_not_seen(capture);
	capture->has_blind_spots = not_seen != NULL;
	read_event_selection(capture);
	read_incomplete(capture);
	read_source(capture);
	read_version(capture);
	return TRUE;
}

void kmt_input_meta_apply(KmtInputCapture *capture)
{
	if (!capture->meta)
		return;
	apply_to_files(capture);
	capture->missing_files = count_missing(capture);
	find_unlisted(capture);
}
