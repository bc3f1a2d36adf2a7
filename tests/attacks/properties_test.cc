// What holds for every attack of the registry.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "tests/support/attacks_rows.h"

namespace boba::testing {
namespace {

constexpr std::size_t kHonest = 7;
constexpr std::size_t kByzantine = 3;

// And some with other numbers.
const std::vector<std::string>& specs() {
  static const auto all = [] {
    std::vector<std::string> list = attack_specs();
    list.insert(list.end(), {"lie(z=1.5)", "signflip(scale=3)", "simplex(classes=4)",
                             "simplex(classes=3,aim=against)", "inside(corner=2,speed=0.3)",
                             "inside(corner=-1,aim=against)", "ipm | noise", "lie + ipm | noise",
                             "ipm | sleeper", "nan | sleeper(rounds=1)", "mimic + signflip + ipm"});
    return list;
  }();
  return all;
}

AttackPtr made(const std::string& spec) {
  const Result<NamedAttack> attack = make_attack(spec);
  EXPECT_TRUE(attack) << attack.error().message;
  return attack->attack;
}

// The server's gradients, for attacks that look at them.
template <class T>
const AttackRows<T>& server_rows(std::size_t length) {
  static std::map<std::size_t, AttackRows<T>> kept;
  return kept.try_emplace(length, random_rows<T>(4, length, 21)).first->second;
}

// Shares of four classes for each honest client, for attacks that look at them.
const std::vector<double>& label_mixes(std::size_t honest) {
  static std::map<std::size_t, std::vector<double>> kept;
  std::vector<double>& mixes = kept[honest];
  for (std::size_t i = mixes.size() / 4; i < honest; ++i) {
    for (std::size_t z = 0; z < 4; ++z) mixes.push_back(z == i % 4 ? 0.7 : 0.1);
  }
  return mixes;
}

// Whether the error is one of the attack or the stage that the spec names.
void expect_error_of(const std::string& spec, const std::string& message, const std::string& rest) {
  ASSERT_TRUE(message.ends_with(rest)) << spec << ": " << message;
  const std::string name = message.substr(0, message.size() - rest.size());
  EXPECT_NE(spec.find(name), std::string::npos) << spec << ": " << message;
}

template <class T>
bool same_bits(const std::vector<std::vector<T>>& a, const std::vector<std::vector<T>>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].size() != b[i].size()) return false;
    if (std::memcmp(a[i].data(), b[i].data(), a[i].size() * sizeof(T)) != 0) return false;
  }
  return true;
}

template <class T>
class AttackProperties : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(AttackProperties, Types);

TYPED_TEST(AttackProperties, ThreadsDoNotMatterAndTheReferenceAgrees) {
  using T = TypeParam;
  constexpr std::size_t kLength = 20'011;
  const AttackRows<T> honest(random_rows<T>(kHonest, kLength, 11));
  const AttackRound round{.honest = honest.view(),
                          .server = server_rows<T>(kLength).view(),
                          .learning_rate = 0.1,
                          .seed = 3,
                          .number = 2,
                          .label_mixes = label_mixes(kHonest)};
  for (const std::string& spec : specs()) {
    const AttackPtr attack = made(spec);
    const auto with = [&](const Kernels& kernels) {
      return forge<T>(*attack, kernels, round, kByzantine, kLength);
    };
    const auto one = with(*make_cpu_kernels({.threads = 1}));
    ASSERT_TRUE(one.ok) << spec << ": " << one.error.message;
    for (int threads : {2, 3}) {
      const auto more = with(*make_cpu_kernels({.threads = threads, .grain = 64}));
      EXPECT_TRUE(same_bits(one.rows, more.rows)) << spec << ", " << threads << " threads";
      ASSERT_EQ(one.report.measures.size(), more.report.measures.size());
      for (std::size_t k = 0; k < one.report.measures.size(); ++k) {
        EXPECT_EQ(one.report.measures[k].value, more.report.measures[k].value) << spec;
      }
    }
    const auto reference = with(*make_reference_kernels());
    for (std::size_t k = 0; k < one.report.measures.size(); ++k) {
      const double value = reference.report.measures[k].value;
      EXPECT_NEAR(one.report.measures[k].value, value, 1e-5 * (1 + std::abs(value))) << spec;
    }
    if (!attack->sends_numbers()) continue;
    double worst = 0;
    for (std::size_t k = 0; k < kLength; ++k) {
      const auto a = static_cast<double>(one.rows[0][k]);
      const auto b = static_cast<double>(reference.rows[0][k]);
      worst = std::max(worst, std::abs(a - b) / (1 + std::abs(b)));
    }
    // gamma may stop one step of its search apart.
    const bool searched = spec.starts_with("min");
    // These weights solve small systems, which takes some digits.
    const bool solved = spec.starts_with("inside") || spec.find("labels") != std::string::npos;
    EXPECT_LE(worst, searched ? 1e-4 : (solved ? 16 : 1) * tolerance<T>(0)) << spec;
  }
}

