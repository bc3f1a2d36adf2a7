// An attacker who knows the rule: what the simplex attack does to each rule, and how p_min trades.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/support/label_skew.h"
#include "tests/support/theory_rounds.h"

namespace boba::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kHonest = 100;
constexpr int kByzantine = 15;
constexpr int kSeeds = 5;

// Distance of the result from the honest mean, in distances of the furthest class from it.
double moved(const std::string& rule, const std::string& attack, double server_noise) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const SkewedRound data = make_skewed({.honest = kHonest,
                                          .classes = 10,
                                          .length = 60,
                                          .server_noise = server_noise,
                                          .seed = seed});
    TheoryRound round;
    round.honest = data.updates;
    round.server = data.server;
    const VectorXd mean = data.updates.colwise().mean();
    const double unit = (data.server.rowwise() - mean.transpose()).rowwise().norm().maxCoeff();
    const MatrixXd rows = attacked(round, attack, kByzantine);
    sum += (outcome_of(rule, rows, data.server).out - mean).norm() / unit;
  }
  return sum / kSeeds;
}

TEST(SimplexAttack, AgainstEveryRule) {
  const std::vector<std::string> attacks = {"none", "simplex(p_min=-0.04)", "simplex(p_min=-0.2)",
                                            "simplex", "simplex(classes=10)"};
  std::map<std::string, double> worst;
  for (const char* rule :
       {"average", "coomed", "trmean(f=16)", "krum(f=16)", "mkrum(f=16)", "geomed", "rage(f=16)",
        "fltrust", "server", "b-krum(f=16)", "b-mkrum(f=16)", "boba(f=16,p_min=-1)", "boba(f=16)",
        "boba(f=16,p_min=-0.2)", "boba(f=16,p_min=-0.1)", "boba(f=16,p_min=auto)",
        "boba-no-stage2(f=16)"}) {
    fmt::print("{:<22}", rule);
    for (const std::string& attack : attacks) {
      const double found = moved(rule, attack, 0.05);
      if (attack != "none") worst[rule] = std::max(worst[rule], found);
      fmt::print(" {:>6.3f}", found);
    }
    fmt::print("\n");
  }
  // A tighter threshold leaves the attackers less; auto leaves the least here.
  EXPECT_LT(worst["boba(f=16,p_min=-0.2)"], 0.7 * worst["boba(f=16)"]);
  EXPECT_LT(worst["boba(f=16,p_min=auto)"], 0.7 * worst["boba(f=16,p_min=-0.2)"]);
  EXPECT_LT(worst["boba(f=16,p_min=auto)"], worst["average"]);
  EXPECT_NEAR(worst["boba(f=16)"], worst["average"], 0.1 * worst["average"]);
}

// The worst of attackers who try several depths of the region.
double worst_of(const std::string& rule, double server_noise) {
  double most = 0;
  for (const char* p_min : {"-0.04", "-0.1", "-0.2", "-0.3", "-0.5", "-1"}) {
    most = std::max(most, moved(rule, fmt::format("simplex(p_min={})", p_min), server_noise));
  }
  return most;
}

// What tightness costs without attackers, where the server's gradients are poor.
TEST(SimplexAttack, TightThresholdsCostWithPoorServerData) {
  std::map<std::string, double> none, worst;
  for (double noise : {0.05, 0.5, 1.0}) {
    for (const char* p_min : {"-1", "-0.5", "-0.2", "-0.1", "auto"}) {
      const std::string rule = fmt::format("boba(f=16,p_min={})", p_min);
      none[p_min] = moved(rule, "none", noise);
      worst[p_min] = worst_of(rule, noise);
      fmt::print("server noise {:>4}, p_min {:>5}: {:.4f} without attack, {:.4f} at worst\n", noise,
                 p_min, none[p_min], worst[p_min]);
    }
    EXPECT_LT(worst["auto"], worst["-0.5"]);
    if (noise == 1.0) {
      EXPECT_GT(none["-0.1"], 2 * none["-0.5"]);
      EXPECT_LT(none["auto"], none["-0.2"]);
    }
  }
}

}  // namespace
}  // namespace boba::test
