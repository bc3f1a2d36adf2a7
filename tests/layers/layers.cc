#include "tests/layers/layers.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

namespace boba {
namespace {

constexpr std::size_t kMostLines = 600;

// One line of the table of docs/architecture.md. Prefixes; a folder may always include itself.
struct Layer {
  std::string_view folder;
  std::vector<std::string_view> project;      // folders it may include
  std::vector<std::string_view> third_party;  // headers of others it may include
  std::vector<std::string_view> inside;       // the same, but in no header of the interface
  std::vector<std::string_view> links;        // CMake targets it may link
};

const std::vector<Layer>& layers() {
  static const std::vector<Layer> table = {
      {"boba/text/", {}, {"fmt/"}, {}, {"fmt::fmt"}},
      {"boba/threads/", {}, {}, {"sched.h"}, {"Threads::Threads"}},
      {"boba/algebra/", {}, {"Eigen/"}, {}, {"Eigen3::Eigen"}},
      {"boba/core/", {"boba/text/"}, {"fmt/"}, {"sys/random.h"}, {"boba_text", "fmt::fmt"}},
      {"boba/kernels/reference/", {"boba/core/"}, {"fmt/"}, {}, {"boba_core"}},
      {"boba/kernels/cpu/",
       {"boba/core/", "boba/threads/"},
       {"fmt/", "immintrin.h"},
       {},
       {"boba_core", "boba_threads"}},
      {"boba/kernels/cuda/",
       {"boba/core/"},
       {"fmt/", "cuda_runtime_api.h"},
       {},
       {"boba_core", "CUDA::cudart_static"}},
      {"boba/kernels/sketch/", {"boba/core/"}, {"fmt/"}, {}, {"boba_core"}},
      {"boba/rules/",
       {"boba/core/", "boba/text/", "boba/algebra/"},
       {"fmt/"},
       {"Eigen/"},
       {"boba_core", "boba_text", "boba_algebra", "Eigen3::Eigen"}},
      {"boba/attacks/",
       {"boba/core/", "boba/text/", "boba/algebra/"},
       {"fmt/"},
       {"Eigen/"},
       {"boba_core", "boba_text", "boba_algebra", "Eigen3::Eigen"}},
      {"simulator/partition/", {"boba/core/", "boba/text/"}, {"fmt/"}, {}, {"boba"}},
      {"boba/files/", {}, {}, {"fcntl.h", "unistd.h"}, {"boba"}},
      {"boba/dist/",
       {"boba/core/", "boba/text/", "boba/threads/", "boba/kernels/cpu/"},
       {"fmt/"},
       {"mpi.h"},
       {"boba", "MPI::MPI_C"}},
      {"simulator/data/",
       {"boba/core/", "boba/text/"},
       {"fmt/", "archive.h", "archive_entry.h", "zlib.h", "opencv2/", "jpeglib.h", "openssl/"},
       {},
       {"boba", "LibArchive::LibArchive", "ZLIB::ZLIB", "opencv_imgproc", "opencv_core",
        "JPEG::JPEG", "OpenSSL::Crypto"}},
      {"simulator/experiment/",
       {"boba/core/", "boba/text/", "boba/rules/", "boba/attacks/", "boba/files/",
        "simulator/partition/", "simulator/data/"},
       {"fmt/", "toml++/"},
       {},
       {"boba", "boba_data", "boba_partition", "tomlplusplus::tomlplusplus"}},
      {"simulator/store/",
       {"boba/core/", "boba/text/", "boba/files/"},
       {"fmt/", "sqlite3.h", "nlohmann/", "fcntl.h", "unistd.h", "sys/", "signal.h"},
       {},
       {"boba", "boba_files", "SQLite::SQLite3", "nlohmann_json::nlohmann_json"}},
      {"simulator/report/",
       {"boba/core/", "boba/text/", "boba/files/", "simulator/store/"},
       {"fmt/", "nlohmann/"},
       {},
       {"boba", "boba_files", "boba_store", "nlohmann_json::nlohmann_json"}},
      {"simulator/torch/",
       {"boba/core/", "boba/threads/", "boba/kernels/", "simulator/data/", "simulator/experiment/",
        "simulator/store/", "simulator/train/"},
       {"fmt/", "torch/", "ATen/", "c10/", "cblas.h", "malloc.h", "cuda_runtime_api.h",
        "cuda_bf16.h"},
       {},
       {"boba", "boba_data", "boba_partition", "boba_experiment", "boba_store", "boba_torch"}},
      {"simulator/train/",
       {"boba/core/", "boba/threads/", "boba/rules/", "boba/attacks/", "boba/kernels/",
        "boba/dist/", "simulator/partition/", "simulator/data/", "simulator/experiment/",
        "simulator/store/"},
       {"fmt/"},
       {},
       {"boba", "boba_dist", "boba_data", "boba_partition", "boba_experiment", "boba_store",
        "boba_torch"}},
      {"reproduction/measure/",
       {"boba/core/", "boba/threads/", "boba/algebra/", "boba/rules/", "boba/attacks/",
        "boba/kernels/", "simulator/data/", "simulator/experiment/", "simulator/store/",
        "simulator/train/", "reproduction/"},
       {"fmt/", "Eigen/"},
       {},
       {"boba", "boba_reproduction", "boba_train", "Eigen3::Eigen"}},
      {"reproduction/",
       {"boba/core/", "boba/text/", "boba/rules/", "boba/attacks/", "simulator/partition/",
        "simulator/data/", "simulator/experiment/", "simulator/store/", "simulator/report/",
        "boba/files/"},
       {"fmt/", "toml++/"},
       {},
       {"boba", "boba_files", "boba_data", "boba_experiment", "boba_store", "boba_report",
        "tomlplusplus::tomlplusplus"}},
      {"boba/capi/",
       {"boba/core/", "boba/text/", "boba/rules/", "boba/attacks/", "boba/kernels/"},
       {"fmt/"},
       {},
       {"boba_core", "boba_text", "boba_rules", "boba_attacks", "boba_kernels_cpu",
        "boba_kernels_reference", "boba_kernels_sketch"}},
      // The one header for C++ programs: it includes the others and has nothing of its own.
      {"boba/boba.h",
       {"boba/core/", "boba/rules/registry.h", "boba/attacks/registry.h", "boba/kernels/"},
       {},
       {},
       {}},
      {"python/", {"boba/"}, {"fmt/", "nanobind/"}, {}, {}},
      {"tools/",
       {"boba/", "simulator/", "reproduction/"},
       {"fmt/", "CLI/", "nlohmann/"},
       {"fcntl.h", "unistd.h", "sys/", "malloc.h", "signal.h"},
       {}},
  };
  return table;
}

// The C++20 standard library, and the headers that a C caller of boba.h has. <random> is missing on
// purpose: its distributions differ from library to library.
constexpr std::string_view kStandardHeaders =
    "algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat "
    "charconv chrono cinttypes climits clocale cmath compare complex concepts "
    "condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib "
    "cstring ctime deque exception execution filesystem forward_list fstream functional "
    "future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list "
    "locale map memory memory_resource mutex new numbers numeric optional ostream queue "
    "ranges ratio regex scoped_allocator semaphore set shared_mutex source_location "
    "span sstream stack stdexcept stop_token streambuf string string_view system_error "
    "thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility "
    "valarray variant vector version stdbool.h stddef.h stdint.h";

bool is_standard(std::string_view name) {
  static const std::set<std::string> names = [] {
    std::istringstream words{std::string(kStandardHeaders)};
    return std::set<std::string>(std::istream_iterator<std::string>(words), {});
  }();
  return names.contains(std::string(name));
}

bool is_header(std::string_view path) { return path.ends_with(".h"); }

bool is_source(std::string_view path) {
  for (std::string_view ending : {".h", ".cc", ".c", ".cpp", ".inc", ".cu", ".cuh"}) {
    if (path.ends_with(ending)) return true;
  }
  return false;
}

bool starts_with_any(std::string_view text, const std::vector<std::string_view>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

const Layer* layer_of(std::string_view path) {
  for (const Layer& layer : layers()) {
    if (path.starts_with(layer.folder)) return &layer;
  }
  return nullptr;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

std::string_view skip_space(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

// What follows #include on the line; none if the line is no include.
std::optional<std::string_view> include_of(std::string_view line) {
  line = skip_space(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = skip_space(line.substr(1));
  if (!line.starts_with("include")) return std::nullopt;
  return skip_space(line.substr(7));
}

// What is wrong with including target, as written with its quotes or brackets; empty: nothing.
std::string fault_of(const Layer& layer, std::string_view target) {
  const char close = target.starts_with('<') ? '>' : '"';
  const std::size_t end = target.empty() ? target.npos : target.find(close, 1);
  if (end == target.npos || (target[0] != '<' && target[0] != '"')) {
    return "an include names a header, not a macro";
  }
  const std::string_view name = target.substr(1, end - 1);
  if (close == '"') {
    if (!starts_with_any(name, {"boba/", "simulator/", "reproduction/", "tools/", "python/"})) {
      return "includes are relative to the root of the tree";
    }
    if (name.starts_with(layer.folder) || starts_with_any(name, layer.project)) return "";
    return std::string(layer.folder) + " may not include this folder";
  }
  if (is_standard(name)) return "";
  if (starts_with_any(name, layer.third_party) || starts_with_any(name, layer.inside)) return "";
  return std::string(layer.folder) + " may not use this library";
}

}  // namespace

std::vector<std::string> include_faults(std::string_view path, std::string_view text) {
  std::vector<std::string> faults;
  const Layer* layer = layer_of(path);
  if (layer == nullptr) {
    faults.push_back(std::string(path) + ": its folder is in no line of the table");
    return faults;
  }
  const auto lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto target = include_of(lines[i]);
    if (!target) continue;
    const std::string fault = fault_of(*layer, *target);
    if (fault.empty()) continue;
    std::ostringstream sentence;
    sentence << path << ":" << i + 1 << ": " << *target << ": " << fault;
    faults.push_back(sentence.str());
  }
  return faults;
}

std::vector<std::string> style_faults(std::string_view path, std::string_view text) {
  std::vector<std::string> faults;
  const auto lines = lines_of(text);
  const auto add = [&](std::size_t line, const std::string& what) {
    std::ostringstream sentence;
    sentence << path;
    if (line > 0) sentence << ":" << line;
    sentence << ": " << what;
    faults.push_back(sentence.str());
  };
  if (lines.size() > kMostLines) {
    add(0, std::to_string(lines.size()) + " lines; at most " + std::to_string(kMostLines));
  }
  if (is_header(path) && std::find(lines.begin(), lines.end(), "#pragma once") == lines.end()) {
    add(0, "no #pragma once");
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find('\t') != std::string_view::npos) add(i + 1, "a tab");
    if (lines[i].ends_with('\r')) add(i + 1, "a carriage return");
  }
  return faults;
}

std::vector<std::string> interface_faults(const std::vector<Source>& sources) {
  std::map<std::string_view, std::string_view> headers;
  std::vector<std::string_view> open;
  for (const Source& source : sources) {
    if (!is_header(source.path)) continue;
    headers[source.path] = source.text;
    if (source.path.ends_with("/boba.h") || source.text.find("Info info()") != std::string::npos) {
      open.push_back(source.path);
    }
  }
  std::set<std::string_view> seen(open.begin(), open.end());
  std::vector<std::string> faults;
  while (!open.empty()) {
    const std::string_view path = open.back();
    open.pop_back();
    const Layer* layer = layer_of(path);
    for (std::string_view line : lines_of(headers[path])) {
      const auto target = include_of(line);
      if (!target || target->size() < 2) continue;
      const std::string_view name = target->substr(1, target->find_first_of(">\"", 1) - 1);
      if (headers.contains(name) && seen.insert(name).second) open.push_back(name);
      if (layer != nullptr && starts_with_any(name, layer->inside)) {
        faults.push_back(std::string(path) + ": " + std::string(*target) +
                         ": a header of the interface may not use this library");
      }
    }
  }
  return faults;
}

std::vector<std::string> link_faults(std::string_view path, std::string_view text) {
  const Layer* layer = layer_of(path);
  if (layer == nullptr) return {std::string(path) + ": its folder is in no line of the table"};
  const std::size_t begin = text.find("LINKS");
  if (begin == text.npos) return {};
  const std::size_t end = text.find(')', begin);
  std::istringstream words{std::string(text.substr(begin + 5, end - begin - 5))};
  std::vector<std::string> faults;
  for (std::string word; words >> word;) {
    const auto& links = layer->links;
    if (std::find(links.begin(), links.end(), word) != links.end()) continue;
    faults.push_back(std::string(path) + ": " + std::string(layer->folder) + " may not link " +
                     word);
  }
  return faults;
}

std::vector<Source> read_sources(const std::filesystem::path& root,
                                 const std::vector<std::string>& folders) {
  std::vector<Source> sources;
  for (const std::string& folder : folders) {
    if (!std::filesystem::is_directory(root / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      std::string path = entry.path().lexically_relative(root).generic_string();
      if (!entry.is_regular_file()) continue;
      if (!is_source(path) && !path.ends_with("CMakeLists.txt")) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      sources.push_back({std::move(path), {std::istreambuf_iterator<char>(file), {}}});
    }
  }
  std::sort(sources.begin(), sources.end(),
            [](const Source& a, const Source& b) { return a.path < b.path; });
  return sources;
}

}  // namespace boba
