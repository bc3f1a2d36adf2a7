#include "simulator/experiment/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <variant>

#include "boba/attacks/lie.h"
#include "boba/attacks/mimic.h"
#include "boba/core/options.h"
#include "boba/core/sketch.h"
#include "boba/core/spec.h"
#include "boba/rules/registry.h"
#include "boba/text/printable.h"
#include "simulator/data/catalogue.h"
#include "simulator/data/corruption.h"
#include "simulator/experiment/keys.h"
#include "simulator/experiment/model_options.h"
#include "simulator/experiment/normal_form.h"
#include "simulator/experiment/participation.h"
#include "simulator/partition/majors.h"
#include "simulator/partition/registry.h"
#include "simulator/partition/step.h"

namespace boba::sim {
namespace {

using Finding = std::optional<Fault>;

// The key is named before what its value's own reader said.
Finding unreadable(std::string_view key, const Error& error) {
  return Fault{{std::string(key)}, fmt::format("{}: {}", key, error.message)};
}

Finding check_ranges(const Experiment& experiment) {
  for (const Key& key : keys()) {
    if (Result<void> good = key.check(key, experiment); !good) {
      return Fault{{key.path()}, good.error().message};
    }
  }
  return {};
}

Finding check_specs(const Experiment& e) {
  if (const auto rule = make_aggregator(e.rule); !rule) return unreadable("rule", rule.error());
  if (const auto attack = canonical_attack(e.attack); !attack) {
    return unreadable("attack", attack.error());
  }
  if (const auto traits = dataset_traits(e.data.set); !traits) {
    return unreadable("data.set", traits.error());
  }
  if (const auto dealt = make_partition(e.data.partition); !dealt) {
    return unreadable("data.partition", dealt.error());
  }
  if (const auto model = parse_model(e.model.kind); !model) {
    return unreadable("model.kind", model.error());
  }
  if (const auto gram = parse_gram(e.run.gram); !gram) return unreadable("run.gram", gram.error());
  return {};
}

// REQUIRES: check_specs(e), as all below.
Finding check_model(const Experiment& e, const DatasetTraits& traits) {
  const bool texts = traits.kind == DataKind::kText;
  const Result<ModelChoice> model = parse_model(e.model.kind);
  const bool is_script = std::holds_alternative<ScriptOptions>(*model);
  const bool reads_texts = std::holds_alternative<GruOptions>(*model);
  if (!is_script && reads_texts != texts) {
    return Fault{
        {"model.kind", "data.set"},
        fmt::format("model.kind = {} reads {}, data.set = {} has {}; {} or script would do",
                    model_spec(*model), reads_texts ? "texts" : "images", e.data.set,
                    texts ? "texts" : "images", texts ? "gru" : "mlp, cnn")};
  }
  if (is_script && e.model.script.empty()) {
    return Fault{{"model.kind"}, "model.kind = script needs model.script, a TorchScript file"};
  }
  if (!is_script && !e.model.script.empty()) {
    return Fault{{"model.script", "model.kind"},
                 fmt::format("model.script = {} is read by model.kind = script only; got {}",
                             excerpt(e.model.script), model_spec(*model))};
  }
  std::error_code ignored;
  if (is_script && !std::filesystem::is_regular_file(e.model.script, ignored)) {
    return Fault{{"model.script"},
                 fmt::format("model.script = {}: there is no such file", excerpt(e.model.script))};
  }
  return {};
}

Finding check_corruptions(const Experiment& e, const DatasetTraits& traits) {
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
      if (!known) return unreadable(use.key, known.error());
    }
    if (traits.kind == DataKind::kText) {
      return Fault{{std::string(use.key), "data.set"},
                   fmt::format("{} = {} needs images, data.set = {} has texts; none would do",
                               use.key, use.name, e.data.set)};
    }
  }
  return {};
}

