#include "boba/kernels/cuda/matrix.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "boba/kernels/cuda/cuda.h"
#include "boba/kernels/cuda/device.h"

namespace boba {
namespace {

constexpr std::size_t kAlignment = 256;

std::size_t size_of(DType dtype) { return dtype == DType::kFloat32 ? 4 : 8; }

void* data_of(const MutableRow& row) {
  return visit(row.dtype(), [&](auto zero) -> void* { return row.as<decltype(zero)>().data(); });
}

const void* data_of(const UpdateView& rows, std::size_t i) {
  return visit(rows.dtype(), [&](auto zero) -> const void* { return rows.row<decltype(zero)>(i); });
}

Result<void> done(cudaError_t status, const char* operation) {
  if (status == cudaSuccess) return {};
  cudaGetLastError();
  return Error{ErrorCode::kUnsupported,
               fmt::format("the GPU failed to {}: {}", operation, cudaGetErrorString(status))};
}

}  // namespace

struct DeviceMatrix::Memory {
  ~Memory() { cudaFree(data); }
  char* data = nullptr;
  std::size_t stride = 0;  // bytes from row to row
};

DeviceMatrix::DeviceMatrix() = default;
DeviceMatrix::~DeviceMatrix() = default;
DeviceMatrix::DeviceMatrix(DeviceMatrix&&) noexcept = default;
DeviceMatrix& DeviceMatrix::operator=(DeviceMatrix&&) noexcept = default;

Result<DeviceMatrix> DeviceMatrix::make(DType dtype, std::size_t rows, std::size_t length,
                                        int device) {
  std::optional<cuda::Chosen> chosen;
  try {
    chosen.emplace(device);
  } catch (const DeviceError& error) {
    return Error{ErrorCode::kUnsupported, error.what()};
  }
  DeviceMatrix matrix;
  matrix.memory_ = std::make_unique<Memory>();
  Memory& memory = *matrix.memory_;
  memory.stride = (length * size_of(dtype) + kAlignment - 1) / kAlignment * kAlignment;
  const std::size_t bytes = std::max<std::size_t>(1, rows * memory.stride);
  if (Result<void> got = done(cudaMalloc(reinterpret_cast<void**>(&memory.data), bytes),
                              "give memory for the rows");
      !got) {
    return got.error();
  }
  if (Result<void> clear = done(cudaMemset(memory.data, 0, bytes), "clear memory"); !clear) {
    return clear.error();
  }
  matrix.rows_ = rows;
  matrix.table_ = RowList(dtype, length);
  for (std::size_t i = 0; i < rows; ++i) matrix.table_.add(matrix.row(i));
  return matrix;
}

MutableRow DeviceMatrix::row(std::size_t i) const {
  const UpdateView view = table_.view();
  return visit(view.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return MutableRow(
        std::span<T>(reinterpret_cast<T*>(memory_->data + i * memory_->stride), view.length()));
  });
}

Result<void> DeviceMatrix::put(std::size_t i, const UpdateView& from, std::size_t row) {
  const MutableRow to = this->row(i);
  return done(cudaMemcpy(data_of(to), data_of(from, row), to.length() * size_of(to.dtype()),
                         cudaMemcpyHostToDevice),
              "take a row");
}

Result<void> DeviceMatrix::get(std::size_t i, MutableRow to) const {
  return done(cudaMemcpy(data_of(to), data_of(row(i)), to.length() * size_of(to.dtype()),
                         cudaMemcpyDeviceToHost),
              "give a row");
}

}  // namespace boba
