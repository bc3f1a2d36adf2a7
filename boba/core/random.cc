#include "boba/core/random.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <cassert>
#include <cerrno>
#include <numeric>
#include <system_error>
#include <utility>

#include "boba/core/random_math.h"

namespace boba {
namespace {

RandomWords words_at(const StreamKey& key, std::uint64_t position) {
  return philox(key.seed, key.round, key.client, static_cast<std::uint32_t>(key.purpose), position);
}

}  // namespace

std::array<std::uint32_t, 4> random_block(const StreamKey& key, std::uint64_t position) {
  const RandomWords x = words_at(key, position);
  return {x.word[0], x.word[1], x.word[2], x.word[3]};
}

double uniform_at(const StreamKey& key, std::uint64_t index) {
  return uniform_of(words_at(key, index / 2), index % 2);
}

double normal_at(const StreamKey& key, std::uint64_t index) {
  return normal_quantile(uniform_at(key, index));
}

double normal_quantile(double p) {
  assert(p > 0 && p < 1);
  return quantile_of_normal(p);
}

std::vector<std::size_t> permutation(const StreamKey& key, std::size_t n) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = n; i-- > 1;) {
    const auto j = static_cast<std::size_t>(uniform_at(key, i) * static_cast<double>(i + 1));
    std::swap(order[i], order[j < i ? j : i]);
  }
  return order;
}

Result<std::uint64_t> fresh_seed() {
  std::uint64_t seed = 0;
  // So few bytes come all at once, or not at all.
  while (getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed)) {
    if (errno == EINTR) continue;
    return Error{ErrorCode::kInternal,
                 fmt::format("the operating system gave no random numbers: {}",
                             std::generic_category().message(errno))};
  }
  return seed;
}

}  // namespace boba
