# SPDX-License-Identifier: GPL-2.0-or-later
# Checks of what guests recorded, for scripts/steps/vm.sh; not in make check.
EXTRA_DIST += \
	tests/vm/allocinfo.py \
	tests/vm/apply.sh \
	tests/vm/buffers.py \
	tests/vm/capture.py \
	tests/vm/config-errors.sh \
	tests/vm/control.py \
	tests/vm/coverage.py \
	tests/vm/equal_counts.py \
	tests/vm/ftrace.py \
	tests/vm/gap.py \
	tests/vm/guarded.py \
	tests/vm/kill.py \
	tests/vm/loss.py \
	tests/vm/main_job.py \
	tests/vm/marks.py \
	tests/vm/nested.py \
	tests/vm/reconcile.py \
	tests/vm/snapshot.py \
	tests/vm/stacks.py \
	tests/vm/verdict.py \
	tests/vm/version1.py \
	tests/vm/version2.py
