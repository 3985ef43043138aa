# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += \
	kernel-patches/README.md \
	kernel-patches/apply \
	kernel-patches/compat \
	kernel-patches/core \
	kernel-patches/hooks \
	kernel-patches/lib
