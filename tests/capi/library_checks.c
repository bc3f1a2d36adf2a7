/* Version, lists, kernels, aggregators, and errors. */
#include <stdlib.h>

#include "tests/capi/check.h"

static int listed(boba_list list, const char* wanted) {
  size_t count = 0;
  CHECK_OK(boba_list_count(list, &count));
  for (size_t i = 0; i < count; ++i) {
    const char* name = NULL;
    const char* summary = NULL;
    CHECK_OK(boba_list_at(list, i, &name, &summary));
    CHECK(name != NULL && summary != NULL && summary[0] != '\0');
    if (name != NULL && strcmp(name, wanted) == 0) return 1;
  }
  return 0;
}

static void check_specs(void) {
  boba_aggregator* aggregator = NULL;
  const char* spec = NULL;
  CHECK_OK(boba_aggregator_create(" bucketing( s=3 ) | krum(neighbours=0, f=1)", &aggregator));
  CHECK_OK(boba_aggregator_spec(aggregator, &spec));
  CHECK(spec != NULL && strcmp(spec, "bucketing(s=3) | krum(f=1)") == 0);
  boba_aggregator_destroy(aggregator);

  aggregator = (boba_aggregator*)&spec;
  CHECK_FAILS(boba_aggregator_create("krumm(f=1)", &aggregator), BOBA_INVALID_ARGUMENT,
              "no rule 'krumm'; did you mean krum?");
  CHECK(aggregator == NULL);
  CHECK_FAILS(boba_aggregator_create("krum(g=1)", &aggregator), BOBA_INVALID_ARGUMENT,
              "no option g");
  CHECK_FAILS(boba_aggregator_create("", &aggregator), BOBA_INVALID_ARGUMENT, "spec");

  /* A success leaves the last sentence alone. */
  CHECK_OK(boba_aggregator_create("average", &aggregator));
  CHECK(strstr(boba_last_error(), "spec") != NULL);
  boba_aggregator_destroy(aggregator);
}

/* A sentence longer than its buffer is cut, not overrun. */
static void check_long_errors(void) {
  char* long_spec = malloc(4001);
  boba_aggregator* aggregator = NULL;
  if (long_spec == NULL) return;
  memset(long_spec, 'k', 4000);
  long_spec[4000] = '\0';
  CHECK_FAILS(boba_aggregator_create(long_spec, &aggregator), BOBA_INVALID_ARGUMENT, "kkk");
  CHECK(strlen(boba_last_error()) < 4000);
  free(long_spec);
}

void check_library(void) {
  CHECK(boba_version()[0] >= '0' && boba_version()[0] <= '9');
  CHECK(listed(BOBA_RULES, "boba"));
  CHECK(listed(BOBA_RULES, "krum"));
  CHECK(listed(BOBA_MIX_STAGES, "bucketing"));
  CHECK(listed(BOBA_BLEND_STAGES, "server-mix"));
  CHECK(listed(BOBA_ATTACKS, "ipm"));
  CHECK(!listed(BOBA_ATTACKS, "krum"));
  size_t count = 0;
  const char* text = NULL;
  CHECK_FAILS(boba_list_count(9, &count), BOBA_INVALID_ARGUMENT, "no list 9");
  CHECK_FAILS(boba_list_at(BOBA_RULES, 10000, &text, &text), BOBA_INVALID_ARGUMENT,
              "no entry 10000");

  boba_kernels* kernels = NULL;
  CHECK_OK(boba_kernels_create_cpu(2, &kernels));
  CHECK_OK(boba_kernels_name(kernels, &text));
  CHECK(text != NULL && strstr(text, "2 threads") != NULL);
  boba_kernels_destroy(kernels);
  CHECK_FAILS(boba_kernels_create_cpu(-1, &kernels), BOBA_INVALID_ARGUMENT, "threads=-1");
  CHECK(kernels == NULL);

  check_specs();
  check_long_errors();
}
