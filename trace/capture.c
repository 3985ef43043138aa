// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/capture.h"

#define META_NAME "kmemtrace.meta"

/* How many records, from all over a file, have a say in its format. */
#define FORMAT_SAMPLE 16

/* KmtObject.file has 16 bits. */
#define MAX_FILES 65536

G_DEFINE_QUARK(kmt - trace - error - quark, kmt_trace_error)

/* What a file's records say about its format. */
typedef struct {
	guint record_size;
	gboolean swapped;
	guint votes;   /* records that agree */
	guint sampled; /* records looked at */
} Format;

static void cpu_file_free(gpointer data)
{
	KmtCpuFile *file = data;

	if (file->map)
		munmap((void *)file->map, file->size);
	g_free(file->path);
	g_free(file);
}

void kmt_capture_free(KmtCapture *capture)
{
	if (!capture)
		return;
	g_ptr_array_unref(capture->files);
	g_clear_pointer(&capture->meta, g_key_file_unref);
	g_free(capture->directory);
	g_free(capture);
}

/* The n of cpu<n>.out.  FALSE if name is none such. */
static gboolean parse_cpu_name(const char *name, guint *cpu)
{
	const char *digits;
	char *end;
	guint64 n;

	if (!g_str_has_prefix(name, "cpu"))
		return FALSE;
	digits = name + 3;
	if (!g_ascii_isdigit(*digits))
		return FALSE;
	n = g_ascii_strtoull(digits, &end, 10);
	if (strcmp(end, ".out") != 0 || n >= G_MAXUINT16)
		return FALSE;
	*cpu = n;
	return TRUE;
}

static gboolean map_file(KmtCpuFile *file, GError **error)
{
	struct stat st;
	void *map;
	int fd, saved;

	/* O_NONBLOCK: a named pipe must not keep us waiting. */
	fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_OPEN,
			    "cannot open %s: %s", file->path,
			    g_strerror(errno));
		return FALSE;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_READ,
			    "cannot read %s: not a regular file; copy the "
			    "records to a file first",
			    file->path);
		close(fd);
		return FALSE;
	}
	file->device = st.st_dev;
	file->inode = st.st_ino;
	file->size = st.st_size;
	if (file->size == 0) {
		close(fd);
		return TRUE;
	}
	map = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, fd, 0);
	saved = errno;
	close(fd);
	if (map == MAP_FAILED) {
		g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_READ,
			    "cannot map %s: %s", file->path, g_strerror(saved));
		return FALSE;
	}
	file->map = map;
	madvise(map, file->size, MADV_SEQUENTIAL);
	return TRUE;
}

static guint event_size_at(const guint8 *record, gboolean swapped)
{
	guint16 size;

	memcpy(&size,
	       record + G_STRUCT_OFFSET(struct kmemtrace_event, event_size),
	       sizeof(size));
	return swapped ? GUINT16_SWAP_LE_BE(size) : size;
}

/* Takes (record_size, swapped) as the format if it fits better than *best. */
static void try_format(const KmtCpuFile *file, guint record_size,
		       gboolean swapped, Format *best)
{
	Format f = {.record_size = record_size, .swapped = swapped};
	guint i;
	guint64 n = record_size ? file->size / record_size : 0;
	gint score, best_score;

	if (record_size < KMEMTRACE_EVENT_SIZE_V1)
		return;
	f.sampled = MIN(n, FORMAT_SAMPLE);
	for (i = 0; i < f.sampled; i++) {
		guint64 index = i * n / f.sampled;

		if (event_size_at(file->map + index * record_size, swapped) ==
		    record_size)
			f.votes++;
	}
	/* Records for it less those against it; equal: the smaller size. */
	score = 2 * (gint)f.votes - (gint)f.sampled;
	best_score = 2 * (gint)best->votes - (gint)best->sampled;
	if (f.votes &&
	    (!best->votes || score > best_score ||
	     (score == best_score && f.record_size < best->record_size)))
		*best = f;
}

