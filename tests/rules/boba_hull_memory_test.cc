// boba-hull with a memory, over many rounds, against the same rule written plainly in d-space.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "boba/core/random.h"
#include "boba/kernels/cpu/cpu.h"
#include "boba/rules/registry.h"
#include "tests/support/boba_runner.h"
#include "tests/support/hull_oracle.h"
#include "tests/support/label_skew.h"

namespace boba::test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

constexpr Index kClasses = 4;

// A federation over rounds: the clients keep their label mixes, the class gradients move, noise is
// fresh. Clients 0..honest-1 are honest; the others are liars.
class Federation {
 public:
  Federation(int honest, int liars, std::uint64_t seed)
      : first_(make_skewed({.honest = honest, .seed = seed})), liars_(liars), seed_(seed) {}

  struct Sent {
    MatrixXd updates;
    MatrixXd server;
    std::vector<std::string> ids;
  };

  // liar(j, mean, corners): what liar j sends.
  template <class Liar>
  Sent round(std::uint32_t number, const Liar& liar) const {
    const Index d = first_.server.cols();
    MatrixXd corners = first_.server;
    for (Index z = 0; z < kClasses; ++z) {
      const StreamKey key{.seed = seed_, .round = number, .client = static_cast<std::uint32_t>(z)};
      for (Index k = 0; k < d; ++k) {
        corners(z, k) += 0.01 * normal_at(key, static_cast<std::uint64_t>(k));
      }
    }
    const Index h = first_.true_mix.rows();
    Sent sent{MatrixXd(h + liars_, d), corners, {}};
    sent.updates.topRows(h) = first_.true_mix * corners;
    for (Index i = 0; i < h + liars_; ++i) {
      const StreamKey key{
          .seed = seed_, .round = number, .client = static_cast<std::uint32_t>(100 + i)};
      if (i >= h) {
        sent.updates.row(i) = liar(i - h, sent.updates.topRows(h).colwise().mean(), corners);
      }
      for (Index k = 0; k < d; ++k) {
        sent.updates(i, k) += 0.004 * normal_at(key, static_cast<std::uint64_t>(k));
      }
      sent.ids.push_back("client " + std::to_string(i));
    }
    return sent;
  }

 private:
  SkewedRound first_;
  int liars_;
  std::uint64_t seed_;
};

// Leaves out every row whose position is in the list.
Federation::Sent without(const Federation::Sent& sent, const std::vector<Index>& absent) {
  Federation::Sent some{MatrixXd(0, sent.updates.cols()), sent.server, {}};
  for (Index i = 0; i < sent.updates.rows(); ++i) {
    if (std::ranges::count(absent, i) > 0) continue;
    some.updates.conservativeResize(some.updates.rows() + 1, Eigen::NoChange);
    some.updates.bottomRows(1) = sent.updates.row(i);
    some.ids.push_back(sent.ids[static_cast<std::size_t>(i)]);
  }
  return some;
}

Verdict aggregate(const std::string& spec, const Federation::Sent& sent, Memory& memory,
                  VectorXd* out = nullptr) {
  const Result<Aggregator> rule = make_aggregator(spec);
  const UpdateMatrix updates = to_updates(sent.updates, DType::kFloat64);
  const UpdateMatrix server = to_updates(sent.server, DType::kFloat64);
  UpdateMatrix row(DType::kFloat64, 1, updates.length());
  const Result<Verdict> verdict = rule->aggregate(
      *make_cpu_kernels({.threads = 2}),
      {.updates = updates.view(), .ids = sent.ids, .server = server.view()}, row.row(0), &memory);
  EXPECT_TRUE(verdict.ok()) << verdict.error().message;
  if (!verdict) return {};
  if (out != nullptr) *out = to_matrix(row.view()).row(0);
  return *verdict;
}

double suspicion_of(const ClientVerdict& client) { return measure(client, "suspicion"); }

