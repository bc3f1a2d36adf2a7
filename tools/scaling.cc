// boba scaling: what a round would take on many machines.

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "boba/core/sketch.h"
#include "boba/core/table.h"
#include "boba/dist/cost.h"
#include "tools/command.h"

namespace boba::tools {
namespace {

struct Options {
  std::vector<double> clients = {1e3, 1e4, 1e5};
  std::vector<double> parameters = {1e9, 1e10, 1e11, 1e12};
  std::size_t classes = 10;
  std::size_t machines = 0;
  std::string gram = "exact";
  double memory_gb = 400;
  double read_gb = 150;
  double storage_gb = 5;
  double gflops = 2000;
  double network_gb = 12;
  double latency_us = 20;
};

// "4.0 GB", "400 PB".
std::string bytes_text(double bytes) {
  const char* const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < std::size(units)) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, bytes < 9.95 ? 1 : 0, units[unit]);
}

// "12 ms", "3.4 s", "2.1 h", "40 d".
std::string time_text(double seconds) {
  if (seconds < 0.9995) return fmt::format("{:.{}f} ms", 1e3 * seconds, seconds < 0.00995 ? 1 : 0);
  if (seconds < 120) return fmt::format("{:.{}f} s", seconds, seconds < 9.95 ? 1 : 0);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.0f} d", seconds / 86400);
}

// A whole number from 1 to `most`, perhaps written as 1e9.
CLI::Validator count_up_to(double most) {
  const auto check = [most](const std::string& text) -> std::string {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end != text.c_str() && *end == '\0' && value >= 1 && value <= most &&
        value == std::floor(value)) {
      return "";
    }
    return fmt::format("'{}' is not a whole number from 1 to {:g}", text, most);
  };
  return CLI::Validator(check, "");
}

CLI::Validator positive() {
  const auto check = [](const std::string& text) -> std::string {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end != text.c_str() && *end == '\0' && value > 0 && std::isfinite(value)) return "";
    return fmt::format("'{}' is not a number above 0", text);
  };
  return CLI::Validator(check, "");
}

Outcome run(const Options& options) {
  const Result<std::optional<SketchOptions>> gram = parse_gram(options.gram);
  if (!gram) return usage(gram.error().message);
  const MachineProfile machine{.memory = 1e9 * options.memory_gb,
                               .read = 1e9 * options.read_gb,
                               .storage = 1e9 * options.storage_gb,
                               .rate = 1e9 * options.gflops,
                               .network = 1e9 * options.network_gb,
                               .latency = 1e-6 * options.latency_us};
  Table table({{"clients", Align::kRight},
               {"parameters", Align::kRight},
               {"updates", Align::kRight},
               {"machines", Align::kRight},
               {"each holds", Align::kRight},
               {"from"},
               {"products", Align::kRight},
               {"exchange", Align::kRight},
               {"rule", Align::kRight},
               {"output", Align::kRight},
               {"in all", Align::kRight}});
  for (const double clients : options.clients) {
    for (const double parameters : options.parameters) {
      const RoundCost cost =
          cost_of({.clients = static_cast<std::size_t>(clients),
                   .classes = options.classes,
                   .parameters = static_cast<std::size_t>(parameters),
                   .sketch = *gram ? static_cast<std::size_t>((*gram)->length) : 0},
                  machine, options.machines);
      table.add({fmt::format("{:g}", clients), fmt::format("{:g}", parameters),
                 bytes_text(cost.update_bytes), std::to_string(cost.machines),
                 bytes_text(cost.machine_bytes), cost.in_memory ? "memory" : "storage",
                 time_text(cost.product_seconds), time_text(cost.exchange_seconds),
                 time_text(cost.solve_seconds), time_text(cost.output_seconds),
                 time_text(cost.total())});
    }
  }
  fmt::print("{}", table.text());
  return {};
}

}  // namespace

void add_scaling(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("scaling", "what a round would take on many machines, by a cost model");
  command->add_option("--clients", options->clients, "numbers of clients, as 1e3,1e4")
      ->delimiter(',')
      ->check(count_up_to(1e9))
      ->type_name("LIST");
  command->add_option("--parameters", options->parameters, "lengths of an update, as 1e9,1e12")
      ->delimiter(',')
      ->check(count_up_to(1e15))
      ->type_name("LIST");
  command->add_option("--classes", options->classes, "server gradients")
      ->check(whole_number(0, 1000000))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--machines", options->machines,
                   "how many; 0: as few as hold the updates in memory")
      ->check(whole_number(0, 1000000))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--gram", options->gram, "exact, or sketch(length=4096)")
      ->type_name("SPEC")
      ->capture_default_str();
  const auto add = [&](const char* name, double& value, const char* what) {
    command->add_option(name, value, what)
        ->check(positive())
        ->type_name("X")
        ->capture_default_str();
  };
  add("--memory", options->memory_gb, "GB of a machine for updates");
  add("--read", options->read_gb, "GB/s from its memory");
  add("--storage", options->storage_gb, "GB/s from its disks");
  add("--gflops", options->gflops, "10^9 operations a second of the product kernel");
  add("--network", options->network_gb, "GB/s to another machine");
  add("--latency", options->latency_us, "microseconds of a message");
  command->footer(
      "Formulas and what they leave out: docs/scaling.md. float32 updates.\n"
      "\n"
      "Examples:\n"
      "  boba scaling\n"
      "  boba scaling --gram 'sketch(length=4096)'\n"
      "  boba scaling --clients 115 --parameters 2e6 --machines 2 --read 10 --gflops 100");
  command->callback([options, &outcome] { outcome = run(*options); });
}

}  // namespace boba::tools
