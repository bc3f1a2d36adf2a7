#include "simulator/partition/registry.h"
#include "boba/text/names.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "simulator/partition/dirichlet.h"
#include "simulator/partition/shards.h"
#include "simulator/partition/step.h"
#include "tests/support/doc_blocks.h"
#include "tests/support/registry_specs.h"

namespace boba {
using namespace sim;  // NOLINT
namespace {

std::string error_of(std::string_view spec) {
  const Result<NamedPartition> made = make_partition(spec);
  return made ? "" : made.error().message;
}

TEST(PartitionRegistry, NamesAreSortedAndDescribed) {
  std::string before;
  for (const PartitionEntry& entry : partitions()) {
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

TEST(PartitionRegistry, ListsInTheDocs) {
  const std::string page = "docs/partitions.md";
  std::string table = "\n| partition | options | what client i holds |\n|---|---|---|\n";
  for (const PartitionEntry& entry : partitions()) {
    const std::string name(entry.info.name);
    std::string options;
    for (const OptionInfo& option : entry.options()) {
      if (!options.empty()) options += ", ";
      options += "`" + option.name + "=" + option.default_value + "`";
    }
    table += "| `" + name + "` | " + options + " | " + std::string(entry.info.summary) + " |\n";
    EXPECT_NE(test::read_page(page).find("\n## " + name + "\n"), std::string::npos)
        << page << " has no section on " << name;
  }
  test::expect_block(page, "partitions", table);
}

TEST(PartitionRegistry, CanonicalSpecsComeBack) {
  std::vector<std::string> specs = {"step(majors=3,alpha=8)", "step(alpha=inf)"};
  for (const PartitionEntry& entry : partitions()) {
    specs.emplace_back(entry.info.name);
    specs.push_back(print_spec(test::full_params(entry.info, entry.options())));
  }
  for (const std::string& spec : specs) {
    const Result<NamedPartition> made = make_partition(spec);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->spec, spec);
  }
  EXPECT_EQ(make_partition("step(majors=2,alpha=4)")->spec, "step(alpha=4)");
  EXPECT_EQ(make_partition("step(alpha=infinity)")->spec, "step(alpha=inf)");
  EXPECT_EQ(make_partition("dirichlet(alpha=0.01)")->spec, "dirichlet");
  EXPECT_EQ(make_partition(" iid() ")->spec, "iid");
}

TEST(PartitionRegistry, TypedFactoriesGiveTheSame) {
  EXPECT_EQ(make_step({.alpha = 8})->spec, "step(alpha=8)");
  EXPECT_EQ(make_shards({.per_client = 5})->spec, "shards(per_client=5)");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(make_step({.alpha = nan}));
  EXPECT_FALSE(make_dirichlet({.alpha = nan}));
  EXPECT_FALSE(make_dirichlet({.alpha = std::numeric_limits<double>::infinity()}));
  EXPECT_FALSE(make_shards({.per_client = 0}));
}

TEST(PartitionRegistry, ErrorsSayWhatWouldDo) {
  const std::string all = "partitions are: " + join(entry_names(partitions()));
  EXPECT_EQ(error_of("pair"), "no partition 'pair'; did you mean pairs? " + all);
  EXPECT_EQ(error_of("xyzzyxyzzy"), "no partition 'xyzzyxyzzy'; " + all);
  EXPECT_EQ(error_of("iid(x=1)"), "iid takes no options; got x");
  EXPECT_EQ(error_of("step(beta=1)"), "step: no option beta; options are: majors, alpha, order");
  EXPECT_EQ(error_of("step(alpha=0.5)"), "step: alpha=0.5 is outside [1, inf]");
  EXPECT_EQ(error_of("step(alpha=nan)"), "step: alpha=nan is outside [1, inf]");
  EXPECT_EQ(error_of("step(majors=0)"), "step: majors=0 is outside [1, 256]");
  EXPECT_EQ(error_of("dirichlet(alpha=nan)"),
            "dirichlet: alpha=nan is outside [1e-06, 1000000000]");
  EXPECT_EQ(error_of("dirichlet(alpha=0)"), "dirichlet: alpha=0 is outside [1e-06, 1000000000]");
  EXPECT_EQ(error_of("shards(per_client=1.5)"), "shards: per_client=1.5 is not a whole number");
  EXPECT_EQ(error_of("iid | pairs"), "a partition takes no stages; got 'iid | pairs'");
  EXPECT_NE(error_of(""), "");
}

}  // namespace
}  // namespace boba
