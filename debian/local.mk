# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += \
	debian/changelog \
	debian/control \
	debian/copyright \
	debian/kmemtrace-source.docs \
	debian/kmemtrace-source.install \
	debian/kmemtrace.docs \
	debian/kmemtrace.install \
	debian/kmemtrace.postrm \
	debian/kmemtrace.prerm \
	debian/rules \
	debian/source/format \
	debian/tests/control \
	debian/tests/record
