/* Reading verdicts: refused clients, buckets, coordinate rules, and BOBA's subspace. */
#include "tests/capi/check.h"

#define CLIENTS 8
#define LENGTH 4

/* Two classes with gradients e0 and e1. Clients 0..5 hold 0/5 .. 5/5 of the second; client 6 is
   far off the line between them; client 7 sends NaN. */
static float server[2][LENGTH] = {{1, 0, 0, 0}, {0, 1, 0, 0}};
static float updates[CLIENTS][LENGTH];

static boba_round* make_round(void) {
  boba_round* round = NULL;
  CHECK_OK(boba_round_create(BOBA_FLOAT32, LENGTH, &round));
  for (int i = 0; i < CLIENTS; ++i) {
    char id[16];
    const float share = (float)i / 5;
    updates[i][0] = i == 6 ? 50.0F : 1 - share;
    updates[i][1] = i == 6 ? -50.0F : share;
    updates[i][2] = i == 6 ? 90.0F : 0.001F * (float)(i % 2);
    updates[i][3] = i == 7 ? NAN : 0.0F;
    snprintf(id, sizeof(id), "client-%d", i);
    CHECK_OK(boba_round_add_update(round, id, updates[i], LENGTH, BOBA_FLOAT32));
  }
  CHECK_OK(boba_round_add_server_gradient(round, server[0], LENGTH, BOBA_FLOAT32, 20));
  CHECK_OK(boba_round_add_server_gradient(round, server[1], LENGTH, BOBA_FLOAT32, 20));
  return round;
}

static boba_verdict* judge(const boba_kernels* kernels, const boba_round* round, const char* spec,
                           float* out) {
  boba_aggregator* aggregator = NULL;
  boba_verdict* verdict = NULL;
  CHECK_OK(boba_aggregator_create(spec, &aggregator));
  CHECK_OK(boba_aggregate(kernels, aggregator, round, out, LENGTH, BOBA_FLOAT32, &verdict));
  /* A verdict outlives its aggregator. */
  boba_aggregator_destroy(aggregator);
  return verdict;
}

static void check_subspace(const boba_verdict* verdict) {
  boba_subspace subspace;
  const char* text = NULL;
  memset(&subspace, 0, sizeof(subspace));
  CHECK_OK(boba_verdict_subspace(verdict, &subspace));
  CHECK(subspace.dimension == 1 && subspace.rank == 1 && subspace.fits >= 1);
  CHECK(subspace.converged == 1);
  CHECK(subspace.trimmed_loss_count >= 1 && subspace.trimmed_loss[0] >= 0);
  CHECK(subspace.singular_values_count >= 1 && subspace.singular_values[0] > 0);
  CHECK(subspace.explained_variance_count >= 1 && subspace.explained_variance[0] > 0.9);
  CHECK(subspace.residual_level >= 0);
  for (size_t i = 0; i < subspace.statements; ++i) {
    CHECK_OK(boba_verdict_statement(verdict, i, &text));
    CHECK(text != NULL && text[0] != '\0');
  }
  CHECK_FAILS(boba_verdict_statement(verdict, subspace.statements, &text), BOBA_INVALID_ARGUMENT,
              "no statement");
}

static void check_boba(const boba_kernels* kernels, const boba_round* round) {
  float out[LENGTH];
  boba_verdict_summary summary;
  boba_client_verdict client;
  const double* weights = NULL;
  size_t count = 0;
  double sum = 0;
  boba_verdict* verdict = judge(kernels, round, "boba(f=2)", out);
  CHECK_OK(boba_verdict_read(verdict, &summary));
  CHECK(strcmp(summary.rule, "boba(f=2)") == 0);
  CHECK(summary.updates == CLIENTS && summary.length == LENGTH && summary.classes == 2);
  CHECK(summary.refused == 1 && summary.accepted == 6 && summary.weighted == 1);
  CHECK(summary.has_subspace == 1);
  CHECK_NEAR(out[0], 0.5, 0.01);
  CHECK_NEAR(out[1], 0.5, 0.01);

  CHECK_OK(boba_verdict_client(verdict, 4, &client));
  CHECK(strcmp(client.id, "client-4") == 0 && client.accepted && !client.refused);
  CHECK(client.reason[0] != '\0' && client.has_in_fit && client.in_fit);
  CHECK(client.label_mix_count == 2 && !client.has_bucket);
  if (client.label_mix_count == 2) CHECK_NEAR(client.label_mix[1], 0.8, 0.01);
  CHECK_OK(boba_verdict_client(verdict, 6, &client));
  CHECK(!client.accepted && !client.refused && client.has_in_fit && !client.in_fit);
  CHECK_OK(boba_verdict_client(verdict, 7, &client));
  CHECK(!client.accepted && client.refused && client.weight == 0);
  CHECK_FAILS(boba_verdict_client(verdict, CLIENTS, &client), BOBA_INVALID_ARGUMENT,
              "no client 8; there are 8");

  CHECK_OK(boba_verdict_weights(verdict, &weights, &count));
  CHECK(count == CLIENTS);
  for (size_t i = 0; i < count; ++i) sum += weights[i];
  CHECK_OK(boba_verdict_server_weights(verdict, &weights, &count));
  CHECK(count == 2);
  for (size_t i = 0; i < count; ++i) sum += weights[i];
  CHECK_NEAR(sum, 1, 1e-9);
  check_subspace(verdict);
  boba_verdict_destroy(verdict);
}

