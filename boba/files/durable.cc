#include "boba/files/durable.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace boba {

bool sync_file(int descriptor) {
  int status = 0;
  do {
    status = ::fsync(descriptor);
  } while (status != 0 && errno == EINTR);
  // EINVAL: there is nothing that could be synced.
  return status == 0 || errno == EINVAL;
}

bool rename_durably(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) return false;
  const std::filesystem::path parent = std::filesystem::path(to).parent_path();
  const char* folder = parent.empty() ? "." : parent.c_str();
  const int descriptor = ::open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A folder that may be written but not read has its new name; it cannot be synced.
  if (descriptor < 0) return errno == EACCES;
  const bool synced = sync_file(descriptor);
  const int why = errno;
  ::close(descriptor);
  errno = why;
  return synced;
}

}  // namespace boba
