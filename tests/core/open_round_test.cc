#include "boba/core/open_round.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "boba/kernels/reference/reference.h"
#include "boba/kernels/sketch/sketch.h"
#include "tests/core/toys.h"

namespace boba {
namespace {

constexpr std::size_t kLength = 5;

// Row (x, x + 1, ...).
template <class T = float>
UpdateMatrix update(double x, std::size_t length = kLength) {
  UpdateMatrix matrix(kDType<T>, 1, length);
  for (std::size_t k = 0; k < length; ++k) {
    matrix.row_as<T>(0)[k] = static_cast<T>(x + static_cast<double>(k));
  }
  return matrix;
}

std::span<const std::byte> bytes_of(const UpdateMatrix& matrix) {
  return std::as_bytes(std::span(matrix.view().row<float>(0), matrix.length()));
}

class OpenRoundTest : public ::testing::Test {
 protected:
  OpenRound open(OpenRoundOptions options, const Aggregator& rule = toys::mean()) {
    options.length = options.length == 0 ? kLength : options.length;
    Result<OpenRound> round = OpenRound::open(*kernels_, rule, std::move(options));
    EXPECT_TRUE(round) << (round ? "" : round.error().message);
    return *std::move(round);
  }
  Error open_error(OpenRoundOptions options, const Aggregator& rule = toys::mean()) {
    const Result<OpenRound> round = OpenRound::open(*kernels_, rule, std::move(options));
    EXPECT_FALSE(round);
    return round ? Error{} : round.error();
  }

  std::unique_ptr<const Kernels> kernels_ = make_reference_kernels();
  UpdateMatrix out_{DType::kFloat32, 1, kLength};
};

void expect_refused(const Result<void>& result, std::string_view part) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kRefused);
  EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
}

TEST_F(OpenRoundTest, RowsAreInTheCohortsOrder) {
  OpenRound round = open({.cohort = {"c", "a", "b"}});
  EXPECT_TRUE(round.submit("b", update(3).view()));
  EXPECT_TRUE(round.submit("c", update(1).view()));
  EXPECT_FALSE(round.may_close(0));
  EXPECT_TRUE(round.submit("a", update(2).view()));
  EXPECT_TRUE(round.may_close(0));
  const Result<Verdict> verdict = round.close(0, out_.row(0));
  ASSERT_TRUE(verdict) << verdict.error().message;
  ASSERT_EQ(verdict->clients.size(), 3U);
  EXPECT_EQ(verdict->clients[0].id, "c");
  EXPECT_EQ(verdict->clients[1].id, "a");
  EXPECT_EQ(verdict->clients[2].id, "b");
  EXPECT_TRUE(verdict->absent.empty());
  EXPECT_EQ(out_.view().row<float>(0)[0], 2);
}

TEST_F(OpenRoundTest, WithoutACohortRowsAreInTheOrderOfIds) {
  OpenRound round = open({.most = 3, .quorum = 2});
  EXPECT_TRUE(round.submit("z", update(1).view()));
  EXPECT_TRUE(round.submit("a", update(3).view()));
  EXPECT_TRUE(round.may_close(0));
  expect_refused(round.submit("", update(1).view()), "must not be empty");
  EXPECT_TRUE(round.submit("m", update(2).view()));
  expect_refused(round.submit("late", update(2).view()), "takes 3 updates");
  const Result<Verdict> verdict = round.close(0, out_.row(0));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->clients[0].id, "a");
  EXPECT_EQ(verdict->clients[1].id, "m");
  EXPECT_EQ(verdict->clients[2].id, "z");
}

