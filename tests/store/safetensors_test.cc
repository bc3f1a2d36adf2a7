// The format byte by byte, and headers that lie.

#include "simulator/store/safetensors.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "tests/support/store_samples.h"
#include "tests/support/tools_process.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

std::string file_of(const std::string& header, const std::string& numbers = "") {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + numbers;
}

TensorFile sample_file() {
  return {{{"layer.weight", {2, 3}, {1, 2, 3, -4, 5.5F, 0}},
           {"layer.bias", {3}, {0.25F, std::numeric_limits<float>::infinity(), -0.0F}},
           {"scale", {}, {7}},
           {"nothing", {0, 4}, {}}},
          {{"format", "pt"}, {"rule", "boba(f=2) \"quoted\""}}};
}

std::string refusal(const std::string& bytes) {
  const auto file = from_safetensors(bytes);
  return file ? "accepted" : file.error().message;
}

TEST(Safetensors, IsTheFormatToTheByte) {
  const TensorFile file{{{"w", {1, 2}, {1, -2}}}, {}};
  const std::string header = R"({"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})";
  ASSERT_EQ(header.size() % 8, 0u);
  EXPECT_EQ(to_safetensors(file), file_of(header, std::string("\0\0\x80\x3f\0\0\0\xc0", 8)));
}

TEST(Safetensors, TheHeaderIsPaddedWithSpaces) {
  for (std::size_t size = 1; size <= 17; ++size) {
    const std::string name(size, 'n');
    const std::string bytes = to_safetensors({{{name, {1}, {1}}}, {}});
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    EXPECT_EQ(length % 8, 0u);
    EXPECT_EQ(bytes.size(), 8 + length + 4);
    const std::string header = bytes.substr(8, length);
    EXPECT_LE(header.size() - 1 - header.find_last_not_of(' '), 7u);
    EXPECT_EQ(header[header.find_last_not_of(' ')], '}');
  }
}

TEST(Safetensors, ComesBack) {
  const TensorFile file = sample_file();
  const auto read = from_safetensors(to_safetensors(file));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->metadata, file.metadata);
  ASSERT_EQ(read->tensors.size(), file.tensors.size());
  for (const NamedTensor& tensor : file.tensors) {
    const auto same = std::find_if(read->tensors.begin(), read->tensors.end(),
                                   [&](const auto& each) { return each.name == tensor.name; });
    ASSERT_NE(same, read->tensors.end()) << tensor.name;
    EXPECT_EQ(same->shape, tensor.shape);
    ASSERT_EQ(same->values.size(), tensor.values.size());
    // Bits, since -0 is not 0 here.
    for (std::size_t k = 0; k < tensor.values.size(); ++k) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(same->values[k]),
                std::bit_cast<std::uint32_t>(tensor.values[k]));
    }
  }
  EXPECT_EQ(to_safetensors(*read), to_safetensors(file));
  EXPECT_TRUE(from_safetensors(to_safetensors({}))->tensors.empty());
}

// Tensors may stand in the header in any order.
TEST(Safetensors, OffsetsDecideTheOrder) {
  const auto read =
      from_safetensors(file_of(R"({"b":{"data_offsets":[4,8],"dtype":"F32","shape":[1]},)"
                               R"("a":{"shape":[],"dtype":"F32","data_offsets":[0,4]}}  )",
                               std::string("\0\0\x80\x3f\0\0\0\x40", 8)));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->tensors.size(), 2u);
  EXPECT_EQ(read->tensors[0].name, "a");
  EXPECT_EQ(read->tensors[0].values, (std::vector<float>{1}));
  EXPECT_EQ(read->tensors[1].values, (std::vector<float>{2}));
}

