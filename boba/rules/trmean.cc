#include "boba/rules/trmean.h"

#include <fmt/format.h>

#include "boba/rules/select.h"

namespace boba {
namespace {

class TrimmedMean final : public CoordinateRule {
 public:
  explicit TrimmedMean(const TrmeanOptions& options) : options_(options) {}

  std::optional<int> tolerance() const override { return options_.f; }
  Traits traits() const override { return {.shifts = true, .scales = true, .robust = true}; }

  Result<void> admits(const Shape& shape) const override {
    const std::size_t f = shape.tolerated(options_.f);
    if (shape.clients > 2 * f) return {};
    return invalid_argument(
        fmt::format("trmean needs n >= 2f + 1; got n={}, f={}", shape.clients, f));
  }

 protected:
  OrderRange order(const Shape& shape) const override {
    const std::size_t f = shape.tolerated(options_.f);
    return {f, shape.clients - f};
  }

  std::string reason(const Shape& shape) const override {
    const std::size_t f = shape.tolerated(options_.f);
    return fmt::format("its values count where they are not among the {} largest or smallest of {}",
                       f, shape.clients);
  }

  std::vector<std::string> warnings(const Shape& shape) const override {
    return tolerance_warnings(shape, options_.f);
  }

 private:
  TrmeanOptions options_;
};

}  // namespace

Result<Aggregator> make_trmean(const TrmeanOptions& options) {
  return make_named<Aggregator, TrimmedMean>(options);
}

}  // namespace boba
