// Shared by the subcommands. Each has one source file; add_NAME adds it to the program.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "boba/core/aggregator.h"
#include "boba/core/kernels.h"
#include "boba/core/result.h"
#include "boba/text/printable.h"

namespace boba::tools {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;

// Why a subcommand failed. main prints "boba NAME: message", or nothing if the message is empty.
struct Failure {
  int exit_code = kFailed;
  std::string message;
};

using Outcome = std::optional<Failure>;

inline Outcome failed(const Error& error) { return Failure{kFailed, error.message}; }
inline Outcome usage(std::string message) { return Failure{kUsage, std::move(message)}; }

// A line on stderr, safe for a terminal.
inline void complain(std::string_view line) { fmt::print(stderr, "{}\n", printable(line)); }

// Prints the error on rank 0 before the ranks exit, because mpirun ends all of them when the first
// exits with a failure. The outcome that it returns has no message, so main prints nothing more.
inline Outcome report_on_rank0(const char* command, bool is_rank0, Outcome outcome) {
  if (!outcome) return outcome;
  if (is_rank0) {
    complain(fmt::format("boba {}: {}", command, outcome->message));
    std::fflush(stderr);
  }
  outcome->message.clear();
  return outcome;
}

// Each adds a subcommand whose callback leaves its outcome in the given place.
void add_rules(CLI::App& app, Outcome& outcome);
void add_attacks(CLI::App& app, Outcome& outcome);
void add_aggregate(CLI::App& app, Outcome& outcome);
void add_attack(CLI::App& app, Outcome& outcome);
void add_bench(CLI::App& app, Outcome& outcome);
void add_example(CLI::App& app, Outcome& outcome);
// The simulator's commands. In a build without it they print how to build it. Those that train are
// in the program boba-train.
inline constexpr const char* kDemoSummary =
    "train a federation with attackers under four rules and draw a report";
inline constexpr const char* kRunSummary = "run the experiments of a TOML file";
inline constexpr const char* kPaperSummary = "the paper's experiments: list, run, compare";
inline constexpr const char* kPaperRunSummary = "run experiments of the paper";
void add_demo(CLI::App& app, Outcome& outcome);
void add_data(CLI::App& app, Outcome& outcome);
void add_run(CLI::App& app, Outcome& outcome);
void add_report(CLI::App& app, Outcome& outcome);
void add_results(CLI::App& app, Outcome& outcome);
void add_paper(CLI::App& app, Outcome& outcome);
void add_paper_run(CLI::App& paper, Outcome& outcome);
void add_show(CLI::App& app, Outcome& outcome);

// Checks of an option's text, with messages that state the allowed values.
CLI::Validator whole_number(std::uint64_t low, std::uint64_t high);
CLI::Validator not_negative();

// Adds --threads; 0, the default, leaves the number to the library.
void add_threads_option(CLI::App& command, int& threads);

std::unique_ptr<const Kernels> make_kernels(int threads);

// "115 x 199210 float32".
std::string describe_shape(const UpdateView& rows);

}  // namespace boba::tools
