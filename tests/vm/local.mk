# SPDX-License-Identifier: GPL-2.0-or-later
# Checks of what guests recorded, for scripts/steps/vm.sh; not in make check.
EXTRA_DIST += tests/vm
