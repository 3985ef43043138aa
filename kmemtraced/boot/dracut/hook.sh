#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Hook of dracut, which its shell reads.
/usr/lib/kmemtrace/start
