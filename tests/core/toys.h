// Small rules, stages and kernels through which the tests look at the core.
#pragma once

#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "boba/core/aggregator.h"
#include "boba/core/kernels.h"
#include "boba/core/rule.h"
#include "boba/kernels/reference/reference.h"

namespace boba::toys {

inline UpdateMatrix matrix_of(const std::vector<std::vector<double>>& rows,
                              DType dtype = DType::kFloat64) {
  UpdateMatrix matrix(dtype, rows.size(), rows.empty() ? 0 : rows[0].size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    visit(dtype, [&](auto zero) {
      using T = decltype(zero);
      for (std::size_t k = 0; k < rows[i].size(); ++k) {
        matrix.row_as<T>(i)[k] = static_cast<T>(rows[i][k]);
      }
    });
  }
  return matrix;
}

// The mean of all rows, whatever products it asks for; its measures repeat the shape it met.
class MeanRule final : public Rule {
 public:
  explicit MeanRule(Need need, std::size_t least = 1, double factor = 1)
      : need_(need), least_(least), factor_(factor) {}

  Need need() const override { return need_; }
  Result<void> admits(const Shape& shape) const override {
    if (shape.clients >= least_) return {};
    return invalid_argument("mean needs n >= " + std::to_string(least_) +
                            "; got n=" + std::to_string(shape.clients));
  }
  Result<Decision> decide(RowSpace& rows) const override {
    Decision decision;
    const Shape& shape = rows.shape();
    decision.rows.resize(shape.clients);
    for (std::size_t i = 0; i < shape.clients; ++i) {
      RowDecision& row = decision.rows[i];
      row.weight = factor_ / static_cast<double>(shape.clients);
      row.reason = "one of all";
      if (need_ == Need::kNorms) row.measures = {{"sq_norm", rows.sq_norms()[i]}};
      if (need_ == Need::kServerProducts) {
        row.measures = {{"sq_norm", rows.server_products().sq_norm[i]},
                        {"dot", rows.server_products().dot[i]},
                        {"server_sq", rows.server_products().server_sq}};
      }
      if (need_ == Need::kGram || need_ == Need::kServerGram) {
        row.measures = {{"sq_norm", rows.gram().sq_norm(i)},
                        {"sq_distance", rows.gram().sq_distance(0, i)},
                        {"servers", static_cast<double>(rows.gram().servers())}};
      }
    }
    decision.measures = {{"clients", static_cast<double>(shape.clients)},
                         {"refused", static_cast<double>(shape.refused)}};
    return decision;
  }

 private:
  Need need_;
  std::size_t least_;
  double factor_;
};

class MedianRule final : public CoordinateRule {
 public:
  Result<void> admits(const Shape&) const override { return {}; }

 protected:
  OrderRange order(const Shape& shape) const override {
    return {(shape.clients - 1) / 2, shape.clients / 2 + 1};
  }
  std::string reason(const Shape&) const override { return "ordered"; }
  std::vector<std::string> warnings(const Shape&) const override { return {}; }
};

// Means of neighbours (0, 1), (2, 3), ...; an odd last row is left out.
class PairStage final : public MixStage {
 public:
  Result<void> admits(const Shape& shape) const override {
    if (shape.clients >= 2) return {};
    return invalid_argument("pairs need n >= 2");
  }
  Mix mix(const Shape& shape, std::uint64_t, std::uint32_t) const override {
    Mix mix;
    for (std::size_t i = 0; i + 1 < shape.clients; i += 2) {
      mix.add(std::vector<Mix::Term>{{i, 0.5}, {i + 1, 0.5}});
    }
    return mix;
  }
  std::string left_out(const Shape&) const override { return "has no partner"; }
};

// (1 - share) of the rule's result, the rest from the mean of the server's rows.
class ServerShare final : public BlendStage {
 public:
  explicit ServerShare(double share) : share_(share) {}
  Result<void> admits(const Shape& shape) const override {
    if (shape.classes > 0) return {};
    return invalid_argument("the blend needs server rows");
  }
  void blend(const Shape& shape, Decision& decision) const override {
    for (RowDecision& row : decision.rows) row.weight *= 1 - share_;
    decision.order_factor *= 1 - share_;
    decision.server_weights.assign(shape.classes, share_ / static_cast<double>(shape.classes));
  }

 private:
  double share_;
};

inline Aggregator mean(Need need = Need::kNothing) {
  return {std::make_shared<MeanRule>(need), "mean"};
}
inline Aggregator median() { return {std::make_shared<MedianRule>(), "median"}; }
inline Aggregator paired(const Aggregator& rule) {
  return rule.after(std::make_shared<PairStage>(), "pairs");
}
inline Aggregator shared(const Aggregator& rule, double share) {
  return rule.before(std::make_shared<ServerShare>(share), "share");
}

// The reference kernels, and a record of which passes over whole rows were made.
class WatchedKernels final : public Kernels {
 public:
  struct Call {
    std::string pass;
    std::size_t rows = 0;
    std::size_t length = 0;
    std::vector<double> origin;
  };

  std::string name() const override { return "watched"; }
  GramPass gram(const UpdateView& rows, std::span<const double> origin,
                Precision precision) const override {
    note(precision == Precision::kDouble ? "gram in double" : "gram", rows, origin);
    return inner_->gram(rows, origin, precision);
  }
  DotsPass dots(const UpdateView& rows, const UpdateView& reference,
                std::span<const double> weights) const override {
    note("dots", rows);
    if (dots_until_failure-- == 0) throw std::bad_alloc();
    return inner_->dots(rows, reference, weights);
  }
  std::vector<RowScan> sketch(const UpdateView& rows, const SketchPlan& plan,
                              std::span<double> out) const override {
    note("sketch", rows);
    return inner_->sketch(rows, plan, out);
  }
  OutputPass combine(const UpdateView& rows, std::span<const double> weights, double keep,
                     MutableRow out) const override {
    note("combine", rows);
    return inner_->combine(rows, weights, keep, out);
  }
  OutputPass order_mean(const UpdateView& rows, const Mix* mix, std::size_t first, std::size_t last,
                        MutableRow out) const override {
    note("order_mean", rows);
    return inner_->order_mean(rows, mix, first, last, out);
  }
  OutputPass moments(const UpdateView& rows, double mean_factor, double deviation_factor,
                     MutableRow out) const override {
    note("moments", rows);
    return inner_->moments(rows, mean_factor, deviation_factor, out);
  }
  OutputPass normal(const StreamKey& key, double sigma, MutableRow out) const override {
    return inner_->normal(key, sigma, out);
  }

  std::vector<Call> calls(const std::string& pass) const {
    std::vector<Call> found;
    for (const Call& call : calls_) {
      if (call.pass == pass) found.push_back(call);
    }
    return found;
  }
  std::size_t total() const { return calls_.size(); }

  // The dots() call after so many more runs out of memory.
  mutable int dots_until_failure = -1;

 private:
  void note(const char* pass, const UpdateView& rows, std::span<const double> origin = {}) const {
    calls_.push_back({pass, rows.rows(), rows.length(), {origin.begin(), origin.end()}});
  }

  std::unique_ptr<const Kernels> inner_ = make_reference_kernels();
  mutable std::vector<Call> calls_;
};

}  // namespace boba::toys