// pairs and step have a client for each choice of classes.
Finding check_partition(const Experiment& e, const DatasetTraits& traits) {
  const Result<std::vector<Params>> stages = parse_spec(e.data.partition);
  const Params& params = stages->front();
  std::size_t majors = 2;
  if (params.name == StepOptions::info().name) {
    majors = static_cast<std::size_t>(bind<StepOptions>(params)->majors);
  } else if (params.name != "pairs") {
    return {};
  }
  const auto clients = static_cast<std::size_t>(e.federation.honest);
  const auto dealt = deal_majors(params.name, clients, traits.classes, majors);
  if (dealt) return {};
  return Fault{{"federation.honest", "data.partition", "data.set"},
               fmt::format("federation.honest = {}: {}", clients, dealt.error().message)};
}

bool is_attacked(const Experiment& e) { return *canonical_attack(e.attack) != "none"; }

CohortSize cohort_of(const Experiment& e) {
  FederationSection federation = e.federation;
  if (!is_attacked(e)) federation.byzantine = 0;
  return cohort_size(federation);
}

// Shares of which nobody is left once they are rounded.
Finding check_shares(const Experiment& e) {
  const FederationSection& federation = e.federation;
  const double share = federation.participation;
  if (clients_of(share, federation.honest) < 1) {
    return Fault{
        {"federation.participation", "federation.honest"},
        fmt::format("federation.participation = {} of {} honest clients is nobody; at least {} "
                    "would do",
                    share, federation.honest, 0.5 / federation.honest)};
  }
  if (!is_attacked(e) || cohort_of(e).byzantine > 0) return {};
  return Fault{
      {"federation.participation", "federation.byzantine", "attack"},
      fmt::format("federation.participation = {} of {} Byzantine clients is nobody, so attack = {} "
                  "never comes; at least {} or byzantine_turnout = all would do",
                  share, federation.byzantine, e.attack, 0.5 / federation.byzantine)};
}

Finding check_clients(const Experiment& e) {
  if (is_attacked(e) && e.federation.byzantine == 0) {
    return Fault{{"federation.byzantine", "attack"},
                 fmt::format("attack = {} needs Byzantine clients; got federation.byzantine = 0 "
                             "(where nobody attacks, write attack = none)",
                             e.attack)};
  }
  return check_shares(e);
}

// Attacks that not every number of clients can carry out. REQUIRES: check_clients, as below.
Finding check_attack(const Experiment& e) {
  const CohortSize cohort = cohort_of(e);
  const Result<std::vector<Params>> stages = parse_spec(e.attack);
  const Params& params = stages->front();
  if (params.name == MimicOptions::info().name) {
    const Result<MimicOptions> mimic = bind<MimicOptions>(params);
    if (mimic->choose != MimicOptions::Choose::kFixed || mimic->client < cohort.honest) return {};
    return Fault{{"attack", "federation.honest", "federation.participation"},
                 fmt::format("attack = {} copies honest client {} of a round; it has {}, 0..{}",
                             e.attack, mimic->client, cohort.honest, cohort.honest - 1)};
  }
  if (params.name == LieOptions::info().name && bind<LieOptions>(params)->z == 0) {
    const auto z =
        lie_z(static_cast<std::size_t>(cohort.honest), static_cast<std::size_t>(cohort.byzantine));
    if (z) return {};
    return Fault{{"attack", "federation.byzantine", "federation.honest"},
                 fmt::format("attack = {}: {}", e.attack, z.error().message)};
  }
  return {};
}

// The largest f of the rule's stages.
int tolerated(const std::string& rule) {
  int most = 0;
  const Result<std::vector<Params>> stages = parse_spec(rule);
  for (const Params& stage : *stages) {
    for (const auto& option : stage.values) {
      if (option.first != "f") continue;
      int f = 0;
      const std::string& text = option.second;
      std::from_chars(text.data(), text.data() + text.size(), f);
      most = std::max(most, f);
    }
  }
  return most;
}

