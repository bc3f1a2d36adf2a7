#include "boba/core/open_round.h"

#include <fmt/format.h>

#include <utility>

#include "boba/capi/boba.h"
#include "boba/capi/guard.h"
#include "boba/capi/handles.h"
#include "boba/core/random.h"

using boba::DType;
using boba::invalid_argument;
using boba::Result;
using boba::capi::guarded;
using boba::capi::need;

namespace {

Result<std::vector<std::string>> cohort_of(std::string_view operation,
                                           const boba_open_round_options& options) {
  std::vector<std::string> ids;
  if (options.cohort_count == 0) return ids;
  if (options.cohort == nullptr) {
    return invalid_argument(fmt::format("{}: options->cohort is NULL", operation));
  }
  for (size_t i = 0; i < options.cohort_count; ++i) {
    if (options.cohort[i] == nullptr) {
      return invalid_argument(fmt::format("{}: id {} of the cohort is NULL", operation, i));
    }
    ids.emplace_back(options.cohort[i]);
  }
  return ids;
}

Result<boba::OpenRoundOptions> options_of(std::string_view operation, const boba_round& base,
                                          const boba_open_round_options& given,
                                          boba::ServerOracle* oracle) {
  Result<void> good =
      boba::capi::check_length(operation, base.dtype, given.cohort_count, base.length);
  if (!good) return good.error();
  Result<std::vector<std::string>> cohort = cohort_of(operation, given);
  if (!cohort) return cohort.error();
  boba::OpenRoundOptions options;
  options.dtype = base.dtype;
  options.length = base.length;
  options.cohort = *std::move(cohort);
  options.most = given.most;
  options.most_uploads = given.most_uploads;
  const boba::Round view = boba::capi::view_of(base, oracle);
  options.server = view.server;
  options.server_counts = base.counts;
  options.server_whole = view.server_whole;
  options.model = view.model;
  options.learning_rate = view.learning_rate;
  options.oracle = oracle;
  options.seed = view.seed;
  options.number = view.number;
  options.quorum = given.quorum;
  if (given.has_deadline != 0) options.deadline = given.deadline;
  const Result<std::optional<boba::SketchPlan>> plan =
      boba::capi::deployed_plan(given.gram == nullptr ? "exact" : given.gram);
  if (!plan) return plan.error();
  options.sketch = *plan;
  return options;
}

// One row of whatever length the caller says; the round refuses what does not fit.
Result<boba::RowList> row_of(std::string_view operation, const void* data, size_t length,
                             boba_dtype dtype) {
  const Result<DType> type = boba::capi::dtype_of(operation, dtype);
  if (!type) return type.error();
  if (Result<void> good = boba::capi::check_array(operation, "data", data, *type); !good) {
    return good.error();
  }
  boba::RowList row(*type, length);
  boba::capi::add_row(row, data, length, *type);
  return row;
}

// submit and adopt.
using Take = Result<void> (boba::OpenRound::*)(std::string_view, const boba::UpdateView&);

boba_status take(std::string_view operation, Take by, boba_open_round* round, const char* id,
                 const void* data, size_t length, boba_dtype dtype) {
  return guarded([&]() -> Result<void> {
    if (Result<void> good = need(operation, {{round, "round"}, {id, "id"}}); !good) return good;
    const Result<boba::RowList> row = row_of(operation, data, length, dtype);
    if (!row) return row.error();
    return (round->round.*by)(id, row->view());
  });
}

}  // namespace

namespace boba::capi {

Result<std::optional<SketchPlan>> deployed_plan(std::string_view gram) {
  const Result<std::optional<SketchOptions>> options = parse_gram(gram);
  if (!options) return options.error();
  if (!options->has_value()) return std::optional<SketchPlan>();
  const Result<std::uint64_t> seed = fresh_seed();
  if (!seed) return seed.error();
  return std::optional<SketchPlan>(sketch_plan(**options, *seed, 0));
}

}  // namespace boba::capi

boba_status boba_open_round_create(const boba_kernels* kernels, const boba_aggregator* aggregator,
                                   const boba_round* base, const boba_open_round_options* options,
                                   boba_open_round** round) {
  if (round != nullptr) *round = nullptr;
  return guarded([&]() -> Result<void> {
    constexpr std::string_view kOperation = "boba_open_round_create";
    if (Result<void> good = need(kOperation, {{kernels, "kernels"},
                                              {aggregator, "aggregator"},
                                              {base, "base"},
                                              {options, "options"},
                                              {round, "round"}});
        !good) {
      return good;
    }
    if (base->updates.rows() > 0) {
      return invalid_argument(fmt::format("{}: base has {} updates; they belong to the open round",
                                          kOperation, base->updates.rows()));
    }
    std::unique_ptr<boba::ServerOracle> oracle = boba::capi::oracle_of(*base);
    Result<boba::OpenRoundOptions> wanted = options_of(kOperation, *base, *options, oracle.get());
    if (!wanted) return wanted.error();
    Result<boba::OpenRound> opened =
        boba::OpenRound::open(*kernels->kernels, aggregator->aggregator, *std::move(wanted));
    if (!opened) return opened.error();
    *round = new boba_open_round{std::move(oracle), *std::move(opened),
                                 boba::capi::memory_of(*base), base->dtype, base->length};
    return {};
  });
}