static Format guess_format(const KmtCpuFile *file)
{
	Format best = {0};

	if (file->size < KMEMTRACE_EVENT_SIZE_V1)
		return best;
	try_format(file, event_size_at(file->map, FALSE), FALSE, &best);
	try_format(file, event_size_at(file->map, TRUE), TRUE, &best);
	try_format(file, KMEMTRACE_EVENT_SIZE_V1, FALSE, &best);
	try_format(file, KMEMTRACE_EVENT_SIZE_V1, TRUE, &best);
	return best;
}

static gboolean format_is_sure(const Format *f)
{
	return f->votes && f->votes * 2 >= f->sampled;
}

/* FALSE if meta does not say it in a way that makes sense. */
static gboolean meta_format(GKeyFile *meta, Format *format)
{
	g_autofree char *order = NULL;
	guint64 size;

	if (!meta)
		return FALSE;
	size = g_key_file_get_uint64(meta, "capture", "record_size", NULL);
	order = g_key_file_get_string(meta, "capture", "byte_order", NULL);
	if (size < KMEMTRACE_EVENT_SIZE_V1 || size > G_MAXUINT16 || !order)
		return FALSE;
	if (strcmp(order, "little") != 0 && strcmp(order, "big") != 0)
		return FALSE;
	format->record_size = size;
	format->swapped =
		(strcmp(order, "big") == 0) != (G_BYTE_ORDER == G_BIG_ENDIAN);
	return TRUE;
}

static const char *order_name(gboolean swapped)
{
	return (G_BYTE_ORDER == G_BIG_ENDIAN) == !swapped ? "big" : "little";
}

const char *kmt_capture_byte_order(const KmtCapture *capture)
{
	return order_name(capture->swapped);
}

/*
 * Settles the one format of the capture: files that are sure must agree; the
 * others follow.
 */
static gboolean settle_format(KmtCapture *capture, GError **error)
{
	g_autofree Format *formats = g_new0(Format, capture->files->len);
	const KmtCpuFile *sure = NULL;
	Format best = {.record_size = KMEMTRACE_EVENT_SIZE_V1};
	gboolean known = meta_format(capture->meta, &best);
	guint i;

	for (i = 0; i < capture->files->len; i++) {
		const KmtCpuFile *file = capture->files->pdata[i];
		Format f = guess_format(file);

		if (!format_is_sure(&f)) {
			/* A hint is better than none; one record is none. */
			if (f.votes > 1 && !sure && !known) {
				best = f;
				known = TRUE;
			}
			continue;
		}
		if (sure && (best.record_size != f.record_size ||
			     best.swapped != f.swapped)) {
			g_set_error(error, KMT_TRACE_ERROR,
				    KMT_TRACE_ERROR_FORMAT,
				    "%s has records of %u bytes in %s endian "
				    "order, %s of %u bytes in %s endian order: "
				    "they are not files of one capture; give "
				    "them one by one",
				    sure->path, best.record_size,
				    order_name(best.swapped), file->path,
				    f.record_size, order_name(f.swapped));
			return FALSE;
		}
		sure = file;
		best = f;
	}

	capture->record_size = best.record_size;
	capture->swapped = best.swapped;
	for (i = 0; i < capture->files->len; i++) {
		KmtCpuFile *file = capture->files->pdata[i];

		file->record_size = best.record_size;
		file->swapped = best.swapped;
		file->n_records = file->size / best.record_size;
		file->truncated_bytes = file->size % best.record_size;
		capture->n_records += file->n_records;
	}
	return TRUE;
}

static gint compare_cpu(gconstpointer a, gconstpointer b)
{
	const KmtCpuFile *fa = *(const KmtCpuFile *const *)a;
	const KmtCpuFile *fb = *(const KmtCpuFile *const *)b;

	return (fa->cpu > fb->cpu) - (fa->cpu < fb->cpu);
}

