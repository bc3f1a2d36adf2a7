/* NULL where a handle or a result belongs is an error, never a crash. */
#include "tests/capi/check.h"

#define CHECK_NULL(call) CHECK_FAILS(call, BOBA_INVALID_ARGUMENT, "is NULL")

static void check_verdict_readers(void) {
  boba_verdict_summary summary;
  boba_client_verdict client;
  boba_subspace subspace;
  const char* text = NULL;
  const double* numbers = NULL;
  double value = 0;
  size_t count = 0;
  CHECK_NULL(boba_verdict_read(NULL, &summary));
  CHECK_NULL(boba_verdict_client(NULL, 0, &client));
  CHECK_NULL(boba_verdict_weights(NULL, &numbers, &count));
  CHECK_NULL(boba_verdict_server_weights(NULL, &numbers, &count));
  CHECK_NULL(boba_verdict_measure_at(NULL, 0, &text, &value));
  CHECK_NULL(boba_verdict_measure(NULL, "x", &value));
  CHECK_NULL(boba_verdict_client_measure_at(NULL, 0, 0, &text, &value));
  CHECK_NULL(boba_verdict_client_measure(NULL, 0, "x", &value));
  CHECK_NULL(boba_verdict_warning(NULL, 0, &text));
  CHECK_NULL(boba_verdict_note(NULL, 0, &text));
  CHECK_NULL(boba_verdict_subspace(NULL, &subspace));
  CHECK_NULL(boba_verdict_statement(NULL, 0, &text));
  CHECK_NULL(boba_report_measure_count(NULL, &count));
  CHECK_NULL(boba_report_measure_at(NULL, 0, &text, &value));
  CHECK_NULL(boba_report_measure(NULL, "x", &value));
}

static void check_rounds_and_makers(void) {
  const double row[1] = {1};
  double out[1];
  const char* text = NULL;
  size_t count = 0;
  boba_kernels* kernels = NULL;
  boba_aggregator* aggregator = NULL;
  boba_attack* attack = NULL;
  CHECK_NULL(boba_list_count(BOBA_RULES, NULL));
  CHECK_NULL(boba_list_at(BOBA_RULES, 0, NULL, &text));
  CHECK_NULL(boba_list_at(BOBA_RULES, 0, &text, NULL));
  CHECK_NULL(boba_kernels_create_cpu(1, NULL));
  CHECK_NULL(boba_kernels_name(NULL, &text));
  CHECK_NULL(boba_aggregator_create(NULL, &aggregator));
  CHECK_NULL(boba_aggregator_create("average", NULL));
  CHECK_NULL(boba_aggregator_spec(NULL, &text));
  CHECK_NULL(boba_attack_create(NULL, &attack));
  CHECK_NULL(boba_attack_create("ipm", NULL));
  CHECK_NULL(boba_attack_spec(NULL, &text));
  CHECK_NULL(boba_round_create(BOBA_FLOAT64, 1, NULL));
  CHECK_NULL(boba_round_add_update(NULL, NULL, row, 1, BOBA_FLOAT64));
  CHECK_NULL(boba_round_clear_updates(NULL));
  CHECK_NULL(boba_round_update_count(NULL, &count));
  CHECK_NULL(boba_round_add_server_gradient(NULL, row, 1, BOBA_FLOAT64, 1));
  CHECK_NULL(boba_round_set_server_whole(NULL, row, 1, BOBA_FLOAT64));
  CHECK_NULL(boba_round_clear_server(NULL));
  CHECK_NULL(boba_round_set_model(NULL, row, 1, BOBA_FLOAT64, 1));
  CHECK_NULL(boba_round_set_oracle(NULL, NULL, NULL, NULL));
  CHECK_NULL(boba_round_set_seed(NULL, 1));
  CHECK_NULL(boba_round_set_number(NULL, 1));
  CHECK_NULL(boba_aggregate(NULL, NULL, NULL, out, 1, BOBA_FLOAT64, NULL));
  CHECK_NULL(boba_forge(NULL, NULL, NULL, NULL, 0, NULL));

  /* One after the other is there, and the sentence moves on to the next. */
  boba_round* round = NULL;
  CHECK_OK(boba_kernels_create_cpu(1, &kernels));
  CHECK_FAILS(boba_aggregate(kernels, NULL, NULL, out, 1, BOBA_FLOAT64, NULL),
              BOBA_INVALID_ARGUMENT, "boba_aggregate: aggregator is NULL");
  CHECK_OK(boba_aggregator_create("average", &aggregator));
  CHECK_FAILS(boba_aggregate(kernels, aggregator, NULL, out, 1, BOBA_FLOAT64, NULL),
              BOBA_INVALID_ARGUMENT, "boba_aggregate: round is NULL");
  CHECK_OK(boba_round_create(BOBA_FLOAT64, 1, &round));
  CHECK_FAILS(boba_round_update_count(round, NULL), BOBA_INVALID_ARGUMENT, "count is NULL");
  CHECK_OK(boba_attack_create("ipm", &attack));
  CHECK_FAILS(boba_forge(kernels, attack, NULL, NULL, 0, NULL), BOBA_INVALID_ARGUMENT,
              "boba_forge: round is NULL");
  boba_attack_destroy(attack);
  boba_round_destroy(round);
  boba_aggregator_destroy(aggregator);
  boba_kernels_destroy(kernels);
}

void check_null_handles(void) {
  check_verdict_readers();
  check_rounds_and_makers();
  boba_kernels_destroy(NULL);
  boba_aggregator_destroy(NULL);
  boba_round_destroy(NULL);
  boba_verdict_destroy(NULL);
  boba_attack_destroy(NULL);
  boba_report_destroy(NULL);
}
