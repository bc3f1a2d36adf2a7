// boba example: attacks and rules side by side on label-skewed updates, then one verdict.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "boba/attacks/registry.h"
#include "boba/core/verdict_text.h"
#include "boba/rules/registry.h"
#include "boba/text/printable.h"
#include "boba/text/table.h"
#include "tools/command.h"
#include "tools/npy.h"
#include "tools/synthetic.h"

namespace boba::tools {
namespace {

constexpr const char* kShownRule = "boba(f=16)";
constexpr const char* kRules[] = {"average", "krum(f=16)", "mkrum(f=16)",
                                  "geomed",  kShownRule,   "boba-hull(f=16)"};
constexpr const char* kAttacks[] = {"none", "ipm", "lie", "gauss", "mimic", "minmax", "minsum"};
constexpr const char* kShownAttack = "ipm";

class Example {
 public:
  explicit Example(int threads)
      : kernels_(make_kernels(threads)),
        synthetic_(make_synthetic(*kernels_, options_)),
        honest_(DType::kFloat32, options_.length),
        mean_(DType::kFloat32, 1, options_.length),
        out_(DType::kFloat32, 1, options_.length) {
    for (std::size_t i = 0; i < options_.honest; ++i) honest_.add(synthetic_.updates.view(), i);
    kernels_->combine(honest_.view(), mean_weights(options_.honest), 0, mean_.row(0));
  }

  const SyntheticOptions& options() const { return options_; }

  // Lets the attackers send what the attack forges; "none" sends them home.
  Result<void> attack(const std::string& spec) {
    attackers_ = 0;
    if (spec == "none") return {};
    Result<NamedAttack> named = make_attack(spec);
    if (!named) return named.error();
    std::vector<MutableRow> rows;
    for (std::size_t i = 0; i < options_.byzantine; ++i) {
      rows.push_back(synthetic_.updates.row(options_.honest + i));
    }
    AttackRound round;
    round.honest = honest_.view();
    round.learning_rate = 0.1;
    round.seed = options_.seed;
    Result<AttackReport> report = named->attack->forge(*kernels_, round, rows);
    if (!report) return report.error();
    attackers_ = options_.byzantine;
    return {};
  }

  // The rows of those present: the honest, then the attackers.
  RowList present() const {
    RowList rows = honest_;
    for (std::size_t i = 0; i < attackers_; ++i) {
      rows.add(synthetic_.updates.view(), options_.honest + i);
    }
    return rows;
  }
  const RowList& honest() const { return honest_; }
  UpdateView server() const { return synthetic_.server.view(); }

  Result<Verdict> aggregate(const std::string& spec) {
    Result<Aggregator> rule = make_aggregator(spec);
    if (!rule) return rule.error();
    const RowList rows = present();
    Round round;
    round.updates = rows.view();
    round.server = synthetic_.server.view();
    round.seed = options_.seed;
    return rule->aggregate(*kernels_, round, out_.row(0));
  }

  // |last aggregate - mean of the honest| / |mean of the honest|.
  double error() const {
    double difference = 0;
    double size = 0;
    for (std::size_t j = 0; j < options_.length; ++j) {
      const double mean = mean_.view().row<float>(0)[j];
      const double gap = out_.view().row<float>(0)[j] - mean;
      difference += gap * gap;
      size += mean * mean;
    }
    return std::sqrt(difference / size);
  }

