/* The server's loss and gradient as functions of the caller. */
#include "tests/capi/check.h"

struct bowl {
  double centre[2];
  int losses;
  int gradients;
  int code; /* what the functions return */
};

/* |point - centre|^2 / 2. */
static int bowl_loss(void* user, const void* point, size_t length, boba_dtype dtype, double* loss) {
  struct bowl* bowl = user;
  const double* p = point;
  CHECK(length == 2 && dtype == BOBA_FLOAT64);
  ++bowl->losses;
  *loss = 0;
  for (int k = 0; k < 2; ++k) *loss += (p[k] - bowl->centre[k]) * (p[k] - bowl->centre[k]) / 2;
  return bowl->code;
}

static int bowl_gradient(void* user, const void* point, size_t length, boba_dtype dtype,
                         void* gradient) {
  struct bowl* bowl = user;
  const double* p = point;
  double* g = gradient;
  CHECK(length == 2 && dtype == BOBA_FLOAT64);
  ++bowl->gradients;
  for (int k = 0; k < 2; ++k) g[k] = p[k] - bowl->centre[k];
  return bowl->code;
}

void check_probing(void) {
  const double rows[3][2] = {{1, 0}, {1, 1}, {-9, 0}};
  const double model[2] = {1, 0};
  double out[2] = {0, 0};
  struct bowl bowl = {{0, 0}, 0, 0, 0};
  boba_kernels* kernels = NULL;
  boba_aggregator* selfrej = NULL;
  boba_aggregator* bygars = NULL;
  boba_round* round = NULL;
  boba_verdict* verdict = NULL;
  boba_client_verdict client;
  CHECK_OK(boba_kernels_create_cpu(1, &kernels));
  CHECK_OK(boba_aggregator_create("selfrej(f=1)", &selfrej));
  CHECK_OK(boba_aggregator_create("bygars", &bygars));
  CHECK_OK(boba_round_create(BOBA_FLOAT64, 2, &round));
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(boba_round_add_update(round, NULL, rows[i], 2, BOBA_FLOAT64));
  }
  CHECK(boba_aggregate(kernels, selfrej, round, out, 2, BOBA_FLOAT64, NULL) ==
        BOBA_INVALID_ARGUMENT);

  CHECK_OK(boba_round_set_model(round, model, 2, BOBA_FLOAT64, 0.5));
  CHECK_OK(boba_round_set_oracle(round, bowl_loss, bowl_gradient, &bowl));
  CHECK_OK(boba_aggregate(kernels, selfrej, round, out, 2, BOBA_FLOAT64, &verdict));
  CHECK(bowl.losses == 3 && out[0] == 1 && out[1] == 0.5);
  CHECK_OK(boba_verdict_client(verdict, 2, &client));
  CHECK(!client.accepted);
  boba_verdict_destroy(verdict);
  CHECK_OK(boba_aggregate(kernels, bygars, round, out, 2, BOBA_FLOAT64, NULL));
  CHECK(bowl.gradients == 3);

  bowl.code = 41;
  CHECK_FAILS(boba_aggregate(kernels, selfrej, round, out, 2, BOBA_FLOAT64, NULL),
              BOBA_INVALID_ARGUMENT, "loss function returned 41");
  CHECK_FAILS(boba_aggregate(kernels, bygars, round, out, 2, BOBA_FLOAT64, NULL),
              BOBA_INVALID_ARGUMENT, "gradient function returned 41");
  bowl.code = 0;
  CHECK_OK(boba_round_set_oracle(round, NULL, bowl_gradient, &bowl));
  CHECK_FAILS(boba_aggregate(kernels, selfrej, round, out, 2, BOBA_FLOAT64, NULL),
              BOBA_INVALID_ARGUMENT, "asks for the server's loss");
  CHECK_OK(boba_round_set_oracle(round, bowl_loss, NULL, &bowl));
  CHECK_FAILS(boba_aggregate(kernels, bygars, round, out, 2, BOBA_FLOAT64, NULL),
              BOBA_INVALID_ARGUMENT, "asks for the server's gradient");

  boba_round_destroy(round);
  boba_aggregator_destroy(bygars);
  boba_aggregator_destroy(selfrej);
  boba_kernels_destroy(kernels);
}
