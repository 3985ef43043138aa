// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <signal.h>
#include <stdlib.h>

#include "lib/cli/cli.h"
#include "lib/cli/out-of-memory.h"
#include "lib/cli/set-up.h"

void kmt_cli_set_up_reader(const char *program, const char *out_of_memory)
{
	kmt_cli_occupy_standard_descriptors();
	kmt_cli_exit_on_out_of_memory(program, out_of_memory, EXIT_FAILURE);
	/* Ignore SIGPIPE, so that a write to a closed pipe fails with EPIPE. */
	signal(SIGPIPE, SIG_IGN);
	kmt_cli_exit_on_sigbus(program);
	kmt_cli_map_large_blocks();
}