 private:
  SyntheticOptions options_;
  std::unique_ptr<const Kernels> kernels_;
  SyntheticRound synthetic_;
  RowList honest_;
  UpdateMatrix mean_;
  UpdateMatrix out_;
  std::size_t attackers_ = 0;
};

Result<void> print_comparison(Example& example) {
  const SyntheticOptions& options = example.options();
  fmt::print(
      "{} honest clients, each with data of two of {} classes; {} attackers among them.\n"
      "How far each rule's result is from the mean of the honest updates, as a share of its norm:\n"
      "0 is perfect, 1 is as bad as no update at all.\n\n",
      options.honest, options.classes, options.byzantine);
  std::vector<Table::Column> columns{{"attack"}};
  for (const char* rule : kRules) columns.push_back({rule, Align::kRight});
  Table table(columns);
  std::vector<double> worst(std::size(kRules), 0.0);
  for (const char* attack : kAttacks) {
    if (Result<void> forged = example.attack(attack); !forged) return forged;
    std::vector<std::string> cells{attack};
    for (std::size_t k = 0; k < std::size(kRules); ++k) {
      Result<Verdict> verdict = example.aggregate(kRules[k]);
      if (!verdict) return verdict.error();
      worst[k] = std::max(worst[k], example.error());
      cells.push_back(fmt::format("{:.3f}", example.error()));
    }
    table.add(std::move(cells));
  }
  std::vector<std::string> cells{"worst"};
  for (double error : worst) cells.push_back(fmt::format("{:.3f}", error));
  table.add(std::move(cells));
  fmt::print("{}", table.text(2));
  return {};
}

Result<void> print_verdict(Example& example) {
  const SyntheticOptions& options = example.options();
  if (Result<void> forged = example.attack(kShownAttack); !forged) return forged;
  Result<Verdict> verdict = example.aggregate(kShownRule);
  if (!verdict) return verdict.error();
  std::vector<ClientVerdict> shown;
  std::size_t honest_accepted = 0;
  for (const ClientVerdict& client : verdict->clients) {
    const bool honest = client.index < options.honest;
    if (honest && client.accepted) ++honest_accepted;
    const std::size_t place = honest ? client.index : client.index - options.honest;
    if (place < (honest ? 6U : 4U)) shown.push_back(client);
  }
  fmt::print(
      "\nUnder {}, {}:\n{} of {} honest, {} of {} attackers. Six of the honest, then four "
      "attackers:\n\n{}\n",
      kShownAttack, headline(*verdict), honest_accepted, options.honest,
      verdict->accepted() - honest_accepted, options.byzantine,
      clients_text(shown, Reasons::kLeftOut));
  for (std::size_t i : {std::size_t{0}, options.honest}) {
    fmt::print("{}", wrap(fmt::format("Client {}: {}", i, verdict->clients[i].reason), 98, 0, 2));
  }
  fmt::print(
      "\nHonest updates lie near the plane through the server's class gradients, and where they "
      "lie\n"
      "tells their labels. An attacker must leave the plane, and gets no part in fitting it, or "
      "claim\n"
      "a negative share of some class, and is rejected.\n"
      "\nNext: 'boba rules boba' explains the rule, 'boba aggregate --help' runs it on your "
      "files.\n");
  return {};
}

// The rows of the verdict shown, for trying the other commands on.
Result<void> save(const Example& example, const std::string& folder) {
  std::error_code status;
  std::filesystem::create_directories(folder, status);
  if (status) {
    return Error{ErrorCode::kIo, fmt::format("cannot create {}: {}", folder, status.message())};
  }
  const RowList present = example.present();
  const std::pair<const char*, UpdateView> files[] = {{"honest.npy", example.honest().view()},
                                                      {"updates.npy", present.view()},
                                                      {"server.npy", example.server()}};
  fmt::print("\nSaved for the other commands:\n");
  for (const auto& [name, rows] : files) {
    const std::string path = (std::filesystem::path(folder) / name).string();
    if (Result<void> saved = write_npy(path, rows); !saved) return saved;
    fmt::print("  {}  {}\n", printable(path), describe_shape(rows));
  }
  return {};
}

Outcome run_example(int threads, const std::string& folder) {
  Example example(threads);
  if (Result<void> printed = print_comparison(example); !printed) return failed(printed.error());
  if (Result<void> printed = print_verdict(example); !printed) return failed(printed.error());
  if (folder.empty()) return {};
  if (Result<void> saved = save(example, folder); !saved) return failed(saved.error());
  return {};
}

}  // namespace

void add_example(CLI::App& app, Outcome& outcome) {
  struct Options {
    int threads = 0;
    std::string folder;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("example", "attack label-skewed updates and compare rules; a few seconds");
  command
      ->add_option("--save", options->folder,
                   "write honest.npy, updates.npy (attacked) and server.npy there")
      ->type_name("FOLDER");
  add_threads_option(*command, options->threads);
  command->footer(
      "Examples:\n"
      "  boba example\n"
      "  boba example --save round\n"
      "  boba aggregate --rule 'boba(f=16)' --updates round/updates.npy --server round/server.npy");
  command->callback(
      [options, &outcome] { outcome = run_example(options->threads, options->folder); });
}

}  // namespace boba::tools
