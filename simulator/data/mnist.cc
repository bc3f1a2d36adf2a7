// MNIST and Fashion-MNIST: four idx files each, under the same names.
//
// Y. LeCun, L. Bottou, Y. Bengio, P. Haffner. Gradient-Based Learning Applied to Document
// Recognition. Proceedings of the IEEE 86(11), 1998.
// H. Xiao, K. Rasul, R. Vollgraf. Fashion-MNIST: a Novel Image Dataset for Benchmarking Machine
// Learning Algorithms. arXiv:1708.07747, 2017.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "simulator/data/digest.h"
#include "simulator/data/idx.h"
#include "simulator/data/sets.h"

namespace boba::sim {
namespace {

constexpr ImageShape kShape = {.channels = 1, .height = 28, .width = 28};
constexpr std::size_t kClasses = 10;

enum Part : std::size_t { kTrainImages, kTrainLabels, kTestImages, kTestLabels, kParts };

constexpr FileChoice kTrainImageFiles[] = {{.file = "train-images-idx3-ubyte"},
                                           {.file = "train-images.idx3-ubyte"}};
constexpr FileChoice kTrainLabelFiles[] = {{.file = "train-labels-idx1-ubyte"},
                                           {.file = "train-labels.idx1-ubyte"}};
constexpr FileChoice kTestImageFiles[] = {{.file = "t10k-images-idx3-ubyte"},
                                          {.file = "t10k-images.idx3-ubyte"}};
constexpr FileChoice kTestLabelFiles[] = {{.file = "t10k-labels-idx1-ubyte"},
                                          {.file = "t10k-labels.idx1-ubyte"}};
constexpr FilePart kIdxParts[] = {{.role = "training images", .choices = kTrainImageFiles},
                                  {.role = "training labels", .choices = kTrainLabelFiles},
                                  {.role = "test images", .choices = kTestImageFiles},
                                  {.role = "test labels", .choices = kTestLabelFiles}};
constexpr CountOf kCounted[] = {CountOf::kTraining, CountOf::kTrainingLabels, CountOf::kTest,
                                CountOf::kTestLabels};

constexpr std::string_view kMnistFolders[] = {"mnist", "MNIST", "MNIST/raw"};
constexpr std::string_view kFashionFolders[] = {"fashion-mnist", "fashion_mnist", "FashionMNIST",
                                                "FashionMNIST/raw"};

// The first labels of the canonical files tell the two sets apart, whatever a folder is called.
using Signature = std::array<std::uint8_t, 16>;
constexpr Signature kMnistTrain = {5, 0, 4, 1, 9, 2, 1, 3, 1, 4, 3, 5, 3, 6, 1, 7};
constexpr Signature kMnistTest = {7, 2, 1, 0, 4, 1, 4, 9, 5, 9, 0, 6, 9, 0, 1, 5};
constexpr Signature kFashionTrain = {9, 0, 0, 3, 0, 2, 7, 2, 5, 5, 0, 9, 5, 5, 7, 9};
constexpr Signature kFashionTest = {9, 2, 1, 1, 6, 1, 4, 6, 5, 7, 4, 5, 7, 3, 4, 1};

bool starts_with(const StoredFile& file, const Signature& expected) {
  if (file.path.empty()) return false;
  Signature labels{};
  const Result<void> read = read_files(std::span(&file, 1), [&](std::size_t, ByteStream& stream) {
    const Result<std::size_t> count = read_idx_label_count(stream);
    return count ? stream.read_all(labels, "labels") : Result<void>(count.error());
  });
  // What cannot be read is told when it is loaded.
  return read.ok() && labels == expected;
}

bool is_fashion(std::span<const StoredFile> files) {
  return starts_with(files[kTrainLabels], kFashionTrain) ||
         starts_with(files[kTestLabels], kFashionTest);
}

bool is_mnist(std::span<const StoredFile> files) {
  return starts_with(files[kTrainLabels], kMnistTrain) ||
         starts_with(files[kTestLabels], kMnistTest);
}

constexpr FileGroup kMnistGroups[] = {{.folders = kMnistFolders,
                                       .parts = kIdxParts,
                                       .foreign = kFashionFolders,
                                       .is_foreign = &is_fashion}};
constexpr FileGroup kFashionGroups[] = {{.folders = kFashionFolders,
                                         .parts = kIdxParts,
                                         .foreign = kMnistFolders,
                                         .is_foreign = &is_mnist}};

constexpr KnownDigest kMnistKnown[] = {
    {.hex = "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
    {.hex = "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
    {.hex = "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
    {.hex = "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}};
constexpr KnownDigest kFashionKnown[] = {
    {.hex = "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"},
    {.hex = "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"},
    {.hex = "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"},
    {.hex = "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"}};

Result<std::optional<std::size_t>> count_items(std::size_t part, ByteStream& stream) {
  const bool labels = part == kTrainLabels || part == kTestLabels;
  const Result<std::size_t> count =
      labels ? read_idx_label_count(stream) : read_idx_image_count(stream);
  if (!count) return count.error();
  return std::optional(*count);
}

Result<std::size_t> check_part(std::size_t part, ByteStream& stream) {
  if (part == kTrainLabels || part == kTestLabels) {
    const auto labels = read_idx_labels(stream, kClasses);
    if (!labels) return labels.error();
    return labels->size();
  }
  const auto images = read_idx_images(stream, kShape);
  if (!images) return images.error();
  return images->size() / kShape.size();
}

Result<void> same_count(const StoredFile& images, const StoredFile& labels,
                        const Examples& examples) {
  const std::size_t count = examples.pixels.size() / kShape.size();
  if (count == examples.count()) return {};
  return Error{ErrorCode::kIo,
               fmt::format("{}: at byte 4: {} labels; expected one for each of the {} images of {}",
                           labels.name(), examples.count(), count, images.name())};
}

Result<void> load_idx(std::span<const StoredFile> files, Dataset& data) {
  const auto part_of = [&](std::size_t part) -> std::vector<std::uint8_t>& {
    Examples& examples = part <= kTrainLabels ? data.train : data.test;
    return part == kTrainLabels || part == kTestLabels ? examples.labels : examples.pixels;
  };
  const auto take = [&](std::size_t part, ByteStream& stream) -> Result<void> {
    const bool labels = part == kTrainLabels || part == kTestLabels;
    auto bytes = labels ? read_idx_labels(stream, kClasses) : read_idx_images(stream, kShape);
    if (!bytes) return bytes.error();
    part_of(part) = *std::move(bytes);
    return {};
  };
  if (Result<void> read = read_files(files, take); !read) return read;
  Result<void> train = same_count(files[kTrainImages], files[kTrainLabels], data.train);
  return train ? same_count(files[kTestImages], files[kTestLabels], data.test) : train;
}

Result<Dataset> load_images(std::span<const StoredFile> files, Dataset data) {
  data.kind = DataKind::kImages;
  data.image = kShape;
  if (Result<void> read = load_idx(files, data); !read) return read.error();
  data.checksum = checksum_of(data);
  return data;
}

Result<Dataset> load_mnist(std::span<const StoredFile> files, const LoadOptions&) {
  Dataset data;
  data.name = kMnist.name;
  data.classes = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  data.mean = {0.1307};
  data.deviation = {0.3081};
  return load_images(files, std::move(data));
}

Result<Dataset> load_fashion(std::span<const StoredFile> files, const LoadOptions&) {
  Dataset data;
  data.name = kFashionMnist.name;
  data.classes = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                  "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
  data.mean = {0.2860};
  data.deviation = {0.3530};
  return load_images(files, std::move(data));
}

}  // namespace

constinit const SetEntry kMnist = {
    .name = "mnist",
    .kind = DataKind::kImages,
    .classes = kClasses,
    .train = 60000,
    .test = 10000,
    .advice =
        "Get train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, "
        "t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz from a mirror of "
        "yann.lecun.com/exdb/mnist into a folder mnist.",
    .groups = kMnistGroups,
    .known = kMnistKnown,
    .counted = kCounted,
    .load = &load_mnist,
    .count = &count_items,
    .check = &check_part,
};

constinit const SetEntry kFashionMnist = {
    .name = "fashion-mnist",
    .kind = DataKind::kImages,
    .classes = kClasses,
    .train = 60000,
    .test = 10000,
    .advice =
        "On Debian: apt-get install dataset-fashion-mnist. Elsewhere: get the four .gz files "
        "of github.com/zalandoresearch/fashion-mnist into a folder fashion-mnist.",
    .groups = kFashionGroups,
    .known = kFashionKnown,
    .counted = kCounted,
    .load = &load_fashion,
    .count = &count_items,
    .check = &check_part,
};

}  // namespace boba::sim
