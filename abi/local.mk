# SPDX-License-Identifier: GPL-2.0-or-later
include_HEADERS += abi/kmemtrace_abi.h abi/kmemtrace_ioctl.h
EXTRA_DIST += abi/README.md
