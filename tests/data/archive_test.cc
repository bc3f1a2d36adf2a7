// Files plain, packed and in archives: the same bytes come out, and damage is told.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "simulator/data/archive.h"
#include "tests/support/data_archive.h"
#include "tests/support/tools_process.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

std::string some_text(std::size_t size) {
  // Not compressible to nothing, so that there are bytes to damage.
  std::string text;
  std::uint32_t state = 12345;
  while (text.size() < size) {
    state = state * 1664525 + 1013904223;
    text += static_cast<char>('a' + (state >> 24) % 20);
  }
  return text;
}

// All bytes of the stream, in pieces of a size that fits nothing.
Result<std::string> drain(ByteStream& stream) {
  std::string text;
  std::vector<std::uint8_t> piece(1009);
  while (true) {
    const Result<std::size_t> count = stream.read(piece);
    if (!count) return count.error();
    if (*count == 0) return text;
    text.append(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(*count));
  }
}

Result<std::string> read_one(const StoredFile& file) {
  std::string text;
  const Result<void> read =
      read_files(std::span(&file, 1), [&](std::size_t, ByteStream& stream) -> Result<void> {
        Result<std::string> all = drain(stream);
        if (!all) return all.error();
        text = *std::move(all);
        return {};
      });
  if (!read) return read.error();
  return text;
}

class Archives : public ::testing::Test {
 protected:
  std::filesystem::path at(const std::string& name) const { return folder_.path() / name; }
  TemporaryFolder folder_;
};

TEST_F(Archives, EveryPackingGivesTheSameBytes) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{5}, std::size_t{700'000}}) {
    const std::string text = some_text(size);
    write_text(at("plain"), text);
    write_gzip(at("a.gz"), text);
    write_xz(at("a.xz"), text);
    write_gzip(at("unnamed"), text);  // packed under a plain name
    write_tar_gzip(at("a.tar.gz"), {{"d/", ""}, {"d/other", "x"}, {"d/wanted", text}});
    write_zip(at("a.zip"), {{"other", text + "x"}, {"wanted", text}});
    for (const StoredFile& file :
         {StoredFile{.path = at("plain")}, StoredFile{.path = at("a.gz")},
          StoredFile{.path = at("a.xz")}, StoredFile{.path = at("unnamed")},
          StoredFile{.path = at("a.tar.gz"), .member = "wanted"},
          StoredFile{.path = at("a.zip"), .member = "wanted"}}) {
      const Result<std::string> read = read_one(file);
      ASSERT_TRUE(read) << read.error().message;
      EXPECT_EQ(*read, text) << file.name() << " " << size;
    }
    EXPECT_EQ(unpacked_size(at("plain")), size);
    EXPECT_EQ(unpacked_size(at("a.gz")), size);
    EXPECT_EQ(unpacked_size(at("a.xz")), size);
  }
}

TEST_F(Archives, AnEmptyFileHasNoBytes) {
  write_text(at("plain"), "");
  write_gzip(at("a.gz"), "");
  write_xz(at("a.xz"), "");
  for (const std::string name : {"plain", "a.gz", "a.xz"}) {
    const Result<std::string> read = read_one({.path = at(name)});
    ASSERT_TRUE(read) << name << read.error().message;
    EXPECT_EQ(*read, "");
    EXPECT_EQ(unpacked_size(at(name)), 0U) << name;
  }
}

TEST_F(Archives, ManyMembersTakeOnePass) {
  write_tar_gzip(at("a.tar.gz"), {{"d/c", "third"}, {"d/a", "first"}, {"d/b", "second"}});
  write_text(at("plain"), "plain");
  const std::vector<StoredFile> files{{.path = at("a.tar.gz"), .member = "a"},
                                      {.path = at("plain")},
                                      {.path = at("a.tar.gz"), .member = "b"},
                                      {.path = at("a.tar.gz"), .member = "c"}};
  std::vector<std::size_t> order;
  std::vector<std::string> texts(files.size());
  const Result<void> read =
      read_files(files, [&](std::size_t i, ByteStream& stream) -> Result<void> {
        order.push_back(i);
        texts[i] = *drain(stream);
        return {};
      });
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(order, (std::vector<std::size_t>{3, 0, 2, 1}));
  EXPECT_EQ(texts, (std::vector<std::string>{"first", "plain", "second", "third"}));
}