void boba_open_round_destroy(boba_open_round* round) { delete round; }

boba_status boba_open_round_submit(boba_open_round* round, const char* id, const void* data,
                                   size_t length, boba_dtype dtype) {
  return take("boba_open_round_submit", &boba::OpenRound::submit, round, id, data, length, dtype);
}

boba_status boba_open_round_adopt(boba_open_round* round, const char* id, const void* data,
                                  size_t length, boba_dtype dtype) {
  return take("boba_open_round_adopt", &boba::OpenRound::adopt, round, id, data, length, dtype);
}

boba_status boba_upload_create(boba_open_round* round, const char* id, size_t length,
                               boba_dtype dtype, boba_upload** upload) {
  if (upload != nullptr) *upload = nullptr;
  return guarded([&]() -> Result<void> {
    constexpr std::string_view kOperation = "boba_upload_create";
    if (Result<void> good = need(kOperation, {{round, "round"}, {id, "id"}, {upload, "upload"}});
        !good) {
      return good;
    }
    const Result<DType> type = boba::capi::dtype_of(kOperation, dtype);
    if (!type) return type.error();
    Result<boba::OpenRound::Upload> begun = round->round.begin(id, *type, length);
    if (!begun) return begun.error();
    *upload = new boba_upload{*std::move(begun)};
    return {};
  });
}

boba_status boba_upload_append(boba_upload* upload, const void* bytes, size_t count) {
  return guarded([&]() -> Result<void> {
    constexpr std::string_view kOperation = "boba_upload_append";
    if (Result<void> good = need(kOperation, {{upload, "upload"}}); !good) return good;
    if (count == 0) return upload->upload.append({});
    if (Result<void> good = need(kOperation, {{bytes, "bytes"}}); !good) return good;
    return upload->upload.append({static_cast<const std::byte*>(bytes), count});
  });
}

boba_status boba_upload_finish(boba_upload* upload) {
  return guarded([&]() -> Result<void> {
    if (Result<void> good = need("boba_upload_finish", {{upload, "upload"}}); !good) return good;
    return upload->upload.finish();
  });
}

void boba_upload_destroy(boba_upload* upload) { delete upload; }

boba_status boba_open_round_progress(const boba_open_round* round, boba_progress* progress) {
  return guarded([&]() -> Result<void> {
    if (Result<void> good =
            need("boba_open_round_progress", {{round, "round"}, {progress, "progress"}});
        !good) {
      return good;
    }
    const boba::Progress now = round->round.progress();
    *progress = {.accepted = now.accepted,
                 .refused = now.refused,
                 .uploading = now.uploading,
                 .asked = now.asked,
                 .bytes = now.bytes,
                 .closed = now.closed};
    return {};
  });
}

boba_status boba_open_round_may_close(const boba_open_round* round, double now, int* may_close) {
  return guarded([&]() -> Result<void> {
    if (Result<void> good =
            need("boba_open_round_may_close", {{round, "round"}, {may_close, "may_close"}});
        !good) {
      return good;
    }
    *may_close = round->round.may_close(now);
    return {};
  });
}

boba_status boba_open_round_close(boba_open_round* round, double now, void* out, size_t length,
                                  boba_dtype dtype, boba_verdict** verdict) {
  if (verdict != nullptr) *verdict = nullptr;
  return guarded([&]() -> Result<void> {
    constexpr std::string_view kOperation = "boba_open_round_close";
    if (Result<void> good = need(kOperation, {{round, "round"}, {out, "out"}}); !good) return good;
    const Result<DType> type = boba::capi::dtype_of(kOperation, dtype);
    if (!type) return type.error();
    if (*type != round->dtype || length != round->length) {
      return invalid_argument(
          fmt::format("{}: got {} of length {}; the round takes {} of length {}", kOperation,
                      name(*type), length, name(round->dtype), round->length));
    }
    if (Result<void> good = boba::capi::check_array(kOperation, "out", out, *type); !good) {
      return good;
    }
    Result<boba::Verdict> decided =
        round->round.close(now, boba::capi::mutable_row(out, length, *type), round->memory);
    if (!decided) return decided.error();
    if (verdict != nullptr) *verdict = new boba_verdict{*std::move(decided)};
    return {};
  });
}
