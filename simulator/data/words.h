// Texts as numbers of words, and words as vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "boba/core/result.h"
#include "simulator/data/stream.h"

namespace boba::sim {

// The words seen so far, numbered from 0 in the order in which they came.
class Vocabulary {
 public:
  static constexpr std::size_t kLongestWord = 100;
  static constexpr std::size_t kMostWords = 1'000'000;  // AG-News has a tenth of it
  static constexpr std::int32_t kUnknown = -2;

  explicit Vocabulary(std::size_t most_words = kMostWords) : most_words_(most_words) {}

  // Appends the numbers of the text's tokens to out, until out has limit numbers. A token is a run
  // of letters and digits in lower case, or one of the other characters that are not white space.
  // Bytes above 127 count as letters, so that words in UTF-8 stay whole. A token of more than
  // kLongestWord bytes is no word that has a vector: its number is kUnknown, and so is that of a
  // new word once there are kMostWords; then overflowed() is true.
  void tokenize(std::string_view text, std::size_t limit, std::vector<std::int32_t>& out);

  std::size_t size() const { return numbers_.size(); }
  bool overflowed() const { return overflowed_; }
  // -1 for a word that was not seen.
  std::int32_t find(std::string_view word) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::int32_t number_of(std::string_view word);

  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> numbers_;
  std::string word_;
  std::size_t most_words_;
  bool overflowed_ = false;
};

// Vectors of the words of a vocabulary; the others of the file are passed over.
struct WordVectors {
  std::vector<float> vectors;        // rows of the vectors' length; rows 0 and 1 are zero
  std::vector<std::int32_t> row_of;  // by the vocabulary's number; kUnknownWord without a vector
};

// A text file with a line for each word: the word and length numbers, separated by spaces. Rows
// come in the file's order; of a word's several lines the first counts. The numbers of words that
// are not wanted are not looked at, those of the first line aside.
Result<WordVectors> read_vectors(ByteStream& stream, std::size_t length,
                                 const Vocabulary& vocabulary);

// Looks at every number of such a file; how many lines it has.
Result<std::size_t> check_vectors(ByteStream& stream, std::size_t length);

}  // namespace boba::sim