// Ids cost nothing where there is no cohort: made-up ones must neither fill the round, nor stand
// in for a quorum, nor use up the rule's f, nor take memory without end.
TEST_F(OpenRoundTest, WithoutACohortJunkTakesNobodysPlace) {
  OpenRound round = open({.most = 10, .quorum = 5});
  for (int i = 0; i < 1000; ++i) {
    const std::string id = "junk-" + std::to_string(i);
    expect_refused(round.submit(id, update(1, 4).view()), "of length 4");
    const Result<OpenRound::Upload> begun = round.begin(id, DType::kFloat64, kLength);
    ASSERT_FALSE(begun);
    EXPECT_EQ(begun.error().code, ErrorCode::kRefused);
  }
  UpdateMatrix bad = update(1);
  bad.row_as<float>(0)[0] = std::numeric_limits<float>::quiet_NaN();
  for (int i = 0; i < 20; ++i) {
    expect_refused(round.submit("nan-" + std::to_string(i), bad.view()), "NaN");
  }
  EXPECT_EQ(round.progress().refused, 10U) << "as many as may come are remembered";
  EXPECT_EQ(round.progress().uploading, 0U);
  expect_refused(round.submit("junk-3", update(1).view()), "was refused before");
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(round.may_close(0)) << i;
    EXPECT_FALSE(round.close(0, out_.row(0))) << i;
    EXPECT_TRUE(round.submit("honest-" + std::to_string(i), update(i).view())) << i;
  }
  const Result<Verdict> verdict = round.close(0, out_.row(0));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->updates, 5U);
  EXPECT_EQ(verdict->refused, 0U) << "they would lower the f of the rule";
  EXPECT_EQ(out_.view().row<float>(0)[0], 2);
}

// Nobody knows whether an upload will ever end: one that waits keeps nobody's update out.
TEST_F(OpenRoundTest, WithoutACohortUnfinishedUploadsTakeNobodysPlace) {
  OpenRound round = open({.most = 2});
  Result<OpenRound::Upload> a = round.begin("a", DType::kFloat32, kLength);
  Result<OpenRound::Upload> b = round.begin("b", DType::kFloat32, kLength);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(round.progress().uploading, 2U);
  EXPECT_TRUE(round.submit("c", update(1).view()));
  EXPECT_FALSE(round.may_close(0));
  const UpdateMatrix kept = update(3);
  EXPECT_TRUE(round.adopt("d", kept.view()));
  EXPECT_TRUE(round.may_close(0));
  // Those that are late find it full, and leave no trace.
  EXPECT_TRUE(a->append(bytes_of(update(9))));
  expect_refused(a->finish(), "takes 2 updates, and all have come");
  expect_refused(round.submit("e", update(1).view()), "takes 2 updates, and all have come");
  expect_refused(b->append(bytes_of(update(std::nan("")))), "NaN");
  EXPECT_EQ(round.progress().uploading, 0U);
  const Result<Verdict> verdict = round.close(0, out_.row(0));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->updates, 2U);
  EXPECT_TRUE(verdict->absent.empty());
  EXPECT_EQ(out_.view().row<float>(0)[0], 2);
}

TEST_F(OpenRoundTest, WithoutACohortUnfinishedUploadsHaveALimit) {
  const auto begin = [](OpenRound& round, int i) {
    return round.begin("upload-" + std::to_string(i), DType::kFloat32, kLength);
  };
  for (const std::size_t given : {0, 3}) {
    OpenRound round = open({.most = 5, .most_uploads = given});
    const std::size_t limit = given == 0 ? 5 : given;
    std::vector<OpenRound::Upload> begun;
    for (std::size_t i = 0; i < limit; ++i) {
      Result<OpenRound::Upload> upload = begin(round, static_cast<int>(i));
      ASSERT_TRUE(upload) << i;
      begun.push_back(*std::move(upload));
    }
    for (int i = 100; i < 200; ++i) {
      const Result<OpenRound::Upload> more = begin(round, i);
      ASSERT_FALSE(more);
      EXPECT_EQ(more.error().code, ErrorCode::kRefused);
      EXPECT_NE(more.error().message.find("uploads are unfinished, the most at once"),
                std::string::npos)
          << more.error().message;
    }
    EXPECT_EQ(round.progress().bytes, limit * kLength * sizeof(float));
    // Whole updates come in beside them; who was turned away may begin once one has ended.
    EXPECT_TRUE(round.submit("whole", update(1).view()));
    begun[0].give_up();
    EXPECT_TRUE(begin(round, 100));
    EXPECT_TRUE(begun[1].append(bytes_of(update(2))));
    EXPECT_TRUE(begun[1].finish());
    EXPECT_TRUE(begin(round, 101)) << "the one before has ended with its handle";
  }
}

TEST_F(OpenRoundTest, ACohortsClientsHaveAPlaceEach) {
  OpenRound round = open({.cohort = {"a", "b", "c"}, .most_uploads = 1});
  Result<OpenRound::Upload> a = round.begin("a", DType::kFloat32, kLength);
  Result<OpenRound::Upload> b = round.begin("b", DType::kFloat32, kLength);
  ASSERT_TRUE(a && b);
  EXPECT_TRUE(round.begin("c", DType::kFloat32, kLength));
}

