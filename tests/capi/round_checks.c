/* Filling a round, what it refuses, and aggregating it. */
#include "tests/capi/check.h"

static void check_refusals(boba_round* round, const double* row) {
  const float single[2] = {1, 2};
  size_t count = 0;
  CHECK_FAILS(boba_round_add_update(round, "d", row, 3, BOBA_FLOAT64), BOBA_INVALID_ARGUMENT,
              "got float64 of length 3; the round takes float64 of length 2");
  CHECK_FAILS(boba_round_add_update(round, "d", single, 2, BOBA_FLOAT32), BOBA_INVALID_ARGUMENT,
              "got float32 of length 2");
  CHECK_FAILS(boba_round_add_update(round, "d", NULL, 2, BOBA_FLOAT64), BOBA_INVALID_ARGUMENT,
              "data is NULL");
  CHECK_FAILS(boba_round_add_update(round, "d", row, 2, 7), BOBA_INVALID_ARGUMENT, "no type 7");
  CHECK_FAILS(boba_round_add_update(round, "d", (const char*)row + 1, 2, BOBA_FLOAT64),
              BOBA_INVALID_ARGUMENT, "not aligned");
  CHECK_FAILS(boba_round_add_update(round, "a", row, 2, BOBA_FLOAT64), BOBA_INVALID_ARGUMENT,
              "an update of 'a' already");
  CHECK_FAILS(boba_round_add_update(round, "", row, 2, BOBA_FLOAT64), BOBA_INVALID_ARGUMENT,
              "the id is empty");
  CHECK_FAILS(boba_round_add_server_gradient(round, row, 2, BOBA_FLOAT64, 0), BOBA_INVALID_ARGUMENT,
              "count=0");
  CHECK_FAILS(boba_round_add_server_gradient(round, row, 2, BOBA_FLOAT64, NAN),
              BOBA_INVALID_ARGUMENT, "count=");
  CHECK_FAILS(boba_round_add_server_gradient(round, row, 1, BOBA_FLOAT64, 1), BOBA_INVALID_ARGUMENT,
              "length 1");
  CHECK_FAILS(boba_round_set_server_whole(round, row, 1, BOBA_FLOAT64), BOBA_INVALID_ARGUMENT,
              "length 1");
  CHECK_FAILS(boba_round_set_model(round, row, 2, BOBA_FLOAT64, -1), BOBA_INVALID_ARGUMENT,
              "learning_rate=-1");
  CHECK_OK(boba_round_update_count(round, &count));
  CHECK(count == 4);
}

/* Their bytes, counted in a size_t, would wrap around. */
static void check_overflowing_lengths(void) {
  const size_t lengths[] = {((size_t)1 << 62) + 1, (size_t)1 << 62, ((size_t)1 << 61), SIZE_MAX};
  boba_round* round = NULL;
  for (int i = 0; i < 4; ++i) {
    CHECK_FAILS(boba_round_create(BOBA_FLOAT32, lengths[i], &round), BOBA_INVALID_ARGUMENT,
                "more bytes than memory can have");
    CHECK(round == NULL);
  }
  CHECK_FAILS(boba_round_create(BOBA_FLOAT64, (size_t)1 << 60, &round), BOBA_INVALID_ARGUMENT,
              "more bytes than memory can have");
}

static void check_average(const boba_kernels* kernels, boba_round* round) {
  double out[2] = {-1, -1};
  boba_aggregator* average = NULL;
  boba_verdict* verdict = NULL;
  boba_verdict_summary summary;
  boba_client_verdict client;
  CHECK_OK(boba_aggregator_create("average", &average));
  CHECK_OK(boba_aggregate(kernels, average, round, out, 2, BOBA_FLOAT64, &verdict));
  CHECK(out[0] == 4 && out[1] == 5);
  CHECK_OK(boba_verdict_read(verdict, &summary));
  CHECK(summary.updates == 4 && summary.accepted == 4 && summary.refused == 0);
  CHECK_OK(boba_verdict_client(verdict, 0, &client));
  CHECK(strcmp(client.id, "a") == 0 && client.has_weight && client.weight == 0.25);
  CHECK_OK(boba_verdict_client(verdict, 2, &client));
  CHECK(strcmp(client.id, "") == 0);
  boba_verdict_destroy(verdict);

  /* Nobody has to read the verdict. */
  CHECK_OK(boba_aggregate(kernels, average, round, out, 2, BOBA_FLOAT64, NULL));
  CHECK_FAILS(boba_aggregate(kernels, average, round, out, 3, BOBA_FLOAT64, &verdict),
              BOBA_INVALID_ARGUMENT, "length 3");
  CHECK(verdict == NULL);
  CHECK_FAILS(boba_aggregate(kernels, average, round, NULL, 2, BOBA_FLOAT64, &verdict),
              BOBA_INVALID_ARGUMENT, "out is NULL");
  boba_aggregator_destroy(average);
}

void check_rounds(void) {
  double rows[4][3] = {{1, 2, 0}, {3, 4, 0}, {5, 6, 0}, {7, 8, 0}};
  boba_kernels* kernels = NULL;
  boba_aggregator* krum = NULL;
  boba_round* round = NULL;
  boba_verdict* verdict = NULL;
  size_t count = 99;
  CHECK_OK(boba_kernels_create_cpu(1, &kernels));
  CHECK_FAILS(boba_round_create(BOBA_FLOAT64, 0, &round), BOBA_INVALID_ARGUMENT, "length is 0");
  CHECK_FAILS(boba_round_create(2, 1, &round), BOBA_INVALID_ARGUMENT, "no type 2");
  check_overflowing_lengths();
  CHECK_OK(boba_round_create(BOBA_FLOAT64, 2, &round));

  CHECK_OK(boba_aggregator_create("krum(f=1)", &krum));
  CHECK_FAILS(boba_aggregate(kernels, krum, round, rows[0], 2, BOBA_FLOAT64, &verdict),
              BOBA_INVALID_ARGUMENT, "no updates came");

  CHECK_OK(boba_round_add_update(round, "a", rows[0], 2, BOBA_FLOAT64));
  CHECK_OK(boba_round_add_update(round, "b", rows[1], 2, BOBA_FLOAT64));
  CHECK_OK(boba_round_add_update(round, NULL, rows[2], 2, BOBA_FLOAT64));
  CHECK_OK(boba_round_add_update(round, NULL, rows[3], 2, BOBA_FLOAT64));
  check_refusals(round, rows[0]);
  check_average(kernels, round);
  CHECK_FAILS(boba_aggregate(kernels, krum, round, rows[2], 2, BOBA_FLOAT64, &verdict),
              BOBA_INVALID_ARGUMENT, "overlaps");

  CHECK_OK(boba_round_clear_updates(round));
  CHECK_OK(boba_round_update_count(round, &count));
  CHECK(count == 0);
  /* The id is free again; three updates are too few for krum(f=1). */
  double out[2];
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(boba_round_add_update(round, i == 0 ? "a" : NULL, rows[i], 2, BOBA_FLOAT64));
  }
  CHECK_FAILS(boba_aggregate(kernels, krum, round, out, 2, BOBA_FLOAT64, &verdict),
              BOBA_INVALID_ARGUMENT, "krum needs n - f - 2 >= 1; got n=3, f=1");

  boba_aggregator_destroy(krum);
  boba_round_destroy(round);
  boba_kernels_destroy(kernels);
}
