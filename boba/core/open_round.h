// OpenRound: a round that is filled as updates arrive, one by one, from several threads, whole or
// in chunks. Their inner products are formed on arrival, so closing takes only the decision of the
// rule and the output pass.
//
//   auto round = boba::OpenRound::open(kernels, rule, {.length = d, .cohort = ids, .server = s});
//   round->submit("client-7", update);                  // from any thread
//   if (round->may_close(now)) round->close(now, out);
//
// Rows are in the order of the cohort, and the product of two updates is the same sum whichever of
// them came first. So the result depends neither on the order of arrival nor on the threads.
//
// A client has one upload. Unusable updates (NaN, infinity, too large, wrong type, wrong length)
// are refused at once and take no memory. The refused clients of a cohort count as Byzantine when
// the round closes. Without a cohort one sender may have many ids, so refused updates change
// nothing. Only an upload that was given up, or that ran out of memory, may begin again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/aggregator.h"
#include "boba/core/kernels.h"
#include "boba/core/memory.h"
#include "boba/core/result.h"
#include "boba/core/round.h"
#include "boba/core/sketch.h"
#include "boba/core/verdict.h"

namespace boba {

struct OpenRoundOptions {
  DType dtype = DType::kFloat32;
  std::size_t length = 0;  // d
  // The ids of the clients that were asked, in the order of their rows, distinct. Empty: every id
  // may come, and rows are in the order of the ids' bytes.
  std::vector<std::string> cohort = {};
  // Without a cohort, where it must be given: the most updates to take, and the most refused
  // clients to remember.
  std::size_t most = 0;
  // Without a cohort: the most unfinished uploads at a time; 0: as many as `most`. They take no
  // place among the `most` updates, so they cannot fill the round.
  std::size_t most_uploads = 0;
  // As in Round; the views must outlive the round.
  UpdateView server = {};
  std::vector<double> server_counts = {};
  UpdateView server_whole = {};
  UpdateView model = {};
  double learning_rate = 0;
  ServerOracle* oracle = nullptr;
  std::optional<std::uint64_t> seed = {};
  std::uint32_t number = 0;
  // The round may close once the whole cohort was heard, or `most` updates are in. It may also
  // close once `quorum` updates (0: all) are in and the deadline, if there is one, has passed. A
  // deadline needs a quorum; waiting for all, it would change nothing.
  std::size_t quorum = 0;
  std::optional<double> deadline = {};  // on the clock of may_close() and close()
  // Forms products of sketches instead of the updates.
  std::optional<SketchPlan> sketch = {};
};

// How far a round is.
struct Progress {
  std::size_t accepted = 0;   // updates that are in
  std::size_t refused = 0;    // clients whose update was refused; without a cohort up to `most`
  std::size_t uploading = 0;  // begun and not ended
  std::size_t asked = 0;      // clients of the cohort; 0 without one
  std::size_t bytes = 0;      // held in updates and sketches
  bool closed = false;
};

class OpenRoundState;
enum class Delivery : std::uint8_t;

class OpenRound {
 public:
  // A chunked upload. One thread at a time; it may outlive the round. Giving it up, or destroying
  // it before finish(), frees its memory and lets the client begin again.
  class Upload {
   public:
    Upload(Upload&& other) noexcept;
    Upload& operator=(Upload&& other) noexcept;
    ~Upload();

    // The next bytes of the update, in the machine's byte order; chunks may end anywhere. A failure
    // ends the upload.
    Result<void> append(std::span<const std::byte> bytes);
    // The update is complete. Returns when its products are there.
    Result<void> finish();
    void give_up();

   private:
    friend class OpenRound;
    struct Buffer;
    explicit Upload(std::unique_ptr<Buffer> buffer);
    std::unique_ptr<Buffer> buffer_;
  };

  // kernels must outlive the round, read rows in the host's memory, and not sketch; the options say
  // whether to sketch. Checks the options, the server's rows, and that the rule can run on a full
  // cohort.
  static Result<OpenRound> open(const Kernels& kernels, const Aggregator& rule,
                                OpenRoundOptions options);

  // A whole update: a view of one row, which is copied.
  Result<void> submit(std::string_view client, const UpdateView& update);
  // The same without the copy: the row must stay as it is for the life of the round.
  Result<void> adopt(std::string_view client, const UpdateView& update);
  Result<Upload> begin(std::string_view client, DType dtype, std::size_t length);

  bool may_close(double now) const;
  Progress progress() const;

  // Takes no more updates, waits for those being worked on, and aggregates those that are in. An
  // unfinished upload is too late. Fails where may_close(now) is false; the round then stays open.
  // Called again on a closed round it gives the same result. memory: as in Aggregator. Only the
  // first close that succeeds uses it and adds the round to it.
  Result<Verdict> close(double now, MutableRow out, Memory* memory = nullptr);

 private:
  Result<Upload> begin(std::string_view client, DType dtype, std::size_t length, Delivery delivery);

  explicit OpenRound(std::shared_ptr<OpenRoundState> state) : state_(std::move(state)) {}
  std::shared_ptr<OpenRoundState> state_;
};

}  // namespace boba
