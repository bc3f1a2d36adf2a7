/* One aggregator, one kernels object and one round in many threads; each thread has its own last
   error. */
#include <pthread.h>

#include "tests/capi/check.h"

#define THREADS 6
#define CLIENTS 12
#define LENGTH 3000

struct worker {
  int number;
  const boba_kernels* kernels;
  const boba_aggregator* aggregator;
  const boba_round* round;
  float out[LENGTH];
  int good;
};

static void* work(void* data) {
  struct worker* worker = data;
  worker->good = 1;
  for (int turn = 0; turn < 20; ++turn) {
    char spec[32];
    boba_verdict* verdict = NULL;
    boba_aggregator* none = NULL;
    boba_verdict_summary summary;
    worker->good &= boba_aggregate(worker->kernels, worker->aggregator, worker->round, worker->out,
                                   LENGTH, BOBA_FLOAT32, &verdict) == BOBA_OK;
    worker->good &= boba_verdict_read(verdict, &summary) == BOBA_OK && summary.updates == CLIENTS;
    boba_verdict_destroy(verdict);
    snprintf(spec, sizeof(spec), "nothing-%d-%d", worker->number, turn);
    worker->good &= boba_aggregator_create(spec, &none) == BOBA_INVALID_ARGUMENT;
    worker->good &= strstr(boba_last_error(), spec) != NULL;
  }
  return NULL;
}

void check_threads(void) {
  static float rows[CLIENTS][LENGTH];
  static struct worker workers[THREADS];
  pthread_t threads[THREADS];
  boba_kernels* kernels = NULL;
  boba_aggregator* aggregator = NULL;
  boba_round* round = NULL;
  CHECK_OK(boba_kernels_create_cpu(2, &kernels));
  CHECK_OK(boba_aggregator_create("mkrum(f=2)", &aggregator));
  CHECK_OK(boba_round_create(BOBA_FLOAT32, LENGTH, &round));
  for (int i = 0; i < CLIENTS; ++i) {
    for (int k = 0; k < LENGTH; ++k) rows[i][k] = (float)((i * 7919 + k * 104729) % 1000) / 500;
    CHECK_OK(boba_round_add_update(round, NULL, rows[i], LENGTH, BOBA_FLOAT32));
  }
  for (int i = 0; i < THREADS; ++i) {
    workers[i].number = i;
    workers[i].kernels = kernels;
    workers[i].aggregator = aggregator;
    workers[i].round = round;
    CHECK(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(workers[i].good);
    CHECK(memcmp(workers[i].out, workers[0].out, sizeof(workers[0].out)) == 0);
  }
  boba_round_destroy(round);
  boba_aggregator_destroy(aggregator);
  boba_kernels_destroy(kernels);
}
