// Experiment: a complete description of one run. With its seed and its data it determines every
// number of the run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "boba/core/result.h"

namespace boba::sim {

enum class Algorithm : std::uint8_t { kFedSgd, kFedAvg, kFedProx };
// Under partial participation: the Byzantine clients are sampled like the honest ones and the
// rule's f is scaled, or all come and f stays.
enum class ByzantineTurnout : std::uint8_t { kSampled, kAll };

struct DataSection {
  std::string set = "fashion-mnist";
  std::string partition = "pairs";
  // "none", a corruption's name for every client, or "all": client i has the (i mod 15)-th.
  std::string corruption = "none";
  int severity = 3;
  int train = 0;    // examples kept, the same share of each class; 0: all
  int test = 0;     // 0: all
  int length = 48;  // texts: words kept of each
};

struct ModelSection {
  std::string kind =
      "mlp";           // "mlp(width=200,depth=2)", "cnn", "gru(units=32,pooling=max)", "script"
  std::string script;  // TorchScript file of kind "script"
};

struct TrainingSection {
  Algorithm algorithm = Algorithm::kFedSgd;
  int rounds = 200;
  double learning_rate = 0.1;
  // Rounds 1 .. decay_start have the initial rate. It is multiplied by decay in round
  // decay_start + 1 for the first time, then every decay_every rounds.
  int decay_start = 100;
  int decay_every = 10;
  double decay = 1.0;
  int local_steps = 5;    // of fedavg and fedprox
  int batch = 0;          // examples of a client's step; 0: all that it has
  double mu = 0.01;       // of fedprox
  double momentum = 0.0;  // of the server's step
};

struct FederationSection {
  int honest = 100;
  int byzantine = 15;  // added to the honest ones; 0 where attack is "none"
  double participation = 1.0;
  ByzantineTurnout byzantine_turnout = ByzantineTurnout::kSampled;
};

struct ServerSection {
  int per_class = 20;          // samples of each class; 0: the server has no data
  std::string counts;          // "40,40,20,20": a number for each class instead
  std::string noise = "none";  // a corruption's name, for the server's samples
  int severity = 3;            // of the noise
};

struct RunSection {
  int evaluate_every = 10;  // rounds; the last round is always evaluated
  // Inner products of the updates, or of "sketch(length=4096)" with the run's seed.
  std::string gram = "exact";
};

struct Experiment {
  std::string rule = "boba(f=16)";
  std::string attack = "none";  // "labelflip" is an attack on the data
  std::uint64_t seed = 1;
  DataSection data = {};
  ModelSection model = {};
  TrainingSection training = {};
  FederationSection federation = {};
  ServerSection server = {};
  RunSection run = {};
};

// Every key and value that bears on the numbers, one "section.key = value" a line, specs in their
// canonical spelling: equal texts mean equal runs.
std::string canonical_text(const Experiment& experiment);

// The inverse of canonical_text.
Result<Experiment> experiment_from_text(const std::string& text);

// Specs, ranges and combinations; reads no file but the script's name. Errors say what came and
// what would do.
Result<void> check(const Experiment& experiment);

// The run that recalls are compared with: the same with rule average and no attack.
Experiment baseline_of(const Experiment& experiment);

}  // namespace boba::sim
