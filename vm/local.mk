# SPDX-License-Identifier: GPL-2.0-or-later
# Folders are distributed as a whole: vm/build compiles copies of the modules.
EXTRA_DIST += \
	vm/README.md \
	vm/advice \
	vm/apt.sh \
	vm/arch.sh \
	vm/bufread \
	vm/build \
	vm/config \
	vm/count \
	vm/coverage \
	vm/cross vm/debian \
	vm/failnth \
	vm/faulty \
	vm/gap \
	vm/guest \
	vm/include \
	vm/launcher.c \
	vm/lib.sh \
	vm/mixture \
	vm/nested \
	vm/qemu.sh \
	vm/regress \
	vm/relay \
	vm/run \
	vm/scenarios \
	vm/selftest \
	vm/snapshot \
	vm/source vm/stock \
	vm/storm \
	vm/tcgroup \
	vm/texec \
	vm/witness
