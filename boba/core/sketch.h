// Sketches: a seeded random projection of rows of length d to a length of a few thousand, which
// keeps inner products: <Sa, Sb> is <a, b> on average, off by about |a| |b| / sqrt(length).
//
// A count sketch (M. Charikar, K. Chen, M. Farach-Colton. Finding Frequent Items in Data Streams.
// ICALP 2002) on lines of 16 columns: every column has a sign of its own, and the columns of a line
// go together to a random place of the sketch. Columns of different lines meet with probability
// 1/length, those of one line never. The projection is linear and made in one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "boba/core/options.h"
#include "boba/core/result.h"

namespace boba {

// Columns that share a place; plan.first is a multiple of it.
inline constexpr std::size_t kSketchLine = 16;

// One projection. Who knows the seed can send what the sketch does not see: in deployment it is
// secret and fresh in each round.
struct SketchPlan {
  std::uint64_t seed = 0;
  std::uint32_t round = 0;
  std::size_t length = 4096;  // a power of two, 64 to 65536
  std::size_t first = 0;      // the column of whole updates that is the rows' first
};

// The length must be as said; rows would be added beside the sketch otherwise.
Result<void> check_plan(const SketchPlan& plan);

// Column k of a line is added to number (place ^ k) of the sketch, negated where bit k of signs is
// set.
struct SketchLine {
  std::uint16_t signs = 0;
  std::uint16_t place = 0;  // below the length
};

// The lines first, first + 1, ... of whole updates.
void sketch_lines(const SketchPlan& plan, std::size_t first, std::span<SketchLine> lines);

// What `gram=sketch(...)` says.
struct SketchOptions {
  int length = 4096;
  int seed = 0;

  static constexpr Info info() {
    return {.name = "sketch",
            .summary = "inner products of random projections",
            .computes =
                "Each update is projected to a short sketch, and the rule's weights come "
                "from inner products of the sketches. The output pass is exact.",
            .condition = "The seed must be unknown to clients.",
            .cost = "one pass over the updates, n^2 times the length, one output pass",
            .citation = ""};
  }
  static constexpr auto fields() {
    return std::tuple{
        field("length", &SketchOptions::length, "numbers in a sketch, a power of two")
            .between(64, 65536),
        field("seed", &SketchOptions::seed,
              "0: from the operating system, or in simulations from the experiment's seed")
            .between(0, 2147483647)};
  }
};

// "exact", "sketch" or "sketch(length=4096)"; no options: exact.
Result<std::optional<SketchOptions>> parse_gram(std::string_view spec);

// The inverse of it.
std::string print_gram(const std::optional<SketchOptions>& options);

// The plan of a round. A seed of the options' own comes before the one given.
SketchPlan sketch_plan(const SketchOptions& options, std::uint64_t seed, std::uint32_t round);

}  // namespace boba
