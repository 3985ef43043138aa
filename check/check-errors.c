// SPDX-License-Identifier: GPL-2.0-or-later
/* The errors of a check. */
#include "config.h"

#include "check/check-private.h"

void kmt_check_count_errors(KmtCheck *check, KmtRuleId rule, guint64 n)
{
	check->total += n;
	check->counts[rule] += n;
}

KmtError *kmt_check_store_error(KmtCheck *check, KmtRuleId rule,
				const KmtInputCpuFile *file, guint64 index)
{
	KmtError error = {.rule = rule, .file = file, .index = index};

	if (check->kept[rule] >= check->max_errors)
		return NULL;
	check->kept[rule]++;
	g_array_append_val(check->errors, error);
	return &g_array_index(check->errors, KmtError, check->errors->len - 1);
}

void kmt_check_add_file_error(KmtCheck *check, KmtRuleId rule,
			      const KmtInputCpuFile *file, guint64 index)
{
	KmtError *error;

	kmt_check_count_errors(check, rule, 1);
	error = kmt_check_store_error(check, rule, file, index);
	if (error && index > 0) {
		error->before_file = file;
		error->before_index = index - 1;
	}
}

void kmt_check_drop_errors(KmtCheck *check, guint from)
{
	guint i;

	for (i = from; i < check->errors->len; i++)
		check->kept[g_array_index(check->errors, KmtError, i).rule]--;
	g_array_set_size(check->errors, from);
}