TEST_F(Archives, ThreadsReadEachFileOnce) {
  std::vector<StoredFile> files;
  for (std::size_t i = 0; i < 20; ++i) {
    const std::string name = fmt::format("f{}.gz", i);
    write_gzip(at(name), some_text(1000 + i));
    files.push_back({.path = at(name)});
  }
  std::vector<std::string> texts(files.size());
  std::atomic<int> calls{0};
  const auto body = [&](std::size_t i, ByteStream& stream) -> Result<void> {
    ++calls;
    texts[i] = *drain(stream);
    return {};
  };
  ASSERT_TRUE(read_files(files, body, 4));
  EXPECT_EQ(calls, 20);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(texts[i], some_text(1000 + i));
}

// Cut at many places: never the whole text, and an error that names the file and a place.
TEST_F(Archives, ACutFileIsToldWithItsName) {
  const std::string text = some_text(2000);
  write_gzip(at("whole.gz"), text);
  write_xz(at("whole.xz"), text);
  write_tar_gzip(at("whole.tar.gz"), {{"wanted", text}});
  write_zip(at("whole.zip"), {{"wanted", text}});
  for (const std::string ending : {"gz", "xz", "tar.gz", "zip"}) {
    const std::string whole = read_text(at("whole." + ending));
    const std::string member = ending == "tar.gz" || ending == "zip" ? "wanted" : "";
    const std::string name = "cut." + ending;
    for (std::size_t size = 1; size < whole.size(); size += size < 30 ? 1 : 97) {
      write_text(at(name), whole.substr(0, size));
      const Result<std::string> read = read_one({.path = at(name), .member = member});
      // A zip whose directory at the end is cut off can still be read from the front.
      if (read && ending == "zip" && *read == text) continue;
      ASSERT_FALSE(read) << ending << " cut to " << size << " of " << whole.size();
      EXPECT_NE(read.error().message.find(name), std::string::npos) << read.error().message;
      EXPECT_EQ(read.error().code, ErrorCode::kIo);
    }
  }
}

// A few bytes may unpack to more than there is memory; every packing has the limit.
TEST_F(Archives, WhatUnpacksToTooMuchIsATrap) {
  const std::string zeros(1'000'000, '\0');
  write_text(at("plain"), zeros);
  write_gzip(at("a.gz"), zeros);
  write_xz(at("a.xz"), zeros);
  write_tar_gzip(at("a.tar.gz"), {{"wanted", zeros}});
  write_tar_gzip(at("before.tar.gz"), {{"large", zeros}, {"wanted", "x"}});
  write_zip(at("a.zip"), {{"wanted", zeros}});
  const auto read = [](const StoredFile& file, std::uint64_t most) {
    const auto body = [](std::size_t, ByteStream& stream) -> Result<void> {
      const Result<std::string> all = drain(stream);
      return all ? Result<void>() : all.error();
    };
    return read_files(std::span(&file, 1), body, 1, most);
  };
  for (const StoredFile& file :
       {StoredFile{.path = at("plain")}, StoredFile{.path = at("a.gz")},
        StoredFile{.path = at("a.xz")}, StoredFile{.path = at("a.tar.gz"), .member = "wanted"},
        StoredFile{.path = at("before.tar.gz"), .member = "wanted"},
        StoredFile{.path = at("a.zip"), .member = "wanted"}}) {
    const Result<void> trap = read(file, 500'000);
    ASSERT_FALSE(trap) << file.name();
    EXPECT_NE(trap.error().message.find("it unpacks to more than 500000 bytes"), std::string::npos)
        << trap.error().message;
    EXPECT_NE(trap.error().message.find(file.path.string()), std::string::npos);
    EXPECT_TRUE(read(file, 1'100'000)) << file.name();
  }
}

TEST_F(Archives, AFlippedBitIsToldOrHarmless) {
  const std::string text = some_text(300);
  write_gzip(at("whole.gz"), text);
  write_xz(at("whole.xz"), text);
  write_tar_gzip(at("whole.tar.gz"), {{"wanted", text}, {"other", text}});
  write_zip(at("whole.zip"), {{"wanted", text}});
  for (const std::string name : {"whole.gz", "whole.xz", "whole.tar.gz", "whole.zip"}) {
    const std::string member = name.ends_with("tar.gz") || name.ends_with("zip") ? "wanted" : "";
    const std::string whole = read_text(at(name));
    std::size_t told = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
      const std::string damaged = "damaged" + name.substr(5);
      write_text(at(damaged), bytes);
      const Result<std::string> read = read_one({.path = at(damaged), .member = member});
      if (read) {
        EXPECT_EQ(*read, text) << name << ": byte " << i << " changes what is read";
      } else {
        ++told;
      }
    }
    // A few bytes of a gzip header mean nothing: time, system; so do many of a zip's names.
    EXPECT_GE(told + (name.ends_with("zip") ? 200 : 12), whole.size()) << name;
  }
}

