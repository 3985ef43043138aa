# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Functions that scripts/demo and scripts/test share.

# shellcheck disable=SC2034 # used by those who source this
kmt_top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# kmt_configure FOLDER [OPTION]...: configure a build folder of the programs.
kmt_configure()
{
	local dir=$1
	shift
	[ -x "$kmt_top/configure" ] || "$kmt_top/autogen.sh" || return
	mkdir -p "$dir"
	[ -e "$dir/Makefile" ] || (cd "$dir" && "$kmt_top/configure" -q "$@")
}

# kmt_build_programs FOLDER: bring the programs up to date. A lock allows one build
# at a time.
kmt_build_programs()
{
	mkdir -p "$1"
	(
		flock 9
		kmt_configure "$1" --enable-werror &&
			make -s -C "$1" -j"$(nproc)"
	) 9>"$1/.lock"
}
