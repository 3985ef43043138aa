// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <linux/perf_event.h>
#include <string.h>

#include "import/bytes.h"
#include "import/import.h"
#include "import/perfdata.h"
#include "import/perflayout.h"

/* perf's own, see tools/perf/Documentation/perf.data-file-format.txt. */
#define MAGIC	      "PERFILE2"
#define MAGIC_SWAPPED "2ELIFREP"

enum {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID = 2,
	FEATURE_RELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_MACHINE = 6,
	FEATURE_CPUS = 7,
	FEATURE_CLOCKID = 23,
	N_FEATURES = 256,
};

/* Types of records that perf itself writes. */
enum {
	RECORD_USER_FIRST = 64,
	RECORD_ROUND = 68,
	RECORD_AUXTRACE = 71,
	RECORD_COMPRESSED = 81,
	RECORD_COMPRESSED2 = 83,
};

#define TRACING_MAGIC "\027\010\104tracing"

typedef struct {
	guint64 offset;
	guint64 size;
} Section;

typedef struct {
	char magic[8];
	guint64 size;
	guint64 attr_size;
	Section attrs;
	Section data;
	Section event_types;
	guint64 features[4];
} FileHeader;

struct PerfData {
	GMappedFile *file;
	const guint8 *bytes;
	gsize size;
	FileHeader header;
	Section features[N_FEATURES]; /* of those that are there */
	PerfLayouts *layouts;
	guint page_bytes, long_bytes;
	char *release, *machine, *version, *build_id;
	gboolean own_clock; /* of the user's choice */
	KmtBytes formats;   /* from the first one on */
	KmtBytes records;
};

/* Not ok: it is not within the file. */
static KmtBytes section(const PerfData *d, Section s)
{
	KmtBytes bytes = {d->bytes, d->size};

	kmt_bytes_take(&bytes, s.offset);
	if (s.size > bytes.left)
		bytes.next = NULL;
	bytes.left = s.size;
	return bytes;
}

static gboolean has_feature(const PerfData *d, guint feature)
{
	return d->header.features[feature / 64] >> feature % 64 & 1;
}

/* The sections of the features follow the records, in their order. */
static gboolean read_features(PerfData *d, GError **error)
{
	KmtBytes table = section(
		d, (Section){d->header.data.offset + d->header.data.size, 0});

	table.left = table.next ? d->size - (gsize)(table.next - d->bytes) : 0;
	for (guint i = 0; i < N_FEATURES; i++) {
		if (!has_feature(d, i))
			continue;
		d->features[i].offset = kmt_bytes_64(&table);
		d->features[i].size = kmt_bytes_64(&table);
		if (!kmt_bytes_ok(&table))
			return kmt_import_fail(
				error, "it is cut off behind its samples: "
				       "copy it again, or record again");
	}
	return TRUE;
}

/* Its length, then the text with zeros behind. */
static char *feature_text(const PerfData *d, guint feature)
{
	KmtBytes bytes;
	guint32 length;
	const guint8 *text;

	if (!has_feature(d, feature))
		return NULL;
	bytes = section(d, d->features[feature]);
	length = kmt_bytes_32(&bytes);
	text = kmt_bytes_take(&bytes, length);
	return text && length ? g_strndup((const char *)text, length) : NULL;
}

/* Of the records in there: pid, id, name of the file. */
static char *find_build_id(const PerfData *d)
{
	KmtBytes bytes;

	if (!has_feature(d, FEATURE_BUILD_ID))
		return NULL;
	bytes = section(d, d->features[FEATURE_BUILD_ID]);
	while (kmt_bytes_ok(&bytes)) {
		struct perf_event_header header;
		const guint8 *p = kmt_bytes_take(&bytes, sizeof(header));
		KmtBytes entry = {0};
		const guint8 *id;
		const char *name;
		GString *hex;
		guint n;

		if (!p)
			break;
		memcpy(&header, p, sizeof(header));
		if (header.size < sizeof(header))
			break;
		entry.left = header.size - sizeof(header);
		entry.next = kmt_bytes_take(&bytes, entry.left);
		kmt_bytes_32(&entry);
		id = kmt_bytes_take(&entry, 24);
		name = kmt_bytes_string(&entry);
		if (!name || strcmp(name, "[kernel.kallsyms]") != 0)
			continue;
		n = id[20] && id[20] <= 20 ? id[20] : 20;
		hex = g_string_new(NULL);
		for (guint i = 0; i < n; i++)
			g_string_append_printf(hex, "%02x", id[i]);
		return g_string_free(hex, FALSE);
	}
	return NULL;
}

