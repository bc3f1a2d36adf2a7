// What every command shares: help, version, exit status, the sentence of an error.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/tools_process.h"

namespace boba::test {
namespace {

constexpr const char* kCommands[] = {"demo",    "run",   "results", "show",      "report", "data",
                                     "example", "rules", "attacks", "aggregate", "attack", "bench"};

TEST(Program, HelpTeachesByExample) {
  const Finished help = run_boba({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_EQ(help.err, "");
  for (const char* command : kCommands) {
    EXPECT_NE(help.out.find(command), std::string::npos) << command;
  }
  EXPECT_NE(help.out.find("Examples:"), std::string::npos);
  EXPECT_NE(help.out.find("boba aggregate --rule"), std::string::npos);
}

TEST(Program, EveryCommandHasHelpWithAnExample) {
  for (const char* command : kCommands) {
    const Finished help = run_boba({command, "--help"});
    EXPECT_EQ(help.status, 0) << command;
    EXPECT_NE(help.out.find("Examples:"), std::string::npos) << command;
    EXPECT_EQ(help.err, "") << command;
  }
}

TEST(Program, TellsItsVersion) {
  const Finished version = run_boba({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_TRUE(version.out.starts_with("boba ")) << version.out;
  EXPECT_GE(std::count(version.out.begin(), version.out.end(), '.'), 2);
}

TEST(Program, WithoutACommandShowsHelpAsAnError) {
  const Finished finished = run_boba({});
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_NE(finished.err.find("Examples:"), std::string::npos);
}

struct Mistake {
  std::vector<std::string> arguments;
  std::string says;
};

TEST(Program, MistakesAreUsageErrorsOfOneSentence) {
  const Mistake mistakes[] = {
      {{"agregate"}, "boba: no command 'agregate'; did you mean aggregate?"},
      {{"--frobnicate"}, "boba: no option '--frobnicate'"},
      {{"aggregate", "--rul", "average"},
       "boba aggregate: no option '--rul'; did you mean --rule?"},
      {{"aggregate"}, "boba aggregate: --rule is required"},
      {{"aggregate", "--rule", "average"}, "boba aggregate: --updates is required"},
      {{"aggregate", "--rule", "average", "--updates", "u.npy", "--server-counts", "1"},
       "--server-counts requires --server"},
      {{"aggregate", "--rule", "average", "--updates", "u.npy", "--sever", "s.npy"},
       "boba aggregate: no option '--sever'; did you mean --server?"},
      {{"aggregate", "--rule", "average", "--updates", "u.npy", "--threads", "many"}, "--threads"},
      {{"aggregate", "--rule", "average", "--updates", "u.npy", "--seed", "-1"}, "--seed"},
      {{"aggregate", "--rule", "krumm(f=1)", "--updates", "u.npy"}, "did you mean krum?"},
      {{"aggregate", "--rule", "krum(g=1)", "--updates", "u.npy"}, "no option g"},
      {{"aggregate", "--rule", "krum(f=-1)", "--updates", "u.npy"}, "outside"},
      {{"aggregate", "--rule", "krum(f=1", "--updates", "u.npy"}, "expected"},
      {{"attack", "--attack", "ipm", "--honest", "h.npy", "--out", "x.npy"}, "--byzantine"},
      {{"attack", "--attack", "ipmm", "--honest", "h.npy", "--byzantine", "2", "--out", "x.npy"},
       "did you mean ipm?"},
      {{"attack", "--attack", "ipm", "--honest", "h.npy", "--byzantine", "0", "--out", "x.npy"},
       "--byzantine"},
      {{"rules", "krumm"}, "boba rules: no rule or stage 'krumm'; did you mean krum?"},
      {{"attacks", "krum"}, "boba attacks: no attack 'krum'"},
      {{"bench", "--f", "5", "--n", "5"}, "f must be below n"},
      {{"bench", "--rules", "average,nope"}, "nope"},
      {{"example", "--fast"}, "boba example: no option '--fast'"},
  };
  for (const Mistake& mistake : mistakes) {
    const Finished finished = run_boba(mistake.arguments);
    EXPECT_EQ(finished.status, 2) << mistake.says;
    EXPECT_EQ(finished.out, "") << mistake.says;
    EXPECT_NE(finished.err.find(mistake.says), std::string::npos) << finished.err;
    EXPECT_TRUE(finished.err.starts_with("boba")) << finished.err;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  }
}

TEST(Program, AFullDiskBehindStandardOutputIsAFailure) {
  const std::string line = boba_program().string() + " rules > /dev/full";
  const Finished finished = run_program({"sh", "-c", line});
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.err, "boba rules: cannot write to standard output\n");
}

}  // namespace
}  // namespace boba::test
