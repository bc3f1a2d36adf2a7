#include "boba/kernels/cuda/view.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "boba/kernels/cuda/cuda.h"

namespace boba {
namespace {

const void* data_of(const UpdateView& rows, std::size_t i) {
  return visit(rows.dtype(), [&](auto zero) -> const void* { return rows.row<decltype(zero)>(i); });
}

// Where memory is, in words; "" if it is on this GPU.
std::string elsewhere(const void* data, int device) {
  cudaPointerAttributes attributes = {};
  if (cudaPointerGetAttributes(&attributes, data) != cudaSuccess) {
    cudaGetLastError();
    return "where no GPU can read it";
  }
  if (attributes.type == cudaMemoryTypeManaged) return "";
  if (attributes.type != cudaMemoryTypeDevice) return "in the host's memory";
  if (attributes.device != device) return fmt::format("on GPU {}", attributes.device);
  return "";
}

}  // namespace

Result<DeviceView> DeviceView::make(const UpdateView& rows, int device) {
  for (std::size_t i = 0; i < rows.rows() && rows.length() > 0; ++i) {
    const std::string place = elsewhere(data_of(rows, i), device);
    if (place.empty()) continue;
    return invalid_argument(
        fmt::format("row {} is {}; all rows must be on GPU {}", i, place, device));
  }
  return DeviceView(rows, device);
}

Result<Verdict> aggregate(const Aggregator& rule, const Kernels& cuda, const DeviceRound& round,
                          MutableRow out, Memory* memory) {
  RowList place(out.dtype(), out.length());
  place.add(out);
  if (auto there = DeviceView::make(place.view(), round.updates.device()); !there) {
    return invalid_argument("the output: " + there.error().message);
  }
  for (const DeviceView* view : {&round.server, &round.server_whole, &round.model}) {
    if (view->rows() == 0 || view->device() == round.updates.device()) continue;
    return invalid_argument(fmt::format("rows on GPU {} and GPU {}; a round is on one",
                                        round.updates.device(), view->device()));
  }
  try {
    return rule.aggregate(cuda,
                          {.updates = round.updates.pointers(),
                           .ids = round.ids,
                           .server = round.server.pointers(),
                           .server_counts = round.server_counts,
                           .server_whole = round.server_whole.pointers(),
                           .model = round.model.pointers(),
                           .learning_rate = round.learning_rate,
                           .oracle = round.oracle,
                           .seed = round.seed,
                           .number = round.number},
                          out, memory);
  } catch (const DeviceError& error) {
    return Error{ErrorCode::kUnsupported, error.what()};
  }
}

}  // namespace boba
