// boba on sketches against boba on the updates, under the attacks of the paper.
#include <gtest/gtest.h>

#include "boba/attacks/registry.h"
#include "boba/kernels/cpu/cpu.h"
#include "boba/kernels/sketch/sketch.h"
#include "boba/rules/registry.h"
#include "tests/support/label_skew.h"
#include "tests/support/rules_cases.h"

namespace boba::test {
namespace {

constexpr std::size_t kHonest = 135;
constexpr std::size_t kByzantine = 15;
constexpr std::size_t kLength = 20000;

// Label-skewed updates; the attack writes the last rows, none leaves them honest.
struct Attacked {
  explicit Attacked(const Kernels& kernels, const std::string& attack) {
    const SkewedRound made = make_skewed({.honest = kHonest + kByzantine,
                                          .byzantine = 0,
                                          .classes = 10,
                                          .length = kLength,
                                          .common = 0.5,
                                          .noise = 0.25,
                                          .server_noise = 0.25});
    updates = to_updates(made.updates, DType::kFloat32);
    server = to_updates(made.server, DType::kFloat32);
    round.updates = updates.view();
    round.server = server.view();
    if (attack == "none") return;
    RowList honest(DType::kFloat32, kLength);
    for (std::size_t i = 0; i < kHonest; ++i) honest.add(updates.view(), i);
    std::vector<MutableRow> out;
    for (std::size_t i = kHonest; i < updates.rows(); ++i) out.push_back(updates.row(i));
    const Result<NamedAttack> named = make_attack(attack);
    const AttackRound seen{.honest = honest.view(), .server = server.view(), .seed = 1};
    EXPECT_TRUE(named && named->attack->forge(kernels, seen, out));
  }

  UpdateMatrix updates;
  UpdateMatrix server;
  Round round;
};

// How far the result may be from that of exact products, relative to it. In this round ipm's rows
// are accepted, with either: they lie far from the subspace, and the length that a sketch loses of
// them counts.
double most_error(const std::string& attack) { return attack == "ipm" ? 0.06 : 0.02; }

std::vector<std::string> scenes() {
  std::vector<std::string> names = {"none"};
  for (const AttackEntry& entry : attacks()) {
    if (make_attack(entry.info.name)->attack->sends_numbers()) names.emplace_back(entry.info.name);
  }
  return names;
}

class SketchedBoba : public testing::TestWithParam<std::string> {};

TEST_P(SketchedBoba, AcceptsTheSameClientsAndStaysNear) {
  const auto kernels = make_cpu_kernels();
  const Attacked scene(*kernels, GetParam());
  const Result<Aggregator> rule = make_aggregator("boba(f=15)");
  UpdateMatrix exact(DType::kFloat32, 1, kLength);
  UpdateMatrix sketched(DType::kFloat32, 1, kLength);
  const Result<Verdict> a = rule->aggregate(*kernels, scene.round, exact.row(0));
  ASSERT_TRUE(a);
  EXPECT_EQ(a->sketch, 0U);
  for (std::uint64_t seed : {1, 2, 3}) {
    const auto with = make_sketch_kernels(*kernels, {.seed = seed, .length = 4096});
    const Result<Verdict> b = rule->aggregate(**with, scene.round, sketched.row(0));
    ASSERT_TRUE(b);
    EXPECT_EQ(b->sketch, 4096U);
    for (std::size_t i = 0; i < a->clients.size(); ++i) {
      EXPECT_EQ(a->clients[i].accepted, b->clients[i].accepted) << i;
    }
    const Eigen::MatrixXd x = to_matrix(exact.view());
    const Eigen::MatrixXd y = to_matrix(sketched.view());
    EXPECT_LT((x - y).norm(), most_error(GetParam()) * x.norm());
    // The output pass is exact: it is the weighted sum of the updates themselves.
    UpdateMatrix sum(DType::kFloat32, 1, kLength);
    RowList rows(scene.round.updates);
    rows.add(scene.round.server);
    std::vector<double> weights = b->weights;
    weights.insert(weights.end(), b->server_weights.begin(), b->server_weights.end());
    kernels->combine(rows.view(), weights, 0, sum.row(0));
    EXPECT_EQ(to_matrix(sum.view()), y);
  }
}

INSTANTIATE_TEST_SUITE_P(Attacks, SketchedBoba, testing::ValuesIn(scenes()),
                         [](const auto& each) { return test_name(each.param); });

TEST(Sketched, HostileRowsAreRefusedAsEver) {
  const auto kernels = make_cpu_kernels();
  Attacked scene(*kernels, "none");
  scene.updates.row_as<float>(3)[77] = std::numeric_limits<float>::quiet_NaN();
  scene.updates.row_as<float>(4)[0] = scene.updates.row_as<float>(4)[1] = 3e38F;
  const auto with = make_sketch_kernels(*kernels, {.seed = 8, .length = 1024});
  UpdateMatrix out(DType::kFloat32, 1, kLength);
  for (const char* spec : {"boba(f=15)", "krum(f=15)", "geomed", "bucketing(s=2) | mkrum(f=15)"}) {
    const Result<Aggregator> rule = make_aggregator(spec);
    const Result<Verdict> verdict = rule->aggregate(**with, scene.round, out.row(0));
    ASSERT_TRUE(verdict) << spec << ": " << verdict.error().message;
    EXPECT_EQ(verdict->refused, 2U) << spec;
    EXPECT_EQ(verdict->sketch, 1024U) << spec;
    EXPECT_TRUE(to_matrix(out.view()).allFinite()) << spec;
  }
  // A rule without inner products has nothing to sketch.
  const Result<Verdict> plain =
      make_aggregator("average")->aggregate(**with, scene.round, out.row(0));
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->sketch, 0U);
}

}  // namespace
}  // namespace boba::test
