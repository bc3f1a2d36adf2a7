// Words and vectors: no bytes may crash the tokenizer or the reader of vectors.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fuzz/stream.h"
#include "simulator/data/dataset.h"
#include "simulator/data/words.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace boba;
  using namespace boba::sim;
  Vocabulary words;
  std::vector<std::int32_t> tokens;
  words.tokenize({reinterpret_cast<const char*>(data), size}, 50, tokens);
  require(tokens.size() <= 50, "the limit holds");
  require(words.size() <= tokens.size(), "every word was a token");
  // The text's own words are the ones wanted, so that lines of a text are often wanted.
  ByteStream stream = fuzz_stream(data, size);
  const Result<WordVectors> vectors = read_vectors(stream, 2, words);
  if (!vectors) {
    check_error(vectors.error(), size);
    return 0;
  }
  require(vectors->row_of.size() == words.size(), "every word has a row");
  require(vectors->vectors.size() % 2 == 0, "vectors are whole");
  const auto rows = static_cast<std::int32_t>(vectors->vectors.size() / 2);
  for (const std::int32_t row : vectors->row_of) {
    require(row >= kUnknownWord && row < rows, "rows are in range");
  }
  for (const float value : vectors->vectors) require(std::isfinite(value), "numbers are finite");
  return 0;
}
