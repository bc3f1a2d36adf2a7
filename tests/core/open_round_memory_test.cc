// Memory that runs out anywhere in an arrival: the client may come again, and nothing is kept.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "boba/core/open_round.h"
#include "boba/kernels/reference/reference.h"
#include "tests/core/toys.h"

namespace {

// The allocation of this thread after so many more fails; below 0: none.
thread_local int allocations_left = -1;

void* allocate(std::size_t size) {
  if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// NOLINTBEGIN: replacing them is the point.
void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return std::malloc(size == 0 ? 1 : size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
// NOLINTEND

namespace boba {
namespace {

constexpr std::size_t kLength = 200;

UpdateMatrix update(float x) {
  UpdateMatrix matrix(DType::kFloat32, 1, kLength);
  for (float& number : matrix.row_as<float>(0)) number = x;
  return matrix;
}

struct Case {
  bool cohort = true;
  bool sketch = false;
  bool good = true;  // the update, or else it is to be refused
};

// Runs out at allocation k of one submit. Returns whether it got that far.
bool runs_out(const Kernels& kernels, const Case& scene, int k) {
  const UpdateMatrix server = update(0.5F);
  OpenRoundOptions options{.length = kLength, .server = server.view()};
  const std::string id = "a client with a name too long to be kept inside a string";
  if (scene.cohort) options.cohort = {"first", id, "last"};
  if (!scene.cohort) options.most = 3;
  if (scene.sketch) options.sketch = SketchPlan{.seed = 3, .length = 64};
  Result<OpenRound> round =
      OpenRound::open(kernels, toys::mean(Need::kServerGram), std::move(options));
  EXPECT_TRUE(round);
  EXPECT_TRUE(round->submit("first", update(1).view()));
  const std::size_t bytes = round->progress().bytes;
  const UpdateMatrix sent = update(scene.good ? 2.0F : std::numeric_limits<float>::infinity());
  bool failed = false;
  allocations_left = k;
  try {
    const Result<void> done = round->submit(id, sent.view());
    allocations_left = -1;
    EXPECT_EQ(done.ok(), scene.good);
  } catch (const std::bad_alloc&) {
    failed = true;
  }
  allocations_left = -1;
  Progress progress = round->progress();
  EXPECT_EQ(progress.uploading, 0U) << k;
  if (failed) {
    EXPECT_EQ(progress.accepted, 1U) << k;
    EXPECT_EQ(progress.bytes, bytes) << k;
    // What was told may have been lost, not that it was told.
    EXPECT_EQ(round->submit(id, sent.view()).ok(), scene.good) << k;
  }
  progress = round->progress();
  EXPECT_EQ(progress.accepted, scene.good ? 2U : 1U) << k;
  EXPECT_TRUE(round->submit("last", update(4).view())) << k;
  // Without a cohort one that was refused leaves its place to another.
  if (!scene.cohort && !scene.good) {
    EXPECT_TRUE(round->submit("more", update(6).view()));
  }
  UpdateMatrix out(DType::kFloat32, 1, kLength);
  const Result<Verdict> verdict = round->close(0, out.row(0));
  EXPECT_TRUE(verdict) << k << (verdict ? "" : verdict.error().message);
  return failed;
}

TEST(OpenRoundMemory, MayRunOutAnywhere) {
  const auto kernels = make_reference_kernels();
  for (bool cohort : {true, false}) {
    for (bool sketch : {false, true}) {
      for (bool good : {true, false}) {
        SCOPED_TRACE(testing::Message() << cohort << sketch << good);
        int k = 0;
        while (runs_out(*kernels, {cohort, sketch, good}, k)) ASSERT_LT(++k, 1000);
        EXPECT_GT(k, 5) << "an arrival needs memory";
      }
    }
  }
}

}  // namespace
}  // namespace boba