TEST_F(OpenRoundTest, SizesWhoseBytesOverflowAreRefused) {
  for (const std::size_t length : {(std::size_t{1} << 62) + 1, std::size_t{1} << 62, SIZE_MAX}) {
    const Error error = open_error({.length = length, .cohort = {"a"}});
    EXPECT_NE(error.message.find("more bytes than memory can have"), std::string::npos)
        << error.message;
  }
  const Error rows = open_error({.length = kLength, .most = SIZE_MAX});
  EXPECT_NE(rows.message.find("more bytes than memory can have"), std::string::npos)
      << rows.message;
}

TEST_F(OpenRoundTest, KernelsThatSketchAreNotForIt) {
  const auto sketching = *make_sketch_kernels(*kernels_, {.seed = 1, .length = 64});
  const auto opened = [&](std::size_t length, Need need) {
    return OpenRound::open(*sketching, toys::mean(need), {.length = length, .cohort = {"a"}});
  };
  for (std::size_t length : {65, 1000, 100000}) {
    const Result<OpenRound> round = opened(length, Need::kGram);
    ASSERT_FALSE(round) << length;
    EXPECT_EQ(round.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(round.error().message.find("kernels make sketches of length 64"), std::string::npos)
        << round.error().message;
  }
  EXPECT_TRUE(opened(64, Need::kGram)) << "such rows are multiplied as they are";
  EXPECT_TRUE(opened(1000, Need::kNothing)) << "nothing is multiplied";
}

// Memory that runs out at any pass of an arrival leaves the round as it was before.
TEST_F(OpenRoundTest, AnArrivalThatFailsMayComeAgain) {
  const toys::WatchedKernels kernels;
  for (bool cohort : {true, false}) {
    for (int pass : {0, 1}) {
      OpenRoundOptions options{.length = kLength};
      if (cohort) options.cohort = {"a", "b", "c", "d"};
      if (!cohort) options.most = 4;
      Result<OpenRound> round =
          OpenRound::open(kernels, toys::mean(Need::kGram), std::move(options));
      ASSERT_TRUE(round);
      ASSERT_TRUE(round->submit("a", update(0).view()));
      kernels.dots_until_failure = pass;
      EXPECT_THROW((void)round->submit("b", update(1).view()), std::bad_alloc);
      kernels.dots_until_failure = -1;
      const Progress progress = round->progress();
      EXPECT_EQ(progress.accepted, 1U);
      EXPECT_EQ(progress.uploading + progress.refused, 0U);
      EXPECT_EQ(progress.bytes, kLength * sizeof(float)) << "the row is gone";
      // The hole that b left puts no product in a wrong place.
      ASSERT_TRUE(round->submit("c", update(10).view()));
      ASSERT_TRUE(round->submit("b", update(1).view()));
      ASSERT_TRUE(round->submit("d", update(4).view()));
      const Result<Verdict> verdict = round->close(0, out_.row(0));
      ASSERT_TRUE(verdict) << verdict.error().message;
      ASSERT_EQ(verdict->updates, 4U);
      const double far[] = {0, 1, 10, 4};
      for (std::size_t i = 0; i < 4; ++i) {
        const std::vector<NamedValue>& measures = verdict->clients[i].measures;
        EXPECT_NEAR(measures[1].value, 5 * far[i] * far[i], 1e-9) << i;
      }
      EXPECT_TRUE(kernels.calls("gram in double").empty());
    }
  }
}

TEST_F(OpenRoundTest, RefusesAtOnceWithTheReason) {
  OpenRound round = open({.cohort = {"a", "b", "c", "d", "e", "f"}});
  UpdateMatrix bad = update(1);
  bad.row_as<float>(0)[3] = std::numeric_limits<float>::quiet_NaN();
  expect_refused(round.submit("a", bad.view()), "NaN or infinity");
  bad.row_as<float>(0)[3] = -std::numeric_limits<float>::infinity();
  expect_refused(round.submit("b", bad.view()), "NaN or infinity");
  bad.row_as<float>(0)[3] = bad.row_as<float>(0)[4] = 3e38F;
  expect_refused(round.submit("c", bad.view()), "exceeds");
  expect_refused(round.submit("d", update(1, 4).view()), "float32 of length 4");
  expect_refused(round.submit("e", update<double>(1).view()), "it is float64");
  expect_refused(round.submit("mallory", update(1).view()), "not in this round's cohort");
  const Progress progress = round.progress();
  EXPECT_EQ(progress.refused, 5U);
  EXPECT_EQ(progress.accepted, 0U);
  EXPECT_EQ(progress.bytes, 0U);

  // A refused client stays refused; what counts against it is what it sent first.
  expect_refused(round.submit("a", update(1).view()), "was refused before");
  EXPECT_TRUE(round.submit("f", update(7).view()));
  expect_refused(round.submit("f", update(8).view()), "is in already");
  EXPECT_TRUE(round.may_close(0)) << "all were heard";
  const Result<Verdict> verdict = round.close(0, out_.row(0));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->updates, 6U);
  EXPECT_EQ(verdict->refused, 5U);
  EXPECT_EQ(verdict->accepted(), 1U);
  EXPECT_TRUE(verdict->clients[0].refused);
  EXPECT_NE(verdict->clients[2].reason.find("exceeds"), std::string::npos);
  EXPECT_EQ(out_.view().row<float>(0)[0], 7);
}

