// What is computed rather than run, on built-in data.

#include "reproduction/measure/measure.h"

#include <gtest/gtest.h>

#include <cmath>

#include "boba/rules/registry.h"
#include "reproduction/measure/probe.h"
#include "simulator/data/catalogue.h"
#include "simulator/train/simulation.h"
#include "tests/reproduction/runs.h"
#include "tests/support/experiment_make.h"
#include "tests/support/tools_process.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

using reproduction::Points;

// Twenty clients of two shards each, three attackers.
Experiment small_experiment(const std::string& attack = "none") {
  Experiment e;
  e.rule = "boba(f=3)";
  e.attack = attack;
  e.data.set = "synthetic(train=800,test=200)";
  e.data.partition = "shards(per_client=2)";
  e.model.kind = "mlp(width=16,depth=1)";
  e.training.rounds = 5;
  e.training.learning_rate = 0.5;
  e.federation.honest = 20;
  e.federation.byzantine = 3;
  e.server.per_class = 5;
  return e;
}

const Dataset& dataset() {
  static const Dataset data = [] {
    DatasetCache cache(default_sources(""));
    auto loaded = cache.get(small_experiment().data);
    if (!loaded) throw std::runtime_error(loaded.error().message);
    return **loaded;
  }();
  return data;
}

double share_of_first(const Points& points, std::size_t first) {
  double sum = 0;
  double all = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    all += points[k].y;
    if (k < first) sum += points[k].y;
  }
  return sum / all;
}

TEST(MeasurePca, VarianceLiesInTheFirstComponentsUnderLabelSkew) {
  const auto skewed = reproduction::measure_pca(resolved(small_experiment()), dataset(), {});
  ASSERT_TRUE(skewed) << skewed.error().message;
  ASSERT_EQ(skewed->size(), 19U);
  for (std::size_t k = 1; k < skewed->size(); ++k) {
    EXPECT_LE((*skewed)[k].y, (*skewed)[k - 1].y * (1 + 1e-9));
    EXPECT_GE((*skewed)[k].y, 0);
  }
  EXPECT_GT(share_of_first(*skewed, 9), 0.9);
  Experiment iid = small_experiment();
  iid.data.partition = "iid";
  const auto even = reproduction::measure_pca(resolved(iid), dataset(), {});
  ASSERT_TRUE(even);
  double skewed_total = 0;
  double even_total = 0;
  for (const auto& point : *skewed) skewed_total += point.y;
  for (const auto& point : *even) even_total += point.y;
  EXPECT_GT(skewed_total, 2 * even_total);
}

TEST(MeasureLossRatio, IsNeverBelowOne) {
  for (const char* attack : {"none", "ipm", "lie"}) {
    const auto points =
        reproduction::measure_loss_ratio(resolved(small_experiment(attack)), dataset(), {});
    ASSERT_TRUE(points) << points.error().message;
    ASSERT_EQ(points->size(), 5U);
    for (std::size_t k = 0; k < points->size(); ++k) {
      EXPECT_EQ((*points)[k].x, static_cast<double>(k + 1));
      EXPECT_GE((*points)[k].y, 1 - 1e-9) << attack;
      EXPECT_LT((*points)[k].y, 5) << attack;
    }
  }
  Experiment other = small_experiment();
  other.rule = "average";
  EXPECT_FALSE(reproduction::measure_loss_ratio(resolved(other), dataset(), {}));
}

// Clients with false labels send updates of their own training, which a probe does not do.
TEST(Probe, RefusesAttacksOnTheData) {
  const auto probe =
      reproduction::make_probe(resolved(small_experiment("labelflip")), dataset(), {});
  ASSERT_FALSE(probe);
  EXPECT_EQ(probe.error().message,
            "attack = labelflip changes data; a measurement can take attacks on updates only");
}

