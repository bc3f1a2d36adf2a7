/* A program outside the tree, in C. */
#include <boba/capi/boba.h>
#include <stdio.h>

int main(void) {
  const float rows[2][2] = {{1, 2}, {3, 4}};
  float out[2] = {0, 0};
  boba_kernels* kernels = NULL;
  boba_aggregator* average = NULL;
  boba_round* round = NULL;
  int good = boba_kernels_create_cpu(1, &kernels) == BOBA_OK &&
             boba_aggregator_create("average", &average) == BOBA_OK &&
             boba_round_create(BOBA_FLOAT32, 2, &round) == BOBA_OK &&
             boba_round_add_update(round, "a", rows[0], 2, BOBA_FLOAT32) == BOBA_OK &&
             boba_round_add_update(round, "b", rows[1], 2, BOBA_FLOAT32) == BOBA_OK &&
             boba_aggregate(kernels, average, round, out, 2, BOBA_FLOAT32, NULL) == BOBA_OK &&
             out[0] == 2 && out[1] == 3;
  if (!good) puts(boba_last_error());
  boba_round_destroy(round);
  boba_aggregator_destroy(average);
  boba_kernels_destroy(kernels);
  return good ? 0 : 1;
}
