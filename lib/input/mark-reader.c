// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/input/mark-reader.h"
#include "lib/input/record-reader.h"

/* Maximum size in bytes of a payload that the kernel writes. */
#define MAX_PAYLOAD                                                            \
	(KMEMTRACE_MARK_ARGS * (sizeof(guint64) + KMEMTRACE_MARK_STRING))

/* The current mark of a file while its MORE records are read. */
typedef struct {
	gboolean open;
	KmtInputMark mark;
	GByteArray *payload;
	guint parts;	    /* number of MORE records that the mark must have */
	guint next_part;    /* expected part number of the next MORE record */
	guint64 next_index; /* expected index of the next MORE record in the
			     * file */
	guint64 leading;    /* number of MORE records at the start of the file;
			     * their MARK record is not in the capture */
} OpenMark;

struct KmtInputMarks {
	const KmtInputCapture *capture;
	OpenMark *open_marks; /* array with one element for each of the n_files
			       * files */
	guint n_files;
	GArray *marks;	      /* array of KmtInputMark */
	GByteArray *payloads; /* the payloads of all marks; words in the byte
			       * order of this host */
	guint64 dropped, defects;
	KmtInputMarkDefectFunc on_defect;
	gpointer user;
};

KmtInputMarks *kmt_input_marks_new(const KmtInputCapture *capture,
				   KmtInputMarkDefectFunc on_defect,
				   gpointer user)
{
	KmtInputMarks *marks = g_new0(KmtInputMarks, 1);

	marks->capture = capture;
	marks->on_defect = on_defect;
	marks->user = user;
	marks->n_files = capture->files->len;
	marks->open_marks = g_new0(OpenMark, capture->files->len);
	marks->marks = g_array_new(FALSE, FALSE, sizeof(KmtInputMark));
	marks->payloads = g_byte_array_new();
	return marks;
}

void kmt_input_marks_free(KmtInputMarks *marks)
{
	guint i;

	if (!marks)
		return;
	/* Do not use capture here, because the caller may have freed the
	 * capture. */
	for (i = 0; i < marks->n_files; i++)
		if (marks->open_marks[i].payload)
			g_byte_array_unref(marks->open_marks[i].payload);
	g_free(marks->open_marks);
	g_array_unref(marks->marks);
	g_byte_array_unref(marks->payloads);
	g_free(marks);
}

static void add_defect(KmtInputMarks *marks, KmtInputMarkDefect defect,
		       guint file, guint64 index)
{
	marks->defects++;
	if (marks->on_defect)
		marks->on_defect(marks->user, defect,
				 marks->capture->files->pdata[file], index);
}

/*
 * Report a defect that a lost record can cause. If the capture has lost
 * records, the defect is expected and is not reported.
 */
static void add_defect_unless_lossy(KmtInputMarks *marks,
				    KmtInputMarkDefect defect, guint file,
				    guint64 index)
{
	if (!kmt_input_capture_has_lost(marks->capture))
		add_defect(marks, defect, file, index);
}

/* Store the mark with the payload that was read so far. */
static void close_mark(KmtInputMarks *marks, OpenMark *open)
{
	KmtInputMark *mark = &open->mark;

	open->open = FALSE;
	mark->payload_size = MIN(mark->payload_size, open->payload->len);
	if (marks->marks->len == KMT_INPUT_MAX_MARKS ||
	    mark->payload_size >
		    KMT_INPUT_MAX_MARK_BYTES - marks->payloads->len) {
		marks->dropped++;
		return;
	}
	mark->payload = marks->payloads->len;
	g_byte_array_append(marks->payloads, open->payload->data,
			    mark->payload_size);
	g_array_append_val(marks->marks, *mark);
}

static void close_incomplete(KmtInputMarks *marks, OpenMark *open)
{
	add_defect_unless_lossy(marks, KMT_INPUT_MARK_MISSING_PART,
				open->mark.file, open->mark.index);
	close_mark(marks, open);
}

static void append_payload(OpenMark *open,
			   const struct kmemtrace_event_mark *event)
{
	g_byte_array_append(open->payload, (const guint8 *)event->payload,
			    sizeof(event->payload));
	open->next_index++;
}

static void begin_mark(KmtInputMarks *marks, OpenMark *open,
		       const KmtInputCpuFile *file, guint64 index,
		       const struct kmemtrace_event_mark *event)
{
	guint records = (event->payload_size + KMEMTRACE_MARK_PAYLOAD - 1) /
			KMEMTRACE_MARK_PAYLOAD;

	if (!open->payload)
		open->payload = g_byte_array_new();
	g_byte_array_set_size(open->payload, 0);
	open->open = TRUE;
	open->mark = (KmtInputMark){
		.time = event->timestamp,
		.file = file->position,
		.index = index,
		.number = event->mark,
		.pid = event->pid,
		.flags = event->flags,
		.payload_size = event->payload_size,
	};
	open->parts = event->part;
	open->next_part = 1;
	open->next_index = index;
	append_payload(open, event);
	if (MAX(records, 1) != 1U + event->part ||
	    event->payload_size % sizeof(guint64) ||
	    event->payload_size > MAX_PAYLOAD) {
		add_defect(marks, KMT_INPUT_MARK_BAD_SIZE, file->position,
			   index);
		/* Store the payload, but leave whole FALSE, so that the
		 * arguments are not decoded. */
	} else if (!event->part) {
		open->mark.whole = TRUE;
	}
	if (!event->part)
		close_mark(marks, open);
}

