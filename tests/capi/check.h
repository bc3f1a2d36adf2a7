/* Checks for tests in plain C: each failure is one line, and the program's exit tells. */
#pragma once

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "boba/capi/boba.h"

#ifdef __cplusplus
extern "C" {
#endif

extern int failures;

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                    \
    }                                                                \
  } while (0)

#define CHECK_OK(call)                                                         \
  do {                                                                         \
    if ((call) != BOBA_OK) {                                                   \
      printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, boba_last_error()); \
      ++failures;                                                              \
    }                                                                          \
  } while (0)

/* The call fails with this status, and its sentence has this part. */
#define CHECK_FAILS(call, status, part)                                             \
  do {                                                                              \
    const boba_status got = (call);                                                 \
    if (got != (status) || strstr(boba_last_error(), (part)) == NULL) {             \
      printf("%s:%d: %s: status %d, \"%s\"\n", __FILE__, __LINE__, #call, (int)got, \
             boba_last_error());                                                    \
      ++failures;                                                                   \
    }                                                                               \
  } while (0)

#define CHECK_NEAR(a, b, tolerance) CHECK(fabs((double)(a) - (double)(b)) <= (tolerance))

/* One per subject. */
void check_library(void);
void check_rounds(void);
void check_verdicts(void);
void check_probing(void);
void check_attacks(void);
void check_null_handles(void);
void check_threads(void);
void check_open_rounds(void);
void check_memories(void);
void check_memory_bytes(void);

#ifdef __cplusplus
}
#endif
