#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The boot after boot-recorded.sh is not recorded. The capture remains when the package is
# removed.
# shellcheck source-path=SCRIPTDIR source=../guest/boot.sh
. ./boot.sh

type_in "kmemtrace-boot status" >status
cat status
grep -qx 'This boot: not recorded' status || fail "this boot was recorded"
[ ! -e /run/kmemtrace-boot ] || fail "kmemtraced was started"
pgrep -l kmemtrace && fail "kmemtraced runs"
[ "$(ls /var/lib/kmemtrace)" = boot ] || fail "there is another capture"
type_in "apt-get purge -y kmemtrace"
[ -e /var/lib/kmemtrace/boot/kmemtrace.meta ] || fail "the capture was removed"
