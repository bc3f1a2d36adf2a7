/* Memories: filled by rounds and by open rounds, counted, saved, loaded, refused. */
#include <stdlib.h>

#include "tests/capi/check.h"

#define CLIENTS 9
#define LENGTH 6

static const char* const ids[CLIENTS] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
static double server[3][LENGTH] = {{9, 0, 0, 1, 0, 0}, {0, 9, 0, 0, 1, 0}, {0, 0, 9, 0, 0, 1}};
static double rows[CLIENTS][LENGTH];
static double out[LENGTH];

struct parts {
  boba_kernels* kernels;
  boba_aggregator* rule;
  boba_round* round;
};

/* Near mixes of two classes; the last client is far from all of them. */
static void make_parts(struct parts* parts) {
  for (int i = 0; i < CLIENTS; ++i) {
    for (int k = 0; k < LENGTH; ++k) {
      rows[i][k] = (server[i % 3][k] * (i + 1) + server[(i + 1) % 3][k]) / (i + 2) +
                   ((i * 7919 + k * 104729) % 100) / 1000.0;
    }
  }
  rows[CLIENTS - 1][4] = 50;
  CHECK_OK(boba_kernels_create_cpu(1, &parts->kernels));
  CHECK_OK(boba_aggregator_create("boba-hull(f=2)", &parts->rule));
  CHECK_OK(boba_round_create(BOBA_FLOAT64, LENGTH, &parts->round));
  for (int z = 0; z < 3; ++z) {
    CHECK_OK(boba_round_add_server_gradient(parts->round, server[z], LENGTH, BOBA_FLOAT64, 1));
  }
}

static void destroy_parts(struct parts* parts) {
  boba_round_destroy(parts->round);
  boba_aggregator_destroy(parts->rule);
  boba_kernels_destroy(parts->kernels);
}

/* One round of the first so many clients, with ids or without. */
static void play(const struct parts* parts, int clients, int with_ids, boba_verdict** verdict) {
  CHECK_OK(boba_round_clear_updates(parts->round));
  for (int i = 0; i < clients; ++i) {
    CHECK_OK(boba_round_add_update(parts->round, with_ids ? ids[i] : NULL, rows[i], LENGTH,
                                   BOBA_FLOAT64));
  }
  CHECK_OK(boba_aggregate(parts->kernels, parts->rule, parts->round, out, LENGTH, BOBA_FLOAT64,
                          verdict));
}

static void check_counts(const boba_memory* memory, size_t clients, uint64_t rounds) {
  size_t known = 99;
  uint64_t added = 99;
  CHECK_OK(boba_memory_counts(memory, &known, &added));
  CHECK(known == clients && added == rounds);
}

static double suspicion_of_last(const boba_verdict* verdict) {
  double value = -1;
  CHECK_OK(boba_verdict_client_measure(verdict, CLIENTS - 1, "suspicion", &value));
  return value;
}

static int has_note(const boba_verdict* verdict, const char* part) {
  boba_verdict_summary summary;
  CHECK_OK(boba_verdict_read(verdict, &summary));
  for (size_t i = 0; i < summary.notes; ++i) {
    const char* text = NULL;
    CHECK_OK(boba_verdict_note(verdict, i, &text));
    if (strstr(text, part) != NULL) return 1;
  }
  return 0;
}

