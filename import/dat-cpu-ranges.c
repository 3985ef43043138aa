// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "import/dat-cpu-ranges.h"
#include "import/import.h"

static gint compare_offsets(gconstpointer a, gconstpointer b)
{
	guint64 x = ((const KmtDatCpu *)a)->offset,
		y = ((const KmtDatCpu *)b)->offset;

	return (x > y) - (x < y);
}

/*
 * Append the nonempty ranges of a buffer to ranges. Returns FALSE if a CPU has
 * two entries.
 */
static gboolean add_ranges(const KmtDatBuffer *buffer, GArray *ranges)
{
	g_autofree gboolean *has_range = g_new0(gboolean, KMT_IMPORT_MAX_CPUS);

	for (guint i = 0; i < buffer->cpus->len; i++) {
		KmtDatCpu cpu = g_array_index(buffer->cpus, KmtDatCpu, i);

		if (has_range[cpu.cpu])
			return FALSE;
		has_range[cpu.cpu] = TRUE;
		if (cpu.size)
			g_array_append_val(ranges, cpu);
	}
	return TRUE;
}

/*
 * Check that each byte belongs to at most one CPU. Without this check, a table
 * that assigns the same pages to 65536 CPUs would import each event 65536
 * times.
 */
gboolean kmt_dat_ranges_check(const KmtDatFile *dat, GError **error)
{
	g_autoptr(GArray) ranges = g_array_new(FALSE, FALSE, sizeof(KmtDatCpu));
	guint64 end = 0;
	gboolean ok = TRUE;

	for (guint i = 0; ok && i < dat->buffers->len; i++)
		ok = add_ranges(dat->buffers->pdata[i], ranges);
	g_array_sort(ranges, compare_offsets);
	for (guint i = 0; ok && i < ranges->len; i++) {
		const KmtDatCpu *cpu = &g_array_index(ranges, KmtDatCpu, i);

		ok = cpu->offset >= end;
		end = kmt_add_saturating(cpu->offset, cpu->size);
	}
	return ok ||
	       kmt_import_fail(
		       error,
		       "it is damaged: its table lists the same pages, or the "
		       "same CPU, twice: copy it again, or record again");
}
