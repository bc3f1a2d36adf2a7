/* boba from C: Byzantine-robust aggregation of federated updates.

   Conventions:

   (1) Handles are opaque. boba_*_create makes one, boba_*_destroy ends it; destroying NULL does
       nothing. A handle that could not be made comes back as NULL.

   (2) Every function that can fail returns a boba_status. On anything but BOBA_OK,
       boba_last_error() has a sentence that names the operation, what came and what would do. It
       belongs to the calling thread and stays until that thread's next failing call.

   (3) Results come through the pointers at the end of the argument list and are written on BOBA_OK
       only. A NULL handle, a NULL result pointer or an index out of range is
       BOBA_INVALID_ARGUMENT, never a crash.

   (4) Updates, server gradients, models and outputs are the caller's arrays. They are not copied
       and not written to, outputs excepted; inputs must stay as they are while their round is in
       use.

   (5) Strings are UTF-8 and end with 0. Strings and arrays that a function gives out belong to
       their handle and live as long as it does; those without a handle live forever.

   (6) Flags are int, 0 or 1. Indices begin at 0. Row i is the i-th update that was added.

   (7) Kernels, aggregators, attacks, verdicts and reports never change: any number of threads may
       use one at once. A round is filled by one thread at a time; while nobody changes it, any
       number of threads may aggregate it. Any number of threads may fill, ask and close an open
       round; an upload belongs to one thread at a time. So does a memory: do not aggregate or
       close two rounds that share one at the same time.

   (8) No exception leaves the library and nothing in it ends the process. Where memory runs out
       the status is BOBA_INTERNAL.

   (9) Structs may grow at their end with a new major version, never otherwise. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum boba_status {
  BOBA_OK = 0,
  BOBA_INVALID_ARGUMENT = 1, /* the caller can mend it: spec, shape, option, missing input */
  BOBA_REFUSED = 2,          /* an upload is refused, or the updates left are too few */
  BOBA_IO = 3,               /* a file could not be read or written */
  BOBA_UNSUPPORTED = 4,      /* not built, or not offered for this input */
  BOBA_INTERNAL = 5,         /* a fault of boba, or memory ran out */
  BOBA_NOT_FOUND = 6         /* what was asked for is not part of this verdict or report */
} boba_status;

typedef int boba_dtype;
enum { BOBA_FLOAT32 = 0, BOBA_FLOAT64 = 1 };

typedef struct boba_kernels boba_kernels;       /* the passes over the numbers */
typedef struct boba_aggregator boba_aggregator; /* a rule with its stages */
typedef struct boba_round boba_round;           /* what a rule looks at */
typedef struct boba_open_round boba_open_round; /* a round being filled */
typedef struct boba_upload boba_upload;         /* an update that comes in chunks */
typedef struct boba_verdict boba_verdict;       /* what it decided, and why */
typedef struct boba_memory boba_memory;         /* what a rule remembers of earlier rounds */
typedef struct boba_attack boba_attack;         /* what Byzantine clients do */
typedef struct boba_report boba_report;         /* what an attack chose */

/* "0.1.0". */
const char* boba_version(void);

/* The sentence of this thread's last failure; "" if there was none. */
const char* boba_last_error(void);

/* --- What there is --------------------------------------------------------------------------- */

typedef int boba_list;
enum {
  BOBA_RULES = 0,
  BOBA_MIX_STAGES = 1,   /* may stand before a rule */
  BOBA_BLEND_STAGES = 2, /* may stand after it */
  BOBA_ATTACKS = 3
};

boba_status boba_list_count(boba_list list, size_t* count);
boba_status boba_list_at(boba_list list, size_t index, const char** name, const char** summary);

/* --- Kernels and aggregators ----------------------------------------------------------------- */

/* threads = 0: all processors this process may use. Results do not depend on it. */
boba_status boba_kernels_create_cpu(int threads, boba_kernels** kernels);
void boba_kernels_destroy(boba_kernels* kernels);
boba_status boba_kernels_name(const boba_kernels* kernels, const char** name);

/* The same kernels, with rules that compare updates comparing sketches of them instead: spec is
   "sketch(length=4096)". Make one for each round, so that each has a seed of its own from the
   operating system; a spec with a seed is for tests. inner must outlive it. Open rounds do not take
   these kernels: they have an option for it. */
boba_status boba_kernels_create_sketch(const boba_kernels* inner, const char* spec,
                                       boba_kernels** kernels);

