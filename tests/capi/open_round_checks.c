/* Rounds filled as updates arrive: whole, adopted and in chunks, from several threads; refusals;
   limits; sketches. */
#include <pthread.h>
#include <stdlib.h>

#include "tests/capi/check.h"

#define CLIENTS 9
#define LENGTH 3000

static float rows[CLIENTS][LENGTH];
static const char* const ids[CLIENTS] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};

struct parts {
  boba_kernels* kernels;
  boba_aggregator* aggregator;
  boba_round* base;
};

static void make_parts(struct parts* parts) {
  for (int i = 0; i < CLIENTS; ++i) {
    for (int k = 0; k < LENGTH; ++k) rows[i][k] = (float)((i * 7919 + k * 104729) % 1000) / 500;
  }
  CHECK_OK(boba_kernels_create_cpu(2, &parts->kernels));
  CHECK_OK(boba_aggregator_create("mkrum(f=2)", &parts->aggregator));
  CHECK_OK(boba_round_create(BOBA_FLOAT32, LENGTH, &parts->base));
}

static void destroy_parts(struct parts* parts) {
  boba_round_destroy(parts->base);
  boba_aggregator_destroy(parts->aggregator);
  boba_kernels_destroy(parts->kernels);
}

static boba_open_round* open_round(const struct parts* parts, size_t quorum, const char* gram) {
  boba_open_round* round = NULL;
  boba_open_round_options options = {0};
  options.cohort = ids;
  options.cohort_count = CLIENTS;
  options.quorum = quorum;
  options.has_deadline = quorum > 0;
  options.deadline = 10;
  options.gram = gram;
  CHECK_OK(
      boba_open_round_create(parts->kernels, parts->aggregator, parts->base, &options, &round));
  return round;
}

static void upload_in_chunks(boba_open_round* round, int i, size_t piece) {
  boba_upload* upload = NULL;
  const char* bytes = (const char*)rows[i];
  CHECK_OK(boba_upload_create(round, ids[i], LENGTH, BOBA_FLOAT32, &upload));
  for (size_t at = 0; at < sizeof(rows[i]); at += piece) {
    const size_t left = sizeof(rows[i]) - at;
    CHECK_OK(boba_upload_append(upload, bytes + at, left < piece ? left : piece));
  }
  CHECK_OK(boba_upload_append(upload, NULL, 0));
  CHECK_OK(boba_upload_finish(upload));
  CHECK_FAILS(boba_upload_finish(upload), BOBA_INVALID_ARGUMENT, "the upload has ended");
  boba_upload_destroy(upload);
}

static void check_ways_in(const struct parts* parts) {
  static float closed[LENGTH];
  static float out[LENGTH];
  boba_round* same = NULL;
  boba_verdict* verdict = NULL;
  boba_progress progress;
  boba_verdict_summary summary;
  boba_client_verdict client;
  size_t count = 7;
  CHECK_OK(boba_round_create(BOBA_FLOAT32, LENGTH, &same));
  for (int i = 0; i < CLIENTS; ++i) {
    CHECK_OK(boba_round_add_update(same, ids[i], rows[i], LENGTH, BOBA_FLOAT32));
  }
  CHECK_OK(
      boba_aggregate(parts->kernels, parts->aggregator, same, closed, LENGTH, BOBA_FLOAT32, NULL));
  boba_open_round* round = open_round(parts, 0, NULL);
  for (int i = CLIENTS - 1; i >= 0; --i) {
    if (i % 3 == 0) {
      CHECK_OK(boba_open_round_submit(round, ids[i], rows[i], LENGTH, BOBA_FLOAT32));
    } else if (i % 3 == 1) {
      CHECK_OK(boba_open_round_adopt(round, ids[i], rows[i], LENGTH, BOBA_FLOAT32));
    } else {
      upload_in_chunks(round, i, 1001);
    }
  }
  CHECK_OK(boba_open_round_progress(round, &progress));
  CHECK(progress.accepted == CLIENTS && progress.asked == CLIENTS && progress.refused == 0);
  CHECK(progress.bytes == 6 * sizeof(rows[0]) && progress.uploading == 0 && !progress.closed);
  CHECK_OK(boba_open_round_close(round, 0, out, LENGTH, BOBA_FLOAT32, &verdict));
  for (int k = 0; k < LENGTH; ++k) CHECK_NEAR(out[k], closed[k], 1e-6);
  CHECK_OK(boba_verdict_read(verdict, &summary));
  CHECK(summary.updates == CLIENTS);
  CHECK_OK(boba_verdict_client(verdict, 3, &client));
  CHECK(strcmp(client.id, "d") == 0);
  CHECK_OK(boba_verdict_absent_count(verdict, &count));
  CHECK(count == 0);
  CHECK_OK(boba_verdict_sketch(verdict, &count));
  CHECK(count == 0);
  CHECK_OK(boba_open_round_progress(round, &progress));
  CHECK(progress.closed);
  boba_verdict_destroy(verdict);
  boba_open_round_destroy(round);
  boba_round_destroy(same);
}

