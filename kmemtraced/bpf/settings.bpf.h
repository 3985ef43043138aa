/* SPDX-License-Identifier: GPL-2.0-only */
/* What kmemtraced tells the programs before it loads them. */
#ifndef KMEMTRACED_BPF_SETTINGS_H
#define KMEMTRACED_BPF_SETTINGS_H

#include <linux/types.h>

#include "ring.h"

const volatile struct kmtd_bpf_settings settings = {.n_slots = 1};

#endif
