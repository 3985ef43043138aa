// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks the rules of records, files, and marks. */
#include "config.h"

#include "check/check-private.h"
#include "check/record-filter.h"
#include "lib/cli/progress.h"
#include "lib/input/record-reader.h"

/* Number of records between two reports of the progress. */
#define PROGRESS_RECORDS 65536

/* Number of records below which starting threads takes longer than it saves.
 * check-threads, a test program, starts them always. */
#ifndef KMT_CHECK_MIN_RECORDS
#define KMT_CHECK_MIN_RECORDS 65536
#endif

/* Largest number of threads. More threads exceed the memory bandwidth. */
#define MAX_THREADS 16

/* ---- records ---- */

/*
 * Apply the rules to a record. Return whether the record is usable, i.e. breaks
 * no fatal rule.
 */
static gboolean apply_rules(KmtCheck *check, const KmtRuleInput *input,
			    guint64 index)
{
	int rule;

	for (rule = 0; rule < KMT_N_FATAL_RULES; rule++) {
		if (kmt_rules[rule].broken(input)) {
			kmt_check_add_file_error(check, rule, input->file,
						 index);
			return FALSE;
		}
	}
	for (; rule < KMT_N_RECORD_RULES; rule++) {
		if (kmt_rules[rule].broken(input))
			kmt_check_add_file_error(check, rule, input->file,
						 index);
	}
	return TRUE;
}

static void add_saturated(guint64 *sum, guint64 n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = G_MAXUINT64;
}

/* Check a record, in the byte order of this host, that the filter rejected. */
static void check_record(KmtCheck *check, KmtRuleInput *input,
			 const guint8 *record, guint64 index)
{
	const KmtInputCpuFile *file = input->file;

	kmt_rule_input_read(input, record);
	if (kmt_input_is_defer(&input->event, file->capture))
		check->has_defers = TRUE;
	if (!apply_rules(check, input, index))
		return;
	if (kmt_input_is_loss(&input->event, file->record_size))
		add_saturated(&input->lost,
			      kmt_input_loss_events(&input->event));
	else if (kmt_input_is_mark(&input->event, file->record_size))
		check->has_marks = TRUE;
	check->usable[file->position]++;
	input->previous_time = input->event.timestamp;
}

/* Report the progress of any thread. */
static void add_progress(guint64 n)
{
	static GMutex lock;

	g_mutex_lock(&lock);
	kmt_progress_add(n);
	g_mutex_unlock(&lock);
}

/* Check n records from index first on. */
static void check_records(KmtCheck *check, KmtRecordFilter *filter,
			  KmtRuleInput *input, const guint8 *records,
			  guint64 first, guint64 n)
{
	const guint stride = input->file->record_size;
	const guint8 *next = records, *end = records + n * stride, *rejected;

	for (; next != end; next = rejected + stride) {
		rejected = kmt_record_filter_skip(filter, next, end,
						  &input->previous_time);
		check->usable[input->file->position] +=
			(guint64)(rejected - next) / stride;
		if (rejected == end)
			break;
		check_record(check, input, rejected,
			     first + (guint64)(rejected - records) / stride);
	}
	add_progress(n);
}

/* ---- files ---- */

static void check_file(KmtCheck *check, KmtRecordFilter *filter,
		       KmtInputCpuFile *file)
{
	g_autoptr(KmtInputReader) reader = kmt_input_reader_new(file);
	KmtRuleInput input = {.file = file,
			      .previous_time = G_MININT64,
			      .tables = check->tables,
			      .tolerance_ns = check->tolerance_ns};
	guint first_error = check->errors->len;
	guint64 index = 0;
	KmtInputBatch batch;
	int rule;

	while (kmt_input_reader_next(reader, &batch)) {
		guint64 done = 0, n;

		for (; done < batch.n; done += n, index += n) {
			n = MIN(batch.n - done, PROGRESS_RECORDS);
			check_records(check, filter, &input,
				      batch.records + done * batch.stride,
				      index, n);
		}
		kmt_input_buffer_unref(batch.buffer);
	}
	for (rule = KMT_N_RECORD_RULES; rule < KMT_N_FILE_RULES; rule++) {
		if (kmt_rules[rule].broken(&input))
			kmt_check_add_file_error(check, rule, file,
						 file->n_records);
	}
	/* A file whose records are all unusable is probably no cpu file. Count
	 * its errors, but store none of them. */
	if (kmt_check_is_unusable(check, file))
		kmt_check_drop_errors(check, first_error);
}

