# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of kernel-patches/apply with a small tree and a small set of patches.
KMT_KERNEL_PATCHES_TESTS = \
	tests/kernel-patches/apply.py \
	tests/kernel-patches/apply-errors.py
TESTS += $(KMT_KERNEL_PATCHES_TESTS)
EXTRA_DIST += $(KMT_KERNEL_PATCHES_TESTS) \
	tests/kernel-patches/apply_case.py \
	tests/kernel-patches/patch_set.py
