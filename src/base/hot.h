#pragma once

// For the few loops over whole columns that decide how fast the scheduler is: compiled for vectors,
// once for every x86 and once for those with AVX2; the machine picks at start.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define KOORD_HOT __attribute__((optimize("O3"), target_clones("avx2", "default")))
#else
#define KOORD_HOT
#endif
