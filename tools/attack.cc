// boba attack: writes the updates that Byzantine clients would send, given the honest ones.

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <vector>

#include "boba/attacks/registry.h"
#include "boba/text/printable.h"
#include "boba/text/table.h"
#include "tools/command.h"
#include "tools/npy.h"

namespace boba::tools {
namespace {

struct AttackOptions {
  std::string attack;
  std::string honest;
  std::string server;
  std::size_t byzantine = 0;
  std::string out;
  std::uint64_t seed = 0;
  double learning_rate = 0;
};

Outcome run_attack(const AttackOptions& options) {
  Result<NamedAttack> attack = make_attack(options.attack);
  if (!attack) return usage(attack.error().message);
  if (Result<void> writable = check_writable(options.out); !writable) {
    return failed(writable.error());
  }
  Result<NpyFile> honest = NpyFile::open(options.honest);
  if (!honest) return failed(honest.error());
  AttackRound round;
  round.honest = honest->view();
  std::optional<NpyFile> server;
  if (!options.server.empty()) {
    Result<NpyFile> opened = NpyFile::open(options.server);
    if (!opened) return failed(opened.error());
    server.emplace(*std::move(opened));
    round.server = server->view();
    if (round.server.dtype() != round.honest.dtype() ||
        round.server.length() != round.honest.length()) {
      return Failure{kFailed, fmt::format("{} is {}, which does not go with {} of {}",
                                          options.server, describe_shape(round.server),
                                          describe_shape(round.honest), options.honest)};
    }
  }
  round.learning_rate = options.learning_rate;
  round.seed = options.seed;
  if (round.honest.empty()) return Failure{kFailed, options.honest + ": it has no rows to look at"};
  UpdateMatrix forged(round.honest.dtype(), options.byzantine, round.honest.length());
  std::vector<MutableRow> rows;
  for (std::size_t i = 0; i < options.byzantine; ++i) rows.push_back(forged.row(i));
  const std::unique_ptr<const Kernels> kernels = make_kernels(0);
  Result<AttackReport> report = attack->attack->forge(*kernels, round, rows);
  Result<void> same = honest->unchanged();
  if (same && server) same = server->unchanged();
  if (!same) return failed(same.error());
  if (!report) return failed(report.error());

  if (Result<void> written = write_npy(options.out, forged.view()); !written) {
    return failed(written.error());
  }
  fmt::print("{} from {} honest updates; wrote {} to {}\n", attack->spec, round.honest.rows(),
             describe_shape(forged.view()), printable(options.out));
  for (const NamedValue& measure : report->measures) {
    fmt::print("  {} = {}\n", measure.name, short_number(measure.value));
  }
  return {};
}

}  // namespace

void add_attack(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<AttackOptions>();
  CLI::App* command =
      app.add_subcommand("attack", "write the updates that Byzantine clients would send");
  command->add_option("--attack", options->attack, "the attack; see 'boba attacks'")
      ->required()
      ->type_name("SPEC");
  command->add_option("--honest", options->honest, "h x d array, an honest update per row")
      ->required()
      ->type_name("H.npy");
  command
      ->add_option("--server", options->server, "c x d array, class gradients that simplex knows")
      ->type_name("S.npy");
  command->add_option("--byzantine", options->byzantine, "rows to write")
      ->required()
      ->check(whole_number(1, 1 << 20))
      ->type_name("B");
  command->add_option("--out", options->out, "B x d array of the honest updates' type")
      ->required()
      ->type_name("X.npy");
  command->add_option("--seed", options->seed, "seed of random attacks")
      ->check(whole_number(0, UINT64_MAX))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--learning-rate", options->learning_rate,
                   "learning rate, for attacks defined on parameters")
      ->check(not_negative())
      ->type_name("R");
  command->footer(
      "Examples:\n"
      "  boba attack --attack 'ipm(gamma=10)' --honest honest.npy --byzantine 15 --out evil.npy\n"
      "  boba attack --attack lie --honest honest.npy --byzantine 15 --out evil.npy");
  command->callback([options, &outcome] { outcome = run_attack(*options); });
}

}  // namespace boba::tools
