#include "boba/rules/bucketing.h"

#include <fmt/format.h>

#include <algorithm>

#include "boba/core/random.h"

namespace boba {
namespace {

class Bucketing final : public MixStage {
 public:
  explicit Bucketing(const BucketingOptions& options)
      : size_(static_cast<std::size_t>(options.s)), keep_(options.remainder == Remainder::kKeep) {}

  Result<void> admits(const Shape& shape) const override {
    if (shape.clients >= (keep_ ? 1 : size_)) return {};
    return invalid_argument(fmt::format("bucketing needs n >= s{}; got n={}, s={}",
                                        keep_ ? " or n >= 1" : "", shape.clients, size_));
  }

  Mix mix(const Shape& shape, std::uint64_t seed, std::uint32_t round) const override {
    const std::size_t n = shape.clients;
    const StreamKey key{.seed = seed, .round = round, .purpose = Purpose::kBucketing};
    const std::vector<std::size_t> order = permutation(key, n);
    const std::size_t used = keep_ ? n : n - n % size_;
    Mix mix;
    std::vector<Mix::Term> bucket;
    for (std::size_t first = 0; first < used; first += size_) {
      const std::size_t last = std::min(first + size_, used);
      bucket.clear();
      for (std::size_t k = first; k < last; ++k) {
        bucket.push_back({order[k], 1 / static_cast<double>(last - first)});
      }
      mix.add(bucket);
    }
    return mix;
  }

  std::string left_out(const Shape& shape) const override {
    return fmt::format("rejected by the draw: {} of n={} do not fill a bucket of s={}",
                       shape.clients % size_, shape.clients, size_);
  }

 private:
  std::size_t size_;
  bool keep_;
};

}  // namespace

Result<NamedMix> make_bucketing(const BucketingOptions& options) {
  return make_named<NamedMix, Bucketing>(options);
}

}  // namespace boba
