// Honest rows in buffers of their own, forged rows to write to, and attacks worked out in d-space
// with plain loops in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/attacks/registry.h"
#include "boba/core/attack.h"
#include "boba/core/random.h"
#include "boba/core/views.h"
#include "boba/kernels/cpu/cpu.h"
#include "boba/kernels/reference/reference.h"

namespace boba::testing {

// Rows that are not adjacent: each has an allocation of its own, in falling order of size.
template <Element T>
struct AttackRows {
  std::vector<std::vector<T>> rows;
  std::vector<const T*> pointers;

  explicit AttackRows(std::vector<std::vector<T>> values) : rows(std::move(values)) {
    for (const auto& row : rows) pointers.push_back(row.data());
  }
  AttackRows(const AttackRows&) = delete;

  UpdateView view() const {
    return {std::span<const T* const>(pointers), rows.empty() ? 0 : rows[0].size()};
  }
};

// h rows of length d: a common component plus noise of another size in each row.
template <Element T>
std::vector<std::vector<T>> random_rows(std::size_t h, std::size_t d, std::uint64_t seed) {
  std::vector<std::vector<T>> rows(h, std::vector<T>(d));
  for (std::size_t i = 0; i < h; ++i) {
    const StreamKey key{seed, 0, static_cast<std::uint32_t>(i + 1), Purpose::kSynthetic};
    const StreamKey common{seed, 0, 0, Purpose::kSynthetic};
    for (std::size_t k = 0; k < d; ++k) {
      const double spread = 1 + 0.25 * static_cast<double>(i % 4);
      rows[i][k] = static_cast<T>(normal_at(common, k) + spread * normal_at(key, k));
    }
  }
  return rows;
}

template <Element T>
struct Forged {
  std::vector<std::vector<T>> rows;
  AttackReport report;
  Error error;
  bool ok = false;

  double measure(std::string_view name) const {
    for (const NamedValue& measure : report.measures) {
      if (measure.name == name) return measure.value;
    }
    return std::nan("");
  }
};

// Runs the attack; the output begins as NaN, so that what is not written shows.
template <Element T>
Forged<T> forge(const Attack& attack, const Kernels& kernels, AttackRound round, std::size_t b,
                std::size_t d) {
  Forged<T> forged;
  forged.rows.assign(b, std::vector<T>(d, static_cast<T>(std::nan(""))));
  std::vector<MutableRow> out;
  for (auto& row : forged.rows) out.push_back(MutableRow(std::span<T>(row)));
  Result<AttackReport> report = attack.forge(kernels, round, out);
  forged.ok = report.ok();
  if (report) {
    forged.report = *report;
  } else {
    forged.error = report.error();
  }
  return forged;
}

template <Element T>
Forged<T> forge(std::string_view spec, const AttackRows<T>& honest, std::size_t b,
                AttackRound round = {}) {
  const Result<NamedAttack> made = make_attack(spec);
  if (!made) return {.rows = {}, .report = {}, .error = made.error(), .ok = false};
  round.honest = honest.view();
  return forge<T>(*made->attack, *make_reference_kernels(), round, b, honest.view().length());
}

// Every attack of the registry, as it is and with each other choice of an option.
inline std::vector<std::string> attack_specs() {
  std::vector<std::string> specs;
  for (const AttackEntry& entry : attacks()) {
    const std::string name(entry.info.name);
    specs.push_back(name);
    for (const OptionInfo& option : entry.options()) {
      for (const std::string& choice : option.choices) {
        if (choice == option.default_value) continue;
        specs.push_back(name + "(" + option.name + "=" + choice + ")");
      }
    }
  }
  return specs;
}

template <Element T>
std::vector<double> mean_of(const std::vector<std::vector<T>>& rows) {
  std::vector<double> mean(rows[0].size());
  for (const auto& row : rows) {
    for (std::size_t k = 0; k < mean.size(); ++k) {
      mean[k] += static_cast<double>(row[k]) / static_cast<double>(rows.size());
    }
  }
  return mean;
}

// With h - 1; 0 for a single row.
template <Element T>
std::vector<double> deviation_of(const std::vector<std::vector<T>>& rows) {
  const std::vector<double> mean = mean_of(rows);
  std::vector<double> deviation(mean.size());
  if (rows.size() < 2) return deviation;
  for (std::size_t k = 0; k < mean.size(); ++k) {
    double sum = 0;
    for (const auto& row : rows) sum += std::pow(static_cast<double>(row[k]) - mean[k], 2);
    deviation[k] = std::sqrt(sum / static_cast<double>(rows.size() - 1));
  }
  return deviation;
}

template <class A, class B>
double sq_distance(const std::vector<A>& a, const std::vector<B>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    sum += std::pow(static_cast<double>(a[k]) - static_cast<double>(b[k]), 2);
  }
  return sum;
}

// Half a unit in the last place of T at the size of the numbers, a few times over.
template <Element T>
double tolerance(double size) {
  return 8 * static_cast<double>(std::numeric_limits<T>::epsilon()) * (1 + std::abs(size));
}

}  // namespace boba::testing