static void append_part(KmtInputMarks *marks, OpenMark *open,
			const KmtInputCpuFile *file, guint64 index,
			const struct kmemtrace_event_mark *event)
{
	const KmtInputMark *mark = &open->mark;

	if (open->open && index == open->next_index &&
	    event->part == open->next_part && event->mark == mark->number &&
	    event->timestamp == mark->time &&
	    event->payload_size == mark->payload_size) {
		append_payload(open, event);
		if (open->next_part++ < open->parts)
			return;
		open->mark.whole = mark->payload_size % sizeof(guint64) == 0 &&
				   mark->payload_size > KMEMTRACE_MARK_PAYLOAD *
								open->parts &&
				   mark->payload_size <= open->payload->len &&
				   mark->payload_size <= MAX_PAYLOAD;
		close_mark(marks, open);
		return;
	}
	if (open->open)
		close_incomplete(marks, open);
	/* All records before this one in the file are MORE records: their MARK
	 * is older than the first record of the file. This is not a defect. */
	if (index == open->leading) {
		open->leading++;
		return;
	}
	add_defect_unless_lossy(marks, KMT_INPUT_MARK_ORPHAN_PART,
				file->position, index);
}

/* Add a MARK or MORE record, which must be in the byte order of this host. The
 * caller adds the records of a file in file order. */
static void add_record(KmtInputMarks *marks, const KmtInputCpuFile *file,
		       guint64 index, const guint8 *record)
{
	OpenMark *open = &marks->open_marks[file->position];
	struct kmemtrace_event_mark event;

	memcpy(&event, record, sizeof(event));
	if (event.event_id == KMEMTRACE_EVENT_MORE) {
		append_part(marks, open, file, index, &event);
		return;
	}
	if (open->open)
		close_incomplete(marks, open);
	begin_mark(marks, open, file, index, &event);
}

static void scan_batch(KmtInputMarks *marks, const KmtInputCpuFile *file,
		       guint64 index, const KmtInputBatch *batch)
{
	const guint8 *record = batch->records;
	guint64 i;

	for (i = 0; i < batch->n; i++, record += batch->stride) {
		struct kmemtrace_event event;

		if (G_LIKELY(record[0] < KMEMTRACE_EVENT_MARK))
			continue;
		memcpy(&event, record, sizeof(event));
		if (event.event_size == file->record_size &&
		    kmt_input_is_mark(&event, file->record_size))
			add_record(marks, file, index + i, record);
	}
}

void kmt_input_marks_scan(KmtInputMarks *marks)
{
	guint i;

	for (i = 0; i < marks->capture->files->len; i++) {
		KmtInputCpuFile *file = marks->capture->files->pdata[i];
		g_autoptr(KmtInputReader) source = NULL;
		guint64 index = 0;
		KmtInputBatch batch;

		if (file->record_size < KMEMTRACE_EVENT_SIZE_V2)
			continue;
		source = kmt_input_reader_new(file);
		while (kmt_input_reader_next(source, &batch)) {
			scan_batch(marks, file, index, &batch);
			index += batch.n;
			kmt_input_buffer_unref(batch.buffer);
		}
	}
}

/* ---- argument values ---- */

static guint64 word_at(const KmtInputMarks *marks, const KmtInputMark *mark,
		       guint i)
{
	guint64 word;

	memcpy(&word, marks->payloads->data + mark->payload + i * sizeof(word),
	       sizeof(word));
	return word;
}

static gsize padded(guint64 length)
{
	return (length + sizeof(guint64) - 1) & ~(sizeof(guint64) - 1);
}

/*
 * Extract the length of a string in bytes from the argument word. Return FALSE
 * if the length exceeds G_MAXUINT16, which no recorded string reaches.
 */
static gboolean string_length(guint64 word, guint64 *length)
{
	*length = word & ~KMEMTRACE_MARK_CUT;
	return *length <= G_MAXUINT16;
}