/* What trace-cmd too begins its files with: the machine's formats. */
static gboolean read_tracing_data(PerfData *d, GError **error)
{
	KmtBytes b;
	const guint8 *magic;
	guint32 n;

	if (!has_feature(d, FEATURE_TRACING_DATA))
		return kmt_import_fail(
			error, "it has no tracepoints: use perf record -a "
			       "-e 'kmem:*'");
	b = section(d, d->features[FEATURE_TRACING_DATA]);
	magic = kmt_bytes_take(&b, strlen(TRACING_MAGIC));
	if (magic && memcmp(magic, TRACING_MAGIC, strlen(TRACING_MAGIC)) != 0)
		return kmt_import_fail(
			error, "its formats of tracepoints do not begin as "
			       "they should: record again");
	kmt_bytes_string(&b);  /* its version */
	kmt_bytes_take(&b, 1); /* its byte order is that of the file */
	magic = kmt_bytes_take(&b, 1);
	d->long_bytes = magic ? *magic : 0;
	d->page_bytes = kmt_bytes_32(&b);
	/* header_page and header_event. */
	for (guint i = 0; i < 2; i++) {
		kmt_bytes_string(&b);
		kmt_bytes_take(&b, kmt_bytes_64(&b));
	}
	/* The formats of ftrace itself. */
	for (n = kmt_bytes_32(&b); n && kmt_bytes_ok(&b); n--)
		kmt_bytes_take(&b, kmt_bytes_64(&b));
	d->formats = b;
	if (kmt_bytes_ok(&b) && d->page_bytes && !(d->page_bytes & 511) &&
	    (d->long_bytes == 4 || d->long_bytes == 8))
		return TRUE;
	return kmt_import_fail(
		error, "its formats of tracepoints are cut off: copy it "
		       "again, or record again");
}

gboolean perf_data_formats(const PerfData *d, PerfFormatFunc call,
			   gpointer user, GError **error)
{
	KmtBytes b = d->formats;
	guint32 n_systems = kmt_bytes_32(&b);

	while (n_systems-- && kmt_bytes_ok(&b)) {
		const char *system = kmt_bytes_string(&b);
		guint32 n = kmt_bytes_32(&b);

		while (n-- && kmt_bytes_ok(&b)) {
			guint64 size = kmt_bytes_64(&b);
			const guint8 *bytes = kmt_bytes_take(&b, size);
			g_autofree char *text = NULL;
			g_autofree char *name = NULL;
			const char *end;

			if (!bytes)
				break;
			text = g_strndup((const char *)bytes, size);
			end = strchr(text, '\n');
			if (!g_str_has_prefix(text, "name: ") || !end)
				continue;
			name = g_strndup(text + strlen("name: "),
					 (gsize)(end - text) -
						 strlen("name: "));
			if (!call(user, system, name, text, error))
				return FALSE;
		}
	}
	return kmt_bytes_ok(&b) ||
	       kmt_import_fail(
		       error, "its formats of tracepoints are cut off: copy it "
			      "again, or record again");
}

static gboolean read_header(PerfData *d, GError **error)
{
	FileHeader *header = &d->header;
	KmtBytes b = {d->bytes, d->size};
	const guint8 *p = kmt_bytes_take(&b, 8);

	if (p && memcmp(p, MAGIC_SWAPPED, 8) == 0)
		return kmt_import_fail(error,
				       "it is of a machine with the other byte "
				       "order: import it on such a machine");
	if (!p || memcmp(p, MAGIC, 8) != 0)
		return kmt_import_fail(error, "it is no perf.data");
	b = (KmtBytes){d->bytes, d->size};
	if (kmt_bytes_take(&b, 8) && kmt_bytes_64(&b) == 16)
		return kmt_import_fail(
			error, "perf wrote it into a pipe: record again "
			       "with perf record -o FILE");
	b = (KmtBytes){d->bytes, d->size};
	p = kmt_bytes_take(&b, sizeof(*header));
	if (!p)
		return kmt_import_fail(
			error, "it is cut off within its header: copy it "
			       "again, or record again");
	memcpy(header, p, sizeof(*header));
	if (!header->data.size)
		return kmt_import_fail(
			error, "perf record was killed before it ended, or "
			       "is still at work: record again, and end it "
			       "by Ctrl+C");
	d->records = section(d, header->data);
	if (!kmt_bytes_ok(&d->records))
		return kmt_import_fail(
			error, "it is cut off within its samples: copy it "
			       "again, or record again");
	d->layouts =
		perf_layouts_new(d->bytes, d->size, header->attrs.offset,
				 header->attrs.size, header->attr_size, error);
	return d->layouts && read_features(d, error) &&
	       read_tracing_data(d, error);
}

