// docs/report-format.md lists the fields that verdicts have, in their words and order.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "boba/core/verdict.h"
#include "boba/rules/subspace_report.h"
#include "tests/support/paths.h"
#include "tests/support/tools_process.h"

namespace boba::test {
namespace {

// Fields that the page describes in words of its own: their entries are keys.
bool is_spread(const FieldInfo& field) { return field.type == "facts" || field.type == "reports"; }

void expect_rows(const std::vector<FieldInfo>& fields) {
  const std::string page = read_text(source_dir() + "/docs/report-format.md");
  std::size_t at = 0;
  for (const FieldInfo& field : fields) {
    if (is_spread(field)) continue;
    const std::string row = fmt::format("\n| `{}` | {} |\n", field.name, field.meaning);
    const std::size_t found = page.find(row, at);
    EXPECT_NE(found, std::string::npos) << "missing, or not in order: " << row;
    if (found != std::string::npos) at = found + 1;
  }
}

TEST(ReportFormat, ListsTheFieldsOfAVerdict) { expect_rows(field_infos<Verdict>()); }

TEST(ReportFormat, ListsTheFieldsOfAClient) {
  std::vector<FieldInfo> fields = field_infos<ClientVerdict>();
  fields.pop_back();  // measures: the row "others"
  expect_rows(fields);
  expect_rows({kInFit});
}

TEST(ReportFormat, ListsTheFieldsOfASubspace) { expect_rows(field_infos<SubspaceReport>()); }

}  // namespace
}  // namespace boba::test
