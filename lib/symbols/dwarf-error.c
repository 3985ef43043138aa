// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/symbols/dwarf-error.h"

G_DEFINE_QUARK(kmt_sym_dwarf_error, kmt_sym_dwarf_error)