TEST_F(OpenRoundTest, ViewsThatAreNotOneRowAreTheCallersFault) {
  OpenRound round = open({.cohort = {"a"}});
  const UpdateMatrix two(DType::kFloat32, 2, kLength);
  const Result<void> done = round.submit("a", two.view());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kInvalidArgument);
  EXPECT_FALSE(round.adopt("a", UpdateView()));
  EXPECT_TRUE(round.submit("a", update(1).view())) << "the client did nothing wrong";
}

TEST_F(OpenRoundTest, DeadlineAndQuorumDecideWhenItCloses) {
  OpenRound round = open({.cohort = {"a", "b", "c", "d"}, .quorum = 2, .deadline = 10.0});
  EXPECT_TRUE(round.submit("a", update(1).view()));
  EXPECT_FALSE(round.may_close(100)) << "no quorum";
  EXPECT_TRUE(round.submit("c", update(3).view()));
  EXPECT_FALSE(round.may_close(9.9));
  EXPECT_FALSE(round.may_close(std::numeric_limits<double>::quiet_NaN()));
  const Result<Verdict> early = round.close(9.9, out_.row(0));
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().message,
            "open round: 2 of 4 updates are in and 0 were refused; it closes with 2 from 10 on, "
            "and now is 9.9");
  EXPECT_FALSE(round.progress().closed);
  Result<OpenRound::Upload> half = round.begin("d", DType::kFloat32, kLength);
  ASSERT_TRUE(half);
  EXPECT_TRUE(half->append(bytes_of(update(9)).first(7)));

  EXPECT_TRUE(round.may_close(10));
  const Result<Verdict> verdict = round.close(10, out_.row(0));
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->absent, (std::vector<std::string>{"b", "d"}));
  ASSERT_FALSE(verdict->notes.empty());
  EXPECT_EQ(verdict->notes.back(), "2 of 4 clients did not come in time: b, d");
  EXPECT_EQ(out_.view().row<float>(0)[0], 2);

  // Late is late, whole or in pieces; and closing again gives the same.
  expect_refused(round.submit("b", update(2).view()), "too late");
  expect_refused(half->append(bytes_of(update(9)).first(1)), "too late");
  EXPECT_FALSE(half->finish()) << "the upload has ended";
  UpdateMatrix again(DType::kFloat32, 1, kLength);
  const Result<Verdict> second = round.close(0, again.row(0));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->absent, verdict->absent);
  EXPECT_EQ(
      std::memcmp(again.view().row<float>(0), out_.view().row<float>(0), kLength * sizeof(float)),
      0);
}

TEST_F(OpenRoundTest, IdsAreSafeInSentences) {
  const std::string evil = "e\x1b[2J\n";
  OpenRound round = open({.cohort = {"a", evil}, .quorum = 1, .deadline = 10.0});
  EXPECT_TRUE(round.submit("a", update(1).view()));
  expect_refused(round.submit("f\x9b", update(1).view()), "client 'f\\x9b'");
  const Result<Verdict> verdict = round.close(10, out_.row(0));
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->absent, std::vector<std::string>{evil});
  EXPECT_EQ(verdict->notes.back(), "1 of 2 clients did not come in time: e\\x1b[2J\\n");
}

