// Experiment: a complete description of one run, as a file writes it. With its seed and its data it
// determines every number of the run. fields() has the keys, as --set and canonical texts name
// them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "boba/core/options.h"
#include "boba/core/result.h"

namespace boba::sim {

enum class Algorithm : std::uint8_t { kFedSgd, kFedAvg, kFedProx };
inline constexpr std::array<std::string_view, 3> kAlgorithms = {"fedsgd", "fedavg", "fedprox"};
inline std::string_view algorithm_name(Algorithm algorithm) {
  return kAlgorithms[static_cast<std::size_t>(algorithm)];
}
// Under partial participation: the Byzantine clients are sampled like the honest ones and the
// rule's f is scaled, or all come and f stays.
enum class ByzantineTurnout : std::uint8_t { kSampled, kAll };
inline constexpr std::array<std::string_view, 2> kTurnouts = {"sampled", "all"};

// Whether the Byzantine clients keep their ids, or come with new ones in every round.
enum class ByzantineIds : std::uint8_t { kKept, kNew };
inline constexpr std::array<std::string_view, 2> kByzantineIds = {"kept", "new"};

struct DataSection {
  std::string set = "fashion-mnist";
  std::string partition = "pairs";
  // "none", a corruption's name for every client, or "all": client i has the (i mod 15)-th.
  std::string corruption = "none";
  int severity = 3;
  int train = 0;    // examples kept, the same share of each class; 0: all
  int test = 0;     // 0: all
  int length = 48;  // texts: words kept of each

  static constexpr auto fields() {
    return std::tuple{
        field("data.set", &DataSection::set, "the data set; see `boba data list`"),
        field("data.partition", &DataSection::partition,
              "how the examples are dealt to the clients"),
        field("data.corruption", &DataSection::corruption,
              "corruption of the clients' images: none, a name, or all (client i has the i-th)"),
        field("data.severity", &DataSection::severity, "severity of the corruption").between(1, 5),
        field("data.train", &DataSection::train,
              "training examples kept, the same share of each class; 0: all")
            .between(0, 1e9),
        field("data.test", &DataSection::test, "test examples kept; 0: all").between(0, 1e9),
        field("data.length", &DataSection::length, "words kept of a text").between(1, 4096)};
  }
};

struct ModelSection {
  std::string kind =
      "mlp";           // "mlp(width=200,depth=2)", "cnn", "gru(units=32,pooling=max)", "script"
  std::string script;  // TorchScript file of kind "script"

  static constexpr auto fields() {
    return std::tuple{
        field("model.kind", &ModelSection::kind, "mlp, cnn, gru with their options, or script"),
        field("model.script", &ModelSection::script, "the TorchScript file of kind script")};
  }
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

  static constexpr auto fields() {
    return std::tuple{
        field("training.algorithm", &TrainingSection::algorithm, "algorithm of the clients")
            .one_of(kAlgorithms),
        field("training.rounds", &TrainingSection::rounds, "number of rounds").between(1, 1e6),
        field("training.learning_rate", &TrainingSection::learning_rate,
              "learning rate before decay")
            .between(1e-12, 1e6),
        field("training.decay_start", &TrainingSection::decay_start,
              "rounds before the first decay")
            .between(0, 1e6),
        field("training.decay_every", &TrainingSection::decay_every, "rounds between decays")
            .between(1, 1e6),
        field("training.decay", &TrainingSection::decay, "factor of the learning rate; 1: none")
            .between(1e-6, 1),
        field("training.local_steps", &TrainingSection::local_steps,
              "steps of a client in a round of fedavg or fedprox")
            .between(1, 10000),
        field("training.batch", &TrainingSection::batch,
              "examples in a client's step; 0: all that it has")
            .between(0, 1e9),
        field("training.mu", &TrainingSection::mu, "weight of fedprox's pull to the global model")
            .between(0, 1e6),
        field("training.momentum", &TrainingSection::momentum, "momentum of the server's step")
            .between(0, 0.9999)};
  }
};

struct FederationSection {
  int honest = 100;
  int byzantine = 15;  // added to the honest ones; 0 where attack is "none"
  double participation = 1.0;
  ByzantineTurnout byzantine_turnout = ByzantineTurnout::kSampled;
  ByzantineIds byzantine_ids = ByzantineIds::kKept;

  static constexpr auto fields() {
    return std::tuple{
        field("federation.honest", &FederationSection::honest, "honest clients")
            .between(1, 1 << 20),
        field("federation.byzantine", &FederationSection::byzantine,
              "Byzantine clients, added to the honest ones; none where attack is none")
            .between(0, 1 << 20),
        field("federation.participation", &FederationSection::participation,
              "share of the clients in each round")
            .between(1e-6, 1),
        field("federation.byzantine_turnout", &FederationSection::byzantine_turnout,
              "with participation below 1: Byzantine clients are sampled like the others and f is "
              "scaled, or all come and f stays")
            .one_of(kTurnouts),
        field("federation.byzantine_ids", &FederationSection::byzantine_ids,
              "ids of the Byzantine clients, for rules that remember: kept, or new in each round")
            .one_of(kByzantineIds)};
  }
};

struct ServerSection {
  int per_class = 20;          // samples of each class; 0: the server has no data
  std::string counts;          // "40,40,20,20": a number for each class instead
  std::string noise = "none";  // a corruption's name, for the server's samples
  int severity = 3;            // of the noise

  static constexpr auto fields() {
    return std::tuple{
        field("server.per_class", &ServerSection::per_class,
              "the server's samples of each class; 0: it has no data")
            .between(0, 1e6),
        field("server.counts", &ServerSection::counts,
              "a number for each class instead: 40,40,20,20"),
        field("server.noise", &ServerSection::noise, "corruption of the server's samples, or none"),
        field("server.severity", &ServerSection::severity, "severity of the noise").between(1, 5)};
  }
};

struct RunSection {
  int evaluate_every = 10;  // rounds; the last round is always evaluated
  // Inner products of the updates, or of "sketch(length=4096)" with the run's seed.
  std::string gram = "exact";

  static constexpr auto fields() {
    return std::tuple{field("run.evaluate_every", &RunSection::evaluate_every,
                            "rounds between evaluations; the last is always evaluated")
                          .between(1, 1e6),
                      field("run.gram", &RunSection::gram,
                            "inner products of the updates: exact, or sketch(length=4096)")};
  }
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

  // The keys before the sections.
  static constexpr auto fields() {
    return std::tuple{
        field("rule", &Experiment::rule, "how the server aggregates; see `boba rules`"),
        field("attack", &Experiment::attack, "none, labelflip, or one of `boba attacks`"),
        field("seed", &Experiment::seed, "seed of all random numbers of the run")};
  }
};

// Reads a canonical text (canonical_text in resolved.h).
Result<Experiment> experiment_from_text(const std::string& text);

}  // namespace boba::sim
