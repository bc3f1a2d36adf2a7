// Aggregator: a rule with the stages before and after it, ready to run.
//
//   auto kernels = boba::make_cpu_kernels();
//   auto rule = boba::make_aggregator("boba(f=16)");
//   auto verdict = rule->aggregate(*kernels, round, out);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "boba/core/kernels.h"
#include "boba/core/memory.h"
#include "boba/core/result.h"
#include "boba/core/round.h"
#include "boba/core/rule.h"
#include "boba/core/verdict.h"

namespace boba {

// A value; copies share the immutable parts. Thread-safe.
class Aggregator {
 public:
  // spec is the canonical spelling that verdicts carry.
  Aggregator(RulePtr rule, std::string spec) : rule_(std::move(rule)), spec_(std::move(spec)) {}

  // The same rule with a stage in front, or behind what is there already.
  Aggregator after(MixStagePtr stage, const std::string& stage_spec) const;
  Aggregator before(BlendStagePtr stage, const std::string& stage_spec) const;
  // The same parts under another name, for named compositions.
  Aggregator renamed(std::string spec) const;

  const std::string& spec() const { return spec_; }

  // Whether a round of this shape can be aggregated: what the stages and the rule refuse, before
  // any row is there.
  Result<void> admits(Shape shape) const;

  // What the rule was told and needs; see rule.h.
  Need need() const { return rule_->need(); }
  std::optional<int> tolerance() const { return rule_->tolerance(); }
  ServerData server_data() const { return rule_->server_data(); }

  // What of the server's data the rule or a stage needs.
  bool needs_server_rows() const;      // round.server
  bool needs_server_gradient() const;  // round.server or round.server_whole
  bool needs_oracle() const;           // round.oracle, model and learning_rate
  bool uses_server() const;            // any of these

  // What holds in every round with the stages.
  Traits traits() const;
  // Whether the result depends on the order of the clients: a stage deals them at random.
  bool ordered() const { return !mixes_.empty(); }

  // Server rows that the rule wants of each class.
  std::size_t server_parts() const { return rule_->server_parts(); }

  // Whether a memory of earlier rounds changes what the rule decides.
  bool uses_memory() const;

  // Whether a round's aggregation takes the inner products of all rows.
  bool needs_gram() const;

  // Writes the aggregate of the round to out, which has the updates' type and length and must not
  // overlap them. Unusable updates are refused and named in the verdict. On failure out holds
  // nothing of use. memory: of earlier rounds, for rules that use one; the round is added to it,
  // but not on failure. Null: the rule goes by this round alone.
  Result<Verdict> aggregate(const Kernels& kernels, const Round& round, MutableRow out,
                            Memory* memory = nullptr) const;

 private:
  std::vector<MixStagePtr> mixes_;  // the first runs first
  RulePtr rule_;
  std::vector<BlendStagePtr> blends_;
  std::string spec_;
};

}  // namespace boba