/* spec: "boba(f=16)", "bucketing(s=2) | krum(f=16)". */
boba_status boba_aggregator_create(const char* spec, boba_aggregator** aggregator);
void boba_aggregator_destroy(boba_aggregator* aggregator);
/* The canonical spelling, which verdicts carry. */
boba_status boba_aggregator_spec(const boba_aggregator* aggregator, const char** spec);
/* Whether a memory of earlier rounds changes what the rule decides. */
boba_status boba_aggregator_uses_memory(const boba_aggregator* aggregator, int* uses);

/* --- Rounds ---------------------------------------------------------------------------------- */

/* All rows of the round have this type and length. What does not fit is refused at once with
   BOBA_INVALID_ARGUMENT, and the round stays as it was. */
boba_status boba_round_create(boba_dtype dtype, size_t length, boba_round** round);
void boba_round_destroy(boba_round* round);

/* A client's update, as a gradient: the parameters go against it. id is copied, and NULL where
   nobody asks who sent it; a second update with an id is refused. */
boba_status boba_round_add_update(boba_round* round, const char* id, const void* data,
                                  size_t length, boba_dtype dtype);
/* Forgets the updates and keeps everything else, for the next round. */
boba_status boba_round_clear_updates(boba_round* round);
boba_status boba_round_update_count(const boba_round* round, size_t* count);

/* The server's gradient of the next class (or of the next part of its samples, for
   boba(parts=...)), and the number of samples behind it (1 for all classes
   where they are equal). */
boba_status boba_round_add_server_gradient(boba_round* round, const void* data, size_t length,
                                           boba_dtype dtype, double count);
/* The gradient on all server data, where it is not the weighted mean of the above (FedAvg). */
boba_status boba_round_set_server_whole(boba_round* round, const void* data, size_t length,
                                        boba_dtype dtype);
boba_status boba_round_clear_server(boba_round* round);

/* The parameters w and the step eta, for the rules that probe the server's loss. */
boba_status boba_round_set_model(boba_round* round, const void* data, size_t length,
                                 boba_dtype dtype, double learning_rate);

/* Loss and gradient of the server's data at a point of the round's type and length. They return 0,
   or anything else to end the aggregation with BOBA_INVALID_ARGUMENT. */
typedef int (*boba_loss_function)(void* user, const void* point, size_t length, boba_dtype dtype,
                                  double* loss);
typedef int (*boba_gradient_function)(void* user, const void* point, size_t length,
                                      boba_dtype dtype, void* gradient);
/* Either may be NULL where no rule in use asks for it. user is handed through. */
boba_status boba_round_set_oracle(boba_round* round, boba_loss_function loss,
                                  boba_gradient_function gradient, void* user);

/* Random stages draw by seed and round number. Without a seed each aggregation draws its own from
   the operating system, which no client can know; the verdict's notes tell it. The number is 0 to
   begin with. */
boba_status boba_round_set_seed(boba_round* round, uint64_t seed);
boba_status boba_round_set_number(boba_round* round, uint32_t number);

/* What the rule remembers of earlier rounds. NULL, the default: the rule goes by this round alone.
   The memory must outlive the round, and the open rounds that have it as base. An aggregation that
   succeeds adds the round to it; of an open round only the first close does. A memory knows clients
   by their ids. Rules that use no memory leave it as it is. */
boba_status boba_round_set_memory(boba_round* round, boba_memory* memory);

/* Writes the aggregate to out, which has the round's type and length and overlaps no input.
   Unusable updates are refused and named in the verdict. On failure out holds nothing of use.
   verdict may be NULL where nobody reads it. */
boba_status boba_aggregate(const boba_kernels* kernels, const boba_aggregator* aggregator,
                           const boba_round* round, void* out, size_t length, boba_dtype dtype,
                           boba_verdict** verdict);

/* --- Rounds filled as updates arrive --------------------------------------------------------- */

/* Zeros are the defaults. */
typedef struct boba_open_round_options {
  const char* const* cohort; /* the clients asked: distinct ids, in the order of the rows */
  size_t cohort_count;       /* 0: anybody may come, and rows are in the order of the ids */
  size_t most;               /* updates taken, and refused clients remembered, without a cohort */
  size_t quorum;             /* 0: all; a deadline needs one */
  int has_deadline;
  double deadline;  /* on the clock of boba_open_round_close */
  const char* gram; /* NULL, "exact", or "sketch(length=4096)" with a fresh seed from the system */
  size_t most_uploads; /* unfinished uploads at once, without a cohort; 0: as many as most */
} boba_open_round_options;

