// A .npy file of one row that several ranks write together: it appears whole or not at all.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "boba/core/result.h"
#include "boba/core/views.h"
#include "boba/dist/communicator.h"
#include "tools/file.h"

namespace boba::tools {

// Removes a file when a signal ends the process: mpirun sends one to all others when one dies.
// Signals that are ignored stay so. One at a time in a process.
class RemovedOnSignal {
 public:
  explicit RemovedOnSignal(const std::string& path);
  ~RemovedOnSignal();
  RemovedOnSignal(const RemovedOnSignal&) = delete;
  RemovedOnSignal& operator=(const RemovedOnSignal&) = delete;
};

// Whether ranks can write there together, asked before a long computation rather than after it.
Result<void> check_shared_output(const std::string& path);

class SharedNpy {
 public:
  explicit SharedNpy(const Communicator& ranks) : ranks_(ranks) {}

  // All ranks together: columns from `first` on of a row of length `whole`. The same outcome on
  // all.
  Result<void> write(const std::string& path, const UpdateView& part, std::size_t first,
                     std::size_t whole);

  // On rank 0, once all are sure; nothing where nothing was written.
  Result<void> commit();

 private:
  Result<void> begin(const std::string& path, const std::string& header, std::size_t bytes);

  const Communicator& ranks_;
  std::optional<OutputFile> file_;  // rank 0's
  std::optional<RemovedOnSignal> guard_;
};

}  // namespace boba::tools
