#include <fmt/format.h>

#include <functional>

#include "boba/capi/boba.h"
#include "boba/capi/guard.h"
#include "boba/capi/handles.h"
#include "boba/core/size.h"

using boba::DType;
using boba::invalid_argument;
using boba::Result;
using boba::capi::guarded;
using boba::capi::need;

namespace {

constexpr std::string_view kForge = "boba_forge";

// The honest rows and the rows to write, checked.
struct Rows {
  boba::RowList honest;
  std::vector<boba::MutableRow> out;
};

bool overlap(const void* a, const void* b, std::size_t bytes) {
  const std::less<const std::byte*> before;
  const auto* first = static_cast<const std::byte*>(a);
  const auto* second = static_cast<const std::byte*>(b);
  return before(first, second + bytes) && before(second, first + bytes);
}

Result<Rows> read_rows(const boba_attack_round& round, void* const* out, size_t byzantine) {
  const Result<DType> type = boba::capi::dtype_of(kForge, round.dtype);
  if (!type) return type.error();
  for (const std::size_t rows : {round.honest_count, byzantine}) {
    Result<void> good = boba::capi::check_length(kForge, *type, rows, round.length);
    if (!good) return good.error();
  }
  if (round.honest_count > 0 && round.honest == nullptr) {
    return invalid_argument(
        fmt::format("boba_forge: honest is NULL for {} honest clients", round.honest_count));
  }
  if (byzantine > 0 && out == nullptr) {
    return invalid_argument(fmt::format("boba_forge: out is NULL for {} rows", byzantine));
  }
  const std::size_t bytes = round.length * boba::width_of(*type);
  Rows rows{.honest = boba::RowList(*type, round.length), .out = {}};
  for (std::size_t i = 0; i < round.honest_count; ++i) {
    const void* row = round.honest[i];
    Result<void> good = boba::capi::check_array(kForge, fmt::format("honest[{}]", i), row, *type);
    if (!good) return good.error();
    boba::capi::add_row(rows.honest, row, round.length, *type);
  }
  for (std::size_t j = 0; j < byzantine; ++j) {
    Result<void> good = boba::capi::check_array(kForge, fmt::format("out[{}]", j), out[j], *type);
    for (std::size_t i = 0; good && i < round.honest_count; ++i) {
      if (!overlap(out[j], round.honest[i], bytes)) continue;
      good = invalid_argument(fmt::format("boba_forge: out[{}] overlaps honest[{}]", j, i));
    }
    for (std::size_t i = 0; good && i < j; ++i) {
      if (!overlap(out[j], out[i], bytes)) continue;
      good = invalid_argument(fmt::format("boba_forge: out[{}] overlaps out[{}]", j, i));
    }
    if (!good) return good.error();
    rows.out.push_back(boba::capi::mutable_row(out[j], round.length, *type));
  }
  return rows;
}

}  // namespace

boba_status boba_attack_create(const char* spec, boba_attack** attack) {
  if (attack != nullptr) *attack = nullptr;
  return guarded([&]() -> Result<void> {
    if (Result<void> good = need("boba_attack_create", {{spec, "spec"}, {attack, "attack"}});
        !good) {
      return good;
    }
    Result<boba::NamedAttack> made = boba::make_attack(spec);
    if (!made) return made.error();
    *attack = new boba_attack{*std::move(made)};
    return {};
  });
}

void boba_attack_destroy(boba_attack* attack) { delete attack; }

boba_status boba_attack_spec(const boba_attack* attack, const char** spec) {
  return guarded([&]() -> Result<void> {
    if (Result<void> good = need("boba_attack_spec", {{attack, "attack"}, {spec, "spec"}}); !good) {
      return good;
    }
    *spec = attack->named.spec.c_str();
    return {};
  });
}

boba_status boba_forge(const boba_kernels* kernels, const boba_attack* attack,
                       const boba_attack_round* round, void* const* out, size_t byzantine,
                       boba_report** report) {
  if (report != nullptr) *report = nullptr;
  return guarded([&]() -> Result<void> {
    if (Result<void> good =
            need(kForge, {{kernels, "kernels"}, {attack, "attack"}, {round, "round"}});
        !good) {
      return good;
    }
    const Result<Rows> rows = read_rows(*round, out, byzantine);
    if (!rows) return rows.error();
    const boba::AttackRound view{.honest = rows->honest.view(),
                                 .learning_rate = round->learning_rate,
                                 .seed = round->seed,
                                 .number = round->number};
    Result<boba::AttackReport> chosen =
        attack->named.attack->forge(*kernels->kernels, view, rows->out);
    if (!chosen) return chosen.error();
    if (report != nullptr) *report = new boba_report{*std::move(chosen)};
    return {};
  });
}

void boba_report_destroy(boba_report* report) { delete report; }

boba_status boba_report_measure_count(const boba_report* report, size_t* count) {
  return guarded([&]() -> Result<void> {
    if (Result<void> good =
            need("boba_report_measure_count", {{report, "report"}, {count, "count"}});
        !good) {
      return good;
    }
    *count = report->report.measures.size();
    return {};
  });
}

boba_status boba_report_measure_at(const boba_report* report, size_t index, const char** name,
                                   double* value) {
  return guarded([&]() -> Result<void> {
    constexpr std::string_view kOperation = "boba_report_measure_at";
    if (Result<void> good =
            need(kOperation, {{report, "report"}, {name, "name"}, {value, "value"}});
        !good) {
      return good;
    }
    return boba::capi::measure_at(kOperation, report->report.measures, index, name, value);
  });
}

boba_status boba_report_measure(const boba_report* report, const char* name, double* value) {
  return guarded([&]() -> Result<void> {
    constexpr std::string_view kOperation = "boba_report_measure";
    if (Result<void> good =
            need(kOperation, {{report, "report"}, {name, "name"}, {value, "value"}});
        !good) {
      return good;
    }
    return boba::capi::measure_named(kOperation, report->report.measures, name, value);
  });
}
