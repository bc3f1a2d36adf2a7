#include "boba/core/open_round.h"

#include <gtest/gtest.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <atomic>
#include <cstring>
#include <fstream>
#include <thread>

#include "boba/core/random.h"
#include "boba/kernels/cpu/cpu.h"
#include "boba/kernels/reference/reference.h"
#include "boba/rules/registry.h"
#include "tests/support/label_skew.h"
#include "tests/support/rules_cases.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

UpdateMatrix matrix_of(const Rows& rows, DType dtype) {
  UpdateMatrix matrix(dtype, rows.size(), rows.empty() ? 0 : rows[0].size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    visit(dtype, [&]<Element T>(T) {
      for (std::size_t k = 0; k < rows[i].size(); ++k) {
        matrix.row_as<T>(i)[k] = static_cast<T>(rows[i][k]);
      }
    });
  }
  return matrix;
}

RowList one_row(const UpdateView& rows, std::size_t i) {
  RowList one(rows.dtype(), rows.length());
  one.add(rows, i);
  return one;
}

std::vector<std::string> names(std::size_t n) {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < n; ++i) ids.push_back("client-" + std::to_string(100 + i));
  return ids;
}

// A round, closed and open.
struct Scene {
  explicit Scene(const RoundInput& input)
      : updates(matrix_of(input.updates, input.dtype)),
        server(matrix_of(input.server, input.dtype)),
        model(matrix_of({input.model}, input.dtype)),
        ids(names(input.updates.size())),
        from(input) {}

  OpenRoundOptions options() const {
    OpenRoundOptions options;
    options.dtype = updates.dtype();
    options.length = updates.length();
    options.cohort = ids;
    options.server = server.view();
    options.server_counts = from.counts;
    if (!from.model.empty()) options.model = model.view();
    options.learning_rate = from.eta;
    options.oracle = from.oracle;
    options.seed = from.seed;
    options.number = from.number;
    return options;
  }

  UpdateMatrix updates;
  UpdateMatrix server;
  UpdateMatrix model;
  std::vector<std::string> ids;
  const RoundInput& from;
};

struct Closed {
  Verdict verdict;
  std::vector<std::byte> bytes;
  Row out;
};

Closed close(OpenRound& round, DType dtype, std::size_t length) {
  UpdateMatrix out(dtype, 1, length);
  Result<Verdict> verdict = round.close(0, out.row(0));
  EXPECT_TRUE(verdict) << (verdict ? "" : verdict.error().message);
  if (!verdict) return {};
  Closed closed{*std::move(verdict), {}, {}};
  visit(dtype, [&]<Element T>(T) {
    const std::span<T> row = out.row_as<T>(0);
    const auto bytes = std::as_bytes(row);
    closed.bytes.assign(bytes.begin(), bytes.end());
    closed.out.assign(row.begin(), row.end());
  });
  return closed;
}

Closed fill(const Kernels& kernels, std::string_view spec, const Scene& scene,
            const std::vector<std::size_t>& order, OpenRoundOptions options) {
  const Result<Aggregator> rule = make_aggregator(spec);
  Result<OpenRound> round = OpenRound::open(kernels, *rule, std::move(options));
  EXPECT_TRUE(round) << spec << ": " << (round ? "" : round.error().message);
  if (!round) return {};
  for (std::size_t i : order) {
    // A refused one says so here, and counts at the close.
    (void)round->submit(scene.ids[i], one_row(scene.updates.view(), i).view());
  }
  return close(*round, scene.updates.dtype(), scene.updates.length());
}

std::vector<std::size_t> in_order(std::size_t n) { return permutation({.seed = 3}, n); }

class OpenAndClosed : public testing::TestWithParam<RuleCase> {};

