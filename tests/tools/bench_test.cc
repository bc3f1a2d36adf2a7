// boba bench: the numbers it writes, and the memory rules may take.

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boba/rules/registry.h"
#include "tests/support/tools_process.h"

namespace boba::test {
namespace {

using nlohmann::json;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

class Bench : public ::testing::Test {
 protected:
  Finished run(std::vector<std::string> more) {
    more.insert(more.begin(), "bench");
    more.insert(more.end(), {"--json", "bench.json"});
    return run_boba(more, {.folder = folder_.path()});
  }
  json numbers() { return json::parse(read_text(folder_.path() / "bench.json")); }

  TemporaryFolder folder_;
};

TEST_F(Bench, RunsEveryRuleOnASmallShape) {
  const Finished finished =
      run({"--n", "12", "--d", "2000", "--classes", "3", "--f", "2", "--repeat", "3"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.err, "") << "progress is for terminals";
  const json all = numbers();
  EXPECT_EQ(all["n"], 12);
  EXPECT_EQ(all["d"], 2000);
  EXPECT_EQ(all["classes"], 3);
  EXPECT_EQ(all["f"], 2);
  EXPECT_GE(all["threads"].get<int>(), 1);
  EXPECT_GT(all["read_ms"].get<double>(), 0);
  ASSERT_GT(all["rules"].size(), rules().size());
  std::size_t k = 0;
  for (const json& rule : all["rules"]) {
    const std::string spec = rule["rule"];
    if (k < rules().size()) {
      EXPECT_TRUE(spec.starts_with(rules()[k].info.name)) << spec;
    }
    ++k;
    ASSERT_FALSE(rule.contains("skipped")) << rule.dump();
    EXPECT_GT(rule["ms"].get<double>(), 0) << spec;
    EXPECT_NEAR(rule["ratio"].get<double>(),
                rule["ms"].get<double>() / all["read_ms"].get<double>(), 1e-6)
        << spec;
    EXPECT_TRUE(rule["bytes"].is_number_unsigned() || rule["bytes"].is_null()) << spec;
    EXPECT_NE(finished.out.find("\n" + spec + " "), std::string::npos) << finished.out;
  }
}

TEST_F(Bench, TimesTheCloseOfOpenRoundsAndSketches) {
  for (const char* gram : {"exact", "sketch(length=64)"}) {
    for (const bool open : {false, true}) {
      std::vector<std::string> arguments = {
          "--n",      "12",  "--d",    "2000",    "--classes",
          "3",        "--f", "2",      "--rules", "average,boba,zeno",
          "--repeat", "2",   "--gram", gram};
      if (open) arguments.emplace_back("--open");
      const Finished finished = run(arguments);
      ASSERT_EQ(finished.status, 0) << finished.err;
      const json all = numbers();
      EXPECT_EQ(all["gram"], gram);
      EXPECT_EQ(all["open"], open);
      ASSERT_EQ(all["rules"].size(), 3U);
      for (const json& rule : all["rules"]) EXPECT_GT(rule["ms"].get<double>(), 0) << rule;
    }
  }
  EXPECT_EQ(run({"--gram", "sketch(length=7)"}).status, 2);
}

TEST_F(Bench, GivesFOnlyToRulesThatTakeOne) {
  const Finished finished = run({"--n", "9", "--d", "64", "--classes", "2", "--f", "2", "--rules",
                                 "average, krum,krum(f=1,neighbours=3) ,bucketing(s=2)|mkrum",
                                 "--repeat", "1", "--threads", "1"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json all = numbers();
  std::vector<std::string> specs;
  for (const json& rule : all["rules"]) specs.push_back(rule["rule"]);
  EXPECT_EQ(specs, (std::vector<std::string>{"average", "krum(f=2)", "krum(f=1,neighbours=3)",
                                             "bucketing | mkrum(f=2)"}));
  EXPECT_EQ(all["threads"], 1);
}

TEST_F(Bench, SaysWhyARuleWasSkipped) {
  const Finished finished = run({"--n", "5", "--d", "64", "--classes", "2", "--f", "3", "--rules",
                                 "average,krum", "--repeat", "1"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_NE(finished.out.find("skipped: krum needs"), std::string::npos) << finished.out;
  const json krum = numbers()["rules"][1];
  EXPECT_TRUE(krum["ms"].is_null());
  EXPECT_TRUE(krum["ratio"].is_null());
  EXPECT_TRUE(krum["bytes"].is_null());
  EXPECT_TRUE(krum["skipped"].is_string());
}

TEST_F(Bench, RulesTakeLittleMemoryBesideTheUpdates) {
  if (kSanitized) GTEST_SKIP() << "sanitizers take memory of their own";
  const Finished finished = run({"--d", "100000", "--repeat", "1", "--rules",
                                 "average,fltrust,coomed,trmean,krum,mkrum,geomed,rage,boba"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const std::size_t rows = 115 + 10;
  const std::size_t most = (std::size_t{16} << 20) + 3 * rows * rows * sizeof(double);
  for (const json& rule : numbers()["rules"]) {
    if (rule["bytes"].is_null()) GTEST_SKIP() << "the system does not tell";
    EXPECT_LE(rule["bytes"].get<std::size_t>(), most) << rule["rule"];
  }
}

TEST_F(Bench, AFileThatCannotBeWrittenIsAFailure) {
  const Finished finished = run_boba({"bench", "--json", "no/such/folder/b.json"});
  EXPECT_EQ(finished.status, 1);
  EXPECT_TRUE(finished.err.starts_with("boba bench: cannot write no/such/folder/b.json"))
      << finished.err;
}

}  // namespace
}  // namespace boba::test