static void check_refusals(const struct parts* parts) {
  static float out[LENGTH];
  static double wide[LENGTH];
  boba_upload* upload = NULL;
  boba_upload* other = NULL;
  boba_verdict* verdict = NULL;
  const char* name = NULL;
  size_t count = 0;
  int may = 7;
  const float bad = NAN;
  boba_open_round* round = open_round(parts, 4, NULL);
  CHECK_FAILS(boba_open_round_submit(round, "z", rows[0], LENGTH, BOBA_FLOAT32), BOBA_REFUSED,
              "not in this round's cohort");
  CHECK_FAILS(boba_open_round_submit(round, "a", rows[0], LENGTH - 1, BOBA_FLOAT32), BOBA_REFUSED,
              "of length 2999");
  CHECK_FAILS(boba_open_round_submit(round, "b", wide, LENGTH, BOBA_FLOAT64), BOBA_REFUSED,
              "float64");
  CHECK_OK(boba_upload_create(round, "c", LENGTH, BOBA_FLOAT32, &upload));
  CHECK_FAILS(boba_upload_create(round, "c", LENGTH, BOBA_FLOAT32, &other), BOBA_REFUSED,
              "under way");
  CHECK(other == NULL);
  CHECK_FAILS(boba_upload_append(upload, &bad, sizeof(bad)), BOBA_REFUSED, "NaN or infinity");
  boba_upload_destroy(upload);
  for (int i = 3; i < 7; ++i) {
    CHECK_OK(boba_open_round_submit(round, ids[i], rows[i], LENGTH, BOBA_FLOAT32));
  }
  CHECK_FAILS(boba_open_round_submit(round, "d", rows[3], LENGTH, BOBA_FLOAT32), BOBA_REFUSED,
              "is in already");
  CHECK_OK(boba_open_round_may_close(round, 9, &may));
  CHECK(may == 0);
  CHECK_FAILS(boba_open_round_close(round, 9, out, LENGTH, BOBA_FLOAT32, &verdict), BOBA_REFUSED,
              "from 10 on");
  CHECK(verdict == NULL);
  CHECK_OK(boba_upload_create(round, "h", LENGTH, BOBA_FLOAT32, &upload));
  CHECK_OK(boba_upload_append(upload, rows[7], 100));
  CHECK_OK(boba_open_round_may_close(round, 10, &may));
  CHECK(may == 1);
  CHECK_FAILS(boba_open_round_close(round, 10, out, LENGTH - 1, BOBA_FLOAT32, NULL),
              BOBA_INVALID_ARGUMENT, "of length 2999");
  CHECK_OK(boba_open_round_close(round, 10, out, LENGTH, BOBA_FLOAT32, &verdict));
  CHECK_OK(boba_verdict_absent_count(verdict, &count));
  CHECK(count == 2);
  CHECK_OK(boba_verdict_absent(verdict, 0, &name));
  CHECK(strcmp(name, "h") == 0);
  CHECK_OK(boba_verdict_absent(verdict, 1, &name));
  CHECK(strcmp(name, "i") == 0);
  CHECK_FAILS(boba_verdict_absent(verdict, 2, &name), BOBA_INVALID_ARGUMENT, "no absent client 2");
  CHECK_FAILS(boba_upload_append(upload, rows[7], 4), BOBA_REFUSED, "too late");
  boba_open_round_destroy(round);
  boba_upload_destroy(upload); /* it may outlive its round */
  boba_verdict_destroy(verdict);
}

