// AG-News: titles and descriptions of news in four classes, as CSV, with GloVe vectors of words.
//
// X. Zhang, J. Zhao, Y. LeCun. Character-level Convolutional Networks for Text Classification.
// NeurIPS 2015.
// J. Pennington, R. Socher, C. Manning. GloVe: Global Vectors for Word Representation. EMNLP 2014.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "simulator/data/csv.h"
#include "simulator/data/digest.h"
#include "simulator/data/sets.h"
#include "simulator/data/words.h"

namespace boba::sim {
namespace {

constexpr std::size_t kClasses = 4;
constexpr std::size_t kColumns = 3;  // class, title, description
constexpr std::size_t kVectorLength = 100;
constexpr std::size_t kMostRows = 1'000'000;
constexpr int kMostLength = 4096;
constexpr std::int32_t kNoMore = -1;  // behind the numbers of a text
static_assert(Vocabulary::kUnknown != kNoMore);

enum Part : std::size_t { kTrain, kTest, kVectors, kParts };

constexpr std::string_view kArchive = "ag_news_csv.tar.gz";
constexpr FileChoice kTrainFiles[] = {{.file = "train.csv"},
                                      {.file = kArchive, .member = "train.csv"},
                                      {.file = "train_subset_30k.csv", .partial = true}};
constexpr FileChoice kTestFiles[] = {{.file = "test.csv"},
                                     {.file = kArchive, .member = "test.csv"}};
constexpr FileChoice kVectorFiles[] = {{.file = "vectors.100d.txt"},
                                       {.file = "glove.6B.100d.txt"},
                                       {.file = "glove.6B.zip", .member = "glove.6B.100d.txt"}};
constexpr FilePart kTextParts[] = {{.role = "training texts", .choices = kTrainFiles},
                                   {.role = "test texts", .choices = kTestFiles}};
constexpr FilePart kVectorParts[] = {{.role = "word vectors", .choices = kVectorFiles}};
constexpr std::string_view kTextFolders[] = {"ag_news", "ag-news", "ag_news_csv", "AG_NEWS"};
constexpr std::string_view kVectorFolders[] = {"ag_news", "ag-news", "ag_news_csv",
                                               "AG_NEWS", "glove",   "glove.6B"};
constexpr FileGroup kGroups[] = {{.folders = kTextFolders, .parts = kTextParts},
                                 {.folders = kVectorFolders, .parts = kVectorParts}};
constexpr CountOf kCounted[] = {CountOf::kTraining, CountOf::kTest, CountOf::kNothing};
constexpr KnownDigest kKnown[] = {
    {.kind = DigestKind::kMd5, .hex = "b1a00f826fdfbd249f79597b59e1dc12"},
    {.hex = "521465c2428ed7f02f8d6db6ffdd4b5447c1c701962353eb2c40d548c3c85699"},
    {}};

// The rows of a file: body(label, title, description).
template <class Body>
Result<std::size_t> each_text(ByteStream& stream, Body&& body) {
  std::size_t rows = 0;
  const auto take = [&](const CsvRow& row) -> Result<void> {
    const std::string& text = row.fields[0];
    if (text.size() != 1 || text[0] < '1' || text[0] >= '1' + static_cast<char>(kClasses)) {
      return stream.error_at(row.offset, fmt::format("row {} has class '{}'; expected 1 to {}",
                                                     row.number, text.substr(0, 40), kClasses));
    }
    if (++rows > kMostRows) {
      return stream.error_at(row.offset, fmt::format("more than {} rows", kMostRows));
    }
    body(static_cast<std::uint8_t>(text[0] - '1'), row.fields[1], row.fields[2]);
    return {};
  };
  if (Result<void> read = read_csv(stream, kColumns, take); !read) return read.error();
  if (rows == 0) return stream.error_here("the file is empty; expected class, title, description");
  return rows;
}

Result<std::size_t> check_part(std::size_t part, ByteStream& stream) {
  if (part == kVectors) return check_vectors(stream, kVectorLength);
  return each_text(stream, [](std::uint8_t, const std::string&, const std::string&) {});
}

Result<std::optional<std::size_t>> count_part(std::size_t part, ByteStream& stream) {
  if (part == kVectors) return std::optional<std::size_t>();
  const Result<std::size_t> count = check_part(part, stream);
  if (!count) return count.error();
  return std::optional(*count);
}

// Appends the file's texts, each length numbers of the vocabulary, kNoMore after the end of a text.
Result<void> read_texts(ByteStream& stream, std::size_t length, Vocabulary& vocabulary,
                        Examples& examples) {
  std::vector<std::int32_t> words;
  const Result<std::size_t> rows = each_text(
      stream, [&](std::uint8_t label, const std::string& title, const std::string& description) {
        words.clear();
        vocabulary.tokenize(title, length, words);
        vocabulary.tokenize(description, length, words);
        words.resize(length, kNoMore);
        examples.words.insert(examples.words.end(), words.begin(), words.end());
        examples.labels.push_back(label);
      });
  if (!rows) return rows.error();
  if (!vocabulary.overflowed()) return {};
  return stream.error_here(fmt::format("more than {} different words", Vocabulary::kMostWords));
}

// From numbers of the vocabulary to rows of the vectors.
void renumber(const std::vector<std::int32_t>& row_of, std::vector<std::int32_t>& words) {
  for (std::int32_t& word : words) {
    if (word == kNoMore) {
      word = kNoWord;
    } else {
      word = word < 0 ? kUnknownWord : row_of[static_cast<std::size_t>(word)];
    }
  }
}

Result<Dataset> load_ag_news(std::span<const StoredFile> files, const LoadOptions& options) {
  if (options.length < 1 || options.length > kMostLength) {
    return invalid_argument(fmt::format("ag-news: a length of {} words; expected 1 to {}",
                                        options.length, kMostLength));
  }
  Dataset data;
  data.name = kAgNews.name;
  data.kind = DataKind::kText;
  data.classes = {"World", "Sports", "Business", "Sci/Tech"};
  data.image = {.channels = 0, .height = 0, .width = 0};
  data.length = static_cast<std::size_t>(options.length);
  data.vector_length = kVectorLength;
  Vocabulary vocabulary;
  // Which of the two comes first does not matter: rows of vectors have the order of their file.
  const auto take = [&](std::size_t part, ByteStream& stream) {
    return read_texts(stream, data.length, vocabulary, part == kTrain ? data.train : data.test);
  };
  if (Result<void> read = read_files(files.first(kVectors), take); !read) return read.error();
  WordVectors vectors;
  const auto take_vectors = [&](std::size_t, ByteStream& stream) -> Result<void> {
    Result<WordVectors> all = read_vectors(stream, kVectorLength, vocabulary);
    if (!all) return all.error();
    vectors = *std::move(all);
    return {};
  };
  if (Result<void> read = read_files(files.subspan(kVectors), take_vectors); !read) {
    return read.error();
  }
  if (vectors.vectors.size() == 2 * kVectorLength) {
    return Error{ErrorCode::kIo,
                 fmt::format("{}: it has none of the {} words of {}", files[kVectors].name(),
                             vocabulary.size(), files[kTrain].name())};
  }
  renumber(vectors.row_of, data.train.words);
  renumber(vectors.row_of, data.test.words);
  data.vectors = std::move(vectors.vectors);
  data.checksum = checksum_of(data);
  return data;
}

}  // namespace

constinit const SetEntry kAgNews = {
    .name = "ag-news",
    .kind = DataKind::kText,
    .classes = kClasses,
    .train = 120000,
    .test = 7600,
    .advice =
        "Get ag_news_csv.tar.gz, the set that X. Zhang, J. Zhao and Y. LeCun published, and "
        "glove.6B.zip from nlp.stanford.edu/projects/glove; both are read as they are, and so "
        "are train.csv, test.csv and glove.6B.100d.txt, plain, .gz or .xz, in a folder "
        "ag_news.",
    .groups = kGroups,
    .known = kKnown,
    .counted = kCounted,
    .load = &load_ag_news,
    .count = &count_part,
    .check = &check_part,
};

}  // namespace boba::sim
