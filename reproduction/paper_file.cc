#include "reproduction/paper_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "boba/text/names.h"
#include "boba/text/printable.h"
#include "reproduction/embedded.h"

namespace boba::reproduction {
namespace {

constexpr std::size_t kLargestFile = 1 << 20;
constexpr int kMostSeeds = 1000;

constexpr std::array<std::string_view, 8> kKinds = {"table", "lines",   "bars", "matrix",
                                                    "pca",   "picture", "time", "loss-ratio"};
constexpr std::array<std::string_view, 10> kTopKeys = {
    "title", "what", "place", "about", "kind", "published", "axis", "second_axis", "seeds", "grid"};
constexpr std::array<std::string_view, 10> kGridKeys = {
    "name",   "experiment",       "seeds", "set", "without", "setting", "otherwise",
    "second", "second_otherwise", "quick"};

// The text that a table's keys are read from, with what errors call it.
class Reader {
 public:
  Reader(const toml::table& table, std::string_view origin) : table_(table), origin_(origin) {}

  Error at(const toml::node& node, std::string_view message) const {
    return invalid_argument(fmt::format("{}:{}: {}", origin_, node.source().begin.line, message));
  }

  Result<void> only(std::span<const std::string_view> known) const {
    for (auto&& [key, node] : table_) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      const std::string name = excerpt(key.str());
      const std::string close = suggestion(name, known);
      return invalid_argument(fmt::format("{}:{}: {} is no key{} keys are: {}", origin_,
                                          key.source().begin.line, name,
                                          close.empty() ? ";" : close, join(known)));
    }
    return {};
  }

  Result<void> text(std::string_view key, std::string& out, bool required = false) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) {
      if (!required) return {};
      return at(table_, fmt::format("{} is missing", key));
    }
    if (!node->is_string()) return at(*node, fmt::format("{} wants a text in quotes", key));
    out = node->as_string()->get();
    if (required && out.empty()) return at(*node, fmt::format("{} is empty", key));
    return {};
  }

  Result<void> integer(std::string_view key, int low, int high, int& out) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return {};
    const auto* value = node->as_integer();
    if (value == nullptr || value->get() < low || value->get() > high) {
      return at(*node, fmt::format("{} wants a whole number from {} to {}", key, low, high));
    }
    out = static_cast<int>(value->get());
    return {};
  }

  // Line ends inside a text are spaces, so that a long list may stand on several lines.
  Result<void> texts(std::string_view key, std::vector<std::string>& out) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return {};
    const toml::array* list = node->as_array();
    if (list == nullptr)
      return at(*node, fmt::format("{0} wants a list of texts: {0} = [\"...\"]", key));
    for (const toml::node& element : *list) {
      if (!element.is_string()) {
        return at(element, fmt::format("{} wants a list of texts in quotes", key));
      }
      std::string value = element.as_string()->get();
      std::replace(value.begin(), value.end(), '\n', ' ');
      out.push_back(std::move(value));
    }
    return {};
  }

 private:
  const toml::table& table_;
  std::string_view origin_;
};

// Settings must be settings, and all experiments of the grid must be sound.
Result<void> check_settings(const PaperGrid& grid, const Reader& reader, const toml::table& table) {
  for (const auto* list : {&grid.set, &grid.quick}) {
    for (const std::string& setting : *list) {
      const auto parsed = sim::parse_override(setting);
      if (!parsed) return reader.at(table, parsed.error().message);
      if (parsed->key == "seed") {
        return reader.at(table, "seed is not set here; write seeds = 3 for the seeds 1, 2, 3");
      }
    }
  }
  return {};
}

Result<PaperGrid> read_grid(const toml::table& table, std::string_view origin) {
  const Reader reader(table, origin);
  PaperGrid grid;
  Result<void> done = reader.only(kGridKeys);
  if (done) done = reader.text("name", grid.name, true);
  if (done) done = reader.text("experiment", grid.experiment, true);
  if (done) done = reader.integer("seeds", 1, kMostSeeds, grid.seeds);
  if (done) done = reader.texts("set", grid.set);
  if (done) done = reader.texts("without", grid.without);
  if (done) done = reader.text("setting", grid.setting);
  if (done) done = reader.text("otherwise", grid.otherwise);
  if (done) done = reader.text("second", grid.second);
  if (done) done = reader.text("second_otherwise", grid.second_otherwise);
  if (done) done = reader.texts("quick", grid.quick);
  if (done) done = check_settings(grid, reader, table);
  if (!done) return done.error();
  grid.has_quick = table.contains("quick");
  return grid;
}

