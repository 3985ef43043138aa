#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Mistakes on the command line of kmemtrace-check, and its messages.
set -u
builddir=${top_builddir:-.}
srcdir=${top_srcdir:-.}
check=$builddir/check/kmemtrace-check
tmp=$(mktemp -d) || exit 1
trap 'chmod -R u+rwx "$tmp"; rm -rf "$tmp"' EXIT
failures=0

fail()
{
	echo "FAIL $*"
	sed 's/^/    /' "$tmp/out" "$tmp/err"
	failures=$((failures + 1))
}

# expect STATUS PATTERN COMMAND...: the pattern is in stdout or stderr.
expect()
{
	status=$1 pattern=$2
	shift 2
	"$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	[ "$got" = "$status" ] || fail "exit $got, not $status: $*"
	cat "$tmp/out" "$tmp/err" | grep -q -e "$pattern" ||
		fail "no '$pattern': $*"
}

fixture()
{
	"${PYTHON:-python3}" "$srcdir/tests/lib/mkcapture.py" \
		"$srcdir/tests/check/fixtures/$1.txt" "$tmp/$2" || exit 1
}

fixture clean-little clean
fixture clean-big big
fixture check-unmatched-free bad
fixture check-race-late-free race
mkdir "$tmp/empty" "$tmp/closed" "$tmp/mixed" "$tmp/twice" "$tmp/zero" \
	"$tmp/other" "$tmp/meta" "$tmp/linked"

# Options.
expect 0 '--clock-tolerance' "$check" --help
[ -s "$tmp/err" ] && fail "--help writes to stderr"
expect 0 'kmemtrace-check [0-9]' "$check" --version
expect 0 'kmemtrace-check [0-9]' "$check" -V
expect 1 "Try 'kmemtrace-check --help'" "$check" --nonsense
expect 1 "Try 'kmemtrace-check --help'" "$check" -n x "$tmp/clean"
expect 1 "'x': not a number" "$check" -nx "$tmp/clean"
expect 1 "'-1': not a number from 0" "$check" --max-print=-1 "$tmp/clean"
expect 1 "not a number from 0 to 1000000000" \
	"$check" --clock-tolerance 1000000001 "$tmp/clean"

# --help and the man page name the same long options.
"$check" --help | sed -n 's/^  .*--\([a-z-]*\).*/\1/p' | sort >"$tmp/help"
sed -n 's/^\.It Fl \(. , \)\{0,1\}-\([a-z-]*\).*/\2/p' \
	"$srcdir/man/kmemtrace-check.1" | sort >"$tmp/man"
expect 0 clock-tolerance cat "$tmp/help"
expect 0 'are identical' diff -s "$tmp/help" "$tmp/man"

# The link, as the documentation of the kernel calls it.
expect 0 'No errors' "$builddir/check/kmemtrace_check" "$tmp/clean/cpu0.out"

expect 0 '' env MAKEFLAGS= make -C "$builddir" install-check-link \
	DESTDIR="$tmp/dest"
expect 0 '/bin/kmemtrace_check -> kmemtrace-check$' \
	find "$tmp/dest" -type l -printf '%p -> %l\n'

# Operands.
expect 0 'No errors' "$check" "$tmp/clean"
expect 0 '2 files, 10 records' "$check" "$tmp/clean/cpu0.out" \
	"$tmp/clean/cpu1.out"
expect 0 'Across files: not checked' "$check" "$tmp/clean/cpu1.out"
expect 0 'Across files: not checked' "$check" "$tmp/bad/cpu0.out"
expect 2 'unmatched-free  *1 ' "$check" "$tmp/bad"
(cd "$tmp/bad" && expect 2 '^cpu1.out: record 0' "$check" &&
	exit "$failures") || failures=$?
expect 2 'unmatched-free  *1 ' "$check" "$tmp/bad/cpu1.out" \
	"$tmp/bad/cpu0.out"
cp "$tmp/clean/cpu0.out" "$tmp/other/a"
cp "$tmp/clean/cpu1.out" "$tmp/other/b"
expect 0 '2 files, 10 records' "$check" "$tmp/other/a" "$tmp/other/b"

# How much is printed.
expect 2 '(0 shown)' "$check" -n 0 "$tmp/bad"
grep -q before "$tmp/out" && grep -q offset "$tmp/out" && fail "-n 0 prints"
# shellcheck disable=SC2016 # expanded by the inner shell
expect 2 '^$' sh -c '"$@"; s=$?; echo; exit $s' sh "$check" -q "$tmp/bad"
[ "$(wc -c <"$tmp/out")" = 1 ] || fail "-q prints"
expect 0 'No errors' "$check" --clock-tolerance 300000 "$tmp/race"
expect 2 'double-allocation  *1' "$check" --clock-tolerance 299999 "$tmp/race"

