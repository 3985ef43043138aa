#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# What ends or prevents a recording by the source bpf on an unmodified kernel, and
# that nothing remains in the kernel. Boot with the program setpriv.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

# Print the number of BPF programs that the kernel has.
n_programs()
{
	grep -c 'bpf_prog_[0-9a-f]*_' /proc/kallsyms
}

# The kernel frees programs some time after their last descriptor was closed.
nothing_remains()
{
	[ "$(n_programs)" = "$before" ]
}

# settle WHAT: fail if programs remain after WHAT.
settle()
{
	wait_until 30 nothing_remains ||
		fail "$1: the kernel has $(n_programs) programs instead of $before"
	echo "$1: no program remains"
}

# refused TEXT COMMAND...: the command shall fail with this text in its message.
refused()
{
	local text=$1
	shift
	rm -rf /tmp/refused
	if "$@" -w 1 -D /tmp/refused >/tmp/refused.log 2>&1; then
		fail "$* records"
	fi
	cat /tmp/refused.log
	grep -q -- "$text" /tmp/refused.log || fail "no message '$text'"
	[ "$(wc -l </tmp/refused.log)" = 1 ] || fail "more than one message"
	[ ! -e /tmp/refused ] || fail "a directory remains"
	settle "$text"
}

before=$(n_programs)

bpf_start /out/source
[ "$(n_programs)" -gt "$before" ] || fail "/proc/kallsyms does not show programs"
grep -q 'from BPF programs in this kernel (source bpf)' /out/source.log ||
	fail "the source bpf is not the default"

# A second instance records as well.
(
	kmemtraced -w 1 -D /out/second >/out/second.log 2>&1 ||
		fail "a second kmemtraced: $(cat /out/second.log)"
) || exit 1
bpf_stop
settle "two recordings at once"

# Killed with its cleanup process.
bpf_start /out/killed
killall -KILL kmemtraced
wait "$bpf_daemon" 2>/dev/null
settle "kill -9"

# Ended many times under load, which is interrupted: an emulated machine shares one
# processor between the load and the start of the next recording.
nice -n 19 sh -c '. /lib.sh; while :; do work_processes 5; usleep 200000; done' \
	>/dev/null 2>&1 &
load=$!
n=0
while [ $n -lt 100 ]; do
	kmemtraced -q -w 0.1 -f -D /tmp/often || fail "recording $n under load"
	n=$((n + 1))
	[ $((n % 10)) != 0 ] || echo "$n recordings under load"
done
kill "$load"
wait "$load" 2>/dev/null
settle "100 recordings under load"

# More memory for the buffers than the machine has.
refused 'free some memory' kmemtraced -s bpf -b 2000000

# A kernel without BTF.
mount -t tmpfs none /sys/kernel/btf || fail "cannot hide BTF"
refused 'this kernel has no BTF' kmemtraced -s bpf
kmemtraced -w 1 -D /out/no-btf >/out/no-btf.log 2>&1 || fail "no BTF: $(cat /out/no-btf.log)"
grep -q 'instead of BPF programs, because this kernel has no BTF' /out/no-btf.log ||
	fail "the reason for the source ftrace is missing: $(cat /out/no-btf.log)"
umount /sys/kernel/btf
settle "a recording without BTF"

# More cgroups than a filter can tell apart: 16384, and 18 more with the root.
mkdir -p /tmp/cgroup
mount -t cgroup2 none /tmp/cgroup || fail "no cgroups"
mkdir /tmp/cgroup/many
(cd /tmp/cgroup/many && seq 16400 | xargs mkdir) || fail "cannot make cgroups"
kmemtraced -w 1 --cgroup /many/1 -D /out/cgroups >/out/cgroups.log 2>&1 ||
	fail "many cgroups: $(cat /out/cgroups.log)"
grep -q 'the events of 18 cgroups are recorded' /out/cgroups.log ||
	fail "no warning of the other cgroups: $(cat /out/cgroups.log)"
(cd /tmp/cgroup/many && seq 16400 | xargs rmdir) || fail "cannot remove cgroups"
settle "a filter with too many cgroups"

# A memory limit that is too low for the buffers.
echo +memory >/tmp/cgroup/cgroup.subtree_control
mkdir /tmp/cgroup/small
echo 33554432 >/tmp/cgroup/small/memory.max
cat >/tmp/in-small <<'EOF'
echo 0 >/tmp/cgroup/small/cgroup.procs
exec "$@"
EOF
refused 'free some memory' sh /tmp/in-small kmemtraced -b 65536

# Privileges.
chmod 1777 /tmp
refused 'run kmemtraced as root' /bin/setpriv --reuid 65534 --clear-groups kmemtraced
refused 'CAP_BPF and CAP_PERFMON' \
	/bin/setpriv --reuid 65534 --clear-groups --inh-caps +bpf --ambient-caps +bpf kmemtraced -s bpf
/bin/setpriv --reuid 65534 --clear-groups --inh-caps +bpf,+perfmon,+syslog \
	--ambient-caps +bpf,+perfmon,+syslog kmemtraced -w 1 -D /tmp/capable \
	>/out/capable.log 2>&1 || fail "CAP_BPF and CAP_PERFMON: $(cat /out/capable.log)"
cp -r /tmp/capable /out/
settle "a recording with capabilities"
/bin/setpriv --reuid 65534 --clear-groups --inh-caps +bpf,+perfmon --ambient-caps +bpf,+perfmon \
	kmemtraced -w 1 -D /tmp/nameless >/out/nameless.log 2>&1 ||
	fail "without CAP_SYSLOG: $(cat /out/nameless.log)"
grep -q 'CAP_SYSLOG' /out/nameless.log || fail "no warning about names: $(cat /out/nameless.log)"
settle "a recording without the names of functions"

# Without the capabilities, root records from the tracepoints, and learns why.
mount -t tracefs none /sys/kernel/tracing || fail "no tracefs"
lacking=-bpf,-perfmon,-sys_admin
/bin/setpriv --bounding-set $lacking --inh-caps $lacking \
	kmemtraced -w 1 -D /out/tracepoints >/out/tracepoints.log 2>&1 ||
	fail "tracepoints: $(cat /out/tracepoints.log)"
cat /out/tracepoints.log
grep -q 'instead of BPF programs, because the kernel does not permit' /out/tracepoints.log ||
	fail "the reason for the source ftrace is missing"
settle "a recording from tracepoints"

# Lockdown, which cannot be lowered again.
mount -t securityfs none /sys/kernel/security || fail "no securityfs"
echo integrity >/sys/kernel/security/lockdown
kmemtraced -w 1 -D /out/integrity >/out/integrity.log 2>&1 ||
	fail "lockdown for integrity: $(cat /out/integrity.log)"
settle "a recording with lockdown for integrity"
echo confidentiality >/sys/kernel/security/lockdown
refused 'locked down (confidentiality)' kmemtraced -s bpf
refused 'locked down' kmemtraced
