#include "boba/attacks/registry.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "boba/attacks/ipm.h"
#include "boba/attacks/lie.h"
#include "boba/attacks/minmax.h"
#include "boba/text/names.h"
#include "tests/support/registry_specs.h"

namespace boba {
namespace {

std::string error_of(std::string_view spec) {
  const Result<NamedAttack> made = make_attack(spec);
  return made ? "" : made.error().message;
}

TEST(AttackRegistry, NamesAreSortedAndDescribed) {
  std::string before;
  for (const AttackEntry& entry : attacks()) {
    EXPECT_LT(before, entry.info.name);
    before = entry.info.name;
    EXPECT_FALSE(entry.info.summary.empty()) << before;
    EXPECT_FALSE(entry.info.computes.empty()) << before;
    EXPECT_FALSE(entry.info.condition.empty()) << before;
    EXPECT_FALSE(entry.info.cost.empty()) << before;
    EXPECT_FALSE(entry.info.citation.empty()) << before;
    for (const OptionInfo& option : entry.options()) EXPECT_FALSE(option.help.empty());
  }
}

TEST(AttackRegistry, DefaultsPrintAsTheName) {
  for (const AttackEntry& entry : attacks()) {
    const Result<NamedAttack> made = make_attack(entry.info.name);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->spec, entry.info.name);
    // Every option spelled out with its default means the same.
    Params params{std::string(entry.info.name), {}};
    for (const OptionInfo& option : entry.options()) {
      params.values.emplace_back(option.name, option.default_value);
    }
    const Result<NamedAttack> spelled = make_attack(print_spec(params));
    ASSERT_TRUE(spelled) << spelled.error().message;
    EXPECT_EQ(spelled->spec, entry.info.name);
  }
}

TEST(AttackRegistry, CanonicalSpecsComeBack) {
  std::vector<std::string> specs = {
      "gauss(sigma=200,on=parameters)", "lie(z=1.5)", "minmax(gamma_init=50,tau=0.001,sign=plus)",
      "minsum(tau=1e-07)", "simplex(p_min=-0.2,classes=10,margin=-0.1,aim=against)"};
  for (const AttackEntry& entry : attacks()) {
    specs.push_back(print_spec(test::full_params(entry.info, entry.options())));
  }
  for (const std::string& spec : specs) {
    const Result<NamedAttack> made = make_attack(spec);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->spec, spec);
  }
  EXPECT_EQ(make_attack(" lie( sign = plus , z=0 )")->spec, "lie(sign=plus)");
  EXPECT_EQ(make_attack("ipm(gamma=10)")->spec, "ipm");
  EXPECT_EQ(make_attack("nan()")->spec, "nan");
  EXPECT_EQ(make_attack("ipm(gamma=1e+2)|noise( size=0.1 )|sleeper(rounds=5)+lie + nan")->spec,
            "ipm(gamma=100) | noise | sleeper(rounds=5) + lie + nan");
}

TEST(AttackRegistry, TypedFactoriesGiveTheSame) {
  EXPECT_EQ(make_ipm({.gamma = 2})->spec, "ipm(gamma=2)");
  EXPECT_EQ(make_lie({.sign = Sign::kPlus})->spec, "lie(sign=plus)");
  EXPECT_EQ(make_ipm({.gamma = -1}).error().message, "ipm: gamma=-1 is outside [0, 1e+30]");
  EXPECT_FALSE(make_ipm({.gamma = std::numeric_limits<double>::quiet_NaN()}));
  EXPECT_FALSE(make_minmax({.tau = 0}));
  EXPECT_FALSE(make_lie({.sign = static_cast<Sign>(2)}));
}

TEST(AttackRegistry, ErrorsSayWhatWouldDo) {
  const std::string all = "attacks are: " + join(entry_names(attacks())) +
                          "; stages behind one: " + join(entry_names(attack_stages()));
  EXPECT_EQ(error_of("ipmm"), "no attack 'ipmm'; did you mean ipm? " + all);
  EXPECT_EQ(error_of("xyzzyxyzzy"), "no attack 'xyzzyxyzzy'; " + all);
  EXPECT_EQ(error_of("ipm(gama=1)"), "ipm: no option gama; options are: gamma");
  EXPECT_EQ(error_of("nan(x=1)"), "nan takes no options; got x");
  EXPECT_EQ(error_of("ipm(gamma=-1)"), "ipm: gamma=-1 is outside [0, 1e+30]");
  EXPECT_EQ(error_of("ipm(gamma=ten)"), "ipm: gamma=ten is not a number");
  EXPECT_EQ(error_of("lie(sign=left)"), "lie: sign=left is none of: minus, plus");
  EXPECT_EQ(error_of("mimic(client=1.5)"), "mimic: client=1.5 is not a whole number");
  EXPECT_EQ(error_of("ipm | lie"),
            "ipm and lie are both attacks; 'a + b' deals the clients to them: write 'ipm + lie'");
  EXPECT_EQ(error_of("noise | ipm"), "noise must come behind an attack: write 'ipm | noise'");
  EXPECT_EQ(error_of("ipm | nois"), "no attack 'nois'; did you mean noise? " + all);
  EXPECT_EQ(error_of("ipm + "), "spec '': expected a name at the end");
  EXPECT_EQ(error_of("ipm | noise(size=-1)"), "noise: size=-1 is outside [0, 1000000]");
  EXPECT_NE(error_of("ipm(gamma=nan)"), "");
  EXPECT_NE(error_of(""), "");
}

}  // namespace
}  // namespace boba