// Clients stay away and come back, one sends NaN now and then, liars drift or jump.
TEST(BobaHullMemory, AgreesWithDSpaceOverManyRounds) {
  for (const Index classes : {Index{0}, kClasses, Index{-1}}) {
    int compared = 0;
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      const Federation federation(24, 4, seed);
      HullOracle oracle({.f = 4, .classes = classes, .remembers = true});
      Memory memory;
      const std::string spec = classes == 0  ? "boba-hull(f=4)"
                               : classes > 0 ? "boba-hull(f=4,classes=4)"
                                             : "boba-hull(f=4,classes=auto)";
      for (std::uint32_t number = 1; number <= 14; ++number) {
        Federation::Sent sent = federation.round(
            number, [&](Index j, const RowVectorXd& mean, const MatrixXd& corners) -> RowVectorXd {
              // Another class in every round; or honest until round 8.
              if (j < 2) return corners.row((j + number) % kClasses);
              return number < 8 ? RowVectorXd(corners.row(j % kClasses)) : RowVectorXd(-3 * mean);
            });
        if (number % 3 == 0) sent.updates(5, 7) = std::numeric_limits<double>::quiet_NaN();
        std::vector<Index> absent = {static_cast<Index>(number % 24)};
        if (number % 4 == 0) absent = {};
        if (number == 10) absent = {0, 1, 2, 3, 4, 6, 8, 10, 25};
        sent = without(sent, absent);
        VectorXd out;
        const Verdict verdict = aggregate(spec, sent, memory, &out);
        const HullAnswer expected = oracle.round(sent.updates, sent.server, sent.ids);
        SCOPED_TRACE(testing::Message() << spec << ", seed " << seed << ", round " << number);
        // A decision that hangs on rounding may part the two memories: the rest is not compared.
        if (expected.margin < 1e-6) break;
        EXPECT_LE((out - expected.out).norm(), 1e-8 * expected.out.norm());
        for (std::size_t i = 0; i < sent.ids.size(); ++i) {
          const ClientVerdict& client = verdict.clients[i];
          EXPECT_EQ(client.accepted, expected.accepted[i]) << sent.ids[i] << ": " << client.reason;
          if (client.refused) continue;
          EXPECT_NEAR(suspicion_of(client), expected.suspicion[i], 1e-12) << sent.ids[i];
          ASSERT_EQ(
              expected.change[i].has_value(),
              std::ranges::any_of(client.measures, [](auto& m) { return m.name == "mix_change"; }))
              << sent.ids[i];
          if (expected.change[i]) {
            EXPECT_NEAR(measure(client, "mix_change"), *expected.change[i] / expected.typical, 1e-4)
                << sent.ids[i];
          }
        }
        ++compared;
      }
    }
    EXPECT_GE(compared, 30) << classes;
  }
}

// Without a memory an attacker at another corner in every round looks honest each time.
TEST(BobaHullMemory, AChangingMixIsNoticedAndRemembered) {
  const Federation federation(24, 3, 5);
  Memory memory;
  const auto turning = [](std::uint32_t number) {
    return [number](Index j, const RowVectorXd&, const MatrixXd& corners) -> RowVectorXd {
      return corners.row((j + number) % kClasses);
    };
  };
  for (std::uint32_t number = 1; number <= 40; ++number) {
    const Verdict verdict =
        aggregate("boba-hull(f=3)", federation.round(number, turning(number)), memory);
    Memory none;
    const Verdict alone =
        aggregate("boba-hull(f=3)", federation.round(number, turning(number)), none);
    for (std::size_t i = 0; i < 24; ++i) EXPECT_TRUE(verdict.clients[i].accepted) << number;
    for (std::size_t i = 24; i < 27; ++i) {
      EXPECT_TRUE(alone.clients[i].accepted) << number;
      EXPECT_EQ(verdict.clients[i].accepted, number <= 5) << number;
    }
  }
  // 1 - 0.98^18 is above 0.3: after that the past alone is reason enough.
  const auto resting = [](Index, const RowVectorXd&, const MatrixXd& corners) -> RowVectorXd {
    return corners.row(0);
  };
  const Verdict late = aggregate("boba-hull(f=3)", federation.round(41, resting), memory);
  for (std::size_t i = 24; i < 27; ++i) {
    EXPECT_FALSE(late.clients[i].accepted);
    EXPECT_GT(suspicion_of(late.clients[i]), 0.3);
  }
}

