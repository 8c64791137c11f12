#pragma once

// For the few loops over whole columns that decide how fast the scheduler is: compiled for vectors,
// for every x86, for those with AVX2 and for those with AVX-512; the machine picks at start.
// Results are the same on all of them: a product is rounded before anything is added to it.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define KOORD_HOT                                   \
  __attribute__((optimize("O3", "fp-contract=off"), \
                 target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define KOORD_HOT
#endif
