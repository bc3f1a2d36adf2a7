#include "tools/train/shared_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

namespace boba::tools {
namespace {

namespace fs = std::filesystem;

// Links followed: the journals of a database lie beside the file itself.
fs::path folder_of(const std::string& file) {
  std::error_code ignored;
  const fs::path real = fs::canonical(file, ignored);
  return (real.empty() ? fs::absolute(file, ignored) : real).parent_path();
}

// An empty file with a name that no other has, while it lives.
class Mark {
 public:
  Mark() = default;
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  ~Mark() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  Result<void> make_in(const fs::path& folder) {
    std::string path = (folder / ".boba-ranks-XXXXXX").string();
    const int descriptor = ::mkstemp(path.data());
    if (descriptor < 0) {
      return Error{ErrorCode::kIo, fmt::format("cannot write into the folder {}: {}",
                                               folder.string(), std::strerror(errno))};
    }
    ::close(descriptor);
    path_ = path;
    return {};
  }
  std::string name() const { return fs::path(path_).filename().string(); }

 private:
  std::string path_;
};

// Whether this rank sees what rank 0 has just put beside the database. Numbers of files and disks
// would not tell: machines made alike have the same ones.
Result<void> check_one_folder(const Communicator& ranks, const std::string& file) {
  Mark mark;
  Result<void> done;
  if (ranks.rank() == 0) done = mark.make_in(folder_of(file));
  if (done = agree(ranks, done); !done) return done;
  const std::string name = broadcast_text(ranks, 0, mark.name());
  std::error_code ignored;
  if (!fs::exists(folder_of(file) / name, ignored)) {
    done = Error{ErrorCode::kIo,
                 fmt::format("the database {} here is not the one of rank 0; all ranks must see "
                             "one file, in a folder that their machines share",
                             file)};
  }
  return agree(ranks, done);
}

// Into store, where this rank takes part; the same outcome on all.
Result<void> open_on(const Communicator& ranks, bool part, sim::OpenMode mode,
                     const std::string& file, std::optional<sim::Store>& store) {
  Result<void> opened;
  if (part) {
    auto mine = sim::Store::open(file, mode);
    if (mine) {
      store.emplace(std::move(*mine));
    } else {
      opened = mine.error();
    }
  }
  return agree(ranks, opened);
}

}  // namespace

Result<std::optional<sim::Store>> open_first_store(const Communicator& ranks,
                                                   const std::string& file) {
  std::optional<sim::Store> store;
  const Result<void> opened =
      open_on(ranks, ranks.rank() == 0, sim::OpenMode::kCreate, file, store);
  if (!opened) return opened.error();
  return store;
}

Result<std::optional<sim::Store>> open_shared_store(const Communicator& ranks,
                                                    const std::string& file) {
  auto store = open_first_store(ranks, file);
  if (!store || ranks.size() == 1) return store;
  // Before the others open anything: what they would find may be another database.
  Result<void> shared = check_one_folder(ranks, file);
  if (shared) shared = open_on(ranks, ranks.rank() != 0, sim::OpenMode::kExisting, file, *store);
  if (!shared) return shared.error();
  return store;
}

}  // namespace boba::tools