TEST_F(OpenRoundTest, AQuorumWithoutADeadlineIsEnough) {
  OpenRound round = open({.cohort = {"a", "b", "c"}, .quorum = 1});
  EXPECT_FALSE(round.may_close(1e9));
  EXPECT_TRUE(round.submit("b", update(1).view()));
  EXPECT_TRUE(round.may_close(-1e9));
}

TEST_F(OpenRoundTest, ChunksMayEndAnywhere) {
  const UpdateMatrix whole = update(4);
  for (std::size_t piece = 1; piece <= kLength * sizeof(float) + 1; ++piece) {
    OpenRound round = open({.cohort = {"a"}});
    Result<OpenRound::Upload> upload = round.begin("a", DType::kFloat32, kLength);
    ASSERT_TRUE(upload);
    EXPECT_EQ(round.progress().uploading, 1U);
    auto rest = bytes_of(whole);
    while (!rest.empty()) {
      const std::size_t count = std::min(piece, rest.size());
      ASSERT_TRUE(upload->append(rest.first(count)));
      rest = rest.subspan(count);
    }
    EXPECT_TRUE(upload->append({}));
    ASSERT_TRUE(upload->finish());
    ASSERT_TRUE(round.close(0, out_.row(0)));
    EXPECT_EQ(
        std::memcmp(out_.view().row<float>(0), whole.view().row<float>(0), kLength * sizeof(float)),
        0);
  }
}

TEST_F(OpenRoundTest, HostileChunksEndTheUpload) {
  OpenRound round = open({.cohort = {"nan", "more", "less", "type"}});
  UpdateMatrix bad = update(1);
  bad.row_as<float>(0)[1] = std::numeric_limits<float>::quiet_NaN();
  Result<OpenRound::Upload> nan = round.begin("nan", DType::kFloat32, kLength);
  // Bytes 4 to 7 are the NaN: it is seen as soon as it is whole.
  EXPECT_TRUE(nan->append(bytes_of(bad).first(7)));
  expect_refused(nan->append(bytes_of(bad).subspan(7, 1)), "NaN or infinity");
  EXPECT_FALSE(nan->append(bytes_of(bad).first(1)));
  EXPECT_FALSE(nan->finish());

  Result<OpenRound::Upload> more = round.begin("more", DType::kFloat32, kLength);
  EXPECT_TRUE(more->append(bytes_of(update(1))));
  expect_refused(more->append(bytes_of(update(1)).first(1)), "more than the 20 bytes");

  Result<OpenRound::Upload> less = round.begin("less", DType::kFloat32, kLength);
  EXPECT_TRUE(less->append(bytes_of(update(1)).first(19)));
  expect_refused(less->finish(), "ended after 19 of its 20 bytes");

  const Result<OpenRound::Upload> type = round.begin("type", DType::kFloat64, kLength);
  ASSERT_FALSE(type);
  EXPECT_EQ(type.error().code, ErrorCode::kRefused);
  EXPECT_EQ(round.progress().refused, 4U);
  EXPECT_EQ(round.progress().bytes, 0U);
  const Result<Verdict> verdict = round.close(0, out_.row(0));
  ASSERT_FALSE(verdict) << "nobody is left";
  EXPECT_EQ(verdict.error().code, ErrorCode::kRefused);
}

TEST_F(OpenRoundTest, AnUploadGivenUpMayBeginAgain) {
  OpenRound round = open({.cohort = {"a", "b"}});
  {
    Result<OpenRound::Upload> upload = round.begin("a", DType::kFloat32, kLength);
    ASSERT_TRUE(upload);
    EXPECT_TRUE(upload->append(bytes_of(update(1)).first(4)));
    const Result<OpenRound::Upload> second = round.begin("a", DType::kFloat32, kLength);
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message.find("under way"), std::string::npos);
  }
  EXPECT_EQ(round.progress().uploading, 0U);
  Result<OpenRound::Upload> upload = round.begin("a", DType::kFloat32, kLength);
  ASSERT_TRUE(upload);
  upload->give_up();
  EXPECT_FALSE(upload->append({}));
  // Moving one onto another gives the other up.
  Result<OpenRound::Upload> one = round.begin("a", DType::kFloat32, kLength);
  Result<OpenRound::Upload> two = round.begin("b", DType::kFloat32, kLength);
  *one = *std::move(two);
  EXPECT_EQ(round.progress().uploading, 1U);
  EXPECT_TRUE(round.submit("a", update(1).view()));
}

