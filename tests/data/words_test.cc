// Words and their vectors.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/data/dataset.h"
#include "simulator/data/words.h"
#include "tests/support/data_files.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

using Numbers = std::vector<std::int32_t>;

TEST(Words, TokensAreWordsAndMarks) {
  Vocabulary words;
  Numbers out;
  words.tokenize("Wall St. bears, wall\\St #36;10", 100, out);
  // wall st . bears , wall \ st # 36 ; 10
  EXPECT_EQ(out, (Numbers{0, 1, 2, 3, 4, 0, 5, 1, 6, 7, 8, 9}));
  EXPECT_EQ(words.find("bears"), 3);
  EXPECT_EQ(words.find("\\"), 5);
  EXPECT_EQ(words.find("Wall"), -1);
  EXPECT_EQ(words.size(), 10U);
}

TEST(Words, ApostrophesStandAlone) {
  Vocabulary words;
  Numbers out;
  words.tokenize("it's", 100, out);
  EXPECT_EQ(out.size(), 3U);
  EXPECT_EQ(words.find("'"), 1);
  EXPECT_EQ(words.find("s"), 2);
}

TEST(Words, OtherAlphabetsStayWhole) {
  Vocabulary words;
  Numbers out;
  words.tokenize("caf\xc3\xa9 ol\xc3\xa9!", 100, out);
  EXPECT_EQ(out.size(), 3U);
  EXPECT_EQ(words.find("caf\xc3\xa9"), 0);
}

TEST(Words, TheLimitHoldsAcrossTexts) {
  Vocabulary words;
  Numbers out;
  words.tokenize("one two three", 4, out);
  words.tokenize("four five", 4, out);
  EXPECT_EQ(out, (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(words.find("five"), -1);
  words.tokenize(" \t\n\r\x01\x7f", 100, out);
  EXPECT_EQ(out.size(), 4U);
}

// What no vector has would only fill the memory.
TEST(Words, LongWordsAreUnknownAndNotKept) {
  Vocabulary words;
  Numbers out;
  const std::string longest(Vocabulary::kLongestWord, 'a');
  words.tokenize(longest + " " + longest + "b x " + std::string(60000, 'c'), 100, out);
  EXPECT_EQ(out, (Numbers{0, Vocabulary::kUnknown, 1, Vocabulary::kUnknown}));
  EXPECT_EQ(words.size(), 2U);
  EXPECT_EQ(words.find("x"), 1);
  EXPECT_FALSE(words.overflowed());
}

TEST(Words, TheVocabularyIsBounded) {
  Vocabulary words(2);
  Numbers out;
  words.tokenize("one two one", 100, out);
  EXPECT_FALSE(words.overflowed());
  words.tokenize("three two", 100, out);
  EXPECT_EQ(out, (Numbers{0, 1, 0, Vocabulary::kUnknown, 1}));
  EXPECT_EQ(words.size(), 2U);
  EXPECT_TRUE(words.overflowed());
}

class Vectors : public ::testing::Test {
 protected:
  Vectors() {
    Numbers out;
    words_.tokenize("alpha beta gamma", 100, out);
  }
  Result<WordVectors> read(const std::string& text, std::size_t length = 2) {
    const std::vector<std::uint8_t> bytes = bytes_of(text);
    ByteStream stream = ByteStream::from_memory("v", bytes);
    return read_vectors(stream, length, words_);
  }
  std::string message(const std::string& text) {
    const Result<WordVectors> result = read(text);
    return result ? "" : result.error().message;
  }
  Vocabulary words_;
};

TEST_F(Vectors, OnlyWordsOfTheDataAreKept) {
  const Result<WordVectors> all = read("the 9 9\ngamma 1.5 -2\nof 8 8\nalpha 3e-1 4\n");
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->vectors, (std::vector<float>{0, 0, 0, 0, 1.5F, -2, 0.3F, 4}));
  EXPECT_EQ(all->row_of, (Numbers{3, kUnknownWord, 2}));
}

TEST_F(Vectors, TheLastLineNeedsNoEndAndLinesMayEndLikeWindows) {
  const Result<WordVectors> all = read("alpha 1 2\r\nbeta 3 4");
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->vectors, (std::vector<float>{0, 0, 0, 0, 1, 2, 3, 4}));
}