static guint file_hash(gconstpointer p)
{
	const KmtCpuFile *file = p;

	return g_int64_hash(&file->inode);
}

static gboolean file_equal(gconstpointer a, gconstpointer b)
{
	const KmtCpuFile *fa = a, *fb = b;

	return fa->device == fb->device && fa->inode == fb->inode;
}

/* A link to another file of the capture would have its records count twice. */
static gboolean refuse_same_file(const KmtCapture *capture, GError **error)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(file_hash, file_equal);
	guint i;

	for (i = 0; i < capture->files->len; i++) {
		KmtCpuFile *file = capture->files->pdata[i];
		const KmtCpuFile *other = g_hash_table_lookup(seen, file);

		if (other) {
			g_set_error(error, KMT_TRACE_ERROR,
				    KMT_TRACE_ERROR_FORMAT,
				    "%s and %s are the same file: its records "
				    "would count twice; leave out one of them",
				    other->path, file->path);
			return FALSE;
		}
		g_hash_table_add(seen, file);
	}
	return TRUE;
}

/* Sorts by CPU and refuses two files of one CPU, or one by two names. */
static gboolean order_files(KmtCapture *capture, GError **error)
{
	guint i;

	g_ptr_array_sort(capture->files, compare_cpu);
	if (!refuse_same_file(capture, error))
		return FALSE;
	for (i = 0; i < capture->files->len; i++) {
		KmtCpuFile *file = capture->files->pdata[i];
		const KmtCpuFile *before =
			i ? capture->files->pdata[i - 1] : NULL;

		file->position = i;
		if (!before || before->cpu != file->cpu)
			continue;
		g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_FORMAT,
			    "%s and %s are both of CPU %u: they are not files "
			    "of one capture; give them one by one",
			    before->path, file->path, file->cpu);
		return FALSE;
	}
	return TRUE;
}

static KmtCpuFile *add_file(KmtCapture *capture, const char *path, guint cpu,
			    GError **error)
{
	KmtCpuFile *file = g_new0(KmtCpuFile, 1);

	file->path = g_strdup(path);
	file->cpu = cpu;
	file->node = -1;
	g_ptr_array_add(capture->files, file);
	if (capture->files->len >= MAX_FILES) {
		g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_FORMAT,
			    "%s: more than %d files", path, MAX_FILES - 1);
		return NULL;
	}
	return map_file(file, error) ? file : NULL;
}

static gboolean add_directory(KmtCapture *capture, const char *path,
			      GError **error)
{
	g_autoptr(GError) local = NULL;
	g_autoptr(GDir) dir = g_dir_open(path, 0, &local);
	const char *name;
	guint cpu;

	if (!dir) {
		g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_OPEN,
			    "cannot open the directory %s: %s", path,
			    local->message);
		return FALSE;
	}
	capture->directory = g_strdup(path);
	while ((name = g_dir_read_name(dir))) {
		g_autofree char *full = NULL;

		if (!parse_cpu_name(name, &cpu))
			continue;
		full = strcmp(path, ".") == 0
			       ? g_strdup(name)
			       : g_build_filename(path, name, NULL);
		if (!add_file(capture, full, cpu, error))
			return FALSE;
	}
	if (capture->files->len == 0) {
		g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_NO_FILES,
			    "no cpu<n>.out in %s: not the directory of a "
			    "capture",
			    path);
		return FALSE;
	}
	return TRUE;
}

/* The CPUs that are taken by the operands' names. */
static GHashTable *named_cpus(const char *const *operands)
{
	GHashTable *cpus = g_hash_table_new(NULL, NULL);

	for (; *operands; operands++) {
		g_autofree char *name = g_path_get_basename(*operands);
		guint cpu;

		if (parse_cpu_name(name, &cpu))
			g_hash_table_add(cpus, GUINT_TO_POINTER(cpu));
	}
	return cpus;
}

