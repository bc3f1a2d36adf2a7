#include "boba/rules/coomed.h"

#include <fmt/format.h>

namespace boba {
namespace {

class Coomed final : public CoordinateRule {
 public:
  explicit Coomed(const CoomedOptions& options) : options_(options) {}

  Traits traits() const override { return {.shifts = true, .scales = true, .robust = true}; }

  Result<void> admits(const Shape& shape) const override {
    if (shape.clients > 0) return {};
    return invalid_argument("coomed needs n >= 1; got n=0");
  }

 protected:
  OrderRange order(const Shape& shape) const override {
    const std::size_t n = shape.clients;
    const std::size_t lower = (n - 1) / 2;
    const bool both = n % 2 == 0 && options_.even == EvenMedian::kMean;
    return {lower, lower + (both ? 2 : 1)};
  }

  std::string reason(const Shape& shape) const override {
    return fmt::format("one of the {} whose median is taken in each coordinate", shape.clients);
  }

  std::vector<std::string> warnings(const Shape&) const override { return {}; }

 private:
  CoomedOptions options_;
};

}  // namespace

Result<Aggregator> make_coomed(const CoomedOptions& options) {
  return make_named<Aggregator, Coomed>(options);
}

}  // namespace boba
