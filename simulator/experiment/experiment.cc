#include "simulator/experiment/experiment.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "boba/text/printable.h"
#include "simulator/experiment/keys.h"

namespace boba::sim {
namespace {

constexpr std::string_view kEquals = " = ";

Result<void> read_line(std::string_view line, std::set<std::string>& seen, Experiment& experiment) {
  const std::size_t at = line.find(kEquals);
  if (at == line.npos) {
    return invalid_argument(fmt::format("expected 'key = value'; got '{}'", excerpt(line)));
  }
  const std::string path(line.substr(0, at));
  const Key* key = find_key(path);
  if (key == nullptr) {
    const std::size_t dot = path.find('.');
    if (dot == path.npos) return unknown_key("", path);
    return unknown_key(path.substr(0, dot), path.substr(dot + 1));
  }
  if (!seen.insert(path).second) return invalid_argument(fmt::format("{} is given twice", path));
  return key->read(value_of_text(*key, line.substr(at + kEquals.size())), experiment);
}

}  // namespace

Result<Experiment> experiment_from_text(const std::string& text) {
  Experiment experiment;
  std::set<std::string> seen;
  std::size_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    ++number;
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    if (Result<void> good = read_line(line, seen, experiment); !good) {
      return invalid_argument(
          fmt::format("line {} of the experiment: {}", number, good.error().message));
    }
  }
  for (const char* needed : {"rule", "attack", "seed"}) {
    if (!seen.contains(needed)) {
      return invalid_argument(fmt::format("the text is not an experiment: it has no {}", needed));
    }
  }
  return experiment;
}

}  // namespace boba::sim