TEST_P(OpenAndClosed, GiveTheSame) {
  for (const auto& kernels : all_kernels()) {
    for (DType dtype : kDTypes) {
      FullRound full = full_round(15, 700, dtype, 31);
      full.input.updates[4][17] = kNaN;
      const Outcome closed = run(*kernels, GetParam().spec(3), full.input);
      const Scene scene(full.input);
      const Closed open = fill(*kernels, GetParam().spec(3), scene, in_order(15), scene.options());
      ASSERT_EQ(open.verdict.clients.size(), 15U);
      EXPECT_EQ(open.verdict.rule, closed.verdict.rule);
      EXPECT_EQ(open.verdict.refused, 1U);
      EXPECT_TRUE(open.verdict.clients[4].refused);
      EXPECT_EQ(open.verdict.warnings, closed.verdict.warnings);
      EXPECT_LT(relative_error(open.out, closed.out), tolerance(dtype)) << kernels->name();
      for (std::size_t i = 0; i < 15; ++i) {
        EXPECT_EQ(open.verdict.clients[i].id, scene.ids[i]);
        EXPECT_EQ(open.verdict.clients[i].accepted, closed.verdict.clients[i].accepted) << i;
        EXPECT_NEAR(open.verdict.clients[i].weight.value_or(0),
                    closed.verdict.clients[i].weight.value_or(0), tolerance(dtype));
      }
    }
  }
}

