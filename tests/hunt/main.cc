// boba_hunt: looks for rounds in which liars with finite numbers steer a rule. docs/hunt.md.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <regex>

#include "tests/hunt/save.h"
#include "tests/hunt/search.h"

namespace boba::hunt {
namespace {

int replay(const Engine& engine, const std::string& folder, const JudgeOptions& options) {
  const Scene scene = load(folder);
  const Judgement judgement = judge(engine, scene, options);
  fmt::print("{}", describe(scene, judgement));
  const EngineAnswer answer = engine.run(scene);
  for (const ClientVerdict& client : answer.verdict.clients) {
    fmt::print("  {}{:<3} weight {:<12.4g} {}\n", scene.liar[client.index] ? "liar " : "     ",
               client.index, client.weight.value_or(0), client.reason);
  }
  for (const auto* list : {&answer.verdict.warnings, &answer.verdict.notes}) {
    for (const std::string& sentence : *list) fmt::print("  {}\n", sentence);
  }
  fmt::print("{}\n", judgement.failed() ? "FAILURE" : "no failure");
  return judgement.failed() ? 1 : 0;
}

int run(int argc, char** argv) {
  SearchOptions options;
  std::string rules = ".*";
  std::string device = "cpu";
  std::string folder = "hunt-finds";
  std::string again;
  CLI::App app("Looks for rounds in which liars with finite numbers steer a rule.", "boba_hunt");
  app.add_option("--seconds", options.seconds, "time to search; 0: until --rounds are done")
      ->capture_default_str();
  app.add_option("--rounds", options.rounds, "rounds to search; 0: until --seconds have passed")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the search")->capture_default_str();
  app.add_option("--rules", rules, "only rules whose name matches this regular expression")
      ->type_name("REGEX");
  app.add_option("--device", device, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--out", folder, "folder for the rounds that fail")->capture_default_str();
  app.add_option("--replay", again, "judge a round that was written before, and stop")
      ->type_name("FOLDER");
  app.add_flag("!--no-screen", options.judge.screen,
               "hold the library to the rules without the screen for rows far out");
  app.add_flag("--verbose", options.verbose, "show every failure, not only three of each rule");
  CLI11_PARSE(app, argc, argv);

  if (const std::vector<std::string> undefined = undefined_rules(); !undefined.empty()) {
    fmt::print(stderr,
               "boba_hunt: no exact definition of {}; write one in tests/hunt/oracle*.cc and name "
               "the rule in tests/hunt/honest.cc\n",
               fmt::join(undefined, ", "));
    return 2;
  }
  const std::regex wanted(rules);
  for (const std::string& rule : rule_names()) {
    if (std::regex_match(rule, wanted)) options.generate.rules.push_back(rule);
  }
  if (options.generate.rules.empty()) {
    fmt::print(stderr, "boba_hunt: no rule matches '{}'; rules are: {}\n", rules,
               fmt::join(rule_names(), ", "));
    return 2;
  }
  Engine engine;
  if (device == "cuda") {
    if (const Result<void> ready = engine.use_cuda(); !ready) {
      fmt::print(stderr, "boba_hunt: {}\n", ready.error().message);
      return 2;
    }
    options.generate.cuda = true;
  }
  if (!again.empty()) return replay(engine, again, options.judge);
  if (options.seconds <= 0 && options.rounds == 0) {
    fmt::print(stderr, "boba_hunt: give --seconds or --rounds a positive number\n");
    return 2;
  }
  options.folder = folder;
  options.progress = isatty(STDERR_FILENO) == 1;
  const Report report = search(engine, options);
  print(report);
  return report.failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace boba::hunt

int main(int argc, char** argv) {
  try {
    return boba::hunt::run(argc, argv);
  } catch (const std::exception& thrown) {
    fmt::print(stderr, "boba_hunt: {}\n", thrown.what());
    return 2;
  }
}