TEST(MeasureTime, IsAboveZeroAndServerDataCount) {
  Experiment e = small_experiment("ipm");
  for (const char* rule : {"average", "zeno(f=3)", "boba(f=3)", "fltrust"}) {
    e.rule = rule;
    const auto points = reproduction::measure_time(resolved(e), dataset(), {});
    ASSERT_TRUE(points) << rule << ": " << points.error().message;
    EXPECT_GE(points->size(), 5U);
    for (const auto& point : *points) EXPECT_GT(point.y, 0) << rule;
  }
}

// The probe trains as a simulation does: after some rounds the models are the same.
TEST(Probe, WalksLikeASimulation) {
  const ResolvedExperiment e = resolved(small_experiment("ipm"));
  auto simulation = make_simulation(e, dataset(), {}, "x");
  ASSERT_TRUE(simulation) << simulation.error().message;
  for (int round = 1; round <= 3; ++round) ASSERT_TRUE((*simulation)->step());
  auto probe = reproduction::make_probe(e, dataset(), {});
  ASSERT_TRUE(probe) << probe.error().message;
  const auto rule = make_aggregator(e.rule);
  for (int round = 1; round <= 3; ++round) {
    ASSERT_TRUE((*probe)->train(round));
    ASSERT_TRUE(rule->aggregate((*probe)->kernels(), (*probe)->round(), (*probe)->out()));
    (*probe)->step();
  }
  const std::vector<float> expected = (*simulation)->parameters();
  const UpdateView model = (*probe)->round().model;
  ASSERT_EQ(model.length(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(model.row<float>(0)[i], expected[i]) << i;
  }
}

TEST(MeasurePicture, BobaIsLeastBiasedAndLeastMoved) {
  const auto points = reproduction::measure_picture(1, true);
  ASSERT_TRUE(points) << points.error().message;
  const auto centre = std::find_if(points->begin(), points->end(),
                                   [](const auto& p) { return p.series == "centre"; });
  ASSERT_NE(centre, points->end());
  std::map<std::string, double> far;
  for (const auto& point : *points) {
    double& most = far[point.series];
    most = std::max(most, std::hypot(point.x - centre->x, point.y - centre->y));
  }
  for (const char* rule : {"geomed", "krum", "coomed"}) {
    EXPECT_LT(far["boba none"], far[std::string(rule) + " none"]) << rule;
    EXPECT_LT(far["boba attack"], far[std::string(rule) + " attack"]) << rule;
  }
  const auto again = reproduction::measure_picture(1, true);
  ASSERT_TRUE(again);
  ASSERT_EQ(again->size(), points->size());
  for (std::size_t i = 0; i < points->size(); ++i) {
    EXPECT_EQ((*again)[i].x, (*points)[i].x);
    EXPECT_EQ((*again)[i].y, (*points)[i].y);
  }
}

TEST(RunMeasurements, MeasuresWhatIsMissing) {
  const TemporaryFolder folder;
  auto store = Store::open(folder / "m.db", OpenMode::kCreate);
  ASSERT_TRUE(store);
  const auto file = reproduction::parse_paper(R"toml(title = "T"
kind = "pca"
[[grid]]
name = "a"
experiment = "synthetic"
seeds = 2
set = ['rule=average', 'attack=none', 'data.partition=["iid", "shards(per_client=2)"]']
)toml",
                                              "x.toml", "x");
  ASSERT_TRUE(file) << file.error().message;
  DatasetCache data(default_sources(""));
  std::size_t heard = 0;
  const auto listen = [&](std::size_t, std::size_t all, const std::string&) {
    EXPECT_EQ(all, 4U);
    ++heard;
  };
  const auto first = reproduction::run_measurements(*file, {}, data, *store, listen);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->done, 4U);
  EXPECT_EQ(heard, 4U);
  const auto second = reproduction::run_measurements(*file, {}, data, *store, listen);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->done, 0U);
  EXPECT_EQ(second->before, 4U);
  EXPECT_EQ(store->measurements("x")->size(), 4U);
}

}  // namespace
}  // namespace boba::test