TEST_P(OpenAndClosed, TheOrderOfArrivalChangesNoBit) {
  for (DType dtype : kDTypes) {
    const FullRound full = full_round(13, 5000, dtype, 32);
    const Scene scene(full.input);
    const auto kernels = make_cpu_kernels({.threads = 1});
    std::vector<std::size_t> rising(13);
    for (std::size_t i = 0; i < 13; ++i) rising[i] = i;
    const Closed a = fill(*kernels, GetParam().spec(2), scene, rising, scene.options());
    const std::vector<std::size_t> falling(rising.rbegin(), rising.rend());
    const auto more = make_cpu_kernels({.threads = 3, .grain = 1});
    for (const auto& order : {falling, in_order(13)}) {
      const Closed b = fill(*more, GetParam().spec(2), scene, order, scene.options());
      EXPECT_EQ(b.bytes, a.bytes);
      EXPECT_EQ(b.verdict.weights, a.verdict.weights);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllRules, OpenAndClosed, testing::ValuesIn(rule_cases()),
                         [](const auto& each) { return test_name(each.param.name()); });

// Label-skewed rows with a common part, as gradients have.
Rows rows_of(const Eigen::MatrixXd& matrix) {
  Rows rows;
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    const Eigen::VectorXd row = matrix.row(i);
    rows.emplace_back(row.data(), row.data() + row.size());
  }
  return rows;
}

RoundInput skewed(double common, DType dtype, Forgery forgery = Forgery::kIpm) {
  const SkewedRound made = make_skewed(
      {.honest = 50, .byzantine = 8, .classes = 5, .length = 3000, .common = common}, forgery);
  RoundInput input;
  input.updates = rows_of(made.updates);
  input.server = rows_of(made.server);
  input.dtype = dtype;
  return input;
}

// Rules with a memory, over rounds enough for every test that they make.
TEST_P(OpenAndClosed, RememberAlike) {
  const Result<Aggregator> rule = make_aggregator(GetParam().spec(8));
  if (!rule->uses_memory()) return;
  const auto kernels = make_cpu_kernels({.threads = 2});
  const RoundInput input = skewed(1, DType::kFloat64);
  const Scene scene(input);
  UpdateMatrix out(DType::kFloat64, 1, scene.updates.length());
  Memory whole;
  Memory open;
  for (int number = 0; number < 7; ++number) {
    const Round round{
        .updates = scene.updates.view(), .ids = scene.ids, .server = scene.server.view()};
    const Result<Verdict> expected = rule->aggregate(*kernels, round, out.row(0), &whole);
    ASSERT_TRUE(expected) << expected.error().message;
    Result<OpenRound> filling = OpenRound::open(*kernels, *rule, scene.options());
    for (std::size_t i : in_order(scene.ids.size())) {
      EXPECT_TRUE(filling->submit(scene.ids[i], one_row(scene.updates.view(), i).view()));
    }
    const Result<Verdict> verdict = filling->close(0, out.row(0), &open);
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_EQ(verdict->notes, expected->notes);
    for (std::size_t i = 0; i < scene.ids.size(); ++i) {
      EXPECT_EQ(verdict->clients[i].accepted, expected->clients[i].accepted) << i;
      const Memory::Client* a = open.find(scene.ids[i]);
      const Memory::Client* b = whole.find(scene.ids[i]);
      ASSERT_TRUE(a != nullptr && b != nullptr) << i;
      EXPECT_EQ(a->seen, b->seen);
      EXPECT_LT(relative_error(a->state, b->state), 1e-6) << i;
    }
  }
  EXPECT_EQ(open.rounds(), 7U);
  EXPECT_EQ(open.save().size(), whole.save().size());
}

TEST(OpenRoundThreads, ManyUploadsAtOnceGiveTheSameBits) {
  const RoundInput input = skewed(1, DType::kFloat32);
  const Scene scene(input);
  const std::size_t n = input.updates.size();
  const auto kernels = make_cpu_kernels({.threads = 2, .grain = 1});
  const Closed alone = fill(*kernels, "boba(f=8)", scene, in_order(n), scene.options());
  const Result<Aggregator> rule = make_aggregator("boba(f=8)");
  for (int turn = 0; turn < 3; ++turn) {
    Result<OpenRound> round = OpenRound::open(*kernels, *rule, scene.options());
    ASSERT_TRUE(round);
    std::atomic<std::size_t> next{0};
    std::atomic<int> refused{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (std::size_t i = next++; i < 2 * n; i = next++) {
          // Every client twice: the second one is refused, whichever it is.
          const RowList row = one_row(scene.updates.view(), i % n);
          if (i % 3 == 0) {
            Result<OpenRound::Upload> upload =
                round->begin(scene.ids[i % n], DType::kFloat32, scene.updates.length());
            const auto bytes = std::as_bytes(std::span(row.view().row<float>(0), 3000));
            const bool in = upload && upload->append(bytes.first(1001)) &&
                            upload->append(bytes.subspan(1001)) && upload->finish();
            refused += in ? 0 : 1;
          } else {
            refused += round->submit(scene.ids[i % n], row.view()) ? 0 : 1;
          }
          (void)round->may_close(0);
          (void)round->progress();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(refused.load(), static_cast<int>(n));
    ASSERT_TRUE(round->may_close(0));
    const Closed open = close(*round, DType::kFloat32, 3000);
    EXPECT_EQ(open.bytes, alone.bytes);
    EXPECT_EQ(open.verdict.weights, alone.verdict.weights);
  }
}

TEST(OpenRoundThreads, ClosingWaitsForUploadsBeingWorkedOn) {
  const RoundInput input = skewed(1, DType::kFloat32);
  const Scene scene(input);
  const auto kernels = make_cpu_kernels({.threads = 1});
  const Result<Aggregator> rule = make_aggregator("mkrum(f=2)");
  OpenRoundOptions options = scene.options();
  options.quorum = 10;
  Result<OpenRound> round = OpenRound::open(*kernels, *rule, options);
  ASSERT_TRUE(round);
  std::atomic<std::size_t> in{0};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i < scene.ids.size(); i += 3) {
        if (round->submit(scene.ids[i], one_row(scene.updates.view(), i).view())) ++in;
      }
    });
  }
  while (!round->may_close(0)) std::this_thread::yield();
  const Closed open = close(*round, DType::kFloat32, 3000);
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(open.verdict.updates, 10U);
  EXPECT_EQ(open.verdict.updates, in.load()) << "in, or told that it is late";
  EXPECT_EQ(open.verdict.updates + open.verdict.absent.size(), scene.ids.size());
}

