#include "tools/train/label_table.h"

#include <fmt/format.h>

#include <cstddef>

#include "boba/text/printable.h"
#include "boba/text/table.h"

namespace boba::tools {
namespace {

constexpr std::size_t kMostShown = 12;

}  // namespace

std::string label_table_text(std::span<const sim::ClientRecord> clients,
                             std::span<const std::string> classes, const std::string& partition,
                             std::int64_t run) {
  std::vector<Table::Column> columns = {{"client", Align::kRight}};
  for (const std::string& name : classes) columns.push_back({name, Align::kRight});
  columns.push_back({"all", Align::kRight});
  Table table(std::move(columns));
  std::size_t honest = 0;
  std::size_t shown = 0;
  std::size_t examples = 0;
  for (const sim::ClientRecord& client : clients) {
    std::size_t sum = 0;
    for (const std::size_t count : client.labels) sum += count;
    if (!client.honest) continue;
    ++honest;
    examples += sum;
    if (shown == kMostShown) continue;
    ++shown;
    std::vector<std::string> cells = {std::to_string(client.client)};
    for (const std::size_t count : client.labels) {
      cells.push_back(count == 0 ? "." : std::to_string(count));
    }
    cells.push_back(std::to_string(sum));
    table.add(std::move(cells));
  }
  std::string text = fmt::format("Examples of each class, dealt by {} to {} clients, {} in all:\n",
                                 printable(partition), honest, examples);
  text += table.text(2);
  if (shown < honest) {
    text += fmt::format("  and {} more clients", honest - shown);
    text += run == 0 ? "\n" : fmt::format("; 'boba show {}' has them all\n", run);
  }
  return text + "\n";
}

}  // namespace boba::tools
