// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks the rules of records, files, and marks. */
#include "config.h"

#include "check/check-private.h"
#include "check/record-filter.h"
#include "lib/cli/progress.h"
#include "lib/input/record-reader.h"

/* Number of records between two reports of the progress. */
#define PROGRESS_RECORDS 65536

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
	kmt_progress_add(n);
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

void kmt_check_files(KmtCheck *check)
{
	g_autoptr(KmtRecordFilter) filter =
		kmt_record_filter_new(check->capture, check->tables);
	guint i;

	for (i = 0; i < check->capture->files->len; i++)
		check_file(check, filter, check->capture->files->pdata[i]);
	check_marks(check);
}
