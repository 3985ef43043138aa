// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <glib.h>

#include "lib/cli/fatal-exit.h"

static void (*volatile fatal_exit)(void);

void kmt_cli_set_fatal_exit(void (*function)(void))
{
	__atomic_store_n(&fatal_exit, function, __ATOMIC_SEQ_CST);
}

void kmt_cli_call_fatal_exit(void)
{
	void (*function)(void) =
		__atomic_exchange_n(&fatal_exit, NULL, __ATOMIC_SEQ_CST);

	if (function)
		function();
}
