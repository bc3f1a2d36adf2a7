#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "boba/capi/boba.h"
#include "boba/capi/guard.h"
#include "boba/capi/handles.h"

using boba::DType;
using boba::invalid_argument;
using boba::Result;
using boba::capi::add_row;
using boba::capi::guarded;
using boba::capi::need;

namespace {

// Whether the caller's array is a row of the round.
Result<void> fits(std::string_view operation, const boba_round* round, const void* data,
                  size_t length, boba_dtype dtype, std::string_view what = "data") {
  if (Result<void> good = need(operation, {{round, "round"}, {data, what}}); !good) return good;
  const Result<DType> type = boba::capi::dtype_of(operation, dtype);
  if (!type) return type.error();
  if (*type != round->dtype || length != round->length) {
    return invalid_argument(fmt::format("{}: got {} of length {}; the round takes {} of length {}",
                                        operation, name(*type), length, name(round->dtype),
                                        round->length));
  }
  return boba::capi::check_array(operation, what, data, *type);
}

boba::RowList single(const boba_round& round, const void* data) {
  boba::RowList list(round.dtype, round.length);
  add_row(list, data, round.length, round.dtype);
  return list;
}

// Runs body on a round that is there.
template <class Body>
boba_status on_round(std::string_view operation, const boba_round* round, Body&& body) {
  return guarded([&]() -> Result<void> {
    if (Result<void> good = need(operation, {{round, "round"}}); !good) return good;
    return body();
  });
}

}  // namespace

boba_status boba_round_create(boba_dtype dtype, size_t length, boba_round** round) {
  if (round != nullptr) *round = nullptr;
  return guarded([&]() -> Result<void> {
    if (Result<void> good = need("boba_round_create", {{round, "round"}}); !good) return good;
    const Result<DType> type = boba::capi::dtype_of("boba_round_create", dtype);
    if (!type) return type.error();
    Result<void> good = boba::capi::check_length("boba_round_create", *type, 1, length);
    if (!good) return good;
    auto made = std::make_unique<boba_round>();
    made->updates = made->server = made->whole = made->model = boba::RowList(*type, length);
    made->dtype = *type;
    made->length = length;
    *round = made.release();
    return {};
  });
}

void boba_round_destroy(boba_round* round) { delete round; }

boba_status boba_round_add_update(boba_round* round, const char* id, const void* data,
                                  size_t length, boba_dtype dtype) {
  return guarded([&]() -> Result<void> {
    if (Result<void> good = fits("boba_round_add_update", round, data, length, dtype); !good) {
      return good;
    }
    const std::string name = id == nullptr ? "" : id;
    if (id != nullptr && name.empty()) {
      return invalid_argument("boba_round_add_update: the id is empty; NULL stands for none");
    }
    if (round->known.contains(name)) {
      return invalid_argument(fmt::format(
          "boba_round_add_update: the round has an update of '{}' already; the first counts",
          name));
    }
    round->ids.push_back(name);
    try {
      if (id != nullptr) round->known.insert(name);
      add_row(round->updates, data, length, round->dtype);
    } catch (...) {
      round->known.erase(name);
      round->ids.pop_back();
      throw;
    }
    return {};
  });
}

boba_status boba_round_clear_updates(boba_round* round) {
  return on_round("boba_round_clear_updates", round, [&]() -> Result<void> {
    round->updates = boba::RowList(round->dtype, round->length);
    round->ids.clear();
    round->known.clear();
    return {};
  });
}

boba_status boba_round_update_count(const boba_round* round, size_t* count) {
  return on_round("boba_round_update_count", round, [&]() -> Result<void> {
    if (Result<void> good = need("boba_round_update_count", {{count, "count"}}); !good) return good;
    *count = round->ids.size();
    return {};
  });
}