/* Without a cohort uploads that never end keep nobody out, and there is a limit on them. */
static void check_unfinished_uploads(const struct parts* parts) {
  boba_open_round* round = NULL;
  boba_open_round_options options = {0};
  boba_upload* uploads[2] = {NULL, NULL};
  boba_upload* more = NULL;
  boba_progress progress;
  int may_close = 0;
  options.most = 6;
  options.most_uploads = 2;
  CHECK_OK(
      boba_open_round_create(parts->kernels, parts->aggregator, parts->base, &options, &round));
  CHECK_OK(boba_upload_create(round, "x", LENGTH, BOBA_FLOAT32, &uploads[0]));
  CHECK_OK(boba_upload_create(round, "y", LENGTH, BOBA_FLOAT32, &uploads[1]));
  CHECK_FAILS(boba_upload_create(round, "z", LENGTH, BOBA_FLOAT32, &more), BOBA_REFUSED,
              "2 uploads are unfinished, the most at once");
  CHECK(more == NULL);
  for (int i = 0; i < 6; ++i) {
    CHECK_OK(boba_open_round_submit(round, ids[i], rows[i], LENGTH, BOBA_FLOAT32));
  }
  CHECK_OK(boba_open_round_may_close(round, 0, &may_close));
  CHECK(may_close == 1);
  CHECK_OK(boba_open_round_progress(round, &progress));
  CHECK(progress.uploading == 2 && progress.accepted == 6);
  boba_upload_destroy(uploads[0]);
  boba_upload_destroy(uploads[1]);
  boba_open_round_destroy(round);
}

static void check_options(const struct parts* parts) {
  boba_open_round* round = NULL;
  boba_open_round_options options = {0};
  const char* const twice[] = {"a", "a"};
  const char* const none[] = {NULL};
  const boba_kernels* k = parts->kernels;
  const boba_aggregator* rule = parts->aggregator;
  CHECK_FAILS(boba_open_round_create(k, rule, parts->base, &options, &round), BOBA_INVALID_ARGUMENT,
              "most=0");
  options.most = SIZE_MAX;
  CHECK_FAILS(boba_open_round_create(k, rule, parts->base, &options, &round), BOBA_INVALID_ARGUMENT,
              "more bytes than memory can have");
  options.most = 0;
  options.cohort = twice;
  options.cohort_count = SIZE_MAX;
  CHECK_FAILS(boba_open_round_create(k, rule, parts->base, &options, &round), BOBA_INVALID_ARGUMENT,
              "more bytes than memory can have");
  options.cohort = NULL;
  options.cohort_count = 2;
  CHECK_FAILS(boba_open_round_create(k, rule, parts->base, &options, &round), BOBA_INVALID_ARGUMENT,
              "cohort is NULL");
  options.cohort = twice;
  CHECK_FAILS(boba_open_round_create(k, rule, parts->base, &options, &round), BOBA_INVALID_ARGUMENT,
              "twice");
  options.cohort = none;
  options.cohort_count = 1;
  CHECK_FAILS(boba_open_round_create(k, rule, parts->base, &options, &round), BOBA_INVALID_ARGUMENT,
              "id 0 of the cohort is NULL");
  options.cohort_count = 0;
  options.most = 5;
  options.gram = "skitch";
  CHECK_FAILS(boba_open_round_create(k, rule, parts->base, &options, &round), BOBA_INVALID_ARGUMENT,
              "gram is 'exact'");
  options.gram = "exact";
  CHECK_OK(boba_round_add_update(parts->base, "x", rows[0], LENGTH, BOBA_FLOAT32));
  CHECK_FAILS(boba_open_round_create(k, rule, parts->base, &options, &round), BOBA_INVALID_ARGUMENT,
              "base has 1 updates");
  CHECK_OK(boba_round_clear_updates(parts->base));
  CHECK(round == NULL);
  CHECK_OK(boba_open_round_create(k, rule, parts->base, &options, &round));
  CHECK_OK(boba_open_round_submit(round, "anybody", rows[0], LENGTH, BOBA_FLOAT32));
  CHECK_FAILS(boba_open_round_submit(round, "x", rows[0], LENGTH, 9), BOBA_INVALID_ARGUMENT,
              "no type 9");
  CHECK_FAILS(boba_open_round_submit(round, "x", NULL, LENGTH, BOBA_FLOAT32), BOBA_INVALID_ARGUMENT,
              "data is NULL");
  boba_open_round_destroy(round);
}

