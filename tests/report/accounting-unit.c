// SPDX-License-Identifier: GPL-2.0-or-later
/* The array of the figures of classes, which grows with the classes. */
#include "config.h"

#include <malloc.h>
#include <string.h>

#include "report/accounting.h"

/* Return whether all bytes of the figures of a class have a value. */
static gboolean consists_of(const KmtClassStats *stats, guint8 value)
{
	const guint8 *bytes = (const guint8 *)stats;
	gsize i = 0;

	while (i < sizeof(*stats) && bytes[i] == value)
		i++;
	return i == sizeof(*stats);
}

/* Growth keeps the figures, clears those of new classes, and uses no memory for
 * classes far beyond the last one. */
static void test_reserve(void)
{
	KmtAccounting accounting = {0};
	guint32 n, i, old = 0;

	/* malloc() returns memory that is not 0. */
	mallopt(M_PERTURB, 0x5a);
	for (n = 1; n < 100000; n += 1 + n / 3) {
		g_autofree gpointer other = NULL;

		kmt_accounting_reserve(&accounting, n);
		g_assert_cmpuint(accounting.n_class_stats, >=, n);
		g_assert_cmpuint(accounting.n_class_stats, <, n + 1024);
		g_assert_cmpuint((guintptr)accounting.class_stats %
					 sizeof(KmtClassStats),
				 ==, 0);
		for (i = 0; i < accounting.n_class_stats; i++)
			g_assert_true(consists_of(&accounting.class_stats[i],
						  i < old ? 0xa5 : 0));
		old = accounting.n_class_stats;
		memset(accounting.class_stats, 0xa5,
		       old * sizeof(KmtClassStats));
		/* Memory behind the block, so that growth may move the block.
		 */
		other = g_malloc(16 + n % 64);
	}
	g_free(accounting.stats_block);
	g_free(accounting.class_infos);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/accounting/reserve", test_reserve);
	return g_test_run();
}
