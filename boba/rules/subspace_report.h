// What BOBA reports beside its decision: the subspace, and whether its guarantee can hold.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "boba/core/fields.h"
#include "boba/core/verdict.h"

namespace boba {

struct SubspaceReport {
  static constexpr std::string_view kName = "subspace";

  std::size_t dimension = 0;
  std::size_t rank = 0;
  std::size_t fits = 0;
  bool converged = false;
  std::vector<double> trimmed_loss;
  std::vector<double> singular_values;
  std::vector<double> explained_variance;
  double residual_level = 0;
  double noise_singular_value = 0;
  double sigma_bound = 0;
  double condition = 1;
  bool guarantee_possible = false;
  std::vector<std::string> statements;

  static constexpr auto fields() {
    using S = SubspaceReport;
    return std::tuple{
        described("dimension", &S::dimension, "requested directions: number of classes minus 1"),
        described("rank", &S::rank, "directions found; the others were below rounding error"),
        described("fits", &S::fits, "number of fits of the subspace"),
        described("converged", &S::converged, "whether the fitted set had settled"),
        described("trimmed_loss", &S::trimmed_loss,
                  "sum of squared residuals of the fitted set, per iteration; never rises")
            .shown_as("trimmed loss", Style::kSteps),
        described("singular_values", &S::singular_values,
                  "singular values of the fitted set about its mean, in falling order")
            .shown_as("singular values"),
        described("explained_variance", &S::explained_variance,
                  "share of the fitted set's variance along each direction")
            .shown_as("explained variance", Style::kPercent),
        described("residual_level", &S::residual_level,
                  "root mean square residual of the fitted set")
            .shown_as("residual level"),
        described("noise_singular_value", &S::noise_singular_value,
                  "the largest singular value of the directions left out"),
        described("sigma_bound", &S::sigma_bound,
                  "upper bound of the sigma of the paper's Assumption 5.3")
            .shown_as("sigma at most"),
        described("condition", &S::condition,
                  "growth of rounding in the products; null if infinite"),
        described("guarantee_possible", &S::guarantee_possible,
                  "false if something in this round rules out the guarantee"),
        described("statements", &S::statements, "the reasons, one sentence each")
            .shown_as("statements"),
    };
  }
};

// A fact about a client.
inline constexpr FieldInfo kInFit = {
    .name = "in_fit",
    .type = "flag",
    .meaning = "boba: whether the client took part in fitting the subspace",
    .absent = Absent::kLeftOut,
    .label = "in fit"};

// None for clients that were not judged, and for other rules.
std::optional<bool> in_fit(const ClientVerdict& client);

RuleReport to_report(const SubspaceReport& subspace);

// The subspace of a verdict of boba or its variants; none for other rules.
std::optional<SubspaceReport> subspace_of(const Verdict& verdict);

}  // namespace boba
