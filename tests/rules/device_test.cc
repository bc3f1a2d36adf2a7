// Every rule on rows in a GPU's memory, against the processor. Without a GPU: what is said then.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "boba/kernels/cuda/cuda.h"
#include "boba/kernels/cuda/view.h"
#include "boba/rules/registry.h"
#include "tests/support/rules_cases.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

UpdateMatrix matrix_of(const Rows& rows, DType dtype) {
  UpdateMatrix matrix(dtype, rows.size(), rows.empty() ? 0 : rows.front().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    visit(dtype, [&](auto zero) {
      using T = decltype(zero);
      for (std::size_t k = 0; k < rows[i].size(); ++k) {
        matrix.row_as<T>(i)[k] = static_cast<T>(rows[i][k]);
      }
    });
  }
  return matrix;
}

// Rows of the host's, copied to where the kernels work.
class There {
 public:
  There(const Kernels& kernels, const Rows& rows, DType dtype)
      : matrix_(kernels.make_rows(dtype, rows.size(), rows.empty() ? 0 : rows.front().size())) {
    const UpdateMatrix host = matrix_of(rows, dtype);
    for (std::size_t i = 0; i < rows.size(); ++i) kernels.put(host.view(), i, matrix_.row(i));
  }

  DeviceView view() const {
    auto view = DeviceView::make(matrix_.view());
    EXPECT_TRUE(view.ok()) << view.error().message;
    return view ? *view : DeviceView();
  }

 private:
  UpdateMatrix matrix_;
};

Row fetched(const Kernels& kernels, const UpdateView& rows) {
  UpdateMatrix host(rows.dtype(), 1, rows.length());
  kernels.get(rows, 0, host.row(0));
  return visit(rows.dtype(), [&](auto zero) {
    const auto span = host.row_as<decltype(zero)>(0);
    return Row(span.begin(), span.end());
  });
}

// Asks an oracle of the host's about points on the GPU.
class FetchingOracle final : public ServerOracle {
 public:
  FetchingOracle(const Kernels& kernels, ServerOracle& inner) : kernels_(kernels), inner_(inner) {}

  Result<double> loss(const UpdateView& point) override {
    const UpdateMatrix host = at_home(point);
    return inner_.loss(host.view());
  }
  Result<void> gradient(const UpdateView& point, MutableRow out) override {
    const UpdateMatrix host = at_home(point);
    UpdateMatrix slope(out.dtype(), 1, out.length());
    const Result<void> done = inner_.gradient(host.view(), slope.row(0));
    if (done) kernels_.put(slope.view(), 0, out);
    return done;
  }

 private:
  UpdateMatrix at_home(const UpdateView& point) const {
    UpdateMatrix host(point.dtype(), 1, point.length());
    kernels_.get(point, 0, host.row(0));
    return host;
  }

  const Kernels& kernels_;
  ServerOracle& inner_;
};

TEST(DeviceRound, SaysWhatIsMissingWhereThereIsNoGpu) {
  if (make_cuda_kernels()) GTEST_SKIP() << "there is a GPU";
  const UpdateMatrix rows(DType::kFloat32, 2, 8);
  const auto view = DeviceView::make(rows.view());
  ASSERT_FALSE(view.ok());
  EXPECT_NE(view.error().message, "");
}

TEST(DeviceRound, RefusesRowsOfTheHost) {
  if (!make_cuda_kernels()) GTEST_SKIP() << "no GPU";
  const UpdateMatrix rows(DType::kFloat32, 2, 8);
  const auto view = DeviceView::make(rows.view());
  ASSERT_FALSE(view.ok());
  EXPECT_NE(view.error().message.find("row 0 is"), std::string::npos) << view.error().message;
}

class DeviceRules : public ::testing::TestWithParam<RuleCase> {};

