// DeviceRound: a round whose rows are in a GPU's memory.
//
// Views of the GPU's memory have their own type, and making one checks where its pointers lead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "boba/core/aggregator.h"
#include "boba/core/kernels.h"
#include "boba/core/memory.h"
#include "boba/core/result.h"
#include "boba/core/round.h"
#include "boba/core/verdict.h"
#include "boba/core/views.h"

namespace boba {

// Read-only rows in a GPU's memory, adjacent or not. The pointer table and the rows must outlive
// the view.
class DeviceView {
 public:
  DeviceView() = default;

  // Fails where boba was built without CUDA, and where a row is not in the GPU's memory.
  static Result<DeviceView> make(const UpdateView& rows, int device = 0);

  std::size_t rows() const { return rows_.rows(); }
  std::size_t length() const { return rows_.length(); }
  DType dtype() const { return rows_.dtype(); }
  int device() const { return device_; }

  // Only for kernels of make_cuda_kernels on the same GPU.
  const UpdateView& pointers() const { return rows_; }

 private:
  DeviceView(const UpdateView& rows, int device) : rows_(rows), device_(device) {}

  UpdateView rows_;
  int device_ = 0;
};

// As Round, on one GPU.
struct DeviceRound {
  DeviceView updates = {};
  std::span<const std::string> ids = {};
  DeviceView server = {};
  std::span<const double> server_counts = {};
  DeviceView server_whole = {};
  DeviceView model = {};
  double learning_rate = 0;
  ServerOracle* oracle = nullptr;  // its points are in the GPU's memory
  std::uint64_t seed = 0;
  std::uint32_t number = 0;
};

// The aggregate of the round, left in the GPU's memory at out. REQUIRES: cuda is from
// make_cuda_kernels, for the GPU that the rows are on. A call that the GPU fails is an error here
// too. memory: as in Aggregator, of earlier rounds.
Result<Verdict> aggregate(const Aggregator& rule, const Kernels& cuda, const DeviceRound& round,
                          MutableRow out, Memory* memory = nullptr);

}  // namespace boba
