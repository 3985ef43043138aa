#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Nothing but a sign of life: CPUs, memory, and a file brought out.
set -e
nproc
free -m
uname -a >/out/uname
