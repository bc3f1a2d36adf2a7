#include <string>
#include <vector>

#include "boba/files/embedded.h"
#include "boba/text/split.h"
#include "simulator/experiment/grid.h"

namespace boba::sim {

// experiments/*.toml, by cmake/boba_embed.cmake.
std::span<const EmbeddedFile> embedded_experiments();

namespace {

// The comment in the first line, without its #.
std::string_view first_comment(std::string_view toml) {
  if (!toml.starts_with('#')) return {};
  return trimmed(toml.substr(1, toml.find('\n') - 1));
}

}  // namespace

std::span<const ShippedExperiment> shipped_experiments() {
  static const std::vector<ShippedExperiment> all = [] {
    std::vector<ShippedExperiment> list;
    for (const EmbeddedFile& file : embedded_experiments()) {
      const std::string_view name = file.path.substr(0, file.path.find('.'));
      list.push_back({name, first_comment(file.text), file.text});
    }
    return list;
  }();
  return all;
}

}  // namespace boba::sim
