// Normal numbers by position in the stream, so any range of them can be computed on its own.
#include <atomic>

#include "boba/kernels/cpu/passes.h"
#include "boba/threads/team.h"

namespace boba::cpu {
namespace {

constexpr std::size_t kTile = 2048;        // columns, even: a block of the stream is two numbers
constexpr std::size_t kCostOfNumber = 64;  // in bytes that could be read meanwhile

// normal_at(key, 2 * block + half), with the words of the block.
double normal_of(const std::array<std::uint32_t, 4>& words, std::size_t half) {
  const std::uint64_t bits = (std::uint64_t{words[2 * half]} << 32 | words[2 * half + 1]) >> 12;
  return normal_quantile((static_cast<double>(bits) + 0.5) * 0x1p-52);
}

template <class T>
OutputPass run(const Machine& machine, const StreamKey& key, double sigma, std::size_t begin,
               std::span<T> out) {
  const std::size_t d = out.size();
  std::atomic<bool> finite{true};
  run_jobs(machine.team(d * kCostOfNumber), ceil_divide(d, kTile), [&](std::size_t job, int) {
    const std::size_t first = job * kTile;
    const std::size_t end = std::min(d, first + kTile);
    for (std::size_t k = first; k < end; k += 2) {
      const auto words = random_block(key, (begin + k) / 2);
      out[k] = static_cast<T>(sigma * normal_of(words, 0));
      if (k + 1 < end) out[k + 1] = static_cast<T>(sigma * normal_of(words, 1));
    }
    const AbsBits bits = machine.kernels<T>().scan(out.data() + first, end - first, 0);
    if (bits >= kInfinityBits<T>) finite.store(false);
  });
  return {.finite = finite.load(), .scan = {}};
}

}  // namespace

OutputPass normal(const Machine& machine, const StreamKey& key, double sigma, std::size_t first,
                  MutableRow out) {
  return visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return run<T>(machine, key, sigma, first, out.as<T>());
  });
}

}  // namespace boba::cpu
