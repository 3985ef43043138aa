#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes ./configure from a fresh clone.
set -e
cd "$(dirname "$0")"
exec autoreconf --install --warnings=all