static gboolean add_operands(KmtCapture *capture, const char *const *operands,
			     GError **error)
{
	g_autoptr(GHashTable) named = named_cpus(operands);
	const char *const *o;
	guint free_cpu = 0;

	for (o = operands; *o; o++) {
		g_autofree char *name = g_path_get_basename(*o);
		guint cpu;

		if (g_file_test(*o, G_FILE_TEST_IS_DIR)) {
			g_set_error(error, KMT_TRACE_ERROR,
				    KMT_TRACE_ERROR_FORMAT,
				    "%s is a directory: give one directory, or "
				    "cpu files",
				    *o);
			return FALSE;
		}
		if (!parse_cpu_name(name, &cpu)) {
			while (g_hash_table_contains(
				named, GUINT_TO_POINTER(free_cpu)))
				free_cpu++;
			cpu = free_cpu++;
		}
		if (!add_file(capture, *o, cpu, error))
			return FALSE;
	}
	return TRUE;
}

gboolean kmt_capture_is_lossy(const KmtCapture *capture)
{
	return (capture->has_overruns && capture->overruns > 0) ||
	       capture->missing_files > 0 || capture->shortened;
}

gboolean kmt_capture_is_cut_off(const KmtCapture *capture)
{
	return capture->meta && !capture->complete;
}

/* The directory that all files share; NULL if there is none. */
static char *common_directory(const KmtCapture *capture)
{
	g_autofree char *common = NULL;
	guint i;

	if (capture->directory)
		return g_strdup(capture->directory);
	for (i = 0; i < capture->files->len; i++) {
		const KmtCpuFile *file = capture->files->pdata[i];
		g_autofree char *dir = g_path_get_dirname(file->path);

		if (!common)
			common = g_steal_pointer(&dir);
		else if (strcmp(common, dir) != 0)
			return NULL;
	}
	return g_steal_pointer(&common);
}

static char *path_beside(const KmtCapture *capture, const char *name,
			 GFileTest test)
{
	g_autofree char *dir = common_directory(capture);
	g_autofree char *path = NULL;

	if (!dir)
		return NULL;
	path = g_build_filename(dir, name, NULL);
	return g_file_test(path, test) ? g_steal_pointer(&path) : NULL;
}

char *kmt_capture_path(const KmtCapture *capture, const char *name)
{
	/* A named pipe would keep its reader waiting. */
	return path_beside(capture, name, G_FILE_TEST_IS_REGULAR);
}

/*
 * TRUE and *value if meta has this key as a number.  GKeyFile itself takes -1
 * for 2^64 - 1, and so all that is larger.
 */
static gboolean meta_uint64(GKeyFile *meta, const char *group, const char *key,
			    guint64 *value)
{
	g_autofree char *text = g_key_file_get_value(meta, group, key, NULL);

	return text && g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64,
						  value, NULL);
}

/* -1 if meta does not say it. */
static gint meta_node(GKeyFile *meta, const char *group)
{
	g_autofree char *text = g_key_file_get_value(meta, group, "node", NULL);
	gint64 node;

	if (!text ||
	    !g_ascii_string_to_signed(text, 10, -1, G_MAXINT32, &node, NULL))
		return -1;
	return (gint)node;
}

static void apply_meta_to_files(KmtCapture *capture)
{
	guint i;

	for (i = 0; i < capture->files->len; i++) {
		KmtCpuFile *file = capture->files->pdata[i];
		g_autofree char *group = g_strdup_printf("cpu%u", file->cpu);

		file->has_overruns = meta_uint64(capture->meta, group,
						 "overruns", &file->overruns);
		file->has_expected_size =
			capture->complete &&
			meta_uint64(capture->meta, group, "bytes",
				    &file->expected_size);
		if (file->has_expected_size && file->size < file->expected_size)
			capture->shortened = TRUE;
		file->node = meta_node(capture->meta, group);
	}
}

