#include "simulator/report/report.h"

#include "simulator/report/page.h"
#include "simulator/report/report_data.h"

namespace boba::sim {

Result<std::string> make_report(const Store& store, const ReportOptions& options) {
  Result<std::vector<report::RunData>> runs = report::read_runs(store, options.where);
  if (!runs) return runs.error();
  return report::page(options.title, *runs);
}

}  // namespace boba::sim