TEST(Safetensors, LengthsThatLie) {
  EXPECT_NE(refusal("").find("byte 0: expected 8 bytes"), std::string::npos);
  EXPECT_NE(refusal("1234567").find("found 7 bytes"), std::string::npos);
  const std::string good = to_safetensors(sample_file());
  for (const std::uint64_t length :
       {std::uint64_t{10'000}, std::uint64_t{100'000'001}, std::uint64_t{1} << 63,
        std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::uint64_t>::max() - 7}) {
    std::string bad = good;
    std::memcpy(bad.data(), &length, 8);
    EXPECT_NE(refusal(bad).find("byte 0: the header's length is " + std::to_string(length)),
              std::string::npos)
        << refusal(bad);
  }
  EXPECT_NE(refusal(file_of("")).find("byte 8: expected '{'"), std::string::npos);
  EXPECT_NE(refusal(file_of(" {}     ")).find("byte 8: expected '{'"), std::string::npos);
}

TEST(Safetensors, HeadersThatAreNotJson) {
  EXPECT_NE(refusal(file_of("{\"a\": }  ")).find("byte 14: the header is not valid JSON"),
            std::string::npos)
      << refusal(file_of("{\"a\": }  "));
  for (const std::string bad : {"{", "{}x", "{\"a\"", "{\"\xff\":1}", "{}{}", "{\"a\":nan}"}) {
    EXPECT_NE(refusal(file_of(bad)).find("the header is not valid JSON"), std::string::npos) << bad;
  }
  const std::string deep = "{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_NE(refusal(file_of(deep)).find("nested too deep"), std::string::npos);
  const std::string objects = R"({"a":{"b":{"c":{"d":{"e":{"f":1,"f":2}}}}}})";
  EXPECT_NE(refusal(file_of(objects)).find("nested too deep"), std::string::npos);
}

TEST(Safetensors, NamesThatComeTwice) {
  const std::string entry = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  EXPECT_NE(refusal(file_of("{\"a\":" + entry + ",\"a\":" + entry + "}", "1234"))
                .find("the name 'a' comes twice"),
            std::string::npos);
  EXPECT_NE(refusal(file_of("{\"a\":" + entry + ",\"\\u0061\":" + entry + "}", "1234"))
                .find("the name 'a' comes twice"),
            std::string::npos);
  EXPECT_NE(refusal(file_of(R"({"a":{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}})",
                            "1234"))
                .find("the name 'shape' comes twice"),
            std::string::npos);
}

struct BadEntry {
  const char* entry;
  const char* message;
};

TEST(Safetensors, EntriesThatLie) {
  for (const BadEntry& bad : {
           BadEntry{R"(7)", "expected an object"},
           BadEntry{R"({"shape":[2],"data_offsets":[0,8]})", "it has no dtype"},
           BadEntry{R"({"dtype":"F32","data_offsets":[0,8]})", "it has no shape"},
           BadEntry{R"({"dtype":"F32","shape":[2]})", "it has no data_offsets"},
           BadEntry{R"({"dtype":"F16","shape":[4],"data_offsets":[0,8]})", "dtype is \"F16\""},
           BadEntry{R"({"dtype":32,"shape":[2],"data_offsets":[0,8]})", "dtype is 32"},
           BadEntry{R"({"dtype":"F32","shape":2,"data_offsets":[0,8]})",
                    "shape is not a list of sizes"},
           BadEntry{R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})",
                    "shape is not a list of sizes"},
           BadEntry{R"({"dtype":"F32","shape":[2.0],"data_offsets":[0,8]})",
                    "shape is not a list of sizes"},
           BadEntry{R"({"dtype":"F32","shape":[1e400],"data_offsets":[0,8]})", "number overflow"},
           BadEntry{R"({"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8]})",
                    "shape is not a list of sizes"},
           // Products that are 2 modulo 2^64.
           BadEntry{R"({"dtype":"F32","shape":[4294967296,4294967296,2],"data_offsets":[0,8]})",
                    "do not fit the shape"},
           BadEntry{R"({"dtype":"F32","shape":[9223372036854775807,3,2],"data_offsets":[0,8]})",
                    "do not fit the shape"},
           BadEntry{R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})", "do not fit the shape"},
           BadEntry{R"({"dtype":"F32","shape":[1],"data_offsets":[0,7]})", "do not fit the shape"},
           BadEntry{R"({"dtype":"F32","shape":[0],"data_offsets":[0,8]})", "do not fit the shape"},
           BadEntry{R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})", "are outside"},
           BadEntry{R"({"dtype":"F32","shape":[4],"data_offsets":[0,16]})", "are outside the 8"},
           BadEntry{R"({"dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551615]})",
                    "are not a pair of positions"},
           BadEntry{R"({"dtype":"F32","shape":[2],"data_offsets":[0]})",
                    "are not a pair of positions"},
           BadEntry{R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})",
                    "begins at 4; expected 0"},
           BadEntry{R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})", "end at 4 of 8 bytes"},
       }) {
    const std::string said = refusal(file_of(std::string("{\"t\":") + bad.entry + "}", "12345678"));
    EXPECT_NE(said.find(bad.message), std::string::npos) << bad.entry << "\n" << said;
  }
}

