// CIFAR-10: five training batches and a test batch.
//
// A. Krizhevsky. Learning Multiple Layers of Features from Tiny Images. 2009.

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

#include "simulator/data/cifar.h"
#include "simulator/data/digest.h"
#include "simulator/data/sets.h"

namespace boba::sim {
namespace {

constexpr ImageShape kShape = {.channels = 3, .height = 32, .width = 32};
constexpr std::size_t kClasses = 10;
constexpr std::size_t kRecord = 1 + 3 * 32 * 32;
constexpr std::size_t kTestPart = 5;
constexpr std::size_t kParts = 6;

constexpr std::string_view kFolders[] = {"cifar10", "cifar-10", "cifar-10-batches-bin", "CIFAR10"};

// Each batch: as a file, or in the archive that its author publishes.
constexpr std::array<FileChoice, 2> batch(std::string_view name) {
  return {{{.file = name}, {.file = "cifar-10-binary.tar.gz", .member = name}}};
}
constexpr auto kBatch1 = batch("data_batch_1.bin");
constexpr auto kBatch2 = batch("data_batch_2.bin");
constexpr auto kBatch3 = batch("data_batch_3.bin");
constexpr auto kBatch4 = batch("data_batch_4.bin");
constexpr auto kBatch5 = batch("data_batch_5.bin");
constexpr auto kTestBatch = batch("test_batch.bin");
constexpr FilePart kFileParts[kParts] = {{.role = "training batch 1", .choices = kBatch1},
                                         {.role = "training batch 2", .choices = kBatch2},
                                         {.role = "training batch 3", .choices = kBatch3},
                                         {.role = "training batch 4", .choices = kBatch4},
                                         {.role = "training batch 5", .choices = kBatch5},
                                         {.role = "test batch", .choices = kTestBatch}};
constexpr FileGroup kGroups[] = {{.folders = kFolders, .parts = kFileParts}};
constexpr CountOf kCounted[kParts] = {CountOf::kTraining, CountOf::kTraining, CountOf::kTraining,
                                      CountOf::kTraining, CountOf::kTraining, CountOf::kTest};

constexpr KnownDigest kKnown[kParts] = {
    {.hex = "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"},
    {.hex = "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"},
    {.hex = "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"},
    {.hex = "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"},
    {.hex = "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"},
    {.hex = "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"}};

Result<std::optional<std::size_t>> count_records(std::size_t, ByteStream& stream) {
  if (!stream.size()) return std::optional<std::size_t>();
  return std::optional(static_cast<std::size_t>(*stream.size() / kRecord));
}

Result<std::size_t> check_batch(std::size_t, ByteStream& stream) {
  const Result<Examples> examples = read_cifar_batch(stream, kShape, kClasses);
  if (!examples) return examples.error();
  return examples->count();
}

void append(Examples from, Examples& to) {
  to.pixels.insert(to.pixels.end(), from.pixels.begin(), from.pixels.end());
  to.labels.insert(to.labels.end(), from.labels.begin(), from.labels.end());
}

Result<Dataset> load_cifar10(std::span<const StoredFile> files, const LoadOptions&) {
  std::array<Examples, kParts> batches;
  const auto take = [&](std::size_t part, ByteStream& stream) -> Result<void> {
    Result<Examples> examples = read_cifar_batch(stream, kShape, kClasses);
    if (!examples) return examples.error();
    batches[part] = *std::move(examples);
    return {};
  };
  // Unpacking .xz takes longer than all the rest; the batches are independent.
  const auto threads = static_cast<int>(std::min(std::thread::hardware_concurrency(), 6U));
  if (Result<void> read = read_files(files, take, threads); !read) return read.error();
  Dataset data;
  data.name = kCifar10.name;
  data.kind = DataKind::kImages;
  data.classes = {"airplane", "automobile", "bird",  "cat",  "deer",
                  "dog",      "frog",       "horse", "ship", "truck"};
  data.image = kShape;
  data.mean = {0.4914, 0.4822, 0.4465};
  data.deviation = {0.2470, 0.2435, 0.2616};
  std::size_t count = 0;
  for (std::size_t part = 0; part < kTestPart; ++part) count += batches[part].count();
  data.train.pixels.reserve(count * kShape.size());
  data.train.labels.reserve(count);
  for (std::size_t part = 0; part < kTestPart; ++part) {
    append(std::exchange(batches[part], {}), data.train);
  }
  data.test = std::move(batches[kTestPart]);
  data.checksum = checksum_of(data);
  return data;
}

}  // namespace

constinit const SetEntry kCifar10 = {
    .name = "cifar10",
    .kind = DataKind::kImages,
    .classes = kClasses,
    .train = 50000,
    .test = 10000,
    .advice =
        "Get cifar-10-binary.tar.gz from www.cs.toronto.edu/~kriz/cifar.html; it is read as "
        "it is, and so are its .bin files, plain, .gz or .xz, in a folder cifar10.",
    .groups = kGroups,
    .known = kKnown,
    .counted = kCounted,
    .load = &load_cifar10,
    .count = &count_records,
    .check = &check_batch,
};

}  // namespace boba::sim
