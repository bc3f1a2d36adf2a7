#include "simulator/experiment/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "boba/text/printable.h"
#include "simulator/data/corruption.h"
#include "simulator/experiment/participation.h"

namespace boba::sim {
namespace {

using Finding = std::optional<Fault>;

Finding check_model(const ResolvedExperiment& e) {
  const bool texts = e.traits.kind == DataKind::kText;
  const bool is_script = std::holds_alternative<ScriptOptions>(e.model_choice);
  const bool reads_texts = std::holds_alternative<GruOptions>(e.model_choice);
  if (!is_script && reads_texts != texts) {
    return Fault{{"model.kind", "data.set"},
                 fmt::format("model.kind = {} reads {}, data.set = {} has {}; use {} or script",
                             e.model.kind, reads_texts ? "texts" : "images", e.data.set,
                             texts ? "texts" : "images", texts ? "gru" : "mlp, cnn")};
  }
  if (is_script && e.model.script.empty()) {
    return Fault{{"model.kind"}, "model.kind = script needs model.script, a TorchScript file"};
  }
  if (!is_script && !e.model.script.empty()) {
    return Fault{{"model.script", "model.kind"},
                 fmt::format("model.script = {} is read by model.kind = script only; got {}",
                             excerpt(e.model.script), e.model.kind)};
  }
  std::error_code ignored;
  if (is_script && !std::filesystem::is_regular_file(e.model.script, ignored)) {
    return Fault{{"model.script"},
                 fmt::format("model.script = {}: there is no such file", excerpt(e.model.script))};
  }
  return {};
}

Finding check_corruptions(const Experiment& e, DataKind kind) {
  struct Use {
    std::string_view key;
    const std::string& name;
    int severity;
    bool may_be_all;
  };
  for (const Use& use : {Use{"data.corruption", e.data.corruption, e.data.severity, true},
                         Use{"server.noise", e.server.noise, e.server.severity, false}}) {
    if (use.name == "none") continue;
    if (!(use.may_be_all && use.name == "all")) {
      const Result<void> known = check_corruption(use.name, use.severity);
      if (!known) {
        return Fault{{std::string(use.key)}, fmt::format("{}: {}", use.key, known.error().message)};
      }
    }
    if (kind == DataKind::kText) {
      return Fault{{std::string(use.key), "data.set"},
                   fmt::format("{0} = {1} needs images, data.set = {2} has texts; set {0} = none",
                               use.key, use.name, e.data.set)};
    }
  }
  return {};
}

Finding check_partition(const ResolvedExperiment& e) {
  const int clients = e.federation.honest;
  const auto good = e.scheme->admits(static_cast<std::size_t>(clients), e.traits.classes);
  if (good) return {};
  return Fault{{"federation.honest", "data.partition", "data.set"},
               fmt::format("federation.honest = {}: {}", clients, good.error().message)};
}

// Shares that round to no client.
Finding check_shares(const Experiment& written, const ResolvedExperiment& e) {
  const FederationSection& federation = e.federation;
  const double share = federation.participation;
  if (clients_of(share, federation.honest) < 1) {
    return Fault{{"federation.participation", "federation.honest"},
                 fmt::format("federation.participation = {} selects none of {} honest clients; use "
                             "at least {}",
                             share, federation.honest, 0.5 / federation.honest)};
  }
  if (!e.is_attacked() || cohort_size(federation).byzantine > 0) return {};
  return Fault{
      {"federation.participation", "federation.byzantine", "attack"},
      fmt::format("federation.participation = {} selects none of {} Byzantine clients, so "
                  "attack = {} never happens; use at least {} or byzantine_turnout = all",
                  share, federation.byzantine, written.attack, 0.5 / federation.byzantine)};
}

Finding check_clients(const Experiment& written, const ResolvedExperiment& e) {
  if (e.is_attacked() && e.federation.byzantine == 0) {
    return Fault{{"federation.byzantine", "attack"},
                 fmt::format("attack = {} needs Byzantine clients; got federation.byzantine = 0 "
                             "(for runs without attackers, write attack = none)",
                             written.attack)};
  }
  return check_shares(written, e);
}

// REQUIRES: check_clients, as below.
Finding check_attack(const Experiment& written, const ResolvedExperiment& e) {
  if (!e.attack_on_updates) return {};
  const CohortSize cohort = cohort_size(e.federation);
  const Result<void> good = e.attack_on_updates->admits(static_cast<std::size_t>(cohort.honest),
                                                        static_cast<std::size_t>(cohort.byzantine));
  if (good) return {};
  return Fault{{"attack", "federation.byzantine", "federation.honest", "federation.participation"},
               fmt::format("attack = {}: {}", written.attack, good.error().message)};
}

// Whether the rule, as it is in a round, can aggregate as many clients as come to one.
Finding check_rule(const Experiment& written, const ResolvedExperiment& e) {
  const CohortSize cohort = cohort_size(e.federation);
  const int n = cohort.honest + cohort.byzantine;
  const Aggregator& rule = e.round_aggregator;
  const std::vector<std::string> keys = {"rule", "federation.honest", "federation.byzantine",
                                         "federation.participation"};
  // The file's rule, and the rule that participation scales it to.
  std::string what = fmt::format("rule = {}", written.rule);
  if (!everyone(e.federation)) {
    what += fmt::format(", in a round of {} honest and {} Byzantine clients {},", cohort.honest,
                        cohort.byzantine, rule.spec());
  }
  if (const int f = rule.tolerance().value_or(0); f >= n) {
    return Fault{keys,
                 fmt::format("{} tolerates f={} of n={} clients; f must be below n", what, f, n)};
  }
  const bool server = rule.uses_server();
  const Result<void> good =
      rule.admits({.clients = static_cast<std::size_t>(n),
                   .classes = server ? e.traits.classes * rule.server_parts() : 0,
                   .length = 1,  // unknown here; no rule uses it
                   .server = server});
  if (good) return {};
  return Fault{keys, fmt::format("{} cannot be computed: {}", what, good.error().message)};
}

// Whether each of the rule's parts gets a sample. least: samples of the class that has fewest.
Finding check_parts(const Experiment& written, const ResolvedExperiment& e, const char* key,
                    int least) {
  const std::size_t parts = e.aggregator.server_parts();
  if (static_cast<std::size_t>(least) >= parts) return {};
  return Fault{{key, "rule"},
               fmt::format("rule = {} needs at least {} samples of each class; {} gives {}",
                           written.rule, parts, key, least)};
}

Finding check_counts(const Experiment& written, const ResolvedExperiment& e) {
  const std::vector<int>& counts = e.server_counts;
  if (counts.size() != e.traits.classes) {
    return Fault{{"server.counts", "data.set"},
                 fmt::format("server.counts has {} numbers; data.set = {} has {} classes",
                             counts.size(), written.data.set, e.traits.classes)};
  }
  if (std::all_of(counts.begin(), counts.end(), [](int count) { return count == 0; })) {
    return Fault{{"server.counts"},
                 "server.counts gives the server no sample; write per_class = 0 for that"};
  }
  const auto zero = std::find(counts.begin(), counts.end(), 0);
  if (zero == counts.end()) {
    return check_parts(written, e, "server.counts",
                       *std::min_element(counts.begin(), counts.end()));
  }
  return Fault{{"server.counts"},
               fmt::format("server.counts has no sample of class {}; the server's gradient of a "
                           "class needs at least one",
                           zero - counts.begin())};
}

Finding check_server(const Experiment& written, const ResolvedExperiment& e) {
  if (!written.server.counts.empty()) return check_counts(written, e);
  const int per_class = written.server.per_class;
  if (per_class > 0) return check_parts(written, e, "server.per_class", per_class);
  const auto lacks = [](const char* key, const std::string& spec) {
    return Fault{{"server.per_class", key},
                 fmt::format("{} = {} needs server data; got server.per_class = 0", key, spec)};
  };
  if (e.aggregator.uses_server()) return lacks("rule", written.rule);
  if (e.uses_server()) return lacks("attack", written.attack);
  return {};
}

}  // namespace

std::optional<Fault> find_fault(const Experiment& written, const ResolvedExperiment& e) {
  if (Finding fault = check_model(e)) return fault;
  if (Finding fault = check_corruptions(written, e.traits.kind)) return fault;
  if (Finding fault = check_partition(e)) return fault;
  if (Finding fault = check_clients(written, e)) return fault;
  if (Finding fault = check_attack(written, e)) return fault;
  if (Finding fault = check_server(written, e)) return fault;
  return check_rule(written, e);
}

std::variant<ResolvedExperiment, Fault> resolve_and_check(const Experiment& written) {
  std::variant<ResolvedExperiment, Fault> resolved = try_resolve(written);
  if (const auto* experiment = std::get_if<ResolvedExperiment>(&resolved)) {
    if (Finding fault = find_fault(written, *experiment)) return *std::move(fault);
  }
  return resolved;
}

Result<void> check(const Experiment& written) {
  const auto checked = resolve_and_check(written);
  if (const Fault* fault = std::get_if<Fault>(&checked)) return invalid_argument(fault->message);
  return {};
}

}  // namespace boba::sim