Result<void> read_kind(const Reader& reader, const toml::table& root, Kind& out) {
  std::string kind;
  if (Result<void> done = reader.text("kind", kind, true); !done) return done;
  const auto found = std::find(kKinds.begin(), kKinds.end(), kind);
  if (found == kKinds.end()) {
    return reader.at(*root.get("kind"),
                     fmt::format("kind = '{}'; kinds are: {}", excerpt(kind), join(kKinds)));
  }
  out = static_cast<Kind>(found - kKinds.begin());
  return {};
}

Result<void> read_grids(const Reader& reader, const toml::table& root, std::string_view origin,
                        PaperFile& file) {
  const toml::node* node = root.get("grid");
  if (node == nullptr) {
    if (file.kind == Kind::kPicture) return {};
    return reader.at(root, "there is no [[grid]]; write at least one");
  }
  const toml::array* list = node->as_array();
  if (list == nullptr || !list->is_array_of_tables()) {
    return reader.at(*node, "write [[grid]], in double brackets, before the keys of each grid");
  }
  for (const toml::node& element : *list) {
    auto grid = read_grid(*element.as_table(), origin);
    if (!grid) return grid.error();
    for (const PaperGrid& other : file.grids) {
      if (other.name == grid->name) {
        return reader.at(element, fmt::format("a second grid named '{}'", excerpt(grid->name)));
      }
    }
    file.grids.push_back(*std::move(grid));
  }
  return {};
}

Result<PaperFile> read_file(const toml::table& root, std::string_view origin,
                            std::string_view name) {
  const Reader reader(root, origin);
  PaperFile file;
  file.name = name;
  Result<void> done = reader.only(kTopKeys);
  if (done) done = reader.text("title", file.title, true);
  if (done) done = reader.text("what", file.what);
  if (done) done = reader.integer("place", 0, 1000, file.place);
  if (done) done = reader.text("about", file.about);
  if (done) done = read_kind(reader, root, file.kind);
  if (done) done = reader.texts("published", file.published);
  if (done) done = reader.text("axis", file.axis);
  if (done) done = reader.text("second_axis", file.second_axis);
  if (done) done = reader.integer("seeds", 1, kMostSeeds, file.seeds);
  if (done) done = read_grids(reader, root, origin, file);
  if (!done) return done.error();
  return file;
}

// "experiments/robustness.toml" -> "robustness"; empty for other files.
std::string_view stem_of(std::string_view path) {
  constexpr std::string_view kFolder = "experiments/";
  constexpr std::string_view kEnding = ".toml";
  if (!path.starts_with(kFolder) || !path.ends_with(kEnding)) return {};
  return path.substr(kFolder.size(), path.size() - kFolder.size() - kEnding.size());
}

}  // namespace

bool is_runs(Kind kind) { return kind <= Kind::kMatrix; }

Result<PaperFile> parse_paper(std::string_view toml, std::string_view origin,
                              std::string_view name) {
  if (toml.size() > kLargestFile) {
    return invalid_argument(
        fmt::format("{}: {} bytes; at most {}", origin, toml.size(), kLargestFile));
  }
  try {
    return read_file(toml::parse(toml), origin, name);
  } catch (const toml::parse_error& error) {
    return invalid_argument(
        fmt::format("{}:{}: {}", origin, error.source().begin.line, excerpt(error.description())));
  }
}

Result<PaperFile> load_paper(const std::string& file_or_name) {
  std::vector<std::string_view> names;
  for (const EmbeddedFile& file : embedded_files()) {
    const std::string_view stem = stem_of(file.path);
    if (stem.empty()) continue;
    if (stem == file_or_name) {
      return parse_paper(file.text, fmt::format("reproduction/{}", file.path), stem);
    }
    names.push_back(stem);
  }
  const std::filesystem::path path(file_or_name);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    const std::string close = suggestion(file_or_name, names);
    return Error{ErrorCode::kIo,
                 fmt::format("'{}' is no experiment of the paper and no file{} those are: {}",
                             excerpt(file_or_name), close.empty() ? ";" : close, join(names))};
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) {
    return Error{ErrorCode::kIo, fmt::format("{}: cannot be read", excerpt(file_or_name))};
  }
  return parse_paper(text, excerpt(file_or_name), path.stem().string());
}

Result<std::vector<PaperFile>> shipped_papers() {
  std::vector<PaperFile> all;
  for (const EmbeddedFile& file : embedded_files()) {
    if (stem_of(file.path).empty()) continue;
    auto paper = load_paper(std::string(stem_of(file.path)));
    if (!paper) return paper.error();
    all.push_back(*std::move(paper));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const PaperFile& a, const PaperFile& b) { return a.place < b.place; });
  return all;
}

}  // namespace boba::reproduction
