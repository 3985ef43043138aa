# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the command lines and of the terminal output of all programs.
KMT_CLI_TESTS = \
	tests/cli/completion-options.py \
	tests/cli/terminal-output.py
TESTS += $(KMT_CLI_TESTS)
EXTRA_DIST += $(KMT_CLI_TESTS)

# The step completions of scripts/test.
EXTRA_DIST += tests/cli/completion-shells.py
