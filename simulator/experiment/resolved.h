// ResolvedExperiment: an experiment with the objects that its texts name. Every text is read once,
// here; what checks, names and runs an experiment takes the objects.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "boba/core/aggregator.h"
#include "boba/core/attack.h"
#include "boba/core/result.h"
#include "boba/core/sketch.h"
#include "simulator/data/catalogue.h"
#include "simulator/experiment/experiment.h"
#include "simulator/experiment/label_flip.h"
#include "simulator/experiment/model_options.h"
#include "simulator/partition/partition.h"

namespace boba::sim {

// The experiment itself is in its normal form, which runs that give the same numbers share: specs
// in their canonical spelling; no Byzantine clients where nobody attacks; no server data where
// neither rule nor attack has a use for them; keys that bear on nothing at their defaults.
struct ResolvedExperiment : Experiment {
  Aggregator aggregator;        // the rule as it is written
  Aggregator round_aggregator;  // the rule with every f scaled to the clients of a round
  AttackPtr attack_on_updates;  // none where nobody attacks, or the attack is on the data
  std::optional<LabelFlipOptions> label_flip = {};  // the attack on the data
  DatasetTraits traits = {};
  PartitionSchemePtr scheme = {};
  ModelChoice model_choice = {};
  std::optional<SketchOptions> sketch = {};  // none: exact inner products
  std::vector<int> server_counts = {};       // server.counts as it is written

  bool is_attacked() const { return attack_on_updates != nullptr || label_flip.has_value(); }
  // Whether the rule or the attackers look at the server's data.
  bool uses_server() const {
    return aggregator.uses_server() || (attack_on_updates && attack_on_updates->looks_at_server());
  }
};

// What is wrong with an experiment, and which keys are to blame.
struct Fault {
  std::vector<std::string> keys;  // the one to change first
  std::string message;
};

// Reads every text and checks every number by itself; faults.h has what only several keys together
// can do wrong.
std::variant<ResolvedExperiment, Fault> try_resolve(const Experiment& written);
Result<ResolvedExperiment> resolve(const Experiment& written);

// Every key and value that bears on the numbers, one "section.key = value" a line: equal texts mean
// equal runs.
std::string canonical_text(const ResolvedExperiment& experiment);

// The run that recalls are compared with: the same with rule average and no attack.
ResolvedExperiment baseline_of(const ResolvedExperiment& experiment);

}  // namespace boba::sim
