// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/input/capture.h"

G_DEFINE_QUARK(kmt_input_error, kmt_input_error)
