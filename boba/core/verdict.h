// Verdict: what was decided about whom, and why.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace boba {

// A number that a rule knows about a client or a round: score, distance, trust, loss, ...
struct NamedValue {
  std::string name = {};
  double value = 0;
};

// BOBA's subspace, and whether its guarantee can hold.
struct SubspaceReport {
  std::size_t dimension = 0;               // directions asked for: c - 1
  std::size_t rank = 0;                    // directions found; the rest was below rounding
  std::size_t fits = 0;                    // how often a subspace was fitted, the first included
  bool converged = false;                  // the fitted set did not change any more
  std::vector<double> trimmed_loss;        // sum of squared residuals of the set, per iteration
  std::vector<double> singular_values;     // of the fitted set, centred, falling
  std::vector<double> explained_variance;  // share of the set's variance per direction
  double residual_level = 0;               // root mean square residual of the fitted set
  double condition = 1;                    // growth of rounding in the products; see numerics.md
  double noise_singular_value = 0;         // the largest of the directions left out of the subspace
  double sigma_bound = 0;                  // upper bound of the sigma of Assumption 5.3
  bool guarantee_possible = false;         // nothing seen here rules the guarantee out
  std::vector<std::string> statements;     // the reasons, one sentence each
};

struct ClientVerdict {
  std::size_t index = 0;         // the client's row
  std::string id;                // who sent it; empty if nobody said
  std::optional<double> weight;  // share of its row in the output; none for coordinate rules
  bool accepted = true;
  bool refused = false;  // the update itself was unusable: it had no influence at all
  std::string reason;
  std::optional<std::size_t> bucket;  // the mixed row it went into, where a stage mixed rows
  std::optional<bool> in_fit;         // took part in fitting BOBA's subspace
  std::vector<NamedValue> measures;
  std::vector<double> label_mix;  // estimated share of each class
};

struct Verdict {
  std::string rule;                    // canonical spec
  std::size_t updates = 0;             // rows that came: n
  std::size_t length = 0;              // d
  std::size_t classes = 0;             // server rows
  std::size_t refused = 0;             // of the n
  bool weighted = true;                // false for coordinate rules: then weights is empty
  std::vector<double> weights;         // one per update
  std::vector<double> server_weights;  // one per server row
  std::vector<ClientVerdict> clients;  // one per update
  std::vector<std::string> absent;     // clients that were asked and did not come in time
  std::size_t sketch = 0;              // length of the sketches that were compared; 0: exact
  std::vector<NamedValue> measures;    // of the round
  std::vector<std::string> warnings;   // guarantees missed
  std::vector<std::string> notes;      // what else is worth knowing
  std::optional<SubspaceReport> subspace;

  std::size_t accepted() const;
};

}  // namespace boba
