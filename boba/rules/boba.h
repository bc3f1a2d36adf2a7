// BOBA: robust averaging for clients that hold few classes each, and its variants.
//
// Honest updates lie near a (c-1)-simplex whose corners are the gradients of single classes. Stage
// 1 fits the (c-1)-dimensional affine subspace to the n - f updates nearest to it, starting from
// the server's gradients; stage 2 writes every projected update as a mix of the projected server
// gradients and drops those with a share below p_min; the rest is averaged.
//
// W. Bao, J. Wu, J. He. BOBA: Byzantine-Robust Federated Learning with Label Skewness. AISTATS
// 2024. Its guarantee needs any n - 2f honest clients to span the subspace (Assumption 5.3).
#pragma once

#include <limits>
#include <tuple>

#include "boba/core/aggregator.h"
#include "boba/core/options.h"
#include "boba/rules/subspace_report.h"

namespace boba {

inline constexpr std::string_view kBobaCitation =
    "W. Bao, J. Wu, J. He. BOBA: Byzantine-Robust Federated Learning with Label Skewness. AISTATS "
    "2024.";

inline constexpr std::string_view kBobaCondition =
    "Needs one server gradient per class, not all equal, and f < n. Guaranteed when any n - 2f "
    "honest clients span the c - 1 directions of the simplex (so n - 2f >= c) well above the noise "
    "of their updates.";

// p_min=auto: the threshold from the round, within [-1, -0.05]. With one server gradient per class
// it is twice the (f + 1)-th lowest of the clients' least shares: at most f of these are forged, so
// no attacker moves it below twice the lowest honest one. With several parts per class it is what
// the parts show of the corners' noise (label_mix.h): attackers move it only through the
// subspace.
inline constexpr double kAutoPMin = std::numeric_limits<double>::infinity();

struct BobaOptions {
  int f = 0;            // Byzantine clients tolerated
  double p_min = -0.5;  // the least share of a class that an accepted client may have; kAutoPMin
  int max_iter = 20;    // subspaces fitted in stage 1 at most, the server's not counted
  int parts = 1;        // server gradients per class, of disjoint samples; a class's stand together
  int slack = 1;        // at least n - slack f clients are accepted, below p_min if need be

  static constexpr Info info() {
    return {.name = "boba",
            .summary = "mean of the updates projected on the label-skew simplex, outliers dropped",
            .computes =
                "Stage 1 fits the (c-1)-dimensional affine subspace of the n - f updates nearest "
                "to it, beginning with the subspace of the server's gradients and alternating "
                "until the set stays the same. Stage 2 writes each projected update as a mix of "
                "the projected server gradients, an estimate of the client's label distribution, "
                "and accepts it if no share is below p_min (at least the n - slack f best). The "
                "result is the mean of the accepted projections.",
            .condition = kBobaCondition,
            .cost =
                "one Gram pass over clients and server rows, one output pass; k (n + c)^2 c in "
                "n-space for k fits (3 to 5)",
            .citation = kBobaCitation};
  }
  static constexpr auto fields() {
    return std::tuple{
        field("f", &BobaOptions::f, "Byzantine clients tolerated").between(0, 1 << 20),
        field("p_min", &BobaOptions::p_min, "least share of a class in an accepted label mix")
            .between(-1e6, 1)
            .or_word("auto", kAutoPMin),
        field("max_iter", &BobaOptions::max_iter, "fits of stage 1 at most").between(1, 100000),
        field("parts", &BobaOptions::parts, "server gradients per class, of disjoint samples")
            .between(1, 64),
        field("slack", &BobaOptions::slack, "at least n - slack f clients are accepted")
            .between(1, 1024)};
  }
};

struct BobaEsOptions {
  int f = 0;
  double p_min = -0.5;

  static constexpr Info info() {
    return {.name = "boba-es",
            .summary = "boba with the best of all subsets in stage 1, for small n",
            .computes =
                "Stage 1 fits a subspace to every subset of n - f updates and takes the one "
                "with the least sum of squared residuals (ties to the first in "
                "lexicographic order). Stage 2 as in boba.",
            .condition =
                "As boba, with at most 200000 subsets C(n, f), and C(n, f) (n - f)^3 at most "
                "1e11.",
            .cost = "one Gram pass, one output pass; C(n, f) fits of (n - f)^3 in n-space",
            .citation = kBobaCitation,
            .python = "BobaES"};
  }
  static constexpr auto fields() {
    return std::tuple{
        field("f", &BobaEsOptions::f, "Byzantine clients tolerated").between(0, 1 << 20),
        field("p_min", &BobaEsOptions::p_min, "least share of a class in an accepted label mix")
            .between(-1e6, 1)
            .or_word("auto", kAutoPMin)};
  }
};

struct BobaNoStage1Options {
  int f = 0;
  double p_min = -0.5;

  static constexpr Info info() {
    return {.name = "boba-no-stage1",
            .summary = "boba on the server's own subspace (ablation)",
            .computes = "The subspace stays that of the server's gradients; stage 2 as in boba.",
            .condition = "Needs one server gradient per class, not all equal, and f < n.",
            .cost = "one Gram pass, one output pass",
            .citation = kBobaCitation};
  }
  static constexpr auto fields() {
    return std::tuple{
        field("f", &BobaNoStage1Options::f, "Byzantine clients tolerated").between(0, 1 << 20),
        field("p_min", &BobaNoStage1Options::p_min,
              "least share of a class in an accepted label mix")
            .between(-1e6, 1)
            .or_word("auto", kAutoPMin)};
  }
};

struct BobaNoStage2Options {
  int f = 0;
  int max_iter = 20;

  static constexpr Info info() {
    return {.name = "boba-no-stage2",
            .summary = "the mean of all updates projected on boba's subspace (ablation)",
            .computes = "Stage 1 as in boba; then all projected updates are averaged.",
            .condition = "Needs one server gradient per class, not all equal, and f < n.",
            .cost = "one Gram pass, one output pass",
            .citation = kBobaCitation};
  }
  static constexpr auto fields() {
    return std::tuple{
        field("f", &BobaNoStage2Options::f, "Byzantine clients tolerated").between(0, 1 << 20),
        field("max_iter", &BobaNoStage2Options::max_iter, "fits of stage 1 at most")
            .between(1, 100000)};
  }
};

Result<Aggregator> make_boba(const BobaOptions& options);
Result<Aggregator> make_boba_es(const BobaEsOptions& options);
Result<Aggregator> make_boba_no_stage1(const BobaNoStage1Options& options);
Result<Aggregator> make_boba_no_stage2(const BobaNoStage2Options& options);

}  // namespace boba
