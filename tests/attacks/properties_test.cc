// What holds for every attack of the registry.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/attacks_rows.h"

namespace boba::testing {
namespace {

constexpr std::size_t kHonest = 7;
constexpr std::size_t kByzantine = 3;

const std::vector<std::string>& specs() {
  static const std::vector<std::string> all = {"gauss",
                                               "gauss(on=parameters)",
                                               "inf",
                                               "ipm",
                                               "lie(z=1.5)",
                                               "lie",
                                               "mimic",
                                               "mimic(choose=strongest)",
                                               "minmax",
                                               "minsum",
                                               "nan",
                                               "signflip(scale=3)",
                                               "simplex(classes=4)",
                                               "simplex(classes=3,aim=against)",
                                               "zero",
                                               "minmax(sign=plus)"};
  return all;
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
  const AttackRound round{.honest = honest.view(), .learning_rate = 0.1, .seed = 3, .number = 2};
  for (const std::string& spec : specs()) {
    const Result<NamedAttack> attack = make_attack(spec);
    ASSERT_TRUE(attack) << attack.error().message;
    const auto with = [&](const Kernels& kernels) {
      return forge<T>(*attack->attack, kernels, round, kByzantine, kLength);
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
    if (spec == "nan" || spec == "inf") continue;
    double worst = 0;
    for (std::size_t k = 0; k < kLength; ++k) {
      const auto a = static_cast<double>(one.rows[0][k]);
      const auto b = static_cast<double>(reference.rows[0][k]);
      worst = std::max(worst, std::abs(a - b) / (1 + std::abs(b)));
    }
    // gamma may stop one step of its search apart.
    const bool searched = spec.starts_with("min");
    EXPECT_LE(worst, searched ? 1e-4 : tolerance<T>(0)) << spec;
  }
}

TYPED_TEST(AttackProperties, InputsStayAsTheyAre) {
  using T = TypeParam;
  const auto rows = random_rows<T>(kHonest, 257, 12);
  const AttackRows<T> honest(rows);
  for (const std::string& spec : specs()) {
    ASSERT_TRUE(forge(spec, honest, kByzantine, {.learning_rate = 1}).ok) << spec;
    EXPECT_TRUE(same_bits(honest.rows, rows)) << spec;
  }
}

TYPED_TEST(AttackProperties, AllOutputsAreWritten) {
  using T = TypeParam;
  const AttackRows<T> honest(random_rows<T>(kHonest, 31, 13));
  for (const std::string& spec : specs()) {
    if (spec == "nan") continue;
    const auto forged = forge(spec, honest, 9, {.learning_rate = 1});
    if (spec == "lie") {
      EXPECT_FALSE(forged.ok);
      continue;
    }
    ASSERT_TRUE(forged.ok) << spec << ": " << forged.error.message;
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
    // n = 2 leaves lie without a quantile.
    EXPECT_EQ(forge(spec, honest, 1, {.learning_rate = 1}).ok, spec != "lie") << spec;
  }
}

TYPED_TEST(AttackProperties, HonestUpdatesAreNeededAndNamed) {
  using T = TypeParam;
  const AttackRows<T> none({});
  for (const char* name : {"ipm", "lie", "mimic", "minmax", "minsum", "signflip", "simplex"}) {
    const Result<NamedAttack> attack = make_attack(name);
    const auto forged = forge<T>(*attack->attack, *make_reference_kernels(), {}, 2, 4);
    ASSERT_FALSE(forged.ok) << name;
    EXPECT_EQ(forged.error.message,
              std::string(name) + " needs at least 1 honest update; got none");
  }
}

TYPED_TEST(AttackProperties, HonestUpdatesMustBeFinite) {
  using T = TypeParam;
  const auto kernels = make_cpu_kernels({.threads = 2});
  for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
    auto rows = random_rows<T>(kHonest, 100, 15);
    rows[2][57] = bad;
    const AttackRows<T> honest(rows);
    for (const char* spec : {"ipm", "lie", "mimic(client=2)", "mimic(choose=strongest)", "minmax",
                             "minsum", "signflip", "simplex(classes=3)"}) {
      const Result<NamedAttack> attack = make_attack(spec);
      const std::string name = parse_spec(spec)->front().name;
      const auto forged =
          forge<T>(*attack->attack, *kernels, {.honest = honest.view()}, kByzantine, 100);
      ASSERT_FALSE(forged.ok) << spec;
      EXPECT_EQ(forged.error.message,
                name + " needs finite honest updates; row 2 has NaN or infinity");
    }
  }
}

}  // namespace
}  // namespace boba::testing
