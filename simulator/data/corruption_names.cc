// What corruptions there are, apart from what they do: who only checks a name needs no image
// library.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "boba/text/names.h"
#include "simulator/data/corruption.h"

namespace boba::sim {
namespace {

constexpr int kMostSeverity = 5;
constexpr std::size_t kCommon = 15;

constexpr std::array<CorruptionInfo, 16> kInfos = {{
    {"gaussian-noise", "normal noise on every value"},
    {"shot-noise", "as if few photons had been counted"},
    {"impulse-noise", "some values black or full"},
    {"defocus-blur", "blur of a lens out of focus"},
    {"glass-blur", "neighbouring pixels mixed up, as behind frosted glass"},
    {"motion-blur", "blur along a line"},
    {"zoom-blur", "blur away from the centre"},
    {"snow", "white streaks, and a whiter image"},
    {"frost", "a pane with ice crystals in front"},
    {"fog", "a cloud in front"},
    {"brightness", "lighter"},
    {"contrast", "closer to the mean"},
    {"elastic-transform", "stretched and bent"},
    {"pixelate", "fewer, larger pixels"},
    {"jpeg-compression", "stored as JPEG of low quality"},
    {"speckle-noise", "normal noise in proportion to the value"},
}};

}  // namespace

std::span<const CorruptionInfo> common_corruptions() { return std::span(kInfos).first(kCommon); }

std::span<const CorruptionInfo> all_corruptions() { return kInfos; }

Result<void> check_corruption(std::string_view name, int severity) {
  if (std::none_of(kInfos.begin(), kInfos.end(),
                   [&](const CorruptionInfo& info) { return info.name == name; })) {
    std::vector<std::string_view> names;
    names.reserve(kInfos.size());
    for (const CorruptionInfo& info : kInfos) names.push_back(info.name);
    const std::string close = suggestion(name, names);
    return invalid_argument(fmt::format("no corruption '{}'{} corruptions are: {}", name,
                                        close.empty() ? ";" : close, join(names)));
  }
  if (severity < 1 || severity > kMostSeverity) {
    return invalid_argument(
        fmt::format("{} has severities 1 to {}; got {}", name, kMostSeverity, severity));
  }
  return {};
}

}  // namespace boba::sim
