// idx files: what is read, and how each kind of damage is told.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/data/idx.h"
#include "tests/support/data_files.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

constexpr ImageShape kSmall = {.channels = 1, .height = 4, .width = 4};

Result<std::vector<std::uint8_t>> images_of(const std::string& text) {
  const std::vector<std::uint8_t> bytes = bytes_of(text);
  ByteStream stream = ByteStream::from_memory("x", bytes);
  return read_idx_images(stream, kSmall);
}

Result<std::vector<std::uint8_t>> labels_of(const std::string& text) {
  const std::vector<std::uint8_t> bytes = bytes_of(text);
  ByteStream stream = ByteStream::from_memory("x", bytes);
  return read_idx_labels(stream, 10);
}

std::string message(const Result<std::vector<std::uint8_t>>& result) {
  return result ? "" : result.error().message;
}

TEST(Idx, ReadsImagesAndLabels) {
  const auto images = images_of(idx_images(3, 4));
  ASSERT_TRUE(images) << images.error().message;
  ASSERT_EQ(images->size(), 48U);
  EXPECT_EQ((*images)[0], 0);
  EXPECT_EQ((*images)[17], 8);   // image 1, pixel 1
  EXPECT_EQ((*images)[47], 29);  // image 2, pixel 15
  const auto labels = labels_of(idx_labels({3, 9, 0}));
  ASSERT_TRUE(labels) << labels.error().message;
  EXPECT_EQ(*labels, (std::vector<std::uint8_t>{3, 9, 0}));
}

TEST(Idx, TellsWhatKindOfFileItIsNot) {
  EXPECT_EQ(message(images_of(idx_labels({1}))),
            "x: at byte 0: the magic number is 00000801 of labels; expected 00000803 of images");
  EXPECT_EQ(message(labels_of(idx_images(1, 4))),
            "x: at byte 0: the magic number is 00000803 of images; expected 00000801 of labels");
  EXPECT_EQ(message(labels_of("\x89PNG\r\n")),
            "x: at byte 0: the magic number is 89504e47; expected 00000801 of labels");
}

TEST(Idx, EveryCutIsTold) {
  const std::string images = idx_images(2, 4);
  for (std::size_t size = 0; size < images.size(); ++size) {
    const std::string text = message(images_of(images.substr(0, size)));
    EXPECT_TRUE(text.starts_with(fmt::format("x: at byte {}: the file ends", size))) << text;
  }
  const std::string labels = idx_labels(turns(20));
  for (std::size_t size = 0; size < labels.size(); ++size) {
    const std::string text = message(labels_of(labels.substr(0, size)));
    EXPECT_TRUE(text.starts_with(fmt::format("x: at byte {}: the file ends", size))) << text;
  }
  EXPECT_EQ(message(images_of(images.substr(0, 20))),
            "x: at byte 20: the file ends; expected 28 more bytes of 2 images");
}

TEST(Idx, ALongerFileIsTold) {
  EXPECT_EQ(message(images_of(idx_images(2, 4) + "x")),
            "x: at byte 48: the file has extra data after 2 images");
  EXPECT_EQ(message(labels_of(idx_labels({1, 2}) + "x")),
            "x: at byte 10: the file has extra data after 2 labels");
}

TEST(Idx, OtherShapesAreTold) {
  EXPECT_EQ(message(images_of(idx_images(1, 5))),
            "x: at byte 8: the header states images of 5 x 5; expected 4 x 4");
}

TEST(Idx, ImpossibleCountsAreTold) {
  const std::string head = big_endian(0x801);
  EXPECT_EQ(message(labels_of(head + big_endian(0))),
            "x: at byte 4: the header states 0 items; expected 1 to 1000000");
  // Refused by its header: four billion are never allocated.
  EXPECT_EQ(message(labels_of(head + big_endian(0xffffffff))),
            "x: at byte 4: the header states 4294967295 items; expected 1 to 1000000");
}

TEST(Idx, ALabelOutOfRangeIsToldWithItsPlace) {
  EXPECT_EQ(message(labels_of(idx_labels({0, 9, 10, 11}))),
            "x: at byte 10: label 10; expected 0 to 9");
}

}  // namespace
}  // namespace boba::test
