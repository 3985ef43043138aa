#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A fresh Debian system: install the package, record under load for as many seconds as
# the word seconds= on the kernel's command line says, check, report, and remove the
# package. The lines that begin with "# " are what a user types.

fail()
{
	echo "FAILED: $*"
	exit 1
}

# type COMMAND: print and run a command.
type_in()
{
	printf '\n# %s\n' "$*"
	sh -c "$*" || fail "status $?"
}

# Print what kmemtraced may leave in the kernel, and files and packages of kmemtrace.
# Packages that it needed remain if another package recommends them.
machine_state()
{
	find / -xdev -name '*kmemtrace*' ! -path '/run/*' ! -path '/out/*' ! -path '/root/*' \
		! -path '/var/cache/apt/*' | sort
	awk '$3 ~ /^(debugfs|tracefs|bpf)$/' /proc/mounts
	bpftool prog list | sed -n 's/^[0-9]*: //p' | sort
	dpkg-query -W -f '${Package} ${Status}\n' 'kmemtrace*' 2>/dev/null
}

# Make the kernel allocate on each CPU until the time is over.
load()
{
	while [ "$(cut -d. -f1 /proc/uptime)" -lt "$end" ]; do
		tar -C /usr -cf - bin sbin | tar -C "$1" -xf -
		find /usr /etc -type f | sort >/dev/null
		rm -rf "${1:?}"/*
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			sh -c true | cat
		done
	done
}

seconds=$(sed -n 's/.*\<seconds=\([0-9]*\).*/\1/p' /proc/cmdline)
machine_state >/out/before
type_in "apt-get install -y ./kmemtrace_*.deb"
installed=$(dpkg -L kmemtrace)
end=$(($(cut -d. -f1 /proc/uptime) + seconds + 20))
for cpu in 1 2; do
	mkdir -p /var/tmp/load$cpu
	load /var/tmp/load$cpu &
done
type_in "kmemtraced -D /out/kmem -w $seconds"
wait
type_in "for file in /out/kmem/cpu*.out; do kmemtrace_check \$file || exit; done"
type_in "kmemtrace-report /out/kmem | head -n 40"
type_in "apt-get purge -y --autoremove kmemtrace"
rm -rf /var/tmp/load1 /var/tmp/load2
machine_state >/out/after
diff /out/before /out/after || fail "something remains"
for file in $installed; do
	[ -d "$file" ] || [ ! -e "$file" ] || fail "$file remains"
done