TEST(Safetensors, TensorsThatOverlap) {
  const auto two = [](const char* first, const char* second) {
    return refusal(file_of(std::string(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)") +
                               first + R"(},"b":{"dtype":"F32","shape":[2],"data_offsets":)" +
                               second + "}}",
                           std::string(16, 'x')));
  };
  EXPECT_EQ(two("[0,8]", "[8,16]"), "accepted");
  EXPECT_EQ(two("[8,16]", "[0,8]"), "accepted");
  EXPECT_NE(two("[0,8]", "[4,12]").find("tensor 'b': it begins at 4; expected 8"),
            std::string::npos);
  EXPECT_NE(two("[0,8]", "[0,8]").find("expected 8"), std::string::npos);
}

TEST(Safetensors, MetadataIsTexts) {
  EXPECT_EQ(refusal(file_of(R"({"__metadata__":{"a":"b"}})")), "accepted");
  EXPECT_NE(refusal(file_of(R"({"__metadata__":{"a":1}})")).find("'a' should be a text"),
            std::string::npos);
  EXPECT_NE(refusal(file_of(R"({"__metadata__":[]})")).find("should be an object"),
            std::string::npos);
}

TEST(Safetensors, NoDamageCrashesTheReader) {
  const std::string good = to_safetensors(sample_file());
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(from_safetensors(std::string_view(good).substr(0, size))) << size;
  }
  EXPECT_FALSE(from_safetensors(good + "x"));
  for (std::uint32_t trial = 0; trial < 3000; ++trial) {
    const auto read = from_safetensors(damaged(good, trial, 3));
    if (!read) {
      EXPECT_NE(read.error().message, "");
    }
  }
}

TEST(Safetensors, AFileAppearsWholeOrNotAtAll) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model.safetensors";
  ASSERT_TRUE(write_safetensors(path, sample_file()));
  EXPECT_EQ(read_text(path), to_safetensors(sample_file()));
  ASSERT_TRUE(write_safetensors(path, {}));
  EXPECT_TRUE(read_safetensors(path)->tensors.empty());
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"model.safetensors"}));
  const auto nowhere = write_safetensors(folder.path() / "no" / "x", {});
  ASSERT_FALSE(nowhere);
  EXPECT_NE(nowhere.error().message.find("No such file"), std::string::npos);
  ASSERT_FALSE(write_safetensors(folder.path(), {}));
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"model.safetensors"}));
}

TEST(Safetensors, RefusesToWriteWhatNobodyCouldRead) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model.safetensors";
  for (const TensorFile& bad :
       {TensorFile{{{"a", {2}, {1}}}, {}}, TensorFile{{{"a", {-1}, {}}}, {}},
        TensorFile{{{"a", {1}, {1}}, {"a", {1}, {1}}}, {}},
        TensorFile{{{"__metadata__", {1}, {1}}}, {}},
        TensorFile{{{"a", {1LL << 62, 4}, {}}}, {}}}) {
    const auto refused = write_safetensors(path, bad);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(Safetensors, AFileThatIsNoneIsNamed) {
  const TemporaryFolder folder;
  EXPECT_NE(read_safetensors(folder.path() / "x").error().message.find("No such file"),
            std::string::npos);
  EXPECT_FALSE(read_safetensors(folder.path()));
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_NE(read_safetensors(folder / "pipe").error().message.find("it is not a regular file"),
            std::string::npos);
  write_text(folder.path() / "bad.safetensors", "damaged!");
  const auto bad = read_safetensors(folder.path() / "bad.safetensors");
  EXPECT_NE(bad.error().message.find("bad.safetensors: not a safetensors file: byte 0"),
            std::string::npos)
      << bad.error().message;
}

}  // namespace
}  // namespace boba::test