static void check_measures(const boba_kernels* kernels, const boba_round* round) {
  float out[LENGTH];
  boba_verdict_summary summary;
  boba_client_verdict client;
  boba_subspace subspace;
  const char* name = NULL;
  double by_index = 0;
  double by_name = -1;
  boba_verdict* verdict = judge(kernels, round, "krum(f=4)", out);
  CHECK_OK(boba_verdict_client(verdict, 2, &client));
  CHECK(client.measures >= 1 && !client.has_in_fit && client.label_mix_count == 0);
  CHECK_OK(boba_verdict_client_measure_at(verdict, 2, 0, &name, &by_index));
  CHECK_OK(boba_verdict_client_measure(verdict, 2, name, &by_name));
  CHECK(by_index == by_name);
  CHECK_OK(boba_verdict_client_measure(verdict, 2, "score", &by_name));
  CHECK_FAILS(boba_verdict_client_measure(verdict, 2, "charm", &by_name), BOBA_NOT_FOUND,
              "no measure 'charm'; measures are: score");
  CHECK_FAILS(boba_verdict_client_measure_at(verdict, 2, 50, &name, &by_index),
              BOBA_INVALID_ARGUMENT, "no measure 50");
  CHECK_FAILS(boba_verdict_client_measure(verdict, 80, "score", &by_name), BOBA_INVALID_ARGUMENT,
              "no client 80");
  CHECK_FAILS(boba_verdict_measure(verdict, "charm", &by_name), BOBA_NOT_FOUND,
              "no measure 'charm'");
  CHECK_FAILS(boba_verdict_subspace(verdict, &subspace), BOBA_NOT_FOUND, "fits no subspace");
  CHECK_FAILS(boba_verdict_statement(verdict, 0, &name), BOBA_NOT_FOUND, "fits no subspace");

  /* One is refused and counts as Byzantine: n = 7 < 2f + 3 with f = 3 misses the guarantee. */
  CHECK_OK(boba_verdict_read(verdict, &summary));
  CHECK(!summary.has_subspace && summary.warnings >= 1);
  CHECK_OK(boba_verdict_warning(verdict, 0, &name));
  CHECK(name != NULL && name[0] != '\0');
  CHECK_FAILS(boba_verdict_warning(verdict, summary.warnings, &name), BOBA_INVALID_ARGUMENT,
              "no warning");
  for (size_t i = 0; i < summary.notes; ++i) CHECK_OK(boba_verdict_note(verdict, i, &name));
  for (size_t i = 0; i < summary.measures; ++i) {
    CHECK_OK(boba_verdict_measure_at(verdict, i, &name, &by_index));
    CHECK_OK(boba_verdict_measure(verdict, name, &by_name));
  }
  CHECK_FAILS(boba_verdict_note(verdict, summary.notes, &name), BOBA_INVALID_ARGUMENT, "no note");
  boba_verdict_destroy(verdict);
}

static void check_stages(const boba_kernels* kernels, boba_round* round) {
  float first[LENGTH];
  float second[LENGTH];
  boba_verdict_summary summary;
  boba_client_verdict client;
  const double* weights = NULL;
  size_t count = 9;
  boba_verdict* verdict = judge(kernels, round, "coomed", first);
  CHECK_OK(boba_verdict_read(verdict, &summary));
  CHECK(summary.weighted == 0);
  CHECK_OK(boba_verdict_weights(verdict, &weights, &count));
  CHECK(count == 0);
  CHECK_OK(boba_verdict_client(verdict, 0, &client));
  CHECK(!client.has_weight);
  boba_verdict_destroy(verdict);

  /* Seven clients are left; seed and number make the draw. */
  CHECK_OK(boba_round_set_seed(round, 5));
  CHECK_OK(boba_round_set_number(round, 2));
  verdict = judge(kernels, round, "bucketing(s=2) | average", first);
  CHECK_OK(boba_verdict_client(verdict, 7, &client));
  CHECK(client.refused && !client.has_bucket);
  boba_verdict_destroy(verdict);
  boba_verdict_destroy(judge(kernels, round, "bucketing(s=2) | average", second));
  CHECK(memcmp(first, second, sizeof(first)) == 0);
}

void check_verdicts(void) {
  boba_kernels* kernels = NULL;
  CHECK_OK(boba_kernels_create_cpu(2, &kernels));
  boba_round* round = make_round();
  check_boba(kernels, round);
  check_measures(kernels, round);
  check_stages(kernels, round);

  /* fltrust uses the whole server gradient where there is one. */
  float out[LENGTH];
  const float whole[LENGTH] = {2, 0, 0, 0};
  boba_client_verdict client;
  CHECK_OK(boba_round_set_server_whole(round, whole, LENGTH, BOBA_FLOAT32));
  boba_verdict* verdict = judge(kernels, round, "fltrust", out);
  CHECK_OK(boba_verdict_client(verdict, 5, &client));
  CHECK_NEAR(client.weight, 0, 1e-6);
  boba_verdict_destroy(verdict);
  CHECK_OK(boba_round_clear_server(round));
  boba_round_destroy(round);
  boba_kernels_destroy(kernels);
}
