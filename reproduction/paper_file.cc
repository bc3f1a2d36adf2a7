#include "reproduction/paper_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "boba/text/names.h"
#include "boba/text/printable.h"
#include "reproduction/embedded.h"

namespace boba::reproduction {
namespace {

constexpr std::size_t kLargestFile = 1 << 20;

// A table of the file, and the name of the file in errors.
class Reader {
 public:
  Reader(const toml::table& table, std::string_view origin) : table_(table), origin_(origin) {}

  Error at(const toml::node& node, std::string_view message) const {
    return at(node.source(), message);
  }

  // Every key into its field. table_name: of the tables below this one, which are left alone.
  template <class Options>
  Result<void> read(Options& out, std::initializer_list<std::string_view> required,
                    std::string_view table_name = {}) const {
    for (auto&& [key, node] : table_) {
      if (!table_name.empty() && key.str() == table_name) continue;
      std::vector<std::string_view> names;
      bool known = false;
      Result<void> done;
      detail::each_field<Options>([&, name = key.str(), &value = node](const auto& f) {
        names.push_back(f.name);
        if (f.name != name) return;
        known = true;
        done = read_field(f, value, out);
      });
      if (!table_name.empty()) names.push_back(table_name);
      if (!known) return at(key.source(), unknown(key.str(), names));
      if (!done) return done;
    }
    for (const std::string_view name : required) {
      const toml::node* node = table_.get(name);
      if (node == nullptr) return at(table_, fmt::format("{} is missing", name));
      if (node->is_string() && node->as_string()->get().empty()) {
        return at(*node, fmt::format("{} is empty", name));
      }
    }
    return {};
  }

 private:
  Error at(const toml::source_region& place, std::string_view message) const {
    return invalid_argument(fmt::format("{}:{}: {}", origin_, place.begin.line, message));
  }

  static std::string unknown(std::string_view key, std::span<const std::string_view> names) {
    const std::string close = suggestion(key, names);
    return fmt::format("unknown key {}{} keys are: {}", excerpt(key), close.empty() ? ";" : close,
                       join(names));
  }

  template <class Options, class T>
  Result<void> read_field(const Field<Options, T>& f, const toml::node& node, Options& out) const {
    if constexpr (std::same_as<T, int>) {
      if (!node.is_integer()) return at(node, fmt::format("{} needs a whole number", f.name));
      return placed(node, detail::read_field(f, std::to_string(node.as_integer()->get()), out));
    } else if constexpr (std::same_as<T, std::vector<std::string>>) {
      return read_texts(f.name, node, out.*f.member);
    } else {
      if (!node.is_string()) return at(node, fmt::format("{} needs a text in quotes", f.name));
      return placed(node, detail::read_field(f, one_line(node), out));
    }
  }

  Result<void> read_texts(std::string_view name, const toml::node& node,
                          std::vector<std::string>& out) const {
    const toml::array* list = node.as_array();
    if (list == nullptr) {
      return at(node, fmt::format("{0} needs a list of texts: {0} = [\"...\"]", name));
    }
    for (const toml::node& element : *list) {
      if (!element.is_string()) {
        return at(element, fmt::format("{} needs a list of texts in quotes", name));
      }
      out.push_back(one_line(element));
    }
    return {};
  }

  // Line ends become spaces, so that a long text may have several lines.
  static std::string one_line(const toml::node& node) {
    std::string text = node.as_string()->get();
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }

  Result<void> placed(const toml::node& node, Result<void> read) const {
    return read ? read : at(node, read.error().message);
  }

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
  Result<void> done = reader.read(grid, {"name", "experiment"});
  if (done) done = check_settings(grid, reader, table);
  if (!done) return done.error();
  grid.has_quick = table.contains("quick");
  return grid;
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
  Result<void> done = reader.read(file, {"title", "kind"}, "grid");
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
                 fmt::format("no file or experiment of the paper '{}'{} experiments are: {}",
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
