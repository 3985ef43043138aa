# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += \
	.ci/run \
	scripts/README.md \
	scripts/demo \
	scripts/install-deps \
	scripts/kernels \
	scripts/lib.sh \
	scripts/package \
	scripts/sources \
	scripts/steps/kernel.sh \
	scripts/steps/recording.sh \
	scripts/steps/stock.sh \
	scripts/steps/user.sh \
	scripts/steps/vm.sh \
	scripts/test \
	scripts/walkthrough
