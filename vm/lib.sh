# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Functions that the programs of vm/ share. The file is sourced; $0 is the program.

# shellcheck disable=SC2034 # used by those who source this
kmt_top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

kmt_say()
{
	[ -n "${quiet-}" ] || printf '%s: %s\n' "${0##*/}" "$*" >&2
}

kmt_die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

kmt_usage_error()
{
	printf '%s: %s\nTry '\''%s --help'\''.\n' "${0##*/}" "$*" "${0##*/}" >&2
	exit 1
}

# Print the version that tests call the newest: the newest that is tested on all
# architectures. A later version has a series, but is only tested on x86-64.
kmt_newest()
{
	echo 7.2
}

# kmt_need COMMAND PACKAGE: fail with the package's name if the command is missing.
kmt_need()
{
	command -v "$1" >/dev/null ||
		PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null ||
		kmt_die "$1 is missing: install the package $2 (scripts/install-deps installs all)"
}

# Print the folder for kernels. It is outside of the tree, so that fresh clones
# share it.
kmt_cache()
{
	local dir=${KMEMTRACE_CACHE-}

	if [ -z "$dir" ]; then
		dir=${XDG_CACHE_HOME:-${HOME:-/var/tmp/kmemtrace-$(id -u)}/.cache}/kmemtrace
	fi
	mkdir -p "$dir" 2>/dev/null ||
		kmt_die "cannot make the cache folder $dir: set KMEMTRACE_CACHE to a folder that can be written"
	(cd "$dir" && pwd)
}

# Print one hash over the names and contents of all files below the folders, except
# for those that no kernel contains.
kmt_hash_tree()
{
	find "$@" -type f ! -name README.md ! -name local.mk -print0 | LC_ALL=C sort -z |
		xargs -0 sha256sum | sha256sum | cut -c1-16
}
