#include "boba/core/open_round.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "boba/core/open_round_state.h"
#include "boba/core/size.h"
#include "boba/text/printable.h"

namespace boba {
namespace {

std::byte* bytes_of(UpdateMatrix& matrix) {
  const MutableRow row = matrix.row(0);
  return visit(row.dtype(), [&](auto zero) {
    return reinterpret_cast<std::byte*>(row.as<decltype(zero)>().data());
  });
}

const std::byte* bytes_of(const UpdateView& view) {
  return visit(view.dtype(), [&](auto zero) {
    return reinterpret_cast<const std::byte*>(view.row<decltype(zero)>(0));
  });
}

Result<void> check_cohort(const OpenRoundOptions& options) {
  std::unordered_set<std::string_view> seen;
  for (const std::string& id : options.cohort) {
    if (id.empty()) return invalid_argument("open round: a client of the cohort has an empty id");
    if (!seen.insert(id).second) {
      return invalid_argument(
          fmt::format("open round: the cohort names '{}' twice", printable(id)));
    }
  }
  if (options.cohort.empty() && options.most == 0) {
    return invalid_argument(
        "open round: no cohort and most=0; give the cohort, or the most updates to take");
  }
  const std::size_t most = options.cohort.empty() ? options.most : options.cohort.size();
  if (options.quorum > most) {
    return invalid_argument(
        fmt::format("open round: quorum={} of {} clients cannot be reached", options.quorum, most));
  }
  if (options.deadline && std::isnan(*options.deadline)) {
    return invalid_argument("open round: the deadline is not a number");
  }
  if (options.deadline && options.quorum == 0) {
    return invalid_argument(
        "open round: a deadline and quorum=0, which waits for all whatever the time; say how many "
        "updates are enough once it has passed");
  }
  return {};
}

Result<void> check_sketch(const OpenRoundOptions& options) {
  if (!options.sketch) return {};
  if (options.sketch->first != 0) {
    return invalid_argument("open round: the sketch is of whole updates; first must be 0");
  }
  if (Result<void> good = check_plan(*options.sketch); !good) {
    return invalid_argument(fmt::format("open round: {}", good.error().message));
  }
  return {};
}

// Products of arrivals are formed by dots(). Sketching kernels do not sketch there, so their sketch
// would be silently ignored.
Result<void> check_kernels(const Kernels& kernels, const Aggregator& rule,
                           const OpenRoundOptions& options) {
  if (!rule.needs_gram()) return {};
  // One column more than the longest sketch, if the updates are so long.
  const UpdateMatrix probe(options.dtype, 1, std::min<std::size_t>(options.length, 65537));
  const std::size_t length = kernels.gram(probe.view(), {}).sketch;
  if (length == 0) return {};
  return invalid_argument(
      fmt::format("open round: these kernels make sketches of length {}; give the kernels behind "
                  "them, and the sketch among the round's options",
                  length));
}

// Shapes, types and counts, as a Round has them.
Result<void> check_shapes(const OpenRoundState& state) {
  const OpenRoundOptions& options = state.options();
  Round round = state.round();
  return visit(options.dtype, [&]<Element T>(T) {
    // One row, which check() does not read.
    const T* const nothing = nullptr;
    round.updates = UpdateView(std::span<const T* const>(&nothing, 1), options.length);
    return check(round);
  });
}

Result<void> one_row(const UpdateView& update) {
  if (update.rows() == 1) return {};
  return invalid_argument(fmt::format("open round: an update is one row; got {}", update.rows()));
}

Error ended() { return invalid_argument("open round: the upload has ended"); }

}  // namespace

// Where the chunks of one upload go.
struct OpenRound::Upload::Buffer {
  std::shared_ptr<OpenRoundState> state;
  std::string client;
  std::unique_ptr<Arrival> update;  // none once the upload has ended
  std::size_t filled = 0;           // bytes

  // An upload that did not end may begin again.
  ~Buffer() {
    if (update) state->leave(client);
  }

