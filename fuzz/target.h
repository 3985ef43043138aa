/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that libFuzzer calls, and LLVMFuzzerMutate(), which it provides. */
#ifndef KMEMTRACE_FUZZ_TARGET_H
#define KMEMTRACE_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

#endif