PerfData *perf_data_open(const char *path, GError **error)
{
	g_autoptr(PerfData) d = g_new0(PerfData, 1);

	d->file = g_mapped_file_new(path, FALSE, error);
	if (!d->file)
		return NULL;
	d->bytes = (const guint8 *)g_mapped_file_get_contents(d->file);
	d->size = g_mapped_file_get_length(d->file);
	if (!read_header(d, error))
		return NULL;
	d->release = feature_text(d, FEATURE_RELEASE);
	d->machine = feature_text(d, FEATURE_MACHINE);
	d->version = feature_text(d, FEATURE_VERSION);
	d->build_id = find_build_id(d);
	d->own_clock = has_feature(d, FEATURE_CLOCKID);
	return g_steal_pointer(&d);
}

void perf_data_free(PerfData *d)
{
	if (!d)
		return;
	if (d->file)
		g_mapped_file_unref(d->file);
	perf_layouts_free(d->layouts);
	g_free(d->release);
	g_free(d->machine);
	g_free(d->version);
	g_free(d->build_id);
	g_free(d);
}

guint perf_data_page_bytes(const PerfData *d)
{
	return d->page_bytes;
}

guint perf_data_cpus(const PerfData *d)
{
	KmtBytes bytes;

	if (!has_feature(d, FEATURE_CPUS))
		return 0;
	bytes = section(d, d->features[FEATURE_CPUS]);
	return kmt_bytes_32(&bytes);
}

guint perf_data_long_bytes(const PerfData *d)
{
	return d->long_bytes;
}

const char *perf_data_release(const PerfData *d)
{
	return d->release;
}

const char *perf_data_machine(const PerfData *d)
{
	return d->machine;
}

const char *perf_data_version(const PerfData *d)
{
	return d->version;
}

const char *perf_data_clock(const PerfData *d)
{
	return d->own_clock ? "perf -k" : NULL;
}

const char *perf_data_build_id(const PerfData *d)
{
	return d->build_id;
}

/* FALSE: there is nothing in it for anybody, or it is too short. */
static gboolean parse_record(PerfData *d, guint type, KmtBytes body,
			     PerfEntry *entry)
{
	KmtBytes b = body;

	perf_layouts_trailer(d->layouts, body, entry);
	switch (type) {
	case PERF_RECORD_LOST:
		entry->kind = PERF_ENTRY_LOST;
		kmt_bytes_64(&b);
		entry->number = kmt_bytes_64(&b);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		entry->kind = PERF_ENTRY_LOST_SAMPLES;
		entry->number = kmt_bytes_64(&b);
		break;
	case PERF_RECORD_COMM:
		entry->kind = PERF_ENTRY_COMM;
		kmt_bytes_32(&b);
		entry->pid = kmt_bytes_32(&b);
		entry->name = kmt_bytes_string(&b);
		break;
	case PERF_RECORD_MMAP:
		entry->kind = PERF_ENTRY_KERNEL;
		/* pid and tid, address, length; then that of the symbol. */
		kmt_bytes_64(&b);
		kmt_bytes_64(&b);
		kmt_bytes_64(&b);
		entry->number = kmt_bytes_64(&b);
		entry->name = kmt_bytes_string(&b);
		if (!entry->name ||
		    !g_str_has_prefix(entry->name, "[kernel.kallsyms]_"))
			return FALSE;
		entry->name += strlen("[kernel.kallsyms]");
		break;
	default:
		return FALSE;
	}
	return kmt_bytes_ok(&b);
}

gboolean perf_data_next(PerfData *d, PerfEntry *entry, GError **error)
{
	KmtBytes *b = &d->records;

	while (b->left >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;
		KmtBytes body;

		memcpy(&header, b->next, sizeof(header));
		if (header.size < sizeof(header) || header.size > b->left)
			break;
		body.next = b->next + sizeof(header);
		body.left = header.size - sizeof(header);
		kmt_bytes_take(b, header.size);
		*entry = (PerfEntry){0};
		if (header.type == PERF_RECORD_SAMPLE) {
			if (perf_layouts_sample(d->layouts, body, entry))
				return TRUE;
			return kmt_import_fail(
				error, "it is damaged: a sample is shorter "
				       "than it says: record again");
		}
		if (header.type == RECORD_COMPRESSED ||
		    header.type == RECORD_COMPRESSED2)
			return kmt_import_fail(
				error, "perf compressed it: record again, "
				       "without -z");
		if (header.type == RECORD_ROUND) {
			entry->kind = PERF_ENTRY_ROUND;
			return TRUE;
		}
		/* The data of hardware traces follows it. */
		if (header.type == RECORD_AUXTRACE)
			kmt_bytes_take(b, kmt_bytes_64(&body));
		if (parse_record(d, header.type, body, entry))
			return TRUE;
	}
	if (kmt_bytes_ok(b) && b->left == 0)
		return FALSE;
	return kmt_import_fail(error,
			       "it is damaged: a record is longer than what is "
			       "left: record again");
}
