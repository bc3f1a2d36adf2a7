// boba report: the runs of a database as one HTML page.

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "boba/text/printable.h"
#include "simulator/report/report.h"
#include "tools/command.h"
#include "tools/file.h"
#include "tools/sim/results_common.h"

namespace boba::tools {
namespace {

struct ReportOptions {
  std::string db = "boba.db";
  std::string out = "boba-report.html";
  std::string where;
  std::string title = sim::ReportOptions{}.title;
};

Outcome run_report(const ReportOptions& options) {
  std::error_code ignored;
  if (std::filesystem::equivalent(options.db, options.out, ignored)) {
    return usage(
        fmt::format("--out {} is the database itself; give the page another name", options.out));
  }
  Result<sim::Store> store = open_results(options.db);
  if (!store) return failed(store.error());
  if (Result<void> writable = check_writable(options.out); !writable) {
    return failed(writable.error());
  }
  Result<std::string> html = make_report(*store, {.title = options.title, .where = options.where});
  if (!html) return failed(html.error());
  if (Result<void> done = write_file(options.out, *html); !done) return failed(done.error());
  fmt::print("{}\n", printable(options.out));
  return {};
}

}  // namespace

void add_report(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "write the results as one HTML page with plots");
  add_db_option(*command, options->db);
  command->add_option("--out", options->out, "the page to write")
      ->type_name("FILE.html")
      ->capture_default_str();
  command
      ->add_option("--where", options->where,
                   "which runs, as in 'boba results': rule=boba,attack~ipm; all if not given")
      ->type_name("CONDITIONS");
  command->add_option("--title", options->title, "of the page")
      ->type_name("TEXT")
      ->capture_default_str();
  command->footer(
      "The page needs no network and no other file. Its path is printed.\n"
      "\n"
      "Examples:\n"
      "  boba report\n"
      "  boba report --db mnist.db --out mnist.html --title 'MNIST, pairs'\n"
      "  boba report --where 'dataset=mnist,attack~ipm'");
  command->callback([options, &outcome] { outcome = run_report(*options); });
}

}  // namespace boba::tools