TEST_P(DeviceRules, AgreeWithTheProcessor) {
  const auto made = make_cuda_kernels();
  if (!made) GTEST_SKIP() << "no GPU";
  const Kernels& cuda = **made;
  const RuleCase& rule = GetParam();
  for (const DType dtype : kDTypes) {
    for (const std::size_t d : {7U, 1000U, 40'003U}) {
      const FullRound full = full_round(13, d, dtype, 5 + d);
      const RoundInput& input = full.input;
      const std::string spec = rule.spec(2);
      const Outcome expected = run(reference(), spec, input);

      const auto aggregator = make_aggregator(spec);
      ASSERT_TRUE(aggregator.ok());
      const There updates(cuda, input.updates, dtype);
      const There server(cuda, input.server, dtype);
      const There whole(cuda, input.whole.empty() ? Rows{} : Rows{input.whole}, dtype);
      const There model(cuda, input.model.empty() ? Rows{} : Rows{input.model}, dtype);
      UpdateMatrix out = cuda.make_rows(dtype, 1, d);
      FetchingOracle oracle(cuda, *input.oracle);
      DeviceRound round{.updates = updates.view(),
                        .ids = input.ids,
                        .server = server.view(),
                        .server_counts = input.counts,
                        .model = model.view(),
                        .learning_rate = input.eta,
                        .oracle = &oracle,
                        .seed = input.seed,
                        .number = input.number};
      if (!input.whole.empty()) round.server_whole = whole.view();
      const auto verdict = aggregate(*aggregator, cuda, round, out.row(0));
      ASSERT_TRUE(verdict.ok()) << spec << ": " << verdict.error().message;
      for (std::size_t i = 0; i < input.updates.size(); ++i) {
        EXPECT_EQ(verdict->clients[i].accepted, expected.verdict.clients[i].accepted)
            << spec << ", client " << i << ", d = " << d;
      }
      const Row result = fetched(cuda, out.view());
      EXPECT_LT(relative_error(result, expected.out, 1e-3), 20 * tolerance(dtype))
          << spec << ", d = " << d << ", " << name(dtype);
    }
  }
}

TEST_P(DeviceRules, RememberAsOnTheProcessor) {
  const auto made = make_cuda_kernels();
  if (!made) GTEST_SKIP() << "no GPU";
  const Kernels& cuda = **made;
  const auto rule = make_aggregator(GetParam().spec(2));
  ASSERT_TRUE(rule.ok());
  if (!rule->uses_memory()) return;
  constexpr std::size_t kLength = 9000;
  const FullRound full = full_round(13, kLength, DType::kFloat64, 21);
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < 13; ++i) ids.push_back("client " + std::to_string(i));
  UpdateMatrix there_out = cuda.make_rows(DType::kFloat64, 1, kLength);
  UpdateMatrix out(DType::kFloat64, 1, kLength);
  const UpdateMatrix updates = matrix_of(full.input.updates, DType::kFloat64);
  const UpdateMatrix server = matrix_of(full.input.server, DType::kFloat64);
  const There there_updates(cuda, full.input.updates, DType::kFloat64);
  const There there_server(cuda, full.input.server, DType::kFloat64);
  Memory expected;
  Memory memory;
  for (int number = 0; number < 7; ++number) {
    ASSERT_TRUE(rule->aggregate(reference(),
                                {.updates = updates.view(), .ids = ids, .server = server.view()},
                                out.row(0), &expected));
    const DeviceRound round{
        .updates = there_updates.view(), .ids = ids, .server = there_server.view()};
    const auto verdict = aggregate(*rule, cuda, round, there_out.row(0), &memory);
    ASSERT_TRUE(verdict.ok()) << verdict.error().message;
  }
  EXPECT_EQ(memory.rounds(), 7U);
  ASSERT_EQ(memory.clients(), 13U);
  for (const std::string& id : ids) {
    EXPECT_LT(relative_error(memory.find(id)->state, expected.find(id)->state), 1e-6) << id;
  }
}

INSTANTIATE_TEST_SUITE_P(All, DeviceRules, ::testing::ValuesIn(rule_cases()),
                         [](const auto& tested) { return test_name(tested.param.name()); });

}  // namespace
}  // namespace boba::test