struct client_thread {
  boba_open_round* round;
  int first;
  int good;
};

static void* send_some(void* data) {
  struct client_thread* thread = data;
  thread->good = 1;
  for (int i = thread->first; i < CLIENTS; i += 3) {
    thread->good &=
        boba_open_round_submit(thread->round, ids[i], rows[i], LENGTH, BOBA_FLOAT32) == BOBA_OK;
  }
  return NULL;
}

static void check_threads_and_sketches(const struct parts* parts) {
  static float out[4][LENGTH];
  for (int turn = 0; turn < 4; ++turn) {
    pthread_t threads[3];
    struct client_thread work[3];
    boba_verdict* verdict = NULL;
    size_t length = 0;
    boba_open_round* round = open_round(parts, 0, turn < 2 ? NULL : "sketch(length=256,seed=5)");
    for (int t = 0; t < 3; ++t) {
      work[t].round = round;
      work[t].first = t;
      CHECK(pthread_create(&threads[t], NULL, send_some, &work[t]) == 0);
    }
    for (int t = 0; t < 3; ++t) {
      CHECK(pthread_join(threads[t], NULL) == 0);
      CHECK(work[t].good);
    }
    CHECK_OK(boba_open_round_close(round, 0, out[turn], LENGTH, BOBA_FLOAT32, &verdict));
    CHECK_OK(boba_verdict_sketch(verdict, &length));
    CHECK(length == (turn < 2 ? 0U : 256U));
    boba_verdict_destroy(verdict);
    boba_open_round_destroy(round);
  }
  CHECK(memcmp(out[0], out[1], sizeof(out[0])) == 0);
  CHECK(memcmp(out[2], out[3], sizeof(out[2])) == 0);
}

static void check_sketch_kernels(const struct parts* parts) {
  static float out[LENGTH];
  boba_kernels* sketch = NULL;
  boba_round* round = NULL;
  boba_verdict* verdict = NULL;
  const char* name = NULL;
  size_t length = 0;
  CHECK_FAILS(boba_kernels_create_sketch(parts->kernels, "exact", &sketch), BOBA_INVALID_ARGUMENT,
              "sketches nothing");
  CHECK_FAILS(boba_kernels_create_sketch(parts->kernels, "sketch(length=65)", &sketch),
              BOBA_INVALID_ARGUMENT, "power of two");
  CHECK(sketch == NULL);
  CHECK_OK(boba_kernels_create_sketch(parts->kernels, "sketch(length=512)", &sketch));
  CHECK_OK(boba_kernels_name(sketch, &name));
  CHECK(strstr(name, "sketches of length 512") != NULL);
  CHECK_OK(boba_round_create(BOBA_FLOAT32, LENGTH, &round));
  for (int i = 0; i < CLIENTS; ++i) {
    CHECK_OK(boba_round_add_update(round, ids[i], rows[i], LENGTH, BOBA_FLOAT32));
  }
  CHECK_OK(boba_aggregate(sketch, parts->aggregator, round, out, LENGTH, BOBA_FLOAT32, &verdict));
  CHECK_OK(boba_verdict_sketch(verdict, &length));
  CHECK(length == 512);
  boba_verdict_destroy(verdict);
  boba_round_destroy(round);
  {
    /* An open round would ignore their sketch: it has an option of its own. */
    boba_open_round* open = NULL;
    boba_open_round_options options = {0};
    options.cohort = ids;
    options.cohort_count = CLIENTS;
    CHECK_FAILS(boba_open_round_create(sketch, parts->aggregator, parts->base, &options, &open),
                BOBA_INVALID_ARGUMENT, "these kernels make sketches of length 512");
    options.has_deadline = 1;
    options.deadline = 10;
    CHECK_FAILS(
        boba_open_round_create(parts->kernels, parts->aggregator, parts->base, &options, &open),
        BOBA_INVALID_ARGUMENT, "a deadline and quorum=0");
    CHECK(open == NULL);
  }
  boba_kernels_destroy(sketch);
}

