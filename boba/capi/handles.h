// What the opaque handles hold, and what their readers share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "boba/attacks/registry.h"
#include "boba/capi/boba.h"
#include "boba/core/aggregator.h"
#include "boba/core/attack.h"
#include "boba/core/kernels.h"
#include "boba/core/memory.h"
#include "boba/core/open_round.h"
#include "boba/core/result.h"
#include "boba/core/round.h"
#include "boba/core/sketch.h"
#include "boba/core/verdict.h"
#include "boba/core/views.h"

struct boba_kernels {
  std::unique_ptr<const boba::Kernels> kernels;
  std::string name;
};

struct boba_aggregator {
  boba::Aggregator aggregator;
};

struct boba_memory {
  boba::Memory memory;
  std::string saved;  // the last save
};

struct boba_round {
  boba::RowList updates;
  std::vector<std::string> ids;  // one per update; "" where none was given
  std::unordered_set<std::string> known;
  boba::RowList server;
  std::vector<double> counts;
  boba::RowList whole;
  boba::RowList model;
  double learning_rate = 0;
  boba_loss_function loss = nullptr;
  boba_gradient_function gradient = nullptr;
  void* user = nullptr;
  boba_memory* memory = nullptr;
  std::optional<std::uint64_t> seed;
  std::uint32_t number = 0;
  boba::DType dtype = boba::DType::kFloat32;
  std::size_t length = 0;
};

struct boba_open_round {
  std::unique_ptr<boba::ServerOracle> oracle;  // null where base has none
  boba::OpenRound round;
  boba::Memory* memory = nullptr;
  boba::DType dtype = boba::DType::kFloat32;
  std::size_t length = 0;
};

struct boba_upload {
  boba::OpenRound::Upload upload;
};

struct boba_verdict {
  boba::Verdict verdict;
};

struct boba_attack {
  boba::NamedAttack named;
};

struct boba_report {
  boba::AttackReport report;
};

namespace boba::capi {

Result<DType> dtype_of(std::string_view operation, boba_dtype dtype);

// Whether a caller may name a length: at least 1, and so many rows of it have bytes that can be
// counted.
Result<void> check_length(std::string_view operation, DType dtype, std::size_t rows,
                          std::size_t length);

// Whether a caller's array can be read as numbers of the type: there, and aligned.
Result<void> check_array(std::string_view operation, std::string_view what, const void* data,
                         DType dtype);

MutableRow mutable_row(void* data, std::size_t length, DType dtype);
// REQUIRES: the list's type and length are those of the data.
void add_row(RowList& list, const void* data, std::size_t length, DType dtype);

// The round's view; oracle is handed through.
Round view_of(const boba_round& round, ServerOracle* oracle);
// The caller's functions as the rules call them; null where there are none. The round must outlive
// it.
std::unique_ptr<ServerOracle> oracle_of(const boba_round& round);

// What the round's rule remembers; null where it has no memory.
Memory* memory_of(const boba_round& round);

// What `gram=` says, with a seed from the operating system where it has none; none: exact.
Result<std::optional<SketchPlan>> deployed_plan(std::string_view gram);

Result<void> in_range(std::string_view operation, std::string_view what, std::size_t index,
                      std::size_t count);
Result<void> measure_at(std::string_view operation, std::span<const NamedValue> measures,
                        std::size_t index, const char** name, double* value);
Result<void> measure_named(std::string_view operation, std::span<const NamedValue> measures,
                           std::string_view name, double* value);

}  // namespace boba::capi