TEST_F(Archives, NamesThatLieAreTold) {
  write_text(at("a.gz"), "plain text");
  write_text(at("a.xz"), "plain text");
  write_text(at("a.tar.gz"), "plain text");
  write_gzip(at("b.tar.gz"), some_text(5000));
  write_text(at("a.zip"), some_text(5000));
  const auto message = [&](const std::string& name, const std::string& member = "") {
    const Result<std::string> read = read_one({.path = at(name), .member = member});
    return read ? "" : read.error().message;
  };
  EXPECT_EQ(
      message("a.gz"),
      at("a.gz").string() + ": at byte 0: not the start of gzip data, 1f 8b, as the name says");
  EXPECT_NE(message("a.xz").find("fd 37 7a 58 5a 00"), std::string::npos);
  EXPECT_NE(message("a.tar.gz", "x").find("gzip data"), std::string::npos);
  EXPECT_NE(message("b.tar.gz", "x").find(at("b.tar.gz").string()), std::string::npos);
  EXPECT_NE(message("a.zip", "x").find(at("a.zip").string()), std::string::npos);
}

TEST_F(Archives, WhatIsNotThereIsTold) {
  write_zip(at("a.zip"), {{"present", "x"}});
  const Result<std::string> member = read_one({.path = at("a.zip"), .member = "absent"});
  ASSERT_FALSE(member);
  EXPECT_EQ(member.error().message, at("a.zip").string() + ": it has no member absent");
  const Result<std::string> file = read_one({.path = at("nowhere")});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message,
            at("nowhere").string() + ": cannot open it: No such file or directory");
  EXPECT_FALSE(read_one({.path = folder_.path()}));
}

TEST_F(Archives, AFolderOfTheMembersNameIsNoMember) {
  write_tar_gzip(at("a.tar.gz"), {{"wanted/", ""}, {"wanted/wanted", "text"}});
  const Result<std::string> read = read_one({.path = at("a.tar.gz"), .member = "wanted"});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, "text");
}

TEST_F(Archives, TheErrorOfTheBodyComesThrough) {
  write_text(at("a"), "abc");
  write_text(at("b"), "abc");
  const std::vector<StoredFile> files{{.path = at("a")}, {.path = at("b")}};
  int calls = 0;
  const Result<void> read = read_files(files, [&](std::size_t, ByteStream& stream) -> Result<void> {
    ++calls;
    return stream.error_here("enough");
  });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, at("a").string() + ": at byte 0: enough");
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace boba::test