// Corners found among the clients keep their order, so a client's mix means the same in each
// round; when most clients are new they are found again, and no mix is compared with an old one.
TEST(BobaHullMemory, FoundCornersKeepTheirOrder) {
  const Federation federation(24, 0, 6);
  const auto nobody = [](Index, const RowVectorXd&, const MatrixXd&) { return RowVectorXd(); };
  for (const char* spec : {"boba-hull(f=3,classes=4)", "boba-hull(f=3,classes=auto)"}) {
    Memory memory;
    std::vector<double> before;
    for (std::uint32_t number = 1; number <= 12; ++number) {
      const Verdict verdict = aggregate(spec, federation.round(number, nobody), memory);
      EXPECT_EQ(verdict.accepted(), 24U);
      ASSERT_EQ(verdict.clients[3].label_mix.size(), 4U) << spec;
      for (std::size_t z = 0; z < 4 && number > 1; ++z) {
        EXPECT_NEAR(verdict.clients[3].label_mix[z], before[z], 0.1) << spec << " " << number;
      }
      before = verdict.clients[3].label_mix;
    }
    Federation::Sent strangers = federation.round(13, nobody);
    for (std::size_t i = 4; i < 24; ++i) strangers.ids[i] += " (new)";
    const Verdict verdict = aggregate(spec, strangers, memory);
    EXPECT_EQ(verdict.accepted(), 24U) << spec;
    for (const ClientVerdict& client : verdict.clients) {
      EXPECT_TRUE(std::ranges::none_of(client.measures, [](const NamedValue& m) {
        return m.name == "mix_change";
      })) << spec;
    }
  }
}

// The memory may come from a file: whatever numbers it holds, the round is as good as without.
TEST(BobaHullMemory, AnyNumbersWillDo) {
  const Federation federation(24, 0, 7);
  const auto nobody = [](Index, const RowVectorXd&, const MatrixXd&) { return RowVectorXd(); };
  for (const char* spec :
       {"boba-hull(f=3)", "boba-hull(f=3,classes=4)", "boba-hull(f=3,classes=auto)"}) {
    const Result<Aggregator> rule = make_aggregator(spec);
    for (const double number : {-1.0, 0.0, 0.5, 1.0, 3.0, 4.0, 1e300, -1e300}) {
      const Federation::Sent sent = federation.round(1, nobody);
      Memory probe;
      aggregate(spec, sent, probe);
      Memory memory;
      std::vector<Memory::Entry> round;
      for (const std::string& id : sent.ids) {
        round.push_back({id, std::vector<double>(probe.width(), number)});
      }
      memory.remember(rule->spec(), probe.width(), std::move(round));
      VectorXd out;
      const Verdict verdict = aggregate(spec, sent, memory, &out);
      EXPECT_TRUE(out.allFinite()) << spec << " " << number;
      EXPECT_GE(verdict.accepted(), 18U) << spec << " " << number;
    }
  }
}

TEST(BobaHullMemory, FewerCornersAreUsedIfFewerStandOut) {
  const Federation federation(24, 0, 8);
  const auto nobody = [](Index, const RowVectorXd&, const MatrixXd&) { return RowVectorXd(); };
  Memory memory;
  const Verdict seven = aggregate("boba-hull(f=3,classes=7)", federation.round(1, nobody), memory);
  EXPECT_TRUE(mentions(seven.warnings,
                       "7 corners do not stand out of the noise of the updates; 4 "
                       "do, and are used"));
  EXPECT_EQ(seven.clients[0].label_mix.size(), 4U);
  // Noise alone: every direction is like the others.
  Federation::Sent noise = federation.round(2, nobody);
  for (Index i = 0; i < 24; ++i) {
    const StreamKey key{.seed = 9, .client = static_cast<std::uint32_t>(i)};
    for (Index k = 0; k < noise.updates.cols(); ++k) {
      noise.updates(i, k) = 1 + normal_at(key, static_cast<std::uint64_t>(k));
    }
  }
  for (const char* spec : {"boba-hull(f=3,classes=4)", "boba-hull(f=3,classes=auto)"}) {
    Memory own;
    const Verdict one = aggregate(spec, noise, own);
    EXPECT_TRUE(mentions(one.warnings, "the updates show no corners")) << spec;
    EXPECT_EQ(one.clients[0].label_mix, std::vector<double>{1}) << spec;
    EXPECT_EQ(one.accepted(), 24U) << spec;
    // The next round shows them: the search goes on.
    const Verdict next = aggregate(spec, federation.round(3, nobody), own);
    EXPECT_TRUE(next.warnings.empty()) << spec << next.warnings.front();
    EXPECT_EQ(next.clients[0].label_mix.size(), 4U) << spec;
  }
}

}  // namespace
}  // namespace boba::test
