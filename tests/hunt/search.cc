#include "tests/hunt/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <optional>

#include "tests/hunt/mutate.h"
#include "tests/hunt/save.h"

namespace boba::hunt {
namespace {

constexpr std::size_t kPool = 4;       // scenes of a rule that are climbed from
constexpr std::size_t kPatience = 40;  // changes in vain before a scene is given up
constexpr std::size_t kMostSaved = 3;  // failures of a rule that are written
constexpr double kClimbing = 0.6;      // share of the rounds

// A scene that did liars some good.
struct Climber {
  Scene scene;
  double height = 0;
  std::size_t in_vain = 0;
};

std::string without_numbers(const std::string& sentence) {
  std::string text;
  bool number = false;
  for (char c : sentence) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0 || (number && c == '.');
    if (digit && !number) text += '#';
    if (!digit) text += c;
    number = digit;
  }
  return text;
}

class Search {
 public:
  Search(const Engine& engine, const SearchOptions& options)
      : engine_(engine), options_(options), start_(Clock::now()) {}

  Report run() {
    for (std::uint32_t round = 0; !over(); ++round) {
      Dice dice(options_.seed, round);
      if (!pool_.empty() && dice.chance(kClimbing)) {
        climb(dice, round);
      } else {
        Scene scene = generate(dice, options_.generate);
        const Judgement judgement = look(scene, round);
        enter(std::move(scene), judgement);
      }
      tell();
    }
    if (options_.progress) fmt::print(stderr, "\r{:79}\r", "");
    return std::move(report_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  bool over() const {
    if (options_.rounds > 0 && report_.rounds >= options_.rounds) return true;
    return options_.seconds > 0 && elapsed() >= options_.seconds;
  }

  void climb(Dice& dice, std::uint32_t round) {
    auto& [rule, climbers] =
        *std::next(pool_.begin(), static_cast<std::ptrdiff_t>(dice.below(pool_.size())));
    const std::size_t which = dice.below(climbers.size());
    Climber& climber = climbers[which];
    const Scene& from = climber.scene;
    const std::size_t most = std::max(from.liars(), from.use.f);
    Scene scene = mutated(dice, from, most);
    const Judgement judgement = look(scene, round);
    const bool counts = judgement.outcome == Outcome::kRight;
    if (counts && judgement.ascent() >= climber.height) {
      climber.in_vain = judgement.ascent() > climber.height ? 0 : climber.in_vain + 1;
      climber.height = judgement.ascent();
      climber.scene = std::move(scene);
    } else {
      ++climber.in_vain;
    }
    if (climber.in_vain < kPatience) return;
    climbers.erase(climbers.begin() + static_cast<std::ptrdiff_t>(which));
    if (climbers.empty()) pool_.erase(rule);
  }

  void enter(Scene scene, const Judgement& judgement) {
    if (judgement.outcome != Outcome::kRight) return;
    std::vector<Climber>& climbers = pool_[scene.use.rule];
    climbers.push_back({std::move(scene), judgement.ascent(), 0});
    if (climbers.size() <= kPool) return;
    climbers.erase(
        std::min_element(climbers.begin(), climbers.end(),
                         [](const Climber& a, const Climber& b) { return a.height < b.height; }));
  }

  Judgement look(const Scene& scene, std::uint32_t round) {
    const Judgement judgement = judge(engine_, scene, options_.judge);
    Tally& tally = report_.rules[scene.use.title()];
    ++report_.rounds;
    ++tally.rounds;
    if (!judgement.error.empty()) {
      ++tally.errors;
      const std::string sentence = without_numbers(judgement.error);
      ++report_.errors[sentence];
      if (judgement.forced) ++report_.forced[sentence];
    }
    switch (judgement.outcome) {
      case Outcome::kAsNear:
        ++tally.as_near;
        if (tally.as_near <= kMostSaved) write(scene, judgement, round);
        break;
      case Outcome::kNearTie:
      case Outcome::kSensitive:
        ++tally.near_ties;
        break;
      case Outcome::kRight:
        if (!scene.sketched()) tally.score = std::max(tally.score, judgement.score);
        tally.engine_deviation = std::max(tally.engine_deviation, judgement.engine_deviation);
        tally.oracle_deviation = std::max(tally.oracle_deviation, judgement.oracle_deviation);
        break;
      default:
        break;
    }
    if (judgement.failed()) record(scene, judgement, tally, round);
    return judgement;
  }

  void record(const Scene& scene, const Judgement& judgement, Tally& tally, std::uint32_t round) {
    ++report_.failures;
    ++tally.failures;
    tally.engine_deviation = std::max(tally.engine_deviation, judgement.engine_deviation);
    if (tally.failures > kMostSaved && !options_.verbose) return;
    if (options_.progress) fmt::print(stderr, "\r{:79}\r", "");
    fmt::print("FAILURE in round {} of seed {}\n{}", round, options_.seed,
               describe(scene, judgement));
    write(scene, judgement, round);
    std::fflush(stdout);
  }

  // Saves a round where --out says.
  void write(const Scene& scene, const Judgement& judgement, std::uint32_t round) {
    if (options_.folder.empty()) return;
    std::string folder = scene.use.title();
    std::erase_if(folder, [](char c) { return c == ' ' || c == '|'; });
    const char* kind = judgement.failed() ? "" : "-as-near";
    const auto path = options_.folder / fmt::format("{}-{}{}", folder, round, kind);
    save(scene, judgement, path);
    if (judgement.failed()) fmt::print("  written to {}\n", path.string());
  }

  void tell() {
    if (!options_.progress || elapsed() < next_) return;
    next_ = elapsed() + 1;
    std::string left = options_.seconds > 0
                           ? fmt::format("{:.0f} s left", options_.seconds - elapsed())
                           : fmt::format("{} rounds left", options_.rounds - report_.rounds);
    fmt::print(stderr, "\r{} rounds, {} failures, {}   ", report_.rounds, report_.failures, left);
    std::fflush(stderr);
  }

  const Engine& engine_;
  const SearchOptions& options_;
  Clock::time_point start_;
  double next_ = 0;
  std::map<std::string, std::vector<Climber>> pool_;
  Report report_;
};

}  // namespace

Report search(const Engine& engine, const SearchOptions& options) {
  return Search(engine, options).run();
}

std::string describe(const Scene& scene, const Judgement& judgement) {
  std::string liars;
  for (std::size_t i = 0; i < scene.liar.size(); ++i) {
    if (scene.liar[i]) liars += fmt::format(" {}", i);
  }
  std::string text =
      fmt::format("  {} on {}, {}, n={}, d={}, c={}, seed {}, liars:{}\n  {}\n", scene.use.spec(),
                  name(scene.backend), name(scene.dtype), scene.updates.size(), scene.length(),
                  scene.server.size(), scene.seed, liars, scene.story);
  if (!judgement.error.empty()) {
    return text + fmt::format("  error: {}\n", judgement.error);
  }
  return text + fmt::format("  score {:.3g}, deviation {:.3g}, exact {:.3g}\n  {}\n",
                            judgement.score, judgement.engine_deviation, judgement.oracle_deviation,
                            judgement.note);
}

void print(const Report& report) {
  fmt::print("{:<40} {:>8} {:>7} {:>9} {:>7} {:>10} {:>10} {:>10} {:>8}\n", "rule", "rounds",
             "errors", "near ties", "as near", "score", "deviation", "exact", "failures");
  for (const auto& [rule, tally] : report.rules) {
    fmt::print("{:<40} {:>8} {:>7} {:>9} {:>7} {:>10.2g} {:>10.3g} {:>10.3g} {:>8}\n", rule,
               tally.rounds, tally.errors, tally.near_ties, tally.as_near, tally.score,
               tally.engine_deviation, tally.oracle_deviation, tally.failures);
  }
  for (const auto& [title, list] :
       {std::pair{"errors", &report.errors},
        std::pair{"errors that go away with the liars", &report.forced}}) {
    if (list->empty()) continue;
    fmt::print("\n{}:\n", title);
    for (const auto& [sentence, count] : *list) fmt::print("{:>8}  {}\n", count, sentence);
  }
  fmt::print("\n{} rounds, {} failures\n", report.rounds, report.failures);
}

}  // namespace boba::hunt
