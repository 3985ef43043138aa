# SPDX-License-Identifier: GPL-2.0-or-later
# Readers of folded stacks, for the step folded of scripts/test; not in make check.
EXTRA_DIST += \
	tests/web/folded/.npmrc \
	tests/web/folded/folded-readers.py \
	tests/web/folded/package-lock.json \
	tests/web/folded/package.json \
	tests/web/folded/readers.mjs