TEST_F(Vectors, TheFirstOfTwoLinesCounts) {
  const Result<WordVectors> all = read("alpha 1 2\nalpha 3 4\nbeta 5 6\n");
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->vectors, (std::vector<float>{0, 0, 0, 0, 1, 2, 5, 6}));
}

TEST_F(Vectors, LinesAcrossBuffers) {
  std::string text;
  for (int i = 0; i < 60000; ++i) text += vector_line(fmt::format("word{}", i), i, 2);
  text += vector_line("beta", 7, 2);
  const Result<WordVectors> all = read(text);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->vectors, (std::vector<float>{0, 0, 0, 0, 7, 8}));
}

TEST_F(Vectors, DamageIsToldWithItsPlace) {
  EXPECT_EQ(message(""), "v: at byte 0: the file is empty; expected vectors of words");
  EXPECT_EQ(message("alpha 1\n"), "v: at byte 0: line 1: 1 numbers; expected 2");
  EXPECT_EQ(message("the 1 2\nbeta 1 2 3\n"), "v: at byte 8: line 2: 3 numbers; expected 2");
  EXPECT_EQ(message("alpha 1 nan\n"), "v: at byte 0: line 1: 'nan' is not a finite number");
  EXPECT_EQ(message("alpha inf 1\n"), "v: at byte 0: line 1: 'inf' is not a finite number");
  EXPECT_EQ(message("alpha 1e99 1\n"), "v: at byte 0: line 1: '1e99' is not a finite number");
  EXPECT_EQ(message("alpha 1 x\n"), "v: at byte 0: line 1: 'x' is not a finite number");
  EXPECT_EQ(message("alpha 1 2x\n"), "v: at byte 0: line 1: 'x' in a number");
  EXPECT_EQ(message("alpha\n"), "v: at byte 0: line 1: 0 numbers; expected 2");
  EXPECT_EQ(message(std::string(70000, 'a')), "v: at byte 0: a line of more than 65536 bytes");
}

TEST_F(Vectors, NumbersNearZeroAndWithAPlusAreNumbers) {
  const Result<WordVectors> all = read(
      "alpha 1e-46 +2.5\nbeta -3E-400 +1e-1\ngamma "
      "0.00000000000000000000000000000000000000000000001 +.5\n");
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->vectors, (std::vector<float>{0, 0, 0, 0, 0, 2.5F, 0, 0.1F, 0, 0.5F}));
  EXPECT_EQ(message("alpha +-1 1\n"), "v: at byte 0: line 1: '+-1' is not a finite number");
  EXPECT_EQ(message("alpha + 1\n"), "v: at byte 0: line 1: '+' is not a finite number");
  EXPECT_EQ(message("alpha ++1 1\n"), "v: at byte 0: line 1: '++1' is not a finite number");
  EXPECT_EQ(message("alpha -1e400 1\n"), "v: at byte 0: line 1: '-1e400' is not a finite number");
  EXPECT_EQ(message("alpha +inf 1\n"), "v: at byte 0: line 1: '+inf' is not a finite number");
}

TEST_F(Vectors, TheFirstLineIsLookedAtEvenIfUnwanted) {
  EXPECT_EQ(message("400000 2\nalpha 1 2\n"), "v: at byte 0: line 1: 1 numbers; expected 2");
}

TEST_F(Vectors, CheckingLooksAtAllLines) {
  const std::vector<std::uint8_t> sound = bytes_of("the 1 2\nof 3 4\n");
  ByteStream first = ByteStream::from_memory("v", sound);
  const Result<std::size_t> lines = check_vectors(first, 2);
  ASSERT_TRUE(lines);
  EXPECT_EQ(*lines, 2U);
  const std::vector<std::uint8_t> damaged = bytes_of("the 1 2\nof 3 nan\n");
  ByteStream second = ByteStream::from_memory("v", damaged);
  EXPECT_FALSE(check_vectors(second, 2));
}

}  // namespace
}  // namespace boba::test
