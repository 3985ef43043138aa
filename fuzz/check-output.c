// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "fuzz/check-output.h"
#include "fuzz/memory-output.h"

#include <stdlib.h>

void kmt_check_output(const KmtCheck *check)
{
	KmtMemoryOutput json = {0}, text = {0};

	kmt_check_json(check, kmt_memory_output_open(&json));
	kmt_memory_output_check_json(kmt_memory_output_close(&json));
	free(json.text);
	kmt_check_text(check, kmt_memory_output_open(&text));
	free(kmt_memory_output_close(&text));
}
