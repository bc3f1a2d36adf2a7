// boba bench: time and memory of every rule on the same updates, beside a plain read of them.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <optional>
#include <vector>

#include "boba/core/sketch.h"
#include "boba/text/table.h"
#include "boba/threads/team.h"
#include "tools/bench_rules.h"
#include "tools/command.h"
#include "tools/file.h"
#include "tools/json.h"
#include "tools/timing.h"

namespace boba::tools {
namespace {

struct BenchOptions {
  std::size_t n = 115;
  std::size_t d = 199210;
  std::size_t classes = 10;
  std::size_t f = 16;
  std::string rules;
  std::string gram = "exact";
  bool open = false;
  int threads = 0;
  std::size_t repeat = 7;
  std::string json;
};

struct Measured {
  Aggregator rule;
  std::vector<double> ms;
  std::optional<std::size_t> bytes;
  std::string skipped;  // why it did not run
};

// One line on a terminal that says what runs; nothing elsewhere.
class Progress {
 public:
  explicit Progress(std::size_t steps) : steps_(steps), shown_(::isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(std::string_view what) {
    ++done_;
    if (!shown_) return;
    fmt::print(stderr, "\r\x1b[K[{}/{}] {}", done_, steps_, what);
    std::fflush(stderr);
  }

 private:
  std::size_t steps_;
  std::size_t done_ = 0;
  bool shown_;
};

// How a rule's time is taken: of a whole round, or of the last update and the close of an open one.
using Timed = std::function<Result<double>(const Aggregator& rule, MutableRow out)>;

// The first call of each rule shows whether it runs and what memory it takes; the timed calls
// follow in turns, with a plain read before each, so that what disturbs the machine disturbs all
// alike. Returns the milliseconds of the reads.
std::vector<double> measure(const Timed& timed, const Round& round, int threads, std::size_t repeat,
                            std::vector<Measured>& all) {
  Progress progress(all.size() * (repeat + 1));
  UpdateMatrix out(round.updates.dtype(), 1, round.updates.length());
  for (Measured& one : all) {
    progress.step(one.rule.spec());
    one.bytes = peak_growth([&] {
      const Result<double> ms = timed(one.rule, out.row(0));
      if (!ms) one.skipped = ms.error().message;
    });
  }
  std::vector<double> reads;
  volatile std::uint64_t used = 0;
  for (std::size_t k = 0; k < repeat; ++k) {
    for (Measured& one : all) {
      progress.step(one.rule.spec());
      reads.push_back(milliseconds([&] { used = used + plain_read(round.updates, threads); }));
      if (!one.skipped.empty()) continue;
      const Result<double> ms = timed(one.rule, out.row(0));
      if (ms) {
        one.ms.push_back(*ms);
      } else {
        one.skipped = ms.error().message;
      }
    }
  }
  return reads;
}

void print_table(const std::vector<Measured>& all, double read_ms) {
  Table table({{"rule"},
               {"ms", Align::kRight},
               {"x read", Align::kRight},
               {"memory MiB", Align::kRight},
               {""}});
  table.add({"plain read", fmt::format("{:.2f}", read_ms), "1.00", "", ""});
  for (const Measured& one : all) {
    if (!one.skipped.empty()) {
      table.add({one.rule.spec(), "-", "-", "-", "skipped: " + one.skipped});
      continue;
    }
    const double ms = median(one.ms);
    const std::string memory =
        one.bytes ? fmt::format("{:.2f}", static_cast<double>(*one.bytes) / (1 << 20)) : "n/a";
    table.add({one.rule.spec(), fmt::format("{:.2f}", ms), fmt::format("{:.2f}", ms / read_ms),
               memory, ""});
  }
  fmt::print("\n{}", table.text());
}

Json to_json(const BenchOptions& options, int threads, const std::string& kernels,
             const std::vector<Measured>& all, double read_ms) {
  Json rules = Json::array();
  for (const Measured& one : all) {
    Json rule = {
        {"rule", one.rule.spec()}, {"ms", nullptr}, {"ratio", nullptr}, {"bytes", nullptr}};
    if (one.skipped.empty()) {
      const double ms = median(one.ms);
      rule["ms"] = json_number(ms);
      rule["ratio"] = json_number(ms / read_ms);
      if (one.bytes) rule["bytes"] = *one.bytes;
    } else {
      rule["skipped"] = one.skipped;
    }
    rules.push_back(std::move(rule));
  }
  return {{"n", options.n},
          {"d", options.d},
          {"classes", options.classes},
          {"f", options.f},
          {"threads", threads},
          {"repeat", options.repeat},
          {"gram", options.gram},
          {"open", options.open},
          {"kernels", kernels},
          {"read_ms", json_number(read_ms)},
          {"rules", std::move(rules)}};
}

Outcome run_bench(const BenchOptions& options) {
  if (options.f >= options.n) {
    return usage(fmt::format("--f {} of --n {} clients cannot be Byzantine; f must be below n",
                             options.f, options.n));
  }
  Result<std::vector<Aggregator>> rules = bench_rules(options.rules, static_cast<int>(options.f));
  if (!rules) return usage(rules.error().message);
  const Result<std::optional<SketchOptions>> gram = parse_gram(options.gram);
  if (!gram) return usage(gram.error().message);
  if (!options.json.empty()) {
    if (Result<void> ok = check_writable(options.json); !ok) return failed(ok.error());
  }
  const int threads = options.threads > 0 ? options.threads : usable_processors();
  const std::unique_ptr<const Kernels> kernels = make_kernels(threads);
  const BenchRound bench(*kernels, options.n, options.d, options.classes, options.f);
  std::vector<Measured> all;
  for (const Aggregator& rule : *rules) all.push_back({rule, {}, {}, {}});
  fmt::print("{} updates of length {} (float32), {} of them Byzantine; {} classes; {}\n", options.n,
             options.d, options.f, options.classes, kernels->name());
  std::fflush(stdout);
  const Round round = bench.round();
  const Timed timed = [&](const Aggregator& rule, MutableRow out) {
    return options.open ? time_of_close(*kernels, rule, round, *gram, out)
                        : time_of_round(*kernels, rule, round, *gram, out);
  };
  const double read_ms = median(measure(timed, round, threads, options.repeat, all));
  print_table(all, read_ms);
  if (options.json.empty()) return {};
  const std::string text = print_report(to_json(options, threads, kernels->name(), all, read_ms));
  if (Result<void> done = write_file(options.json, text); !done) return failed(done.error());
  return {};
}

}  // namespace

void add_bench(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand("bench", "time and memory of the rules on one round");
  const auto number = [&](const char* name, std::size_t& value, const char* help,
                          std::uint64_t low) {
    command->add_option(name, value, help)
        ->check(whole_number(low, 1 << 30))
        ->type_name("N")
        ->capture_default_str();
  };
  number("--n", options->n, "clients", 1);
  number("--d", options->d, "length of an update", 1);
  number("--classes", options->classes, "classes, one server gradient each", 1);
  number("--f", options->f, "Byzantine among the clients, and the f of rules that take one", 0);
  command
      ->add_option("--rules", options->rules,
                   "rules to run, joined by commas, as 'average,krum(f=3)'; default: all")
      ->type_name("LIST");
  command
      ->add_option("--gram", options->gram,
                   "inner products: exact, or of sketches, as 'sketch(length=4096)'")
      ->type_name("SPEC")
      ->capture_default_str();
  command->add_flag("--open", options->open,
                    "time the last update and the close of a round filled before");
  number("--repeat", options->repeat, "timed calls of each rule; the median counts", 1);
  add_threads_option(*command, options->threads);
  command->add_option("--json", options->json, "write the numbers as JSON too")->type_name("FILE");
  command->footer(
      "The updates are synthetic: mixtures of two classes' gradients with noise. f of them are\n"
      "-10 times the mean of the rest. 'x read' divides the time by that of reading the updates\n"
      "once, with the same threads in the same run; no rule can be faster. Memory is how far the\n"
      "resident memory grows during a call, without input and output. For rules that ask for the\n"
      "server's loss it is |w|^2 / 2, and computing it is part of their time. With --open all\n"
      "updates but the last have arrived: the time is from the last arrival to the result, the\n"
      "memory that of filling the round.\n"
      "\n"
      "Examples:\n"
      "  boba bench\n"
      "  boba bench --rules 'average,boba,bucketing(s=2) | krum' --threads 1\n"
      "  boba bench --n 18 --f 2 --d 8000 --classes 4 --json bench.json");
  command->callback([options, &outcome] { outcome = run_bench(*options); });
}

}  // namespace boba::tools
