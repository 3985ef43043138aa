# SPDX-License-Identifier: GPL-2.0-or-later
# Checks of what guests recorded, for vm.sh, recording.sh, and stock.sh in scripts/steps; not in
# make check.
EXTRA_DIST += tests/vm