gboolean kmt_check_is_unusable(const KmtCheck *check,
			       const KmtInputCpuFile *file)
{
	return file->n_records && !check->usable[file->position];
}

/* ---- marks ---- */

G_STATIC_ASSERT(KMT_N_MARK_RULES - KMT_RULE_MARK_STRAY ==
		KMT_INPUT_N_MARK_DEFECTS);

static void on_mark_defect(gpointer user, KmtInputMarkDefect defect,
			   const KmtInputCpuFile *file, guint64 index)
{
	kmt_check_add_file_error(user, KMT_RULE_MARK_STRAY + (KmtRuleId)defect,
				 file, index);
}

static void check_marks(KmtCheck *check)
{
	if (!check->has_marks)
		return;
	check->marks =
		kmt_input_marks_new(check->capture, on_mark_defect, check);
	kmt_input_marks_scan(check->marks);
	kmt_input_marks_finish(check->marks, check->tables);
}

/* ---- threads ---- */

/* The files of a capture, which several threads check. */
typedef struct {
	const KmtInputCapture *capture;
	const KmtInputTables *tables;
	KmtCheck *parts; /* the result of each file */
	gint next;	 /* index of the next file; atomic */
} FilesCheck;

static gpointer check_next_files(gpointer data)
{
	FilesCheck *files = data;
	const GPtrArray *all = files->capture->files;
	g_autoptr(KmtRecordFilter) filter =
		kmt_record_filter_new(files->capture, files->tables);
	guint i;

	while ((i = (guint)g_atomic_int_add(&files->next, 1)) < all->len)
		check_file(&files->parts[i], filter, all->pdata[i]);
	return NULL;
}

/* Check the files on one thread per processor. */
static void run_threads(FilesCheck *files)
{
	GThread *threads[MAX_THREADS];
	const guint n_files = files->capture->files->len;
	guint n = MIN(MIN(n_files, g_get_num_processors()), MAX_THREADS), i = 0;

	if (files->capture->n_records < KMT_CHECK_MIN_RECORDS)
		n = 1;
	/* If not all threads can be started, continue with fewer. */
	for (; i + 1 < n && (threads[i] = g_thread_try_new(
				     "check", check_next_files, files, NULL));
	     i++)
		;
	check_next_files(files);
	while (i > 0)
		g_thread_join(threads[--i]);
}

/* Begin the check of a file; usable is shared, because each file has an element
 * of its own. */
static KmtCheck new_part(const KmtCheck *check)
{
	return (KmtCheck){
		.capture = check->capture,
		.tolerance_ns = check->tolerance_ns,
		.max_errors = check->max_errors,
		.errors = g_array_new(FALSE, FALSE, sizeof(KmtError)),
		.usable = check->usable,
		.tables = check->tables,
	};
}

/* Add the result of a file to that of the capture. */
static void add_part(KmtCheck *check, KmtCheck *part)
{
	guint i;

	for (i = 0; i < KMT_N_RULES; i++)
		kmt_check_count_errors(check, i, part->counts[i]);
	for (i = 0; i < part->errors->len; i++) {
		const KmtError *error =
			&g_array_index(part->errors, KmtError, i);
		KmtError *stored = kmt_check_store_error(
			check, error->rule, error->file, error->index);

		if (stored)
			*stored = *error;
	}
	g_array_unref(part->errors);
	check->has_defers |= part->has_defers;
	check->has_marks |= part->has_marks;
}

void kmt_check_files(KmtCheck *check)
{
	const guint n = check->capture->files->len;
	g_autofree KmtCheck *parts = g_new(KmtCheck, n);
	FilesCheck files = {.capture = check->capture,
			    .tables = check->tables,
			    .parts = parts};
	guint i;

	for (i = 0; i < n; i++)
		parts[i] = new_part(check);
	run_threads(&files);
	for (i = 0; i < n; i++)
		add_part(check, &parts[i]);
	check_marks(check);
}