static void check_rounds_with_memory(const struct parts* parts) {
  boba_memory* memory = NULL;
  boba_memory* few = NULL;
  boba_verdict* verdict = NULL;
  double value = 0;
  play(parts, CLIENTS, 1, &verdict);
  CHECK_FAILS(boba_verdict_client_measure(verdict, 0, "suspicion", &value), BOBA_NOT_FOUND,
              "no measure 'suspicion'");
  boba_verdict_destroy(verdict);

  CHECK_OK(boba_memory_create(0, &memory));
  check_counts(memory, 0, 0);
  CHECK_OK(boba_round_set_memory(parts->round, memory));
  play(parts, CLIENTS, 1, &verdict);
  CHECK_NEAR(suspicion_of_last(verdict), 0.02, 1e-12);
  boba_verdict_destroy(verdict);
  play(parts, CLIENTS, 1, &verdict);
  CHECK_NEAR(suspicion_of_last(verdict), 0.02 + 0.02 * 0.98, 1e-12);
  boba_verdict_destroy(verdict);
  check_counts(memory, CLIENTS, 2);

  /* A round that fails leaves it as it was. */
  CHECK_FAILS(boba_aggregate(parts->kernels, parts->rule, parts->round, rows[0], LENGTH,
                             BOBA_FLOAT64, NULL),
              BOBA_INVALID_ARGUMENT, "overlaps");
  check_counts(memory, CLIENTS, 2);
  play(parts, CLIENTS, 0, &verdict);
  CHECK(has_note(verdict, "the updates have no ids"));
  boba_verdict_destroy(verdict);
  check_counts(memory, CLIENTS, 3);

  /* Another rule may not go on with it; one without a memory does not touch it. */
  boba_aggregator* other = NULL;
  CHECK_OK(boba_aggregator_create("boba-hull(f=1)", &other));
  CHECK_FAILS(
      boba_aggregate(parts->kernels, other, parts->round, out, LENGTH, BOBA_FLOAT64, &verdict),
      BOBA_INVALID_ARGUMENT,
      "the memory belongs to the rule boba-hull(f=2), not to boba-hull(f=1)");
  boba_aggregator_destroy(other);
  CHECK_OK(boba_aggregator_create("mkrum(f=2)", &other));
  CHECK_OK(boba_aggregate(parts->kernels, other, parts->round, out, LENGTH, BOBA_FLOAT64, NULL));
  boba_aggregator_destroy(other);
  check_counts(memory, CLIENTS, 3);

  CHECK_OK(boba_memory_create(5, &few));
  CHECK_OK(boba_round_set_memory(parts->round, few));
  play(parts, CLIENTS, 1, NULL);
  check_counts(few, 5, 1);
  CHECK_OK(boba_round_set_memory(parts->round, NULL));
  play(parts, CLIENTS, 1, NULL);
  check_counts(few, 5, 1);
  boba_memory_destroy(few);
  boba_memory_destroy(memory);
}

/* An open round adds itself once, to the memory of its base, and as a plain round does. */
static void check_open_rounds_with_memory(const struct parts* parts) {
  const void* bytes[2] = {NULL, NULL};
  size_t counts[2] = {0, 0};
  double first[LENGTH];
  boba_memory* plain = NULL;
  boba_memory* open = NULL;
  boba_open_round* round = NULL;
  boba_verdict* verdict = NULL;
  boba_open_round_options options = {0};
  options.cohort = ids;
  options.cohort_count = CLIENTS;
  CHECK_OK(boba_memory_create(0, &plain));
  CHECK_OK(boba_memory_create(0, &open));
  CHECK_OK(boba_round_set_memory(parts->round, plain));
  play(parts, CLIENTS, 1, NULL);
  CHECK_OK(boba_round_set_memory(parts->round, open));
  CHECK_OK(boba_round_clear_updates(parts->round));
  CHECK_OK(boba_open_round_create(parts->kernels, parts->rule, parts->round, &options, &round));
  for (int i = CLIENTS - 1; i >= 0; --i) {
    CHECK_OK(boba_open_round_submit(round, ids[i], rows[i], LENGTH, BOBA_FLOAT64));
  }
  CHECK_FAILS(boba_open_round_close(round, 0, out, LENGTH - 1, BOBA_FLOAT64, NULL),
              BOBA_INVALID_ARGUMENT, "of length 5");
  check_counts(open, 0, 0);
  CHECK_OK(boba_open_round_close(round, 0, first, LENGTH, BOBA_FLOAT64, NULL));
  for (int again = 0; again < 2; ++again) {
    CHECK_OK(boba_open_round_close(round, 0, out, LENGTH, BOBA_FLOAT64, &verdict));
    CHECK(memcmp(out, first, sizeof(out)) == 0);
    CHECK_NEAR(suspicion_of_last(verdict), 0.02, 1e-12);
    boba_verdict_destroy(verdict);
    check_counts(open, CLIENTS, 1);
  }
  CHECK_OK(boba_memory_save(plain, &bytes[0], &counts[0]));
  CHECK_OK(boba_memory_save(open, &bytes[1], &counts[1]));
  CHECK(counts[0] == counts[1]);
  boba_open_round_destroy(round);
  CHECK_OK(boba_round_set_memory(parts->round, NULL));
  boba_memory_destroy(open);
  boba_memory_destroy(plain);
}