/* Opens a round whose type, length, server's gradients, model, oracle, memory, seed and number are
   those of base, a round without updates. kernels and base stay as they are and outlive the open
   round. The result depends neither on the order of arrival nor on threads. It may close once all
   clients were heard, and once quorum updates are in and the deadline, where there is one, has
   passed. */
boba_status boba_open_round_create(const boba_kernels* kernels, const boba_aggregator* aggregator,
                                   const boba_round* base, const boba_open_round_options* options,
                                   boba_open_round** round);
void boba_open_round_destroy(boba_open_round* round);

/* A whole update, copied. One that is no use, doubled, late or of an unknown client is
   BOBA_REFUSED with the reason. */
boba_status boba_open_round_submit(boba_open_round* round, const char* id, const void* data,
                                   size_t length, boba_dtype dtype);
/* The same without the copy: data must stay as it is for the life of the open round. */
boba_status boba_open_round_adopt(boba_open_round* round, const char* id, const void* data,
                                  size_t length, boba_dtype dtype);

/* An update in chunks, which may end anywhere. A refusal ends the upload; so does destroying it,
   and then the client may begin again. An upload may outlive its round. */
boba_status boba_upload_create(boba_open_round* round, const char* id, size_t length,
                               boba_dtype dtype, boba_upload** upload);
boba_status boba_upload_append(boba_upload* upload, const void* bytes, size_t count);
boba_status boba_upload_finish(boba_upload* upload);
void boba_upload_destroy(boba_upload* upload);

typedef struct boba_progress {
  size_t accepted;  /* updates that are in */
  size_t refused;   /* clients whose update was no use */
  size_t uploading; /* begun and not ended */
  size_t asked;     /* clients of the cohort */
  size_t bytes;     /* held in updates and sketches */
  int closed;
} boba_progress;

boba_status boba_open_round_progress(const boba_open_round* round, boba_progress* progress);
boba_status boba_open_round_may_close(const boba_open_round* round, double now, int* may_close);

/* Takes no more updates and aggregates those that are in; clients that did not come in time are in
   boba_verdict_absent. BOBA_REFUSED, and still open, where it may not close. It may be called again
   and gives the same. verdict may be NULL. */
boba_status boba_open_round_close(boba_open_round* round, double now, void* out, size_t length,
                                  boba_dtype dtype, boba_verdict** verdict);

/* --- Memories -------------------------------------------------------------------------------- */

/* An empty memory. most: clients to remember; 0: 100,000. If more come, those seen least recently
   are forgotten. A memory belongs to the first rule that adds a round to it. */
boba_status boba_memory_create(size_t most, boba_memory** memory);
void boba_memory_destroy(boba_memory* memory);
/* The number of clients that it knows, and of rounds that were added. */
boba_status boba_memory_counts(const boba_memory* memory, size_t* clients, uint64_t* rounds);

/* Bytes from which boba_memory_load makes an equal memory, on any machine. They belong to the
   memory and are valid until its next save. */
boba_status boba_memory_save(boba_memory* memory, const void** bytes, size_t* count);
/* BOBA_INVALID_ARGUMENT if the bytes are damaged or of a later version. */
boba_status boba_memory_load(const void* bytes, size_t count, boba_memory** memory);

/* --- Verdicts -------------------------------------------------------------------------------- */

typedef struct boba_verdict_summary {
  const char* rule; /* canonical spec */
  size_t updates;   /* n: updates that came */
  size_t length;    /* d */
  size_t classes;   /* server gradients */
  size_t accepted;  /* updates accepted */
  size_t refused;   /* updates that were unusable */
  int weighted;     /* 0 for coordinate rules: then there are no weights */
  size_t measures;
  size_t warnings; /* guarantees missed */
  size_t notes;    /* what else is worth knowing */
  int has_subspace;
} boba_verdict_summary;

