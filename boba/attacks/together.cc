#include "boba/attacks/together.h"

#include <algorithm>
#include <utility>

namespace boba {
namespace {

class Together final : public Attack {
 public:
  explicit Together(std::vector<AttackPtr> attacks) : attacks_(std::move(attacks)) {}

  Result<AttackReport> forge(const Kernels& kernels, const AttackRound& round,
                             std::span<const MutableRow> out) const override {
    AttackReport all;
    for (std::size_t k = 0; k < attacks_.size(); ++k) {
      const std::size_t begin = first(k, out.size());
      Result<AttackReport> one =
          attacks_[k]->forge(kernels, round, out.subspan(begin, first(k + 1, out.size()) - begin));
      if (!one) return one.error();
      std::ranges::move(one->measures, std::back_inserter(all.measures));
    }
    return all;
  }

  Result<void> admits(std::size_t honest, std::size_t byzantine) const override {
    for (std::size_t k = 0; k < attacks_.size(); ++k) {
      const std::size_t own = first(k + 1, byzantine) - first(k, byzantine);
      if (Result<void> good = attacks_[k]->admits(honest, own); !good) return good;
    }
    return {};
  }
  bool looks_at_honest() const override {
    return std::ranges::any_of(attacks_, [](const auto& a) { return a->looks_at_honest(); });
  }
  bool sends_numbers() const override {
    return std::ranges::all_of(attacks_, [](const auto& a) { return a->sends_numbers(); });
  }
  bool looks_at_server() const override {
    return std::ranges::any_of(attacks_, [](const auto& a) { return a->looks_at_server(); });
  }

 private:
  // The first of `clients` that the k-th attack sends for.
  std::size_t first(std::size_t k, std::size_t clients) const {
    return (clients * k + attacks_.size() - 1) / attacks_.size();
  }

  std::vector<AttackPtr> attacks_;
};

}  // namespace

AttackPtr attacks_together(std::vector<AttackPtr> attacks) {
  return std::make_shared<Together>(std::move(attacks));
}

}  // namespace boba
