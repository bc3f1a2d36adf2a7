// Batches of CIFAR-10.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/data/cifar.h"
#include "tests/support/data_files.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

Result<Examples> read(const std::string& text) {
  const std::vector<std::uint8_t> bytes = bytes_of(text);
  ByteStream stream = ByteStream::from_memory("x", bytes);
  return read_cifar_batch(stream, {.channels = 3, .height = 32, .width = 32}, 10);
}

std::string message(const Result<Examples>& result) { return result ? "" : result.error().message; }

TEST(Cifar, ReadsRecords) {
  const Result<Examples> examples = read(cifar_batch({4, 9}, 100));
  ASSERT_TRUE(examples) << examples.error().message;
  EXPECT_EQ(examples->labels, (std::vector<std::uint8_t>{4, 9}));
  ASSERT_EQ(examples->pixels.size(), 6144U);
  EXPECT_EQ(examples->pixels[0], 100);
  EXPECT_EQ(examples->pixels[3072], 105);
  EXPECT_EQ(examples->pixels[6143], (105 + 3071) % 256);
}

TEST(Cifar, CutsAreTold) {
  const std::string batch = cifar_batch({1, 2}, 0);
  EXPECT_EQ(message(read("")), "x: at byte 0: the file is empty; expected records of 3073 bytes");
  EXPECT_EQ(message(read(batch.substr(0, 1))),
            "x: at byte 1: the file ends inside record 0; expected 3072 more bytes");
  EXPECT_EQ(message(read(batch.substr(0, 6145))),
            "x: at byte 6145: the file ends inside record 1; expected 1 more bytes");
  EXPECT_EQ(message(read(batch + "\x01")),
            "x: at byte 6147: the file ends inside record 2; expected 3072 more bytes");
}

TEST(Cifar, ALabelOutOfRangeIsToldWithItsPlace) {
  EXPECT_EQ(message(read(cifar_batch({1, 10}, 0))),
            "x: at byte 3073: record 1 has label 10; expected 0 to 9");
}

}  // namespace
}  // namespace boba::test