boba_status boba_round_add_server_gradient(boba_round* round, const void* data, size_t length,
                                           boba_dtype dtype, double count) {
  return guarded([&]() -> Result<void> {
    if (Result<void> good = fits("boba_round_add_server_gradient", round, data, length, dtype);
        !good) {
      return good;
    }
    if (!(count > 0) || !std::isfinite(count)) {
      return invalid_argument(fmt::format(
          "boba_round_add_server_gradient: count={}; it is a positive number of samples", count));
    }
    round->counts.push_back(count);
    try {
      add_row(round->server, data, length, round->dtype);
    } catch (...) {
      round->counts.pop_back();
      throw;
    }
    return {};
  });
}

boba_status boba_round_set_server_whole(boba_round* round, const void* data, size_t length,
                                        boba_dtype dtype) {
  return guarded([&]() -> Result<void> {
    if (Result<void> good = fits("boba_round_set_server_whole", round, data, length, dtype);
        !good) {
      return good;
    }
    round->whole = single(*round, data);
    return {};
  });
}

boba_status boba_round_clear_server(boba_round* round) {
  return on_round("boba_round_clear_server", round, [&]() -> Result<void> {
    round->server = round->whole = boba::RowList(round->dtype, round->length);
    round->counts.clear();
    return {};
  });
}

boba_status boba_round_set_model(boba_round* round, const void* data, size_t length,
                                 boba_dtype dtype, double learning_rate) {
  return guarded([&]() -> Result<void> {
    if (Result<void> good = fits("boba_round_set_model", round, data, length, dtype); !good) {
      return good;
    }
    if (!(learning_rate > 0) || !std::isfinite(learning_rate)) {
      return invalid_argument(fmt::format(
          "boba_round_set_model: learning_rate={}; it is a positive number", learning_rate));
    }
    round->model = single(*round, data);
    round->learning_rate = learning_rate;
    return {};
  });
}

boba_status boba_round_set_oracle(boba_round* round, boba_loss_function loss,
                                  boba_gradient_function gradient, void* user) {
  return on_round("boba_round_set_oracle", round, [&]() -> Result<void> {
    round->loss = loss;
    round->gradient = gradient;
    round->user = user;
    return {};
  });
}

boba_status boba_round_set_seed(boba_round* round, uint64_t seed) {
  return on_round("boba_round_set_seed", round, [&]() -> Result<void> {
    round->seed = seed;
    return {};
  });
}

boba_status boba_round_set_number(boba_round* round, uint32_t number) {
  return on_round("boba_round_set_number", round, [&]() -> Result<void> {
    round->number = number;
    return {};
  });
}

boba_status boba_round_set_memory(boba_round* round, boba_memory* memory) {
  return on_round("boba_round_set_memory", round, [&]() -> Result<void> {
    round->memory = memory;
    return {};
  });
}

boba_status boba_aggregate(const boba_kernels* kernels, const boba_aggregator* aggregator,
                           const boba_round* round, void* out, size_t length, boba_dtype dtype,
                           boba_verdict** verdict) {
  if (verdict != nullptr) *verdict = nullptr;
  return guarded([&]() -> Result<void> {
    constexpr std::string_view kOperation = "boba_aggregate";
    if (Result<void> good = need(kOperation, {{kernels, "kernels"}, {aggregator, "aggregator"}});
        !good) {
      return good;
    }
    if (Result<void> good = fits(kOperation, round, out, length, dtype, "out"); !good) return good;

    const std::unique_ptr<boba::ServerOracle> oracle = boba::capi::oracle_of(*round);
    boba::Round view = boba::capi::view_of(*round, oracle.get());
    view.updates = round->updates.view();
    if (!round->known.empty()) view.ids = round->ids;
    Result<boba::Verdict> decided = aggregator->aggregator.aggregate(
        *kernels->kernels, view, boba::capi::mutable_row(out, length, round->dtype),
        boba::capi::memory_of(*round));
    if (!decided) return decided.error();
    if (verdict != nullptr) *verdict = new boba_verdict{*std::move(decided)};
    return {};
  });
}
