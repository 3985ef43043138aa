# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # the callers have sourced lib.sh
# Names of the architectures, and the tools that build for them.

# Print the architecture of this machine, by the names that vm/ uses.
kmt_host_arch()
{
	case $(uname -m) in
	aarch64) echo arm64 ;;
	armv*) echo arm ;;
	*) uname -m ;;
	esac
}

# kmt_set_arch ARCH: set the variables of an architecture, or fail if it is unknown.
#   arch      ARCH
#   karch     name in the kernel's make
#   image     target of the kernel's make that QEMU boots, in arch/KARCH/boot/
#   deb_arch  name in Debian
#   triplet   name in Debian's folders of libraries, and of the GNU tools
#   cross     prefix of the compiler, empty on a machine of this architecture
#   compiler  package of the compiler
#   qemu      suffix of QEMU's programs
#   qemu_package  package of QEMU's system emulator
kmt_set_arch()
{
	arch=$1
	qemu_package='qemu-system-arm'
	case $arch in
	x86_64) karch=x86 image=bzImage deb_arch=amd64 triplet=x86_64-linux-gnu
		qemu=x86_64 qemu_package=qemu-system-x86 ;;
	arm64) karch=arm64 image=Image deb_arch=arm64 triplet=aarch64-linux-gnu
		qemu=aarch64 ;;
	s390x) karch=s390 image=bzImage deb_arch=s390x triplet=s390x-linux-gnu
		qemu=s390x qemu_package="qemu-system-s390x (Debian 12: qemu-system-misc)" ;;
	arm) karch=arm image=zImage deb_arch=armhf triplet=arm-linux-gnueabihf
		qemu=arm ;;
	*) kmt_usage_error "unknown architecture $arch: use x86_64, arm64, s390x, or arm" ;;
	esac
	cross=$triplet-
	compiler=gcc-${triplet//_/-}
	if [ "$arch" = "$(kmt_host_arch)" ]; then
		cross=
		compiler=gcc
	fi
}
