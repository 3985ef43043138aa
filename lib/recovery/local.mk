# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += lib/recovery/librecovery.a
lib_recovery_librecovery_a_SOURCES = \
	lib/recovery/kernel-mount.c lib/recovery/kernel-mount.h \
	lib/recovery/recovery.c lib/recovery/recovery.h
lib_recovery_librecovery_a_CFLAGS = $(AM_CFLAGS)
EXTRA_DIST += lib/recovery/README.md