#define CHECK_NULL(call) CHECK_FAILS(call, BOBA_INVALID_ARGUMENT, "is NULL")

static void check_nulls(const struct parts* parts) {
  boba_open_round_options options = {0};
  boba_open_round* round = NULL;
  boba_progress progress;
  boba_kernels* kernels = NULL;
  boba_upload* upload = NULL;
  const char* text = NULL;
  size_t count = 0;
  int may = 0;
  float out[1];
  CHECK_NULL(boba_open_round_create(NULL, parts->aggregator, parts->base, &options, &round));
  CHECK_NULL(boba_open_round_create(parts->kernels, NULL, parts->base, &options, &round));
  CHECK_NULL(boba_open_round_create(parts->kernels, parts->aggregator, NULL, &options, &round));
  CHECK_NULL(boba_open_round_create(parts->kernels, parts->aggregator, parts->base, NULL, &round));
  CHECK_NULL(
      boba_open_round_create(parts->kernels, parts->aggregator, parts->base, &options, NULL));
  CHECK_NULL(boba_open_round_submit(NULL, "a", rows[0], LENGTH, BOBA_FLOAT32));
  CHECK_NULL(boba_open_round_adopt(NULL, "a", rows[0], LENGTH, BOBA_FLOAT32));
  CHECK_NULL(boba_open_round_progress(NULL, &progress));
  CHECK_NULL(boba_open_round_may_close(NULL, 0, &may));
  CHECK_NULL(boba_open_round_close(NULL, 0, out, 1, BOBA_FLOAT32, NULL));
  CHECK_NULL(boba_upload_create(NULL, "a", 1, BOBA_FLOAT32, &upload));
  CHECK_NULL(boba_upload_append(NULL, out, 1));
  CHECK_NULL(boba_upload_finish(NULL));
  CHECK_NULL(boba_kernels_create_sketch(NULL, "sketch", &kernels));
  CHECK_NULL(boba_kernels_create_sketch(parts->kernels, NULL, &kernels));
  CHECK_NULL(boba_kernels_create_sketch(parts->kernels, "sketch", NULL));
  CHECK_NULL(boba_verdict_absent_count(NULL, &count));
  CHECK_NULL(boba_verdict_absent(NULL, 0, &text));
  CHECK_NULL(boba_verdict_sketch(NULL, &count));
  round = open_round(parts, 0, NULL);
  CHECK_NULL(boba_open_round_submit(round, NULL, rows[0], LENGTH, BOBA_FLOAT32));
  CHECK_NULL(boba_open_round_progress(round, NULL));
  CHECK_NULL(boba_open_round_may_close(round, 0, NULL));
  CHECK_NULL(boba_open_round_close(round, 0, NULL, LENGTH, BOBA_FLOAT32, NULL));
  CHECK_NULL(boba_upload_create(round, NULL, LENGTH, BOBA_FLOAT32, &upload));
  CHECK_NULL(boba_upload_create(round, "a", LENGTH, BOBA_FLOAT32, NULL));
  CHECK_OK(boba_upload_create(round, "a", LENGTH, BOBA_FLOAT32, &upload));
  CHECK_NULL(boba_upload_append(upload, NULL, 1));
  boba_upload_destroy(upload);
  boba_open_round_destroy(round);
  boba_open_round_destroy(NULL);
  boba_upload_destroy(NULL);
}

void check_open_rounds(void) {
  struct parts parts = {NULL, NULL, NULL};
  make_parts(&parts);
  check_ways_in(&parts);
  check_refusals(&parts);
  check_options(&parts);
  check_unfinished_uploads(&parts);
  check_threads_and_sketches(&parts);
  check_sketch_kernels(&parts);
  check_nulls(&parts);
  destroy_parts(&parts);
}
