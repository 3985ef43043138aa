#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A Debian system with a kernel of its own: install the package, enable the recording of
# the next boot, and bring out the kernel and the initramfs for that boot. The lines that
# begin with "# " are what a user types.
# shellcheck source-path=SCRIPTDIR source=../guest/boot.sh
. ./boot.sh

# The initramfs gets only the modules of this machine, and dracut does not compress it,
# because that takes half an hour in an emulated machine.
mkdir -p /etc/initramfs-tools/conf.d /etc/dracut.conf.d
echo MODULES=dep >/etc/initramfs-tools/conf.d/modules
cat >/etc/dracut.conf.d/test.conf <<'END'
hostonly="yes"
compress="cat"
early_microcode="no"
END
type_in "apt-get install -y ./kmemtrace_*.deb"
rebuild
included && fail "kmemtraced is in the initramfs before it is enabled"
systemctl is-enabled kmemtrace-boot.service && fail "the unit is enabled"
type_in "kmemtrace-boot status" >status
cat status
grep -qx 'Next boot: not recorded' status || fail "the recording is enabled"
type_in "kmemtrace-boot enable --size=60%"
included || fail "kmemtraced is not in the initramfs"
bring_out
