#include "boba/experiment/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <variant>

#include "boba/core/options.h"
#include "boba/core/spec.h"
#include "boba/data/catalogue.h"
#include "boba/data/corruption.h"
#include "boba/experiment/keys.h"
#include "boba/experiment/model_options.h"
#include "boba/experiment/normal_form.h"
#include "boba/partition/majors.h"
#include "boba/partition/registry.h"
#include "boba/partition/step.h"
#include "boba/rules/registry.h"

namespace boba {
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
                             printable(e.model.script), model_spec(*model))};
  }
  std::error_code ignored;
  if (is_script && !std::filesystem::is_regular_file(e.model.script, ignored)) {
    return Fault{
        {"model.script"},
        fmt::format("model.script = {}: there is no such file", printable(e.model.script))};
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

// No rule can be asked to tolerate all of the n clients.
Finding check_tolerance(const Experiment& e, int n) {
  const Result<std::vector<Params>> stages = parse_spec(e.rule);
  for (const Params& stage : *stages) {
    for (const auto& option : stage.values) {
      int f = 0;
      const std::string& text = option.second;
      std::from_chars(text.data(), text.data() + text.size(), f);
      if (option.first != "f" || f < n) continue;
      return Fault{
          {"rule", "federation.honest", "federation.byzantine"},
          fmt::format("rule = {} tolerates f={} of n={} clients; f must be below n", e.rule, f, n)};
    }
  }
  return {};
}

Finding check_clients(const Experiment& e) {
  const bool attacked = *canonical_attack(e.attack) != "none";
  if (attacked && e.federation.byzantine == 0) {
    return Fault{{"federation.byzantine", "attack"},
                 fmt::format("attack = {} needs Byzantine clients; got federation.byzantine = 0 "
                             "(where nobody attacks, write attack = none)",
                             e.attack)};
  }
  // Halves are rounded up, as in every cohort.
  if (std::floor(e.federation.participation * e.federation.honest + 0.5) < 1) {
    return Fault{
        {"federation.participation", "federation.honest"},
        fmt::format("federation.participation = {} of {} honest clients is nobody; at "
                    "least {} would do",
                    e.federation.participation, e.federation.honest, 0.5 / e.federation.honest)};
  }
  return check_tolerance(e, e.federation.honest + (attacked ? e.federation.byzantine : 0));
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
  if (zero == counts->end()) return {};
  return Fault{{"server.counts"},
               fmt::format("server.counts has no sample of class {}; the server's gradient of a "
                           "class needs one at least",
                           zero - counts->begin())};
}

Finding check_server(const Experiment& e, const DatasetTraits& traits) {
  if (!e.server.counts.empty()) return check_counts(e, traits);
  if (e.server.per_class > 0 || !uses_server(e.rule)) return {};
  return Fault{{"server.per_class", "rule"},
               fmt::format("rule = {} needs server data; got server.per_class = 0", e.rule)};
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
  return check_server(experiment, traits);
}

}  // namespace boba
