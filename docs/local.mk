# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += \
	docs/advice.md \
	docs/allocators.md \
	docs/architecture.md \
	docs/benchmarks.md \
	docs/continuous-integration.md \
	docs/definitions.md \
	docs/glossary.md \
	docs/html-report.png \
	docs/kernels.md \
	docs/limits.md \
	docs/patching.md \
	docs/prior-work.md \
	docs/sources.md \
	docs/testing.md \
	docs/visual-tools.md \
	docs/walkthrough.md
