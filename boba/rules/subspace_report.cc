#include "boba/rules/subspace_report.h"

#include <fmt/format.h>

namespace boba {

std::optional<bool> in_fit(const ClientVerdict& client) {
  const bool* fact = find_fact<bool>(client.facts, kInFit.name);
  return fact == nullptr ? std::nullopt : std::optional(*fact);
}

RuleReport to_report(const SubspaceReport& subspace) {
  return {.name = std::string(SubspaceReport::kName),
          .title = fmt::format(
              "Subspace of the honest updates: {} of {} directions found, {} fit{}, "
              "the fitted set {}",
              subspace.rank, subspace.dimension, subspace.fits, subspace.fits == 1 ? "" : "s",
              subspace.converged ? "settled" : "did not settle"),
          .facts = facts_of(subspace),
          .conclusion = subspace.guarantee_possible
                            ? "Guarantee: nothing seen in this round rules it out"
                            : "Guarantee: ruled out in this round"};
}

std::optional<SubspaceReport> subspace_of(const Verdict& verdict) {
  const RuleReport* report = verdict.report(SubspaceReport::kName);
  if (report == nullptr) return std::nullopt;
  return from_facts<SubspaceReport>(report->facts);
}

}  // namespace boba
