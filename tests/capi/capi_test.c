/* boba.h from plain C: every function, every refusal, and one aggregator in many threads. */
#include "tests/capi/check.h"

int failures = 0;

int main(void) {
  check_library();
  check_rounds();
  check_verdicts();
  check_probing();
  check_attacks();
  check_null_handles();
  check_threads();
  check_open_rounds();
  check_memories();
  check_memory_bytes();
  if (failures == 0) printf("all passed\n");
  return failures == 0 ? 0 : 1;
}