typedef struct boba_client_verdict {
  const char* id; /* "" if it came without one */
  int accepted;
  int refused; /* the update itself was unusable: it had no influence at all */
  const char* reason;
  int has_weight; /* 0 for coordinate rules */
  double weight;  /* share of its row in the output */
  int has_bucket; /* 1 where a stage mixed rows and this one went into a single bucket */
  size_t bucket;
  int has_in_fit; /* 1 for rules that fit a subspace */
  int in_fit;     /* took part in fitting it */
  size_t measures;
  const double* label_mix; /* estimated share of each class */
  size_t label_mix_count;  /* 0 where the rule estimates none */
} boba_client_verdict;

/* BOBA's subspace, and whether its guarantee can hold. */
typedef struct boba_subspace {
  size_t dimension; /* directions asked for: c - 1 */
  size_t rank;      /* directions found */
  size_t fits;      /* how often a subspace was fitted, the first included */
  int converged;
  const double* trimmed_loss; /* per iteration */
  size_t trimmed_loss_count;
  const double* singular_values; /* falling */
  size_t singular_values_count;
  const double* explained_variance; /* share per direction */
  size_t explained_variance_count;
  double residual_level;
  double noise_singular_value;
  double sigma_bound;
  double condition;
  int guarantee_possible; /* nothing seen here rules the guarantee out */
  size_t statements;      /* the reasons, one sentence each */
} boba_subspace;

void boba_verdict_destroy(boba_verdict* verdict);
boba_status boba_verdict_read(const boba_verdict* verdict, boba_verdict_summary* summary);
boba_status boba_verdict_client(const boba_verdict* verdict, size_t client,
                                boba_client_verdict* result);
/* One weight per update; count is 0 for coordinate rules. */
boba_status boba_verdict_weights(const boba_verdict* verdict, const double** weights,
                                 size_t* count);
/* One weight per server gradient. */
boba_status boba_verdict_server_weights(const boba_verdict* verdict, const double** weights,
                                        size_t* count);

/* Numbers about the round, and about a client: score, distance, trust, ... By index, or by name
   with BOBA_NOT_FOUND where the rule has no such number. */
boba_status boba_verdict_measure_at(const boba_verdict* verdict, size_t index, const char** name,
                                    double* value);
boba_status boba_verdict_measure(const boba_verdict* verdict, const char* name, double* value);
boba_status boba_verdict_client_measure_at(const boba_verdict* verdict, size_t client, size_t index,
                                           const char** name, double* value);
boba_status boba_verdict_client_measure(const boba_verdict* verdict, size_t client,
                                        const char* name, double* value);

/* Clients of an open round's cohort that did not come in time. */
boba_status boba_verdict_absent_count(const boba_verdict* verdict, size_t* count);
boba_status boba_verdict_absent(const boba_verdict* verdict, size_t index, const char** id);
/* Length of the sketches that were compared; 0: the updates themselves. */
boba_status boba_verdict_sketch(const boba_verdict* verdict, size_t* length);

boba_status boba_verdict_warning(const boba_verdict* verdict, size_t index, const char** text);
boba_status boba_verdict_note(const boba_verdict* verdict, size_t index, const char** text);

/* BOBA_NOT_FOUND where the rule fits no subspace. */
boba_status boba_verdict_subspace(const boba_verdict* verdict, boba_subspace* subspace);
boba_status boba_verdict_statement(const boba_verdict* verdict, size_t index, const char** text);

/* --- Attacks --------------------------------------------------------------------------------- */

/* spec: "ipm(gamma=10)". */
boba_status boba_attack_create(const char* spec, boba_attack** attack);
void boba_attack_destroy(boba_attack* attack);
boba_status boba_attack_spec(const boba_attack* attack, const char** spec);

typedef struct boba_attack_round {
  const void* const* honest; /* one row per honest client, as gradients */
  size_t honest_count;
  size_t length;
  boba_dtype dtype;
  double learning_rate; /* for attacks defined on parameters; 0: not known */
  uint64_t seed;
  uint32_t number; /* of the round */
} boba_attack_round;

/* Writes the byzantine rows of out, which overlap no honest row. report may be NULL. */
boba_status boba_forge(const boba_kernels* kernels, const boba_attack* attack,
                       const boba_attack_round* round, void* const* out, size_t byzantine,
                       boba_report** report);

void boba_report_destroy(boba_report* report);
boba_status boba_report_measure_count(const boba_report* report, size_t* count);
boba_status boba_report_measure_at(const boba_report* report, size_t index, const char** name,
                                   double* value);
boba_status boba_report_measure(const boba_report* report, const char* name, double* value);

#ifdef __cplusplus
}
#endif
