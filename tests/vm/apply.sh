#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests kernel-patches/apply with the kernel's sources of vm/source:
# tests/vm/apply.sh [VERSION]...; newest is vm/build's, and the default is all versions
# that have a series.
# Only the files that the series change are unpacked.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
hooks=$top/kernel-patches/hooks
export GIT_AUTHOR_NAME=Tester GIT_AUTHOR_EMAIL=tester@example.org
export GIT_COMMITTER_NAME=Tester GIT_COMMITTER_EMAIL=tester@example.org
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null

fail()
{
	echo "FAILED: Linux $version: $*" >&2
	exit 1
}

run_apply()
{
	"$top/kernel-patches/apply" "$@" >"$work/said" 2>&1 || {
		cat "$work/said" >&2
		fail "apply $*"
	}
}

# refused PATTERN TREE: apply shall refuse the tree, with a message, and change nothing.
refused()
{
	local before

	before=$(state "$2")
	! "$top/kernel-patches/apply" "$2" >"$work/said" 2>&1 ||
		fail "apply changed $2"
	grep -q -- "$1" "$work/said" || {
		cat "$work/said" >&2
		fail "no message '$1'"
	}
	[ "$(state "$2")" = "$before" ] || fail "apply has refused $2, but changed it"
}

# state TREE: print a hash of the names, modes, and contents of all files.
state()
{
	(cd "$1" && find . -path ./.git -prune -o -printf '%m %y %p\n' | sort &&
		find . -path ./.git -prune -o -type f -print0 | sort -z |
		xargs -0 sha256sum) | sha256sum
}

# series_files VERSION: print the files that the patches of a series change.
series_files()
{
	sed "/^#/d;/^\$/d;s,^,$hooks/," "$hooks/series-$1" |
		xargs sed -nE 's,^(---|\+\+\+) [ab]/([^[:space:]]*).*,\2,p' | sort -u
}

# unpack FOLDER: unpack the files of the series from the kernel's source.
unpack()
{
	local tar

	tar=$("$top/vm/source" "$version")
	mkdir "$1"
	{ echo Makefile; series_files "$version"; } |
		sed "s,^,linux-source-$version/," >"$work/wanted"
	XZ_OPT=-T0 tar -C "$1" --strip-components=1 -xJf "$tar" -T "$work/wanted"
}

copy()
{
	rm -rf "${work:?}/$1"
	cp -a "$work/source" "$work/$1"
}

test_apply_and_reverse()
{
	copy tree
	run_apply "$work/tree"
	cp -a "$work/tree" "$work/applied"
	run_apply --check "$work/tree"
	grep -qF "(Linux $version)" "$work/said" || fail "another series was applied"
	refused 'has this kmemtrace already' "$work/tree"
	run_apply --reverse "$work/tree"
	[ "$(state "$work/tree")" = "$original" ] || fail "--reverse leaves differences"
}

# The content decides, whatever the Makefile says.
test_other_version()
{
	local other

	for other in 6.1 9.9; do
		copy tree
		sed -i "s/^VERSION = .*/VERSION = ${other%.*}/;s/^PATCHLEVEL = .*/PATCHLEVEL = ${other#*.}/" \
			"$work/tree/Makefile"
		run_apply "$work/tree"
		run_apply --check "$work/tree"
		grep -qF "(Linux $version)" "$work/said" ||
			fail "as Linux $other, another series was applied"
	done
}

test_offsets()
{
	local before f

	copy tree
	while read -r f; do
		case $f in
		*.c) sed -i '1i /* 1 */\n/* 2 */\n/* 3 */' "$work/tree/$f" ;;
		esac
	done < <(series_files "$version")
	before=$(state "$work/tree")
	run_apply "$work/tree"
	n_offsets=$(grep -c '^offset: .*\.c: hunk' "$work/said" || true)
	grep -q '^offset: mm/percpu.c: hunk 1 of .* shifted by 3 lines' "$work/said" ||
		fail "the offset of mm/percpu.c was not printed"
	run_apply --check "$work/tree"
	run_apply --reverse "$work/tree"
	[ "$(state "$work/tree")" = "$before" ] ||
		fail "--reverse of shifted hunks leaves differences"
}

# Change the first line of context of a hunk, which patch ignores with fuzz.
test_fuzz()
{
	local patch line

	copy tree
	patch=$(grep -m1 '^mm-percpu' "$hooks/series-$version")
	line=$(sed -n '/^+++ b\/mm\/percpu.c/,$s/^@@ -\([0-9]*\),.*/\1/p' "$hooks/$patch" |
		head -n1)
	sed -i "${line}s/\$/ changed/" "$work/tree/mm/percpu.c"
	# grep -q in a pipeline would end patch by SIGPIPE.
	patch -p1 -f --dry-run -d "$work/tree" -i "$hooks/$patch" >"$work/said" || true
	grep -q 'with fuzz' "$work/said" ||
		fail "the change of mm/percpu.c does not need fuzz"
	refused "first failure of $version: $patch: hunk 1 does not fit mm/percpu.c at line $line" \
		"$work/tree"
}

# A half of the patched tree is refused, and --reverse removes this half.
test_half()
{
	cp -a "$work/applied/." "$work/tree"
	cp -a "$work/source/mm/slub.c" "$work/tree/mm/slub.c"
	refused 'has only a part of kmemtrace' "$work/tree"
	run_apply --reverse "$work/tree"
	[ "$(state "$work/tree")" = "$original" ] ||
		fail "--reverse of a part leaves differences"
}

# trees REPOSITORY: print the tree of each commit.
trees()
{
	git -C "$1" log --format=%T
}

test_commit()
{
	copy tree
	git -C "$work/tree" init -q
	git -C "$work/tree" add -A
	git -C "$work/tree" commit -q -m base
	git clone -q "$work/tree" "$work/mailed"
	run_apply --commit "$work/tree"
	[ -z "$(git -C "$work/tree" status --porcelain)" ] ||
		fail "--commit leaves local changes"
	diff -r -x .git "$work/applied" "$work/tree" >&2 ||
		fail "--commit and apply differ"
	n_commits=$(($(trees "$work/tree" | wc -l) - 1))
	[ "$n_commits" = "$(grep -c '\.patch' "$hooks/series-$version")" ] ||
		fail "there are $n_commits commits"
	run_apply --series "$work/series" "$version"
	git -C "$work/mailed" am -q "$work"/series/*.patch >"$work/said" 2>&1 ||
		{ cat "$work/said" >&2; fail "git am"; }
	[ "$(trees "$work/tree")" = "$(trees "$work/mailed")" ] ||
		fail "the commits of --commit differ from those of --series"
}

test_version()
{
	local started=$SECONDS

	work=$(mktemp -d)
	unpack "$work/source"
	original=$(state "$work/source")
	test_apply_and_reverse
	test_other_version
	test_offsets
	test_fuzz
	test_half
	test_commit
	echo "Linux $version: $n_commits commits, $n_offsets shifted hunks, $((SECONDS - started)) s"
	rm -rf "$work"
}

work=
trap 'rm -rf "$work"' EXIT
if [ $# = 0 ]; then
	mapfile -t versions < <(find "$hooks" -name 'series-*' -printf '%f\n' |
		sed 's/^series-//' | sort -V)
	set -- "${versions[@]}"
fi
for version in "$@"; do
	# shellcheck source-path=SCRIPTDIR source=../../vm/lib.sh
	[ "$version" != newest ] || version=$(. "$top/vm/lib.sh" && kmt_newest)
	test_version
done
