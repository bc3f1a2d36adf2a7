// Files as they are kept: plain, .gz or .xz, or as members of a .tar.gz or .zip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "boba/core/result.h"
#include "simulator/data/stream.h"

namespace boba::sim {

struct StoredFile {
  std::filesystem::path path;
  std::string member = "";  // of the archive path; empty: path itself is the file
  bool partial = false;     // it stands for the published file, but holds a part of it only

  // "mnist/train-labels-idx1-ubyte.gz", "glove.6B.zip: glove.6B.100d.txt".
  std::string name() const;
};

// Reads file index from its first byte; it need not read to the end.
using ReadBody = std::function<Result<void>(std::size_t index, ByteStream& stream)>;

// Calls body once for each file, unpacking as the content demands. An archive is passed over once,
// so its members come in the archive's order. With threads > 1 body runs on several files at a
// time. The first error of the lowest file ends it all; a file that lies about its packing, an
// archive without a member and damaged data are errors, and so is one that unpacks to more bytes
// than the limit: no data set here is larger, it is a trap.
inline constexpr std::uint64_t kMostUnpacked = std::uint64_t{8} << 30;
Result<void> read_files(std::span<const StoredFile> files, const ReadBody& body, int threads = 1,
                        std::uint64_t most_unpacked = kMostUnpacked);

// The unpacked size of a plain, .gz or .xz file from its last bytes; none if they do not tell.
std::optional<std::uint64_t> unpacked_size(const std::filesystem::path& path);

}  // namespace boba::sim
