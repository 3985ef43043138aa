#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Check which files in debugfs each level of lockdown refuses to open. Boot a kernel with the lockdown LSM, with
# kmemtrace.stacks=yes; also sourced at the end of another scenario, as a level
# cannot be lowered again.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

lockdown=/sys/kernel/security/lockdown

# opens r|w FILE: return whether FILE can be opened; the error is in /tmp/refusal.
opens()
{
	case $1 in
	r) (: <"$2") 2>/tmp/refusal ;;
	w) (: >"$2") 2>/tmp/refusal ;;
	esac
}

# refuses_open r|w FILE: check that opening FILE fails with EPERM.
refuses_open()
{
	if opens "$1" "$2"; then
		echo "$(cat $lockdown): $2 can be opened ($1)"
		bad=$((bad + 1))
	else
		grep -q "Operation not permitted" /tmp/refusal ||
			fail "$2 ($1): $(cat /tmp/refusal)"
	fi
}

must_open()
{
	opens "$1" "$2" || fail "$(cat $lockdown): $2 ($1): $(cat /tmp/refusal)"
}

# each_way COMMAND MODES: COMMAND r|w FILE for each file whose mode matches, and
# each way to open it.
each_way()
{
	while read -r mode file; do
		# shellcheck disable=SC2254 # a pattern
		case $mode in
		$2) ;;
		*) continue ;;
		esac
		case $mode in
		400) $1 r "$file" ;;
		200) $1 w "$file" ;;
		600) $1 r "$file"; $1 w "$file" ;;
		*) fail "$file has mode $mode" ;;
		esac
	done </tmp/files
}

[ -e $lockdown ] || mount -t securityfs security /sys/kernel/security ||
	fail "no securityfs"
[ -w $lockdown ] || fail "this kernel has no lockdown"
# The per-CPU files are created by the first session.
echo 1 >$kmt/enabled
echo 0 >$kmt/enabled
find $kmt -type f -exec stat -c '%a %n' {} + >/tmp/files
n=$(wc -l </tmp/files)
for file in cpu0 snapshot/cpu0 stacks tasks cgroups events/kmalloc/enabled; do
	grep -q " $kmt/$file$" /tmp/files || fail "no file $file"
done
bad=0

# daemon_refused: check that kmemtraced prints the reason.
daemon_refused()
{
	kmemtraced -q -D /out/locked >/tmp/locked.log 2>&1 &&
		fail "kmemtraced records where the kernel is locked down"
	grep -q "locked down" /tmp/locked.log ||
		fail "kmemtraced says: $(cat /tmp/locked.log)"
	[ ! -e /out/locked ] || fail "kmemtraced left something"
}

each_way must_open '*'
echo integrity >$lockdown || fail "integrity"
each_way must_open 400
each_way refuses_open '[26]00'
daemon_refused
echo confidentiality >$lockdown || fail "confidentiality"
each_way refuses_open '*'
daemon_refused
[ $bad = 0 ] || fail "$bad of $n files can be opened where tracefs cannot"
echo "all of $n files are refused"