TYPED_TEST(AttackProperties, InputsStayAsTheyAre) {
  using T = TypeParam;
  const auto rows = random_rows<T>(kHonest, 257, 12);
  const AttackRows<T> honest(rows);
  for (const std::string& spec : specs()) {
    const AttackRound round{.server = server_rows<T>(257).view(),
                            .learning_rate = 1,
                            .label_mixes = label_mixes(kHonest)};
    ASSERT_TRUE(forge(spec, honest, kByzantine, round).ok) << spec;
    EXPECT_TRUE(same_bits(honest.rows, rows)) << spec;
  }
}

TYPED_TEST(AttackProperties, AllOutputsAreWritten) {
  using T = TypeParam;
  const AttackRows<T> honest(random_rows<T>(kHonest, 31, 13));
  for (const std::string& spec : specs()) {
    const AttackRound round{.server = server_rows<T>(31).view(),
                            .learning_rate = 1,
                            .label_mixes = label_mixes(kHonest)};
    const auto forged = forge(spec, honest, 9, round);
    const AttackPtr attack = made(spec);
    ASSERT_EQ(forged.ok, attack->admits(kHonest, 9).ok()) << spec << ": " << forged.error.message;
    if (!forged.ok || !attack->sends_numbers()) continue;
    for (const auto& row : forged.rows) {
      for (T x : row) EXPECT_FALSE(std::isnan(x)) << spec;
    }
  }
}

TYPED_TEST(AttackProperties, WithoutByzantineClientsNothingIsAsked) {
  const AttackRows<TypeParam> none({});
  for (const std::string& spec : specs()) {
    const auto forged = forge(spec, none, 0);
    EXPECT_TRUE(forged.ok) << spec;
    EXPECT_TRUE(forged.report.measures.empty()) << spec;
  }
}

TYPED_TEST(AttackProperties, OneHonestClientIsEnough) {
  const AttackRows<TypeParam> honest(random_rows<TypeParam>(1, 12, 14));
  for (const std::string& spec : specs()) {
    const AttackRound round{.server = server_rows<TypeParam>(12).view(),
                            .learning_rate = 1,
                            .label_mixes = label_mixes(1)};
    EXPECT_EQ(forge(spec, honest, 1, round).ok, made(spec)->admits(1, 1).ok()) << spec;
  }
}

TYPED_TEST(AttackProperties, HonestUpdatesAreNeededAndNamed) {
  using T = TypeParam;
  const AttackRows<T> none({});
  for (const std::string& spec : specs()) {
    const AttackPtr attack = made(spec);
    const auto forged = forge<T>(*attack, *make_reference_kernels(), {.learning_rate = 1}, 2, 4);
    ASSERT_EQ(forged.ok, !attack->looks_at_honest()) << spec;
    if (forged.ok) continue;
    expect_error_of(spec, forged.error.message, " needs at least 1 honest update; got none");
  }
}

TYPED_TEST(AttackProperties, HonestUpdatesMustBeFinite) {
  using T = TypeParam;
  const auto kernels = make_cpu_kernels({.threads = 2});
  for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
    auto rows = random_rows<T>(kHonest, 100, 15);
    rows[0][57] = bad;
    const AttackRows<T> honest(rows);
    for (const std::string& spec : specs()) {
      const AttackPtr attack = made(spec);
      if (!attack->looks_at_honest()) continue;
      const auto forged = forge<T>(*attack, *kernels,
                                   {.honest = honest.view(),
                                    .server = server_rows<T>(100).view(),
                                    .label_mixes = label_mixes(kHonest)},
                                   kByzantine, 100);
      ASSERT_FALSE(forged.ok) << spec;
      expect_error_of(spec, forged.error.message,
                      " needs finite honest updates; row 0 has NaN or infinity");
    }
  }
}

}  // namespace
}  // namespace boba::testing