static void check_bytes(const struct parts* parts) {
  const void* bytes = NULL;
  const void* again = NULL;
  size_t count = 0;
  size_t more = 0;
  boba_memory* memory = NULL;
  boba_memory* loaded = NULL;
  CHECK_OK(boba_memory_create(7, &memory));
  CHECK_OK(boba_round_set_memory(parts->round, memory));
  play(parts, CLIENTS, 1, NULL);
  CHECK_OK(boba_memory_save(memory, &bytes, &count));
  CHECK_OK(boba_memory_load(bytes, count, &loaded));
  check_counts(loaded, 7, 1);

  /* The loaded one goes on as the other does. */
  play(parts, CLIENTS, 1, NULL);
  CHECK_OK(boba_round_set_memory(parts->round, loaded));
  play(parts, CLIENTS, 1, NULL);
  CHECK_OK(boba_memory_save(memory, &bytes, &count));
  CHECK_OK(boba_memory_save(loaded, &again, &more));
  CHECK(count == more && memcmp(bytes, again, count) == 0);
  boba_memory_destroy(loaded);

  char* copy = malloc(count);
  if (copy == NULL) return;
  for (size_t cut = 0; cut < count; cut += 13) {
    memcpy(copy, bytes, count);
    copy[cut] ^= 4;
    CHECK_FAILS(boba_memory_load(copy, count, &loaded), BOBA_INVALID_ARGUMENT, "memory: ");
    CHECK_FAILS(boba_memory_load(bytes, cut, &loaded), BOBA_INVALID_ARGUMENT, "memory: ");
    CHECK(loaded == NULL);
  }
  free(copy);
  CHECK_OK(boba_round_set_memory(parts->round, NULL));
  boba_memory_destroy(memory);
}

#define CHECK_NULL(call) CHECK_FAILS(call, BOBA_INVALID_ARGUMENT, "is NULL")

static void check_nulls(void) {
  const void* bytes = NULL;
  size_t count = 0;
  uint64_t rounds = 0;
  int uses = 0;
  boba_memory* memory = NULL;
  CHECK_NULL(boba_memory_create(0, NULL));
  CHECK_NULL(boba_memory_counts(NULL, &count, &rounds));
  CHECK_NULL(boba_memory_save(NULL, &bytes, &count));
  CHECK_NULL(boba_memory_load(NULL, 0, &memory));
  CHECK_NULL(boba_memory_load("", 0, NULL));
  CHECK_NULL(boba_round_set_memory(NULL, NULL));
  CHECK_NULL(boba_aggregator_uses_memory(NULL, &uses));
  CHECK_OK(boba_memory_create(0, &memory));
  CHECK_NULL(boba_memory_counts(memory, NULL, &rounds));
  CHECK_NULL(boba_memory_counts(memory, &count, NULL));
  CHECK_NULL(boba_memory_save(memory, NULL, &count));
  CHECK_NULL(boba_memory_save(memory, &bytes, NULL));
  boba_memory_destroy(memory);
  boba_memory_destroy(NULL);
}

void check_memories(void) {
  struct parts parts = {NULL, NULL, NULL};
  boba_aggregator* other = NULL;
  int uses = 7;
  make_parts(&parts);
  CHECK_OK(boba_aggregator_uses_memory(parts.rule, &uses));
  CHECK(uses == 1);
  CHECK_OK(boba_aggregator_create("bucketing(s=2) | boba-hull(f=2)", &other));
  CHECK_NULL(boba_aggregator_uses_memory(other, NULL));
  CHECK_OK(boba_aggregator_uses_memory(other, &uses));
  CHECK(uses == 0); /* a bucket is no client */
  boba_aggregator_destroy(other);
  check_rounds_with_memory(&parts);
  check_open_rounds_with_memory(&parts);
  check_bytes(&parts);
  check_nulls();
  destroy_parts(&parts);
}
