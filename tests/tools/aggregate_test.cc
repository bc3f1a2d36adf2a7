// boba aggregate against the library itself, and what it does when something is wrong.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boba/kernels/cpu/cpu.h"
#include "boba/rules/registry.h"
#include "tests/support/tools_npy.h"
#include "tests/support/tools_process.h"

namespace boba::test {
namespace {

using nlohmann::json;

constexpr std::size_t kClasses = 4;
constexpr std::size_t kLength = 300;

template <Element T>
RowList rows_of(const std::vector<std::vector<T>>& rows) {
  std::vector<const T*> table;
  for (const std::vector<T>& row : rows) table.push_back(row.data());
  return RowList(UpdateView(std::span<const T* const>(table), rows.front().size()));
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// A folder with updates.npy and server.npy of one attacked round.
class Aggregate : public ::testing::Test {
 protected:
  Aggregate() : sample_(sample_round(20, 3, kClasses, kLength)) { write(); }

  void write() {
    write_text(folder_.path() / "updates.npy", npy_of(sample_.updates));
    write_text(folder_.path() / "server.npy", npy_of(sample_.server));
  }
  Finished run(const std::string& rule, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"aggregate", "--rule", rule, "--updates", "updates.npy"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_boba(arguments, {.folder = folder_.path()});
  }
  json report() { return json::parse(read_text(folder_.path() / "r.json")); }
  std::vector<float> written() {
    return npy_rows<float>(read_text(folder_.path() / "a.npy"), 1, kLength).front();
  }

  TemporaryFolder folder_;
  Sample sample_;
};

TEST_F(Aggregate, SketchesOnDemandAndSaysSo) {
  const std::vector<std::string> files = {"--server", "server.npy", "--out",
                                          "a.npy",    "--report",   "r.json"};
  const auto with = [&](const char* gram) {
    std::vector<std::string> more = files;
    more.insert(more.end(), {"--gram", gram});
    return more;
  };
  ASSERT_EQ(run("boba(f=3)", with("exact")).status, 0);
  EXPECT_FALSE(report().contains("sketch"));
  const std::vector<float> exact = written();
  ASSERT_EQ(run("boba(f=3)", with("sketch(length=128,seed=5)")).status, 0);
  EXPECT_EQ(report()["sketch"], 128);
  EXPECT_TRUE(contains(report()["notes"].dump(), "sketches of length 128"));
  // Two projections may well accept the same clients and so write the same average; the lengths
  // that they keep are never the same.
  const auto lengths = [&] { return report()["subspace"]["singular_values"]; };
  const std::vector<float> first = written();
  const json kept = lengths();
  EXPECT_NE(first, exact);
  ASSERT_EQ(run("boba(f=3)", with("sketch(length=128,seed=5)")).status, 0);
  EXPECT_EQ(written(), first) << "a seed of its own";
  EXPECT_EQ(lengths(), kept) << "a seed of its own";
  ASSERT_EQ(run("boba(f=3)", with("sketch(length=128)")).status, 0);
  ASSERT_EQ(lengths().size(), kClasses - 1);
  EXPECT_NE(lengths(), kept) << "a fresh seed";
  EXPECT_FALSE(contains(report().dump(), "seed")) << "the seed is nobody's business";
  const Finished wrong = run("boba(f=3)", with("sketch(length=100)"));
  EXPECT_EQ(wrong.status, 2);
  EXPECT_TRUE(contains(wrong.err, "power of two"));
}

TEST_F(Aggregate, EqualsTheLibraryForEveryRuleWithoutAnOracle) {
  for (const char* spec :
       {"average", "server", "coomed(even=lower)", "trmean(f=3)", "krum(f=3)", "mkrum(f=3)",
        "geomed", "fltrust", "b-mkrum(f=2)", "rage(f=3)", "boba(f=3)", "bucketing(s=2) | krum(f=2)",
        "average | server-mix(lambda=0.25)"}) {
    const Finished finished = run(spec, {"--server", "server.npy", "--server-counts", "20,20,10,5",
                                         "--seed", "9", "--out", "a.npy", "--report", "r.json"});
    ASSERT_EQ(finished.status, 0) << finished.err;
    const auto rule = make_aggregator(spec);
    ASSERT_TRUE(rule) << spec;
    const RowList updates = rows_of(sample_.updates);
    const RowList server = rows_of(sample_.server);
    const std::vector<double> counts{20, 20, 10, 5};
    Round round;
    round.updates = updates.view();
    round.server = server.view();
    round.server_counts = counts;
    round.seed = 9;
    std::vector<float> out(kLength);
    const auto kernels = make_cpu_kernels();
    const auto verdict = rule->aggregate(*kernels, round, MutableRow(std::span(out)));
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_EQ(written(), out) << spec;

    const json r = report();
    EXPECT_EQ(r["rule"], rule->spec());
    EXPECT_EQ(r["n"], 23);
    EXPECT_EQ(r["d"], kLength);
    EXPECT_EQ(r["classes"], kClasses);
    if (verdict->weighted) {
      EXPECT_EQ(r["weights"].get<std::vector<double>>(), verdict->weights) << spec;
    } else {
      EXPECT_TRUE(r["weights"].is_null()) << spec;
    }
    EXPECT_EQ(r["server_weights"].get<std::vector<double>>(), verdict->server_weights) << spec;
    ASSERT_EQ(r["accepted"].size(), 23);
    ASSERT_EQ(r["clients"].size(), 23);
    for (std::size_t i = 0; i < 23; ++i) {
      const json& client = r["clients"][i];
      const ClientVerdict& expected = verdict->clients[i];
      EXPECT_EQ(r["accepted"][i], expected.accepted);
      EXPECT_EQ(client["index"], i);
      EXPECT_EQ(client["accepted"], expected.accepted);
      EXPECT_EQ(client["refused"], expected.refused);
      EXPECT_EQ(client["reason"], expected.reason);
      EXPECT_EQ(client["weight"].is_null(), !expected.weight.has_value()) << spec;
      for (const NamedValue& measure : expected.measures) {
        EXPECT_EQ(client[measure.name], measure.value) << measure.name;
      }
    }
    EXPECT_EQ(r["warnings"].get<std::vector<std::string>>(), verdict->warnings);
    EXPECT_EQ(r["notes"].get<std::vector<std::string>>(), verdict->notes);
    EXPECT_EQ(r.contains("subspace"), verdict->report("subspace") != nullptr);
    EXPECT_GT(r["seconds"].get<double>(), 0);
    EXPECT_TRUE(r["kernels"].is_string());
  }
}

TEST_F(Aggregate, BobaReportsItsSubspaceAndLabelMix) {
  const Finished finished = run("boba(f=3)", {"--server", "server.npy", "--report", "r.json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json r = report();
  const json& subspace = r["subspace"];
  EXPECT_EQ(subspace["dimension"], kClasses - 1);
  EXPECT_EQ(subspace["singular_values"].size(), kClasses - 1);
  EXPECT_EQ(subspace["explained_variance"].size(), kClasses - 1);
  EXPECT_FALSE(subspace["trimmed_loss"].empty());
  EXPECT_TRUE(subspace["converged"].is_boolean());
  EXPECT_TRUE(subspace["guarantee_possible"].is_boolean());
  EXPECT_FALSE(subspace["statements"].empty());
  for (const json& client : r["clients"]) {
    ASSERT_EQ(client["label_mix"].size(), kClasses);
    double sum = 0;
    for (const json& share : client["label_mix"]) sum += share.get<double>();
    EXPECT_NEAR(sum, 1, 1e-9);
    EXPECT_TRUE(client["in_fit"].is_boolean());
  }
  for (std::size_t i = 0; i < 23; ++i) EXPECT_EQ(r["accepted"][i], i < 20) << i;
}

TEST_F(Aggregate, WithoutFilesPrintsASummaryAndATable) {
  const Finished finished = run("boba(f=3)", {"--server", "server.npy"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  for (const char* part : {"boba(f=3) accepted 20 of 23", "updates 23 x 300 float32",
                           "server 4 x 300 float32", "singular values", "explained variance",
                           "trimmed loss", "Guarantee", "label mix", "in fit", "min_share"}) {
    EXPECT_TRUE(contains(finished.out, part)) << part << "\n" << finished.out;
  }
  // A line per client: its number stands first.
  for (int i = 0; i < 23; ++i) {
    EXPECT_TRUE(contains(finished.out, fmt::format("\n{:>6}  ", i))) << i;
  }
  EXPECT_EQ(folder_.names(), (std::vector<std::string>{"server.npy", "updates.npy"}));
}

TEST_F(Aggregate, TheSameBytesForAnyNumberOfThreads) {
  for (const char* rule : {"average", "coomed", "mkrum(f=3)", "geomed", "fltrust", "boba(f=3)"}) {
    std::string bytes;
    json first;
    for (const char* threads : {"1", "2", "3"}) {
      const Finished finished = run(rule, {"--server", "server.npy", "--threads", threads, "--out",
                                           "a.npy", "--report", "r.json"});
      ASSERT_EQ(finished.status, 0) << finished.err;
      json r = report();
      r.erase("seconds");
      r.erase("kernels");
      const std::string now = read_text(folder_.path() / "a.npy");
      if (bytes.empty()) {
        bytes = now;
        first = r;
      }
      EXPECT_EQ(now, bytes) << rule << " with " << threads;
      EXPECT_EQ(r.dump(), first.dump()) << rule << " with " << threads;
    }
  }
}

TEST_F(Aggregate, NamesARefusedClientAndUsesNullForNoNumber) {
  sample_.updates[4][7] = std::numeric_limits<float>::quiet_NaN();
  sample_.updates[5][0] = std::numeric_limits<float>::infinity();
  write();
  for (const char* rule : {"average", "mkrum(f=5)", "boba(f=5)", "coomed", "fltrust"}) {
    const Finished finished =
        run(rule, {"--server", "server.npy", "--out", "a.npy", "--report", "r.json"});
    ASSERT_EQ(finished.status, 0) << finished.err;
    EXPECT_TRUE(contains(finished.out, "refused 2")) << finished.out;
    const json r = report();  // would throw on a bare NaN or Infinity
    EXPECT_EQ(r["refused"], 2);
    for (std::size_t i : {4, 5}) {
      EXPECT_EQ(r["clients"][i]["refused"], true) << rule;
      EXPECT_EQ(r["clients"][i]["accepted"], false) << rule;
      EXPECT_FALSE(r["clients"][i]["reason"].get<std::string>().empty()) << rule;
    }
    for (float value : written()) ASSERT_TRUE(std::isfinite(value)) << rule;
  }
}

TEST_F(Aggregate, TakesFloat64) {
  const std::vector<std::vector<double>> rows{{1, 2}, {3, 4}, {5, 9}};
  write_text(folder_.path() / "updates.npy", npy_of(rows));
  const Finished finished = run("average", {"--out", "a.npy"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(npy_rows<double>(read_text(folder_.path() / "a.npy"), 1, 2).front(),
            (std::vector<double>{3, 5}));
}

TEST_F(Aggregate, FailsWithASentenceAndLeavesNothingBehind) {
  struct Case {
    std::string rule;
    std::vector<std::string> more;
    std::string says;
  };
  write_text(folder_.path() / "double.npy",
             npy_of(std::vector<std::vector<double>>{std::vector<double>(kLength, 1.0)}));
  write_text(folder_.path() / "short.npy", npy_of(std::vector<std::vector<float>>{{1, 2}, {3, 4}}));
  const Case cases[] = {
      {"zeno(f=2)", {}, "loss"},
      {"boba(f=3)", {}, "server"},
      {"krum(f=21)", {}, "n=23"},
      {"boba(f=3)", {"--server", "double.npy"}, "float64"},
      {"boba(f=3)", {"--server", "short.npy"}, "length 2"},
      {"boba(f=3)", {"--server", "missing.npy"}, "missing.npy: No such file"},
      {"boba(f=3)", {"--server", "server.npy", "--server-counts", "1,2"}, "2 server counts"},
      {"boba(f=3)", {"--server", "server.npy", "--server-counts", "1,2,0,1"}, "positive"},
  };
  const std::vector<std::string> before = folder_.names();
  for (const Case& one : cases) {
    std::vector<std::string> more = one.more;
    more.insert(more.end(), {"--out", "a.npy", "--report", "r.json"});
    const Finished finished = run(one.rule, more);
    EXPECT_EQ(finished.status, 1) << one.says;
    EXPECT_TRUE(finished.err.starts_with("boba aggregate: ")) << finished.err;
    EXPECT_TRUE(contains(finished.err, one.says)) << finished.err;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    EXPECT_EQ(finished.out, "");
    EXPECT_EQ(folder_.names(), before) << one.says;
  }
}

TEST_F(Aggregate, AnOutputThatCannotBeWrittenStopsBeforeAnythingIs) {
  const std::vector<std::string> before = folder_.names();
  for (const char* bad : {"no/such/folder/a.npy", "."}) {
    const Finished finished = run("average", {"--out", "a.npy", "--report", bad});
    EXPECT_EQ(finished.status, 1) << bad;
    EXPECT_TRUE(contains(finished.err, fmt::format("cannot write {}", bad))) << finished.err;
    EXPECT_EQ(folder_.names(), before);
  }
  EXPECT_EQ(run("average", {"--out", "x", "--report", "x"}).status, 2);
  EXPECT_EQ(folder_.names(), before);
}

TEST_F(Aggregate, AFullDiskIsAFailure) {
  const Finished finished = run("average", {"--out", "/dev/full"});
  EXPECT_EQ(finished.status, 1);
  EXPECT_TRUE(contains(finished.err, "cannot write /dev/full")) << finished.err;
}

TEST_F(Aggregate, StandardOutputIsWrittenAndNotReplaced) {
  const Finished finished = run("average", {"--report", "/dev/stdout"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const std::size_t end = finished.out.rfind("}\n");
  ASSERT_NE(end, std::string::npos) << finished.out;
  EXPECT_EQ(json::parse(finished.out.substr(0, end + 1))["rule"], "average");
  EXPECT_TRUE(contains(finished.out.substr(end), "wrote /dev/stdout")) << finished.out;
}

TEST_F(Aggregate, ReplacesAnOlderFileAndMayReplaceItsInput) {
  write_text(folder_.path() / "a.npy", "old");
  ASSERT_EQ(run("average", {"--out", "a.npy"}).status, 0);
  const std::vector<float> mean = written();
  ASSERT_EQ(run("average", {"--out", "updates.npy"}).status, 0);
  EXPECT_EQ(npy_rows<float>(read_text(folder_.path() / "updates.npy"), 1, kLength).front(), mean);
}

}  // namespace
}  // namespace boba::test
