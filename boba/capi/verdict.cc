#include <fmt/format.h>

#include "boba/capi/boba.h"
#include "boba/capi/guard.h"
#include "boba/capi/handles.h"

using boba::Result;
using boba::RuleReport;
using boba::capi::guarded;
using boba::capi::in_range;
using boba::capi::need;

namespace {

using Texts = std::vector<std::string>;

// Runs body on the verdict, with every result pointer there.
template <class Body>
boba_status read(std::string_view operation, const boba_verdict* verdict,
                 std::initializer_list<boba::capi::Given> results, Body&& body) {
  return guarded([&]() -> Result<void> {
    if (Result<void> good = need(operation, {{verdict, "verdict"}}); !good) return good;
    if (Result<void> good = need(operation, results); !good) return good;
    return body(verdict->verdict);
  });
}

Result<void> text_at(std::string_view operation, std::string_view what, const Texts& texts,
                     size_t index, const char** text) {
  if (Result<void> good = in_range(operation, what, index, texts.size()); !good) return good;
  *text = texts[index].c_str();
  return {};
}

// Runs body on the report of BOBA's subspace.
template <class Body>
boba_status read_subspace(std::string_view operation, const boba_verdict* verdict,
                          std::initializer_list<boba::capi::Given> results, Body&& body) {
  return read(operation, verdict, results, [&](const boba::Verdict& v) -> Result<void> {
    if (const RuleReport* report = v.report("subspace")) return body(*report);
    return boba::capi::not_found(fmt::format("{}: {} fits no subspace", operation, v.rule));
  });
}

}  // namespace

void boba_verdict_destroy(boba_verdict* verdict) { delete verdict; }

boba_status boba_verdict_read(const boba_verdict* verdict, boba_verdict_summary* summary) {
  return read("boba_verdict_read", verdict, {{summary, "summary"}},
              [&](const boba::Verdict& v) -> Result<void> {
                *summary = {.rule = v.rule.c_str(),
                            .updates = v.updates,
                            .length = v.length,
                            .classes = v.classes,
                            .accepted = v.accepted(),
                            .refused = v.refused,
                            .weighted = v.weighted,
                            .measures = v.measures.size(),
                            .warnings = v.warnings.size(),
                            .notes = v.notes.size(),
                            .has_subspace = v.report("subspace") != nullptr};
                return {};
              });
}

boba_status boba_verdict_client(const boba_verdict* verdict, size_t client,
                                boba_client_verdict* result) {
  constexpr std::string_view kOperation = "boba_verdict_client";
  return read(
      kOperation, verdict, {{result, "result"}}, [&](const boba::Verdict& v) -> Result<void> {
        if (Result<void> good = in_range(kOperation, "client", client, v.clients.size()); !good) {
          return good;
        }
        const boba::ClientVerdict& c = v.clients[client];
        const bool* in_fit = boba::find_fact<bool>(c.facts, "in_fit");
        *result = {.id = c.id.c_str(),
                   .accepted = c.accepted,
                   .refused = c.refused,
                   .reason = c.reason.c_str(),
                   .has_weight = c.weight.has_value(),
                   .weight = c.weight.value_or(0),
                   .has_bucket = c.bucket.has_value(),
                   .bucket = c.bucket.value_or(0),
                   .has_in_fit = in_fit != nullptr,
                   .in_fit = in_fit != nullptr && *in_fit,
                   .measures = c.measures.size(),
                   .label_mix = c.label_mix.data(),
                   .label_mix_count = c.label_mix.size()};
        return {};
      });
}

boba_status boba_verdict_weights(const boba_verdict* verdict, const double** weights,
                                 size_t* count) {
  return read("boba_verdict_weights", verdict, {{weights, "weights"}, {count, "count"}},
              [&](const boba::Verdict& v) -> Result<void> {
                *weights = v.weights.data();
                *count = v.weights.size();
                return {};
              });
}

boba_status boba_verdict_server_weights(const boba_verdict* verdict, const double** weights,
                                        size_t* count) {
  return read("boba_verdict_server_weights", verdict, {{weights, "weights"}, {count, "count"}},
              [&](const boba::Verdict& v) -> Result<void> {
                *weights = v.server_weights.data();
                *count = v.server_weights.size();
                return {};
              });
}

boba_status boba_verdict_measure_at(const boba_verdict* verdict, size_t index, const char** name,
                                    double* value) {
  constexpr std::string_view kOperation = "boba_verdict_measure_at";
  return read(kOperation, verdict, {{name, "name"}, {value, "value"}}, [&](const boba::Verdict& v) {
    return boba::capi::measure_at(kOperation, v.measures, index, name, value);
  });
}

