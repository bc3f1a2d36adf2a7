#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <string>
#include <vector>

#include "boba/core/random.h"
#include "boba/rules/bucketing.h"
#include "boba/rules/registry.h"
#include "tests/support/rules_cases.h"
#include "tests/support/rules_oracle.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

std::vector<std::size_t> draw(const RoundInput& input) {
  return permutation({.seed = input.seed, .round = input.number, .purpose = Purpose::kBucketing},
                     input.updates.size());
}

TEST(Bucketing, DealsEachClientOnce) {
  for (const std::size_t n : {2, 7, 12}) {
    for (const int s : {1, 2, 5}) {
      const auto stage = make_bucketing({.s = s, .remainder = Remainder::kKeep});
      const Mix mix = stage->stage->mix({.clients = n}, 3, 4);
      EXPECT_EQ(mix.rows(), (n + s - 1) / s);
      std::vector<int> seen(n, 0);
      for (std::size_t i = 0; i < mix.rows(); ++i) {
        double sum = 0;
        for (const Mix::Term& term : mix.terms(i)) {
          ++seen[term.row];
          sum += term.weight;
        }
        EXPECT_NEAR(sum, 1, 1e-15);
      }
      EXPECT_EQ(seen, std::vector<int>(n, 1));
    }
  }
}

TEST(Bucketing, ARoundWithoutASeedDrawsASecretOne) {
  const UpdateMatrix updates(DType::kFloat64, 20, 1);
  Round round;
  round.updates = updates.view();
  const auto rule = make_aggregator("bucketing(s=2) | average");
  std::vector<std::string> notes;
  for (int turn = 0; turn < 2; ++turn) {
    std::vector<double> out(1);
    const auto verdict = rule->aggregate(reference(), round, std::span(out));
    ASSERT_TRUE(verdict) << verdict.error().message;
    ASSERT_FALSE(verdict->notes.empty());
    notes.push_back(verdict->notes.back());
    std::uint64_t seed = 0;
    ASSERT_EQ(std::sscanf(notes.back().c_str(), "random stages drew with the seed %" SCNu64, &seed),
              1)
        << notes.back();
    // The note is the truth: the seed repeats the round.
    Round again = round;
    again.seed = seed;
    const auto repeated = rule->aggregate(reference(), again, std::span(out));
    ASSERT_TRUE(repeated);
    EXPECT_EQ(repeated->notes.size() + 1, verdict->notes.size());
    for (std::size_t i = 0; i < 20; ++i) {
      EXPECT_EQ(repeated->clients[i].bucket, verdict->clients[i].bucket) << i;
    }
  }
  EXPECT_NE(notes[0], notes[1]);
}

TEST(Bucketing, ComposesWithEveryKindOfRule) {
  sweep([](const Kernels& kernels, std::size_t n, std::size_t d, DType dtype, std::uint64_t seed) {
    RoundInput input{.updates = rounded(random_rows(n, d, seed), dtype), .dtype = dtype};
    input.server = rounded(random_rows(1, d, seed + 9), dtype);
    const Rows dropped = oracle::buckets(input.updates, draw(input), 2, false);
    const Rows kept = oracle::buckets(input.updates, draw(input), 3, true);
    const double limit = tolerance(dtype) * 10;
    const auto check = [&](const char* spec, const Row& expected) {
      EXPECT_LT(relative_error(run(kernels, spec, input).out, expected, 0.1), limit) << spec;
    };
    check("bucketing | average", oracle::mean(dropped));
    check("bucketing | coomed", oracle::coomed(dropped, false));
    check("bucketing(s=3,remainder=keep) | coomed(even=lower)", oracle::coomed(kept, true));
    check("bucketing(s=3,remainder=keep) | average", oracle::mean(kept));
    check("bucketing | fltrust", oracle::fltrust(dropped, input.server[0]));
    if (dropped.size() >= 4) {
      check("bucketing | mkrum(f=1)",
            oracle::mkrum(dropped, dropped.size() - 3, dropped.size() - 1));
      check("bucketing | trmean(f=1)", oracle::trmean(dropped, 1));
    }
  });
}

TEST(Bucketing, ProbesTheMeansOfBuckets) {
  sweep([](const Kernels& kernels, std::size_t n, std::size_t d, DType dtype, std::uint64_t seed) {
    const FullRound full = full_round(n, d, dtype, seed);
    const RoundInput& in = full.input;
    const Rows rows = oracle::buckets(in.updates, draw(in), 2, false);
    EXPECT_LT(relative_error(run(kernels, "bucketing | zeno(f=1,rho=1)", in).out,
                             oracle::zeno(rows, 1, 1, *full.loss, in.model, in.eta)),
              tolerance(dtype) * 10);
    EXPECT_LT(relative_error(run(kernels, "bucketing | avgrej(f=1)", in).out,
                             oracle::avgrej(rows, 1, *full.loss, in.model, in.eta)),
              tolerance(dtype) * 10);
    EXPECT_LT(relative_error(run(kernels, "bucketing | bygars", in).out,
                             oracle::bygars(rows, 3, 0.05, *full.loss, in.model, in.eta)),
              tolerance(dtype) * 10);
  });
}

TEST(Bucketing, StagesApplyInTheOrderWritten) {
  const RoundInput input{.updates = random_rows(13, 4, 1)};
  const Rows first = oracle::buckets(input.updates, draw(input), 2, false);
  const Rows second = oracle::buckets(first, draw(input.with_updates(first)), 3, true);
  EXPECT_LT(relative_error(
                run(reference(), "bucketing | bucketing(s=3,remainder=keep) | coomed", input).out,
                oracle::coomed(second, false)),
            1e-12);
}

TEST(Bucketing, NamesBucketsAndThoseLeftOut) {
  const RoundInput input{.updates = random_rows(7, 2, 1)};
  const Outcome o = run(reference(), "bucketing | average", input);
  const std::vector<std::size_t> order = draw(input);
  for (std::size_t k = 0; k < 6; ++k) {
    const ClientVerdict& client = o.verdict.clients[order[k]];
    EXPECT_EQ(client.bucket, k / 2);
    EXPECT_NEAR(*client.weight, 1.0 / 6, 1e-15);
  }
  const ClientVerdict& left = o.verdict.clients[order[6]];
  EXPECT_FALSE(left.bucket.has_value());
  EXPECT_FALSE(left.accepted);
  EXPECT_EQ(*left.weight, 0);
  EXPECT_EQ(left.reason, "rejected by the draw: 1 of n=7 do not fill a bucket of s=2");
}

TEST(Bucketing, DrawsAnewEachRound) {
  const RoundInput input{.updates = random_rows(20, 3, 1)};
  RoundInput later = input;
  later.number = input.number + 1;
  const char* spec = "bucketing | krum(f=1)";
  EXPECT_EQ(run(reference(), spec, input).out, run(reference(), spec, input).out);
  EXPECT_NE(run(reference(), spec, input).verdict.clients[0].bucket,
            run(reference(), spec, later).verdict.clients[0].bucket);
}

TEST(Bucketing, RefusesWhatCannotBeComputed) {
  EXPECT_EQ(error_of(reference(), "bucketing(s=3) | average", {.updates = {{1}, {2}}}),
            "bucketing needs n >= s; got n=2, s=3");
  EXPECT_EQ(
      run(reference(), "bucketing(s=3,remainder=keep) | average", {.updates = {{1}, {2}}}).out,
      (Row{1.5}));
}

}  // namespace
}  // namespace boba::test