  Error refuse(std::string reason) {
    Error error = state->refuse(client, std::move(reason));
    update.reset();
    return error;
  }
};

OpenRound::Upload::Upload(std::unique_ptr<Buffer> buffer) : buffer_(std::move(buffer)) {}
OpenRound::Upload::Upload(Upload&& other) noexcept = default;
OpenRound::Upload& OpenRound::Upload::operator=(Upload&& other) noexcept {
  buffer_ = std::move(other.buffer_);
  return *this;
}
OpenRound::Upload::~Upload() = default;

void OpenRound::Upload::give_up() { buffer_.reset(); }

Result<void> OpenRound::Upload::append(std::span<const std::byte> bytes) {
  if (!buffer_) return ended();
  std::unique_ptr<Buffer> buffer = std::move(buffer_);  // given back on success
  const std::size_t whole = buffer->state->row_bytes();
  const std::size_t width = whole / buffer->state->options().length;
  if (buffer->state->closed()) return buffer->refuse("too late: the round is closed");
  if (bytes.size() > whole - buffer->filled) {
    return buffer->refuse(
        fmt::format("refused: it has more than the {} bytes of an update", whole));
  }
  if (!bytes.empty()) {
    std::memcpy(bytes_of(buffer->update->own) + buffer->filled, bytes.data(), bytes.size());
  }
  // The numbers that these bytes complete.
  const std::size_t first = buffer->filled / width;
  buffer->filled += bytes.size();
  const std::size_t count = buffer->filled / width - first;
  if (count > 0) {
    const RowList complete = buffer->update->row.columns(first, count);
    if (!buffer->state->kernels().dots(complete.view(), {}, {}).scan[0].finite) {
      return buffer->refuse("refused: it contains NaN or infinity");
    }
  }
  buffer_ = std::move(buffer);
  return {};
}

Result<void> OpenRound::Upload::finish() {
  if (!buffer_) return ended();
  const std::unique_ptr<Buffer> buffer = std::move(buffer_);
  const std::size_t whole = buffer->state->row_bytes();
  if (buffer->filled != whole) {
    return buffer->refuse(
        fmt::format("refused: it ended after {} of its {} bytes", buffer->filled, whole));
  }
  return buffer->state->accept(buffer->client, std::move(buffer->update));
}

Result<OpenRound> OpenRound::open(const Kernels& kernels, const Aggregator& rule,
                                  OpenRoundOptions options) {
  if (Result<void> good = check_cohort(options); !good) return good.error();
  if (Result<void> good = check_sketch(options); !good) return good.error();
  auto state = std::make_shared<OpenRoundState>(kernels, rule, std::move(options));
  if (Result<void> good = check_shapes(*state); !good) return good.error();
  const OpenRoundOptions& kept = state->options();
  if (Result<void> good = check_size("open round", kept.dtype, state->capacity(), kept.length);
      !good) {
    return good.error();
  }
  if (Result<void> good = check_kernels(kernels, rule, kept); !good) return good.error();
  const Shape shape{.clients = state->capacity(),
                    .classes = kept.server.rows(),
                    .length = kept.length,
                    .refused = 0,
                    .server = !kept.server.empty() || !kept.server_whole.empty()};
  if (Result<void> good = rule.admits(shape); !good) return good.error();
  if (Result<void> done = state->prepare(); !done) return done.error();
  return OpenRound(std::move(state));
}

Result<OpenRound::Upload> OpenRound::begin(std::string_view client, DType dtype,
                                           std::size_t length) {
  return begin(client, dtype, length, Delivery::kInChunks);
}

Result<OpenRound::Upload> OpenRound::begin(std::string_view client, DType dtype, std::size_t length,
                                           Delivery delivery) {
  auto buffer = std::make_unique<Upload::Buffer>();
  buffer->state = state_;
  buffer->client = client;
  auto update = std::make_unique<Arrival>();
  if (Result<void> entered = state_->enter(client, dtype, length, delivery); !entered) {
    return entered.error();
  }
  buffer->update = std::move(update);
  buffer->update->own = UpdateMatrix(dtype, 1, length);
  buffer->update->row = RowList(buffer->update->own.view());
  return Upload(std::move(buffer));
}

Result<void> OpenRound::submit(std::string_view client, const UpdateView& update) {
  if (Result<void> good = one_row(update); !good) return good;
  Result<Upload> upload = begin(client, update.dtype(), update.length(), Delivery::kWhole);
  if (!upload) return upload.error();
  Upload::Buffer& buffer = *upload->buffer_;
  buffer.filled = state_->row_bytes();
  std::memcpy(bytes_of(buffer.update->own), bytes_of(update), buffer.filled);
  return upload->finish();
}

Result<void> OpenRound::adopt(std::string_view client, const UpdateView& update) {
  if (Result<void> good = one_row(update); !good) return good;
  auto arrival = std::make_unique<Arrival>();
  arrival->row = RowList(update);
  const Result<void> entered =
      state_->enter(client, update.dtype(), update.length(), Delivery::kWhole);
  if (!entered) return entered;
  return state_->accept(client, std::move(arrival));
}

bool OpenRound::may_close(double now) const { return state_->may_close(now); }

Progress OpenRound::progress() const { return state_->progress(); }

Result<Verdict> OpenRound::close(double now, MutableRow out, Memory* memory) {
  const Result<FilledRound> filled = state_->close(now);
  if (!filled) return filled.error();
  Round round = state_->round();
  round.updates = filled->updates.view();
  round.ids = filled->ids;
  round.refused = filled->refused;
  round.absent = filled->absent;
  round.products = filled->products;
  round.products_sketch = state_->options().sketch ? state_->options().sketch->length : 0;
  return state_->decide(round, out, memory);
}

}  // namespace boba