TEST_F(OpenRoundTest, AnUploadMayOutliveItsRound) {
  std::optional<OpenRound> round = open({.cohort = {"a"}});
  Result<OpenRound::Upload> upload = round->begin("a", DType::kFloat32, kLength);
  ASSERT_TRUE(upload);
  round.reset();
  EXPECT_TRUE(upload->append(bytes_of(update(1))));
  EXPECT_TRUE(upload->finish());
}

TEST_F(OpenRoundTest, AdoptedRowsAreNotCopied) {
  const UpdateMatrix row = update(6);
  OpenRound round = open({.cohort = {"a", "b"}});
  EXPECT_TRUE(round.adopt("a", row.view()));
  EXPECT_EQ(round.progress().bytes, 0U);
  EXPECT_TRUE(round.submit("b", row.view()));
  EXPECT_EQ(round.progress().bytes, kLength * sizeof(float));
  ASSERT_TRUE(round.close(0, out_.row(0)));
  EXPECT_EQ(out_.view().row<float>(0)[0], 6);
}

TEST_F(OpenRoundTest, SaysWhatIsWrongWithItsOptions) {
  const auto message = [&](OpenRoundOptions options) {
    return open_error(std::move(options)).message;
  };
  EXPECT_EQ(message({.length = 5}),
            "open round: no cohort and most=0; give the cohort, or the most updates to take");
  EXPECT_EQ(message({.length = 5, .cohort = {"a", "b", "a"}}),
            "open round: the cohort names 'a' twice");
  EXPECT_EQ(message({.length = 5, .cohort = {""}}),
            "open round: a client of the cohort has an empty id");
  EXPECT_EQ(message({.length = 5, .cohort = {"a"}, .quorum = 2}),
            "open round: quorum=2 of 1 clients cannot be reached");
  EXPECT_EQ(message({.length = 0, .cohort = {"a"}}), "round: the updates have length 0");
  EXPECT_EQ(
      message({.length = 5, .cohort = {"a"}, .deadline = std::numeric_limits<double>::quiet_NaN()}),
      "open round: the deadline is not a number");
  EXPECT_EQ(message({.length = 5, .cohort = {"a"}, .deadline = 10.0}),
            "open round: a deadline and quorum=0, which waits for all whatever the time; say how "
            "many updates are enough once it has passed");
  EXPECT_NE(
      message({.length = 500, .cohort = {"a"}, .sketch = SketchPlan{.length = 64, .first = 16}})
          .find("first must be 0"),
      std::string::npos);
  EXPECT_EQ(message({.length = 5, .cohort = {"a"}, .sketch = SketchPlan{.length = 100}}),
            "open round: sketch length 100 must be a power of two from 64 to 65536");
  const UpdateMatrix server = update(1, 4);
  EXPECT_NE(message({.length = 5, .cohort = {"a"}, .server = server.view()})
                .find("a server gradient has length 4"),
            std::string::npos);
  UpdateMatrix bad = update(1);
  bad.row_as<float>(0)[0] = std::numeric_limits<float>::infinity();
  EXPECT_NE(message({.length = 5, .cohort = {"a"}, .server = bad.view()}).find("server gradient 0"),
            std::string::npos);
}

TEST_F(OpenRoundTest, AnOutputThatDoesNotFitLeavesTheRoundUsable) {
  OpenRound round = open({.cohort = {"a"}});
  EXPECT_TRUE(round.submit("a", update(2).view()));
  UpdateMatrix wrong(DType::kFloat32, 1, kLength + 1);
  EXPECT_FALSE(round.close(0, wrong.row(0)));
  EXPECT_TRUE(round.close(0, out_.row(0)));
}

TEST_F(OpenRoundTest, NobodyCame) {
  OpenRound round = open({.cohort = {"a"}, .quorum = 1, .deadline = 0.0});
  const Result<Verdict> verdict = round.close(1, out_.row(0));
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().code, ErrorCode::kRefused);
}

}  // namespace
}  // namespace boba
