# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Functions of the scenarios boot-*.sh, which run in a Debian system.

fail()
{
	echo "FAILED: $*"
	cat /run/kmemtrace-boot/log
	exit 1
}

# type_in COMMAND: print and run a command.
type_in()
{
	printf '\n# %s\n' "$*"
	sh -c "$*" || fail "status $?"
}

rebuild()
{
	if command -v update-initramfs >/dev/null; then
		update-initramfs -u -k all
	else
		dracut --force "$(echo /boot/initrd.img-*)" "$(ls /lib/modules)"
	fi || fail "the initramfs cannot be rebuilt"
}

# included: is kmemtraced in the initramfs?
included()
{
	if command -v lsinitramfs >/dev/null; then
		lsinitramfs /boot/initrd.img-*
	else
		lsinitrd /boot/initrd.img-*
	fi >files || fail "the initramfs cannot be read"
	grep sbin/kmemtraced files
}

# The kernel and the initramfs of the next boot.
bring_out()
{
	cp /boot/vmlinuz-* /out/vmlinuz
	cp /boot/initrd.img-* /out/initrd
}

# wait_saved: wait until the unit has saved the capture and rebuilt the initramfs.
wait_saved()
{
	local n=0

	while [ "$(systemctl show -p ActiveState --value kmemtrace-boot.service)" != inactive ] ||
		[ -e /var/lib/kmemtrace/boot.conf ] || [ -e /var/lib/kmemtrace/boot.conf.old ]; do
		[ "$(systemctl show -p ActiveState --value kmemtrace-boot.service)" != failed ] || {
			journalctl --no-pager -b -u kmemtrace-boot.service
			fail "the unit failed"
		}
		n=$((n + 1))
		[ $n -lt 1200 ] || fail "the capture is not saved after 1200 s"
		sleep 1
	done
}