// Whether the rule, as it is in a round, can aggregate as many clients as come to one.
Finding check_rule(const Experiment& e, const DatasetTraits& traits) {
  const CohortSize cohort = cohort_of(e);
  const int n = cohort.honest + cohort.byzantine;
  const Result<std::string> rule = scaled_rule(e.rule, e.federation);
  const Result<Aggregator> made = make_aggregator(*rule);
  const std::vector<std::string> keys = {"rule", "federation.honest", "federation.byzantine",
                                         "federation.participation"};
  // The file's rule and what participation makes of it.
  std::string what = fmt::format("rule = {}", e.rule);
  if (!everyone(e.federation)) {
    what += fmt::format(", in a round of {} honest and {} Byzantine clients {},", cohort.honest,
                        cohort.byzantine, *rule);
  }
  if (!made) return Fault{keys, fmt::format("{}: {}", what, made.error().message)};
  if (const int f = tolerated(*rule); f >= n) {
    return Fault{keys,
                 fmt::format("{} tolerates f={} of n={} clients; f must be below n", what, f, n)};
  }
  const bool server = uses_server(e.rule);
  const Result<void> good =
      made->admits({.clients = static_cast<std::size_t>(n),
                    .classes = server ? traits.classes * made->server_parts() : 0,
                    .length = 1,  // no rule minds: the model's is not known here
                    .server = server});
  if (good) return {};
  return Fault{keys, fmt::format("{} cannot be computed: {}", what, good.error().message)};
}

// Whether each of the rule's parts gets a sample. least: samples of the class that has fewest.
Finding check_parts(const Experiment& e, const char* key, int least) {
  const Result<Aggregator> rule = make_aggregator(e.rule);
  if (!rule || static_cast<std::size_t>(least) >= rule->server_parts()) return {};
  return Fault{{key, "rule"},
               fmt::format("rule = {} needs {} samples of each class at least; {} gives {}", e.rule,
                           rule->server_parts(), key, least)};
}

Finding check_counts(const Experiment& e, const DatasetTraits& traits) {
  const Result<std::vector<int>> counts = parse_counts(e.server.counts);
  if (!counts) return unreadable("server.counts", counts.error());
  if (counts->size() != traits.classes) {
    return Fault{{"server.counts", "data.set"},
                 fmt::format("server.counts has {} numbers; data.set = {} has {} classes",
                             counts->size(), e.data.set, traits.classes)};
  }
  if (std::all_of(counts->begin(), counts->end(), [](int count) { return count == 0; })) {
    return Fault{{"server.counts"},
                 "server.counts gives the server no sample; write per_class = 0 for that"};
  }
  const auto zero = std::find(counts->begin(), counts->end(), 0);
  if (zero == counts->end()) {
    return check_parts(e, "server.counts", *std::min_element(counts->begin(), counts->end()));
  }
  return Fault{{"server.counts"},
               fmt::format("server.counts has no sample of class {}; the server's gradient of a "
                           "class needs one at least",
                           zero - counts->begin())};
}

Finding check_server(const Experiment& e, const DatasetTraits& traits) {
  if (!e.server.counts.empty()) return check_counts(e, traits);
  if (e.server.per_class > 0) return check_parts(e, "server.per_class", e.server.per_class);
  const auto lacks = [](const char* key, const std::string& spec) {
    return Fault{{"server.per_class", key},
                 fmt::format("{} = {} needs server data; got server.per_class = 0", key, spec)};
  };
  if (uses_server(e.rule)) return lacks("rule", e.rule);
  if (attack_uses_server(e.attack)) return lacks("attack", e.attack);
  return {};
}

}  // namespace

std::optional<Fault> find_fault(const Experiment& experiment) {
  if (Finding fault = check_ranges(experiment)) return fault;
  if (Finding fault = check_specs(experiment)) return fault;
  const DatasetTraits traits = *dataset_traits(experiment.data.set);
  if (Finding fault = check_model(experiment, traits)) return fault;
  if (Finding fault = check_corruptions(experiment, traits)) return fault;
  if (Finding fault = check_partition(experiment, traits)) return fault;
  if (Finding fault = check_clients(experiment)) return fault;
  if (Finding fault = check_attack(experiment)) return fault;
  if (Finding fault = check_server(experiment, traits)) return fault;
  return check_rule(experiment, traits);
}

}  // namespace boba::sim
