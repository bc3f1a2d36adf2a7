#include "reproduction/round_means.h"

namespace boba::reproduction {
namespace {

void add(double value, RoundMean& mean) {
  mean.mean += value;
  ++mean.rounds;
}

void divide(RoundMean& mean) {
  if (mean.rounds > 0) mean.mean /= static_cast<double>(mean.rounds);
}

}  // namespace

Result<RoundMeans> round_means(const sim::Store& store, const std::vector<std::int64_t>& runs) {
  RoundMeans means;
  for (const std::int64_t run : runs) {
    const auto rounds = store.rounds(run);
    if (!rounds) return rounds.error();
    for (const sim::RoundRecord& round : *rounds) {
      add(1000 * round.aggregate_seconds, means.milliseconds);
      if (round.fits) add(*round.fits, means.fits);
    }
  }
  divide(means.milliseconds);
  divide(means.fits);
  return means;
}

std::map<std::string, std::vector<std::int64_t>> runs_of(const PaperResults& results,
                                                         std::string_view rule) {
  std::map<std::string, std::vector<std::int64_t>> ids;
  for (const auto& entry : results.cells) {
    if (entry.first.rule != rule) continue;
    auto& list = ids[entry.first.dataset];
    list.insert(list.end(), entry.second.ids.begin(), entry.second.ids.end());
  }
  return ids;
}

void take_longer(const EarlierReport* earlier, std::string_view experiment,
                 std::string_view measurement, std::map<std::string, RoundMean>& means) {
  if (earlier == nullptr) return;
  for (const EarlierPoint& each : earlier->points) {
    if (each.experiment != experiment || each.measurement != measurement) continue;
    if (!(each.point.x >= 1 && each.point.x < 1e15)) continue;
    const auto rounds = static_cast<std::size_t>(each.point.x);
    RoundMean& mean = means[each.point.series];
    if (rounds > mean.rounds) mean = {each.point.y, rounds};
  }
}

}  // namespace boba::reproduction
