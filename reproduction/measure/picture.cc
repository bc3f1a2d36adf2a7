#include <fmt/format.h>

#include <array>
#include <utility>

#include "boba/core/random.h"
#include "boba/kernels/cpu/cpu.h"
#include "boba/rules/registry.h"
#include "reproduction/measure/measure.h"

namespace boba::reproduction {
namespace {

constexpr std::size_t kByzantine = 4;
constexpr int kTrials = 4000;
constexpr int kQuickTrials = 500;
constexpr double kNoise = 0.03;
// Share of the first class: nearly one class to a client, most have that of the lower right corner.
constexpr std::array<double, 20> kFirst = {0,    0,   0, 0, 0, 0, 0, 0, 0,    0,
                                           0.05, 0.1, 1, 1, 1, 1, 1, 1, 0.95, 0.9};
constexpr std::array<std::array<double, 2>, 2> kCorners = {{{0, 1}, {1, 0}}};
constexpr std::array<const char*, 4> kRules = {"geomed", "krum(f=4)", "coomed", "boba(f=4)"};

struct Point {
  double x = 0;
  double y = 0;
};

class Plane {
 public:
  explicit Plane(std::uint64_t seed)
      : seed_(seed),
        kernels_(make_cpu_kernels({.threads = 1})),
        updates_(DType::kFloat64, kFirst.size() + kByzantine, 2),
        server_(DType::kFloat64, 2, 2),
        out_(DType::kFloat64, 1, 2) {
    for (std::size_t i = 0; i < kFirst.size(); ++i) put(updates_, i, noisy(kFirst[i], i));
    for (std::size_t z = 0; z < 2; ++z) {
      put(server_, z, noisy(z == 0 ? 1 : 0, kFirst.size() + z));
    }
  }

  Point honest(std::size_t i) const { return at(updates_, i); }
  Point server(std::size_t z) const { return at(server_, z); }

  Point centre() const {
    Point sum;
    for (std::size_t i = 0; i < kFirst.size(); ++i) {
      sum.x += honest(i).x / static_cast<double>(kFirst.size());
      sum.y += honest(i).y / static_cast<double>(kFirst.size());
    }
    return sum;
  }

  // All attackers send one point of a square around the honest ones, another in each trial.
  Result<Point> answer(const Aggregator& rule, int trial) {
    RowList rows(DType::kFloat64, 2);
    for (std::size_t i = 0; i < kFirst.size(); ++i) rows.add(updates_.row(i));
    if (trial >= 0) {
      const StreamKey key{.seed = seed_,
                          .round = static_cast<std::uint32_t>(trial + 1),
                          .purpose = Purpose::kBench};
      const Point sent{-1 + 3 * uniform_at(key, 0), -1 + 3 * uniform_at(key, 1)};
      for (std::size_t j = 0; j < kByzantine; ++j) {
        put(updates_, kFirst.size() + j, sent);
        rows.add(updates_.row(kFirst.size() + j));
      }
    }
    Round round;
    round.updates = rows.view();
    round.server = server_.view();
    round.seed = seed_;
    const auto verdict = rule.aggregate(*kernels_, round, out_.row(0));
    if (!verdict) return verdict.error();
    return at(out_, 0);
  }

 private:
  // The mix of the corners with this share of the first class, and noise.
  Point noisy(double first, std::size_t number) const {
    const StreamKey key{
        .seed = seed_, .client = static_cast<std::uint32_t>(number), .purpose = Purpose::kBench};
    std::array<double, 2> noise{};
    for (std::size_t k = 0; k < 2; ++k) noise[k] = kNoise * normal_at(key, k);
    return {first * kCorners[0][0] + (1 - first) * kCorners[1][0] + noise[0],
            first * kCorners[0][1] + (1 - first) * kCorners[1][1] + noise[1]};
  }

  static void put(UpdateMatrix& rows, std::size_t i, const Point& point) {
    rows.row_as<double>(i)[0] = point.x;
    rows.row_as<double>(i)[1] = point.y;
  }
  static Point at(const UpdateMatrix& rows, std::size_t i) {
    const double* row = rows.view().row<double>(i);
    return {row[0], row[1]};
  }

  std::uint64_t seed_;
  std::unique_ptr<const Kernels> kernels_;
  UpdateMatrix updates_;
  UpdateMatrix server_;
  UpdateMatrix out_;
};

void add(Points& points, std::string series, const Point& point) {
  points.push_back({std::move(series), point.x, point.y});
}

}  // namespace

std::vector<std::string> picture_rules() { return {kRules.begin(), kRules.end()}; }

Result<Points> measure_picture(std::uint64_t seed, bool quick) {
  Plane plane(seed);
  Points points;
  for (std::size_t i = 0; i < kFirst.size(); ++i) add(points, "honest", plane.honest(i));
  for (std::size_t z = 0; z < 2; ++z) add(points, "server", plane.server(z));
  add(points, "centre", plane.centre());
  for (const char* spec : kRules) {
    const auto rule = make_aggregator(spec);
    if (!rule) return rule.error();
    for (int trial = -1; trial < (quick ? kQuickTrials : kTrials); ++trial) {
      const auto answer = plane.answer(*rule, trial);
      if (!answer) return answer.error();
      add(points, fmt::format("{} {}", rule_name(spec), trial < 0 ? "none" : "attack"), *answer);
    }
  }
  return points;
}

}  // namespace boba::reproduction
