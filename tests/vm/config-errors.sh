#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Checks that vm/build gives the reason for options that cannot be had with kmemtrace,
# or without which kmemtrace cannot be had. Needs the kernel's source and no guest.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# refused OPTION LINE...: vm/build shall fail for a fragment with OPTION and print each
# line.
refused()
{
	local option=$1 line
	shift

	echo "$option" >"$work/asked.config"
	! "$top/vm/build" -q --only vmlinux slub "$work/asked.config" >"$work/said" 2>&1 ||
		{ echo "FAILED: vm/build accepts $option" >&2; exit 1; }
	for line in "$@"; do
		grep -qF -- "$line" "$work/said" || {
			cat "$work/said" >&2
			echo "FAILED: $option: no message '$line'" >&2
			exit 1
		}
	done
	echo "refused, with the reason: $option"
}

refused '# CONFIG_RELAY is not set' \
	'requested "# CONFIG_RELAY is not set", the kernel has "CONFIG_RELAY=y"' \
	'RELAY is selected by KMEMTRACE (mm/kmemtrace/Kconfig)' \
	'does not have these options of'
refused '# CONFIG_STACKTRACE is not set' \
	'requested "# CONFIG_STACKTRACE is not set", the kernel has "CONFIG_STACKTRACE=y"' \
	'STACKTRACE is selected by STACKDEPOT (lib/Kconfig)' \
	'STACKTRACE is selected by TRACING (kernel/trace/Kconfig)'
refused '# CONFIG_DEBUG_FS is not set' \
	'requested "CONFIG_KMEMTRACE=y", the kernel has "nothing"' \
	'KMEMTRACE depends on DEBUG_FS && MMU && TRACING_SUPPORT (mm/kmemtrace/Kconfig)'
refused 'CONFIG_NO_SUCH_OPTION=y' \
	'requested "CONFIG_NO_SUCH_OPTION=y", the kernel has "nothing"' \
	'NO_SUCH_OPTION is no option of this kernel'