// Far more in common than differences: products about 0 are no use, and closing makes its own.
TEST(OpenRoundNumerics, ACommonPartDoesNoHarm) {
  for (DType dtype : kDTypes) {
    for (double common : {1.0, 100.0, 1e5}) {
      const RoundInput input = skewed(common, dtype);
      const Scene scene(input);
      const auto kernels = make_cpu_kernels({.threads = 2});
      const Outcome closed = run(*kernels, "boba(f=8)", input);
      const Closed open = fill(*kernels, "boba(f=8)", scene, in_order(58), scene.options());
      for (std::size_t i = 0; i < 58; ++i) {
        EXPECT_EQ(open.verdict.clients[i].accepted, closed.verdict.clients[i].accepted)
            << i << " common " << common;
      }
      EXPECT_LT(relative_error(open.out, closed.out), tolerance(dtype)) << common;
    }
  }
}

TEST(OpenRoundSketch, WeighsSketchesAndSaysSo) {
  const RoundInput input = skewed(1, DType::kFloat32, Forgery::kLie);
  const Scene scene(input);
  const auto kernels = make_cpu_kernels({.threads = 2});
  OpenRoundOptions options = scene.options();
  options.sketch = SketchPlan{.seed = 99, .length = 1024};
  const Closed sketched = fill(*kernels, "boba(f=8)", scene, in_order(58), options);
  const Closed exact = fill(*kernels, "boba(f=8)", scene, in_order(58), scene.options());
  EXPECT_EQ(sketched.verdict.sketch, 1024U);
  EXPECT_EQ(exact.verdict.sketch, 0U);
  EXPECT_NE(sketched.verdict.weights, exact.verdict.weights);
  for (std::size_t i = 0; i < 58; ++i) {
    EXPECT_EQ(sketched.verdict.clients[i].accepted, exact.verdict.clients[i].accepted) << i;
  }
  EXPECT_LT(relative_error(sketched.out, exact.out), 0.02);
  std::vector<std::size_t> back(58);
  for (std::size_t i = 0; i < 58; ++i) back[i] = 57 - i;
  EXPECT_EQ(fill(*kernels, "boba(f=8)", scene, back, options).bytes, sketched.bytes);
  // Sketches as long as the updates are the updates.
  options.sketch->length = 4096;
  EXPECT_EQ(fill(*kernels, "boba(f=8)", scene, back, options).bytes, exact.bytes);
}

// Resident memory, where the system tells and no sanitizer keeps records of its own.
std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  file >> total >> resident;
  return resident * 4096;
}

TEST(OpenRoundMemory, HoldsOneCopyOfEachUpdateAndNothingMore) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep memory of their own";
#endif
  if (resident_bytes() == 0) GTEST_SKIP() << "this system does not tell";
  constexpr std::size_t kClients = 40;
  constexpr std::size_t kLength = 1 << 19;  // 2 MiB each
  const auto kernels = make_cpu_kernels({.threads = 2});
  const Result<Aggregator> rule = make_aggregator("mkrum(f=4)");
  UpdateMatrix update(DType::kFloat32, 1, kLength);
  UpdateMatrix out(DType::kFloat32, 1, kLength);
  kernels->normal({.seed = 1}, 1, out.row(0));
  const std::vector<std::string> ids = names(kClients);
#if defined(__GLIBC__)
  malloc_trim(0);  // what earlier tests freed would be used again unseen
#endif
  const std::size_t before = resident_bytes();
  Result<OpenRound> round = OpenRound::open(*kernels, *rule, {.length = kLength, .cohort = ids});
  ASSERT_TRUE(round);
  std::size_t accepted = 0;
  for (std::size_t i = 0; i < kClients; ++i) {
    kernels->normal({.seed = i}, 1, update.row(0));
    if (i % 4 == 1) update.row_as<float>(0)[kLength - 1] = std::numeric_limits<float>::infinity();
    accepted += round->submit(ids[i], update.view()) ? 1 : 0;
  }
  EXPECT_EQ(accepted, 30U);
  const std::size_t copies = accepted * kLength * sizeof(float);
  EXPECT_EQ(round->progress().bytes, copies);
  ASSERT_TRUE(round->close(0, out.row(0)));
  const std::size_t grown = resident_bytes() - before;
  EXPECT_GE(grown, copies);
  EXPECT_LE(grown, copies + (std::size_t{4} << 20)) << "two rows' worth for all the rest";
}

}  // namespace
}  // namespace boba::test