# Nothing to check.
expect 1 'cannot open .*nowhere' "$check" "$tmp/nowhere"
expect 1 'no cpu<n>.out in' "$check" "$tmp/empty"
expect 1 'is a directory' "$check" "$tmp/clean/cpu0.out" "$tmp/clean"
expect 1 'neither a regular file nor a pipe' "$check" /dev/null
expect 1 'are both files of CPU 0' "$check" \
	"$tmp/clean/cpu0.out" "$tmp/bad/cpu0.out"
cp "$tmp/clean/cpu0.out" "$tmp/twice/cpu0.out"
cp "$tmp/clean/cpu0.out" "$tmp/twice/cpu00.out"
expect 1 'are both files of CPU 0' "$check" "$tmp/twice"
# One file by two names: given twice, a hard link, a symbolic one.
cp "$tmp/clean/cpu0.out" "$tmp/linked"
expect 1 'cpu0.out and .*cpu0.out are the same file' "$check" \
	"$tmp/linked/cpu0.out" "$tmp/linked/cpu0.out"
ln "$tmp/linked/cpu0.out" "$tmp/linked/other"
expect 1 'cpu0.out and .*other are the same file' "$check" \
	"$tmp/linked/cpu0.out" "$tmp/linked/other"
ln -s cpu0.out "$tmp/linked/cpu1.out"
expect 1 'cpu0.out and .*cpu1.out are the same file' "$check" "$tmp/linked"
cp "$tmp/clean/cpu0.out" "$tmp/mixed/cpu0.out"
cp "$tmp/big/cpu1.out" "$tmp/mixed/cpu1.out"
expect 1 'do not belong to one capture' "$check" "$tmp/mixed"
cp "$tmp/clean/cpu0.out" "$tmp/meta"
echo '[capture' >"$tmp/meta/kmemtrace.meta"
expect 1 'repair it, or remove it' "$check" "$tmp/meta"

# A file without read permission. Root may read every file, so use another user.
cp "$tmp/clean"/* "$tmp/closed"
chmod 0 "$tmp/closed/cpu1.out"
chmod 755 "$tmp"
user=
[ "$(id -u)" = 0 ] && user='setpriv --reuid=65534 --clear-groups --'
# shellcheck disable=SC2086 # words of a command, or none
if $user "$check" --version >"$tmp/out" 2>&1; then
	expect 1 'cannot open .*cpu1.out: Permission' $user "$check" \
		"$tmp/closed"
	chmod 0 "$tmp/closed"
	expect 1 'cannot open the directory' $user "$check" "$tmp/closed"
else
	echo "skipped: files without permission (cannot stop being root)"
fi

# Odd contents.
: >"$tmp/zero/cpu0.out"
expect 0 '1 file, 0 records' "$check" "$tmp/zero"
head -c 5600 /dev/zero >"$tmp/zero/cpu0.out"
expect 2 'null-event  *100 ' "$check" "$tmp/zero"
printf 'x' >"$tmp/zero/cpu0.out"
expect 2 'truncated-record  *1' "$check" "$tmp/zero"
# No capture at all: that, and how often which rule is broken, but no records.
expect 2 'README.md: the file has no valid record: is it a cpu<n>.out' "$check" \
	"$srcdir/README.md"
grep -q offset "$tmp/out" && fail "records of what is no capture"
expect 2 'size-differs  *[1-9]' "$check" "$srcdir/README.md"
# A hole, and large.
rm "$tmp/zero/cpu0.out"
truncate -s 56M "$tmp/zero/cpu0.out"
expect 2 'null-event  *1048576 ' "$check" "$tmp/zero"

# Output that gets nowhere.
if [ -w /dev/full ]; then
	# shellcheck disable=SC2016 # expanded by the inner shell
	for option in "$tmp/clean" --json --help --version; do
		expect 1 'cannot write the output: No space' \
			sh -c 'cd "$3" && "$1" "$2" >/dev/full' sh "$check" \
			"$option" "$tmp/clean"
	done
fi
{
	# A write fails once the reader has ended.
	trap '' PIPE
	while printf x 2>/dev/null; do :; done
	trap - PIPE
	"$check" "$tmp/clean" 2>"$tmp/err"
	echo $? >"$tmp/status"
} | :
[ "$(cat "$tmp/status")" = 1 ] || fail "closed pipe"
[ -s "$tmp/err" ] && fail "a closed pipe is reported as an error"

echo "$failures failures"
[ "$failures" = 0 ]
