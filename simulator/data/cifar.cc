#include "simulator/data/cifar.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace boba::sim {
namespace {

// Ten times what a batch has; what goes on longer is something else.
constexpr std::size_t kMostRecords = 100'000;

}  // namespace

Result<Examples> read_cifar_batch(ByteStream& stream, const ImageShape& shape,
                                  std::size_t classes) {
  Examples examples;
  std::vector<std::uint8_t> record(1 + shape.size());
  while (true) {
    const std::uint64_t begin = stream.offset();
    const Result<std::size_t> count = stream.read(record);
    if (!count) return count.error();
    if (*count == 0) break;
    if (*count < record.size()) {
      return stream.error_here(fmt::format("the file ends inside record {}; expected {} more bytes",
                                           examples.count(), record.size() - *count));
    }
    if (record[0] >= classes) {
      return stream.error_at(begin, fmt::format("record {} has label {}; expected 0 to {}",
                                                examples.count(), record[0], classes - 1));
    }
    if (examples.count() == kMostRecords) {
      return stream.error_at(begin,
                             fmt::format("more than {} records; a batch has 10000", kMostRecords));
    }
    examples.labels.push_back(record[0]);
    examples.pixels.insert(examples.pixels.end(), record.begin() + 1, record.end());
  }
  if (examples.count() == 0) {
    return stream.error_here(
        fmt::format("the file is empty; expected records of {} bytes", record.size()));
  }
  return examples;
}

}  // namespace boba::sim