/* CPUs that meta knows to have records and whose file is not there. */
static guint count_missing(const KmtCapture *capture)
{
	g_auto(GStrv) groups = g_key_file_get_groups(capture->meta, NULL);
	guint i, missing = 0;
	char **g;

	for (g = groups; *g; g++) {
		g_autofree char *name = g_strconcat(*g, ".out", NULL);
		guint64 events = 1;
		guint cpu;

		if (!parse_cpu_name(name, &cpu))
			continue;
		meta_uint64(capture->meta, *g, "events", &events);
		for (i = 0; events && i < capture->files->len; i++) {
			const KmtCpuFile *file = capture->files->pdata[i];

			if (file->cpu == cpu)
				break;
		}
		if (events && i == capture->files->len)
			missing++;
	}
	return missing;
}

static gboolean read_meta(KmtCapture *capture, GError **error)
{
	g_autofree char *path =
		path_beside(capture, META_NAME, G_FILE_TEST_EXISTS);
	g_autoptr(GKeyFile) meta = NULL;
	g_autoptr(GError) local = NULL;

	if (!path)
		return TRUE;
	if (!g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
		g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_FORMAT,
			    "cannot read %s: not a regular file; remove it to "
			    "read the records alone",
			    path);
		return FALSE;
	}
	meta = g_key_file_new();
	if (!g_key_file_load_from_file(meta, path, G_KEY_FILE_NONE, &local)) {
		g_set_error(error, KMT_TRACE_ERROR, KMT_TRACE_ERROR_FORMAT,
			    "cannot read %s: %s; repair it, or remove it to "
			    "read the records alone",
			    path, local->message);
		return FALSE;
	}
	capture->meta = g_steal_pointer(&meta);
	capture->complete = g_key_file_get_boolean(capture->meta, "capture",
						   "complete", NULL);
	capture->continues = g_key_file_get_boolean(capture->meta, "capture",
						    "continues", NULL);
	capture->has_overruns = meta_uint64(capture->meta, "capture",
					    "overruns", &capture->overruns);
	apply_meta_to_files(capture);
	capture->missing_files = count_missing(capture);
	return TRUE;
}

KmtCapture *kmt_capture_open(const char *const *operands, GError **error)
{
	static const char *const here[] = {".", NULL};
	g_autoptr(KmtCapture) capture = g_new0(KmtCapture, 1);
	gboolean ok;

	capture->files = g_ptr_array_new_with_free_func(cpu_file_free);
	if (!operands || !operands[0])
		operands = here;
	if (!operands[1] && g_file_test(operands[0], G_FILE_TEST_IS_DIR))
		ok = add_directory(capture, operands[0], error);
	else
		ok = add_operands(capture, operands, error);
	if (!ok || !order_files(capture, error) || !read_meta(capture, error) ||
	    !settle_format(capture, error))
		return NULL;
	return g_steal_pointer(&capture);
}

void kmt_event_swap(struct kmemtrace_event *event)
{
	event->event_size = GUINT16_SWAP_LE_BE(event->event_size);
	event->node = (gint32)GUINT32_SWAP_LE_BE((guint32)event->node);
	event->call_site = GUINT64_SWAP_LE_BE(event->call_site);
	event->ptr = GUINT64_SWAP_LE_BE(event->ptr);
	event->bytes_req = GUINT64_SWAP_LE_BE(event->bytes_req);
	event->bytes_alloc = GUINT64_SWAP_LE_BE(event->bytes_alloc);
	event->gfp_flags = GUINT64_SWAP_LE_BE(event->gfp_flags);
	event->timestamp =
		(gint64)GUINT64_SWAP_LE_BE((guint64)event->timestamp);
}

void kmt_cpu_file_get(const KmtCpuFile *file, guint64 index,
		      struct kmemtrace_event *event)
{
	memcpy(event, file->map + index * file->record_size, sizeof(*event));
	if (file->swapped)
		kmt_event_swap(event);
	if (event->event_id == KMEMTRACE_EVENT_FREE)
		kmt_event_clear_free(event);
}