gboolean kmt_input_mark_value(const KmtInputMarks *marks,
			      const KmtInputMark *mark, guint i,
			      KmtInputMarkValue *value)
{
	const char *types = mark->kind ? mark->kind->types : "";
	guint n = (guint)strlen(types), k;
	gsize at = n * sizeof(guint64);
	guint64 length;

	if (i >= n || at > mark->payload_size)
		return FALSE;
	value->type = types[i];
	value->word = word_at(marks, mark, i);
	value->bytes = NULL;
	value->truncated = FALSE;
	if (types[i] != 's')
		return TRUE;
	for (k = 0; k < i; k++)
		if (types[k] == 's') {
			if (!string_length(word_at(marks, mark, k), &length))
				return FALSE;
			at += padded(length);
		}
	value->truncated = (value->word & KMEMTRACE_MARK_CUT) != 0;
	if (!string_length(value->word, &value->word) ||
	    at + padded(value->word) > mark->payload_size)
		return FALSE;
	value->bytes = marks->payloads->data + mark->payload + at;
	return TRUE;
}

/* Return whether all arguments can be decoded and together fill the payload. */
static gboolean has_values(const KmtInputMarks *marks, const KmtInputMark *mark)
{
	const char *types = mark->kind->types;
	guint n = (guint)strlen(types), i;
	gsize size = n * sizeof(guint64);
	KmtInputMarkValue value;

	for (i = 0; i < n; i++) {
		if (!kmt_input_mark_value(marks, mark, i, &value))
			return FALSE;
		if (types[i] == 's')
			size += padded(value.word);
	}
	return size == mark->payload_size;
}

/*
 * Undo the byte swap of the strings in a payload. The reader swapped the
 * payload in words of 64 bits, but strings have no byte order.
 */
static void restore_strings(KmtInputMarks *marks, const KmtInputMark *mark)
{
	gsize words = strlen(mark->kind->types) * sizeof(guint64), at;

	for (at = words; at + sizeof(guint64) <= mark->payload_size;
	     at += sizeof(guint64)) {
		guint8 *p = marks->payloads->data + mark->payload + at;
		guint64 word;

		memcpy(&word, p, sizeof(word));
		word = GUINT64_SWAP_LE_BE(word);
		memcpy(p, &word, sizeof(word));
	}
}

/* ---- completion after the scan ---- */

/*
 * Compare marks by time, then by file and record index, which is the merge
 * order of records.
 */
static gint compare(gconstpointer a, gconstpointer b)
{
	const KmtInputMark *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void close_all(KmtInputMarks *marks)
{
	guint i;

	for (i = 0; i < marks->capture->files->len; i++) {
		const KmtInputCpuFile *file = marks->capture->files->pdata[i];
		OpenMark *open = &marks->open_marks[i];

		if (!open->open)
			continue;
		if (open->next_index < file->n_records) {
			close_incomplete(marks, open);
			continue;
		}
		/* The file ends within the mark, so the end of the recording
		 * cut off the remaining records. This is not a defect. */
		close_mark(marks, open);
	}
}

static void resolve_kind(KmtInputMarks *marks, const KmtInputTables *tables,
			 KmtInputMark *mark)
{
	const KmtInputCpuFile *file = marks->capture->files->pdata[mark->file];

	mark->kind = tables ? kmt_input_tables_mark_kind(tables, mark->number)
			    : NULL;
	if (!mark->kind) {
		/* An unknown number is a defect only if the table of
		 * annotations exists and is valid. Number 0 is always a defect.
		 */
		if (!mark->number ||
		    (tables && kmt_input_tables_has_marks(tables)))
			add_defect(marks, KMT_INPUT_MARK_UNKNOWN, mark->file,
				   mark->index);
		return;
	}
	if (file->swapped)
		restore_strings(marks, mark);
	if (mark->whole && !has_values(marks, mark))
		add_defect(marks, KMT_INPUT_MARK_BAD_VALUES, mark->file,
			   mark->index);
}

void kmt_input_marks_finish(KmtInputMarks *marks, const KmtInputTables *tables)
{
	guint i;

	close_all(marks);
	g_array_sort(marks->marks, compare);
	for (i = 0; i < marks->marks->len; i++)
		resolve_kind(marks, tables,
			     &g_array_index(marks->marks, KmtInputMark, i));
}

guint kmt_input_marks_count(const KmtInputMarks *marks)
{
	return marks->marks->len;
}

const KmtInputMark *kmt_input_marks_get(const KmtInputMarks *marks, guint i)
{
	return &g_array_index(marks->marks, KmtInputMark, i);
}

guint64 kmt_input_marks_dropped(const KmtInputMarks *marks)
{
	return marks->dropped;
}

guint64 kmt_input_marks_count_defects(const KmtInputMarks *marks)
{
	return marks->defects;
}

char *kmt_input_mark_name(const KmtInputMark *mark)
{
	return mark->kind ? g_strdup(mark->kind->name)
			  : g_strdup_printf("mark %u", mark->number);
}

gboolean kmt_input_mark_is_marker(const KmtInputMark *mark)
{
	return mark->number == KMEMTRACE_MARK_MARKER;
}