boba_status boba_verdict_measure(const boba_verdict* verdict, const char* name, double* value) {
  constexpr std::string_view kOperation = "boba_verdict_measure";
  return read(kOperation, verdict, {{name, "name"}, {value, "value"}}, [&](const boba::Verdict& v) {
    return boba::capi::measure_named(kOperation, v.measures, name, value);
  });
}

boba_status boba_verdict_client_measure_at(const boba_verdict* verdict, size_t client, size_t index,
                                           const char** name, double* value) {
  constexpr std::string_view kOperation = "boba_verdict_client_measure_at";
  return read(kOperation, verdict, {{name, "name"}, {value, "value"}}, [&](const boba::Verdict& v) {
    Result<void> good = in_range(kOperation, "client", client, v.clients.size());
    if (!good) return good;
    return boba::capi::measure_at(kOperation, v.clients[client].measures, index, name, value);
  });
}

boba_status boba_verdict_client_measure(const boba_verdict* verdict, size_t client,
                                        const char* name, double* value) {
  constexpr std::string_view kOperation = "boba_verdict_client_measure";
  return read(kOperation, verdict, {{name, "name"}, {value, "value"}}, [&](const boba::Verdict& v) {
    Result<void> good = in_range(kOperation, "client", client, v.clients.size());
    if (!good) return good;
    return boba::capi::measure_named(kOperation, v.clients[client].measures, name, value);
  });
}

boba_status boba_verdict_absent_count(const boba_verdict* verdict, size_t* count) {
  return read("boba_verdict_absent_count", verdict, {{count, "count"}},
              [&](const boba::Verdict& v) -> Result<void> {
                *count = v.absent.size();
                return {};
              });
}

boba_status boba_verdict_absent(const boba_verdict* verdict, size_t index, const char** id) {
  return read("boba_verdict_absent", verdict, {{id, "id"}}, [&](const boba::Verdict& v) {
    return text_at("boba_verdict_absent", "absent client", v.absent, index, id);
  });
}

boba_status boba_verdict_sketch(const boba_verdict* verdict, size_t* length) {
  return read("boba_verdict_sketch", verdict, {{length, "length"}},
              [&](const boba::Verdict& v) -> Result<void> {
                *length = v.sketch;
                return {};
              });
}

boba_status boba_verdict_warning(const boba_verdict* verdict, size_t index, const char** text) {
  return read("boba_verdict_warning", verdict, {{text, "text"}}, [&](const boba::Verdict& v) {
    return text_at("boba_verdict_warning", "warning", v.warnings, index, text);
  });
}

boba_status boba_verdict_note(const boba_verdict* verdict, size_t index, const char** text) {
  return read("boba_verdict_note", verdict, {{text, "text"}}, [&](const boba::Verdict& v) {
    return text_at("boba_verdict_note", "note", v.notes, index, text);
  });
}

boba_status boba_verdict_subspace(const boba_verdict* verdict, boba_subspace* subspace) {
  return read_subspace(
      "boba_verdict_subspace", verdict, {{subspace, "subspace"}}, [&](const RuleReport& s) {
        using Numbers = std::vector<double>;
        *subspace = {.dimension = s.get<size_t>("dimension"),
                     .rank = s.get<size_t>("rank"),
                     .fits = s.get<size_t>("fits"),
                     .converged = s.get<bool>("converged"),
                     .trimmed_loss = s.get<Numbers>("trimmed_loss").data(),
                     .trimmed_loss_count = s.get<Numbers>("trimmed_loss").size(),
                     .singular_values = s.get<Numbers>("singular_values").data(),
                     .singular_values_count = s.get<Numbers>("singular_values").size(),
                     .explained_variance = s.get<Numbers>("explained_variance").data(),
                     .explained_variance_count = s.get<Numbers>("explained_variance").size(),
                     .residual_level = s.get<double>("residual_level"),
                     .noise_singular_value = s.get<double>("noise_singular_value"),
                     .sigma_bound = s.get<double>("sigma_bound"),
                     .condition = s.get<double>("condition"),
                     .guarantee_possible = s.get<bool>("guarantee_possible"),
                     .statements = s.get<Texts>("statements").size()};
        return Result<void>();
      });
}

boba_status boba_verdict_statement(const boba_verdict* verdict, size_t index, const char** text) {
  constexpr std::string_view kOperation = "boba_verdict_statement";
  return read_subspace(kOperation, verdict, {{text, "text"}}, [&](const RuleReport& s) {
    return text_at(kOperation, "statement", s.get<Texts>("statements"), index, text);
  });
}
