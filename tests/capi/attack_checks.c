/* Forging updates. */
#include "tests/capi/check.h"

static void check_bad_rounds(const boba_kernels* kernels, const boba_attack* ipm,
                             const boba_attack_round* good, float* row) {
  void* out[2] = {row, row};
  boba_attack_round bad = *good;
  boba_report* report = NULL;
  CHECK_FAILS(boba_forge(kernels, ipm, good, out, 2, &report), BOBA_INVALID_ARGUMENT,
              "out[1] overlaps out[0]");
  out[0] = (void*)good->honest[1];
  CHECK_FAILS(boba_forge(kernels, ipm, good, out, 1, &report), BOBA_INVALID_ARGUMENT,
              "out[0] overlaps honest[1]");
  out[0] = NULL;
  CHECK_FAILS(boba_forge(kernels, ipm, good, out, 1, &report), BOBA_INVALID_ARGUMENT,
              "out[0] is NULL");
  CHECK_FAILS(boba_forge(kernels, ipm, good, NULL, 1, &report), BOBA_INVALID_ARGUMENT,
              "out is NULL for 1 rows");
  out[0] = row;
  bad.honest = NULL;
  CHECK_FAILS(boba_forge(kernels, ipm, &bad, out, 1, &report), BOBA_INVALID_ARGUMENT,
              "honest is NULL for 2 honest clients");
  bad.honest_count = 0;
  CHECK_FAILS(boba_forge(kernels, ipm, &bad, out, 1, &report), BOBA_INVALID_ARGUMENT,
              "ipm needs at least 1 honest update");
  bad = *good;
  bad.length = 0;
  CHECK_FAILS(boba_forge(kernels, ipm, &bad, out, 1, &report), BOBA_INVALID_ARGUMENT,
              "length is 0");
  bad.length = ((size_t)1 << 62) + 1;
  CHECK_FAILS(boba_forge(kernels, ipm, &bad, out, 1, &report), BOBA_INVALID_ARGUMENT,
              "more bytes than memory can have");
  bad = *good;
  bad.honest_count = (size_t)1 << 61;
  CHECK_FAILS(boba_forge(kernels, ipm, &bad, out, 1, &report), BOBA_INVALID_ARGUMENT,
              "more bytes than memory can have");
  CHECK_FAILS(boba_forge(kernels, ipm, good, out, SIZE_MAX, &report), BOBA_INVALID_ARGUMENT,
              "more bytes than memory can have");
  bad = *good;
  bad.dtype = 5;
  CHECK_FAILS(boba_forge(kernels, ipm, &bad, out, 1, &report), BOBA_INVALID_ARGUMENT, "no type 5");
  CHECK(report == NULL);
}

void check_attacks(void) {
  const float first[2] = {1, -2};
  const float second[2] = {3, 4};
  const void* honest[2] = {first, second};
  float rows[2][2] = {{0, 0}, {0, 0}};
  void* out[2] = {rows[0], rows[1]};
  boba_attack_round round = {.honest = honest,
                             .honest_count = 2,
                             .length = 2,
                             .dtype = BOBA_FLOAT32,
                             .learning_rate = 0.5,
                             .seed = 1,
                             .number = 1};
  boba_kernels* kernels = NULL;
  boba_attack* attack = NULL;
  boba_report* report = NULL;
  const char* text = NULL;
  double value = 0;
  size_t count = 0;
  CHECK_OK(boba_kernels_create_cpu(1, &kernels));
  CHECK_FAILS(boba_attack_create("ipmm", &attack), BOBA_INVALID_ARGUMENT,
              "no attack 'ipmm'; did you mean ipm?");
  CHECK_OK(boba_attack_create("ipm( gamma=2 )", &attack));
  CHECK_OK(boba_attack_spec(attack, &text));
  CHECK(text != NULL && strcmp(text, "ipm(gamma=2)") == 0);

  CHECK_OK(boba_forge(kernels, attack, &round, out, 2, &report));
  CHECK(rows[0][0] == -4 && rows[0][1] == -2 && rows[1][0] == -4 && rows[1][1] == -2);
  CHECK_OK(boba_report_measure_count(report, &count));
  CHECK(count == 1);
  CHECK_OK(boba_report_measure_at(report, 0, &text, &value));
  CHECK(strcmp(text, "gamma") == 0 && value == 2);
  CHECK_OK(boba_report_measure(report, "gamma", &value));
  CHECK_FAILS(boba_report_measure(report, "z", &value), BOBA_NOT_FOUND, "no measure 'z'");
  CHECK_FAILS(boba_report_measure_at(report, 1, &text, &value), BOBA_INVALID_ARGUMENT,
              "no measure 1");
  boba_report_destroy(report);
  CHECK_OK(boba_forge(kernels, attack, &round, NULL, 0, NULL));
  check_bad_rounds(kernels, attack, &round, rows[0]);
  boba_attack_destroy(attack);

  /* The learning rate and the seed get through. */
  CHECK_OK(boba_attack_create("gauss(sigma=1,on=parameters)", &attack));
  CHECK_OK(boba_forge(kernels, attack, &round, out, 2, &report));
  CHECK_OK(boba_report_measure(report, "sigma", &value));
  CHECK(value == 2 && rows[0][0] != rows[1][0]);
  boba_report_destroy(report);
  boba_attack_destroy(attack);
  boba_kernels_destroy(kernels);
}
