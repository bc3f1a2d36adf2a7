#include "tools/timing.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>

#include "boba/threads/team.h"

namespace boba::tools {
namespace {

constexpr std::size_t kPiece = std::size_t{1}
                               << 18;  // bytes of a row that one thread reads at once

// Two words that are added as one; every compiler the project builds with knows these.
typedef std::uint64_t Words __attribute__((vector_size(16)));

Words load(const std::byte* data) {
  Words words;
  std::memcpy(&words, data, sizeof words);
  return words;
}

// Eight sums that do not wait for each other, so that only memory limits the speed. They are
// spelt out: left to itself the compiler keeps an array of them on the stack and is three times
// slower.
std::uint64_t sum_words(const std::byte* data, std::size_t bytes) {
  constexpr std::size_t kStep = 8 * sizeof(Words);
  Words a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{};
  std::size_t at = 0;
  for (; at + kStep <= bytes; at += kStep) {
    const std::byte* here = data + at;
    a += load(here);
    b += load(here + 16);
    c += load(here + 32);
    d += load(here + 48);
    e += load(here + 64);
    f += load(here + 80);
    g += load(here + 96);
    h += load(here + 112);
  }
  const Words all = ((a + b) + (c + d)) + ((e + f) + (g + h));
  std::uint64_t sum = all[0] + all[1];
  for (; at < bytes; ++at) sum += std::to_integer<std::uint64_t>(data[at]);
  return sum;
}

// "VmHWM:   123 kB" of /proc/self/status, in bytes.
std::optional<std::size_t> status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != key) continue;
    std::size_t kilobytes = 0;
    if (!(status >> kilobytes)) return std::nullopt;
    return kilobytes * 1024;
  }
  return std::nullopt;
}

// Sets the high-water mark back to the present; see proc(5), clear_refs.
bool reset_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5";
  file.close();
  return !file.fail();
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

std::uint64_t plain_read(const UpdateView& rows, int threads) {
  const std::size_t element = rows.dtype() == DType::kFloat32 ? sizeof(float) : sizeof(double);
  const std::size_t bytes = rows.length() * element;
  const std::size_t pieces = (bytes + kPiece - 1) / kPiece;
  // Pieces are taken as threads get to them, as the kernels do: a thread that the system holds up
  // does not hold up the rest.
  std::atomic<std::uint64_t> total{0};
  run_jobs(threads, rows.rows() * pieces, [&](std::size_t job, int) {
    const std::byte* row = visit(rows.dtype(), [&]<Element T>(T) {
      return reinterpret_cast<const std::byte*>(rows.row<T>(job / pieces));
    });
    const std::size_t first = job % pieces * kPiece;
    total += sum_words(row + first, std::min(kPiece, bytes - first));
  });
  return total;
}

std::optional<std::size_t> peak_growth(const std::function<void()>& body) {
  // Free memory that the allocator still holds would hide growth.
  malloc_trim(0);
  const bool reset = reset_peak();
  const std::optional<std::size_t> before = status_bytes("VmRSS:");
  body();
  const std::optional<std::size_t> peak = status_bytes("VmHWM:");
  if (!reset || !before || !peak) return std::nullopt;
  return *peak > *before ? *peak - *before : 0;
}

}  // namespace boba::tools
