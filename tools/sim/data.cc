// boba data: the data sets, the folders where boba found them, and whether they are intact.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "boba/text/table.h"
#include "simulator/data/catalogue.h"
#include "simulator/data/inventory.h"
#include "simulator/data/synthetic.h"
#include "tools/command.h"

namespace boba::tools {
namespace {

constexpr std::size_t kPageWidth = 100;
constexpr std::size_t kShownDigits = 12;  // of a checksum in a table

std::string shown(const std::optional<std::size_t>& count) {
  return count ? fmt::format("{}", *count) : "-";
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

Outcome run_list(const std::string& folder) {
  const sim::DataSources sources = sim::default_sources(folder);
  if (Result<void> sound = sim::check_sources(sources); !sound) return failed(sound.error());
  const std::vector<sim::FoundSet> sets = sim::list_datasets(sources);
  Table table(
      {{"set"}, {"train", Align::kRight}, {"test", Align::kRight}, {"sha256"}, {"found in"}});
  for (const sim::FoundSet& set : sets) {
    table.add({set.name, shown(set.train), shown(set.test),
               or_dash(set.checksum.substr(0, kShownDigits)), or_dash(set.folder)});
  }
  const sim::SyntheticSetOptions built_in;
  table.add({std::string(sim::SyntheticSetOptions::info().name), fmt::format("{}", built_in.train),
             fmt::format("{}", built_in.test), "-", "built in"});
  fmt::print("{}\n", table.text());
  for (const sim::FoundSet& set : sets) {
    if (set.trouble.empty()) continue;
    const std::string text = fmt::format("{}: {}. {}", set.name, set.trouble, set.advice);
    fmt::print("{}\n", wrap(text, kPageWidth, 0, 2));
  }
  if (!folder.empty() && !sim::holds_data(folder)) {
    fmt::print("{}\n",
               wrap(fmt::format("--data {} holds no file of any set.", folder), kPageWidth, 0));
  }
  fmt::print("{}", wrap("Looked in " + sim::describe_sources(sources) + ".", kPageWidth, 0, 2));
  fmt::print(
      "Give a folder with --data or BOBA_DATA.\n"
      "sha256 is of the files on disk; 'boba data verify' checks the contents.\n");
  return {};
}

std::string state_name(sim::FileState state) {
  switch (state) {
    case sim::FileState::kCanonical:
      return "ok";
    case sim::FileState::kReadable:
      return "readable";
    case sim::FileState::kDamaged:
      break;
  }
  return "damaged";
}

void print_verified(const sim::VerifiedSet& set) {
  Table table({{"state"}, {"items", Align::kRight}, {"checksum"}, {"file"}});
  for (const sim::VerifiedFile& file : set.files) {
    const bool damaged = file.state == sim::FileState::kDamaged;
    table.add({state_name(file.state), damaged ? "-" : fmt::format("{}", file.items),
               or_dash(file.digest.substr(0, kShownDigits)), file.name});
  }
  fmt::print("{}\n{}", set.name, table.text(2));
  for (const sim::VerifiedFile& file : set.files) {
    if (file.remark.empty()) continue;
    fmt::print("{}", wrap(fmt::format("{}: {}", file.role, file.remark), kPageWidth, 2, 4));
  }
  fmt::print("\n");
}

// The names asked for, or all sets of which every file was found.
std::vector<std::string> sets_to_verify(const std::vector<std::string>& names,
                                        const sim::DataSources& sources) {
  if (!names.empty()) return names;
  std::vector<std::string> found;
  for (const std::string_view name : sim::dataset_names()) {
    if (sim::has_dataset(name, sources)) found.emplace_back(name);
  }
  return found;
}

Outcome run_verify(const std::string& folder, const std::vector<std::string>& names) {
  const sim::DataSources sources = sim::default_sources(folder);
  if (Result<void> sound = sim::check_sources(sources); !sound) return failed(sound.error());
  for (const std::string& name : names) {
    if (const auto known = sim::dataset_traits(name); !known) {
      return usage(known.error().message);
    }
  }
  std::string damaged;
  const std::vector<std::string> wanted = sets_to_verify(names, sources);
  if (wanted.empty()) {
    return Failure{kFailed, fmt::format("no set was found in {}; see 'boba data list'",
                                        sim::describe_sources(sources))};
  }
  for (const std::string& name : wanted) {
    const Result<sim::VerifiedSet> set = sim::verify_dataset(name, sources);
    if (!set) return failed(set.error());
    print_verified(*set);
    if (set->damaged()) damaged += (damaged.empty() ? "" : ", ") + name;
  }
  if (damaged.empty()) return {};
  return Failure{kFailed, fmt::format("damaged: {}; get the files anew", damaged)};
}

void add_data_option(CLI::App& command, std::string& folder) {
  command.add_option("--data", folder, "look here first")->type_name("DIR");
}

}  // namespace

void add_data(CLI::App& app, Outcome& outcome) {
  struct Options {
    std::string folder;
    std::vector<std::string> names;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("data", "list data sets and check their files");
  command->require_subcommand(1);
  command->footer(
      "Examples:\n"
      "  boba data list\n"
      "  boba data verify mnist\n"
      "\n"
      "'boba data list --help' and 'boba data verify --help' explain each.");
  CLI::App* list =
      command->add_subcommand("list", "list the sets that boba finds, and how to get the others");
  add_data_option(*list, options->folder);
  list->footer(
      "Looks into --data, $BOBA_DATA, the folder of the Debian package dataset-fashion-mnist, and\n"
      "the cache folder (~/.cache/boba), in this order.\n"
      "\n"
      "Examples:\n"
      "  boba data list\n"
      "  boba data list --data ~/data");
  list->callback([options, &outcome] { outcome = run_list(options->folder); });
  CLI::App* verify = command->add_subcommand("verify", "read every byte and compare checksums");
  verify->add_option("SET", options->names, "the sets; all that were found if none is given");
  add_data_option(*verify, options->folder);
  verify->footer(
      "ok: the published file, by its checksum. readable: another one in the same format.\n"
      "damaged: it cannot be read; the exit status is then 1. Checksums are of unpacked contents.\n"
      "\n"
      "Examples:\n"
      "  boba data verify\n"
      "  boba data verify mnist --data ~/data");
  verify->callback([options, &outcome] { outcome = run_verify(options->folder, options->names); });
}

}  // namespace boba::tools
