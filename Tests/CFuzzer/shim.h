// libFuzzer's entry for programs with a main of their own (https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library).
// Clang brings the library without a header.
#pragma once
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
