#include "boba/core/verdict.h"

#include <algorithm>

namespace boba {

std::size_t Verdict::accepted() const {
  return static_cast<std::size_t>(
      std::count_if(clients.begin(), clients.end(), [](const auto& c) { return c.accepted; }));
}

std::vector<bool> Verdict::accepted_flags() const {
  std::vector<bool> flags;
  for (const ClientVerdict& client : clients) flags.push_back(client.accepted);
  return flags;
}

const RuleReport* Verdict::report(std::string_view name) const {
  for (const RuleReport& report : reports) {
    if (report.name == name) return &report;
  }
  return nullptr;
}

}  // namespace boba
