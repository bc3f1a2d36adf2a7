// OpenRound: a round being filled. Updates come one by one, from several threads, whole or in
// chunks; their inner products are formed on arrival, so that closing needs only the rule's small
// solve and the output pass.
//
//   auto round = boba::OpenRound::open(kernels, rule, {.length = d, .cohort = ids, .server = s});
//   round->submit("client-7", update);                  // from any thread
//   if (round->may_close(now)) round->close(now, out);
//
// Rows are in the order of the cohort whatever the order of arrival, and every product of two
// updates is the same sum whichever came first: the result depends neither on the order of arrival
// nor on the threads.
//
// A client has one upload. Updates that are no use (NaN, infinity, too large, wrong type, wrong
// length) are refused at once and take no memory. Those of a cohort's clients count as Byzantine
// when the round closes; without a cohort, where one sender may have many ids, they change nothing.
// Only an upload that was given up, or failed for want of memory, may begin again.
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
#include "boba/core/result.h"
#include "boba/core/round.h"
#include "boba/core/sketch.h"
#include "boba/core/verdict.h"

namespace boba {

struct OpenRoundOptions {
  DType dtype = DType::kFloat32;
  std::size_t length = 0;  // d
  // The clients asked, in the order of their rows; distinct. Empty: anybody may come, and rows are
  // in the order of the ids' bytes.
  std::vector<std::string> cohort = {};
  // Where there is no cohort: updates taken, and refused clients remembered. Must be given there.
  std::size_t most = 0;
  // Where there is no cohort: unfinished uploads at once; 0: as many as `most`. They keep no place
  // among the `most` updates, so they cannot fill the round.
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
  // When the round may close: once all of the cohort were heard, or `most` updates are there; once
  // `quorum` updates (0: all) are there and the deadline has passed, or are there at all where
  // there is no deadline. A deadline needs a quorum: with all it would change nothing.
  std::size_t quorum = 0;
  std::optional<double> deadline = {};  // on the clock of may_close() and close()
  // Products of sketches instead of the updates.
  std::optional<SketchPlan> sketch = {};
};

// How far a round is.
struct Progress {
  std::size_t accepted = 0;   // updates that are in
  std::size_t refused = 0;    // clients whose update was no use; without a cohort up to `most`
  std::size_t uploading = 0;  // begun and not ended
  std::size_t asked = 0;      // of the cohort; 0 without one
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

    // The next bytes of the update, in the machine's order; chunks may end anywhere. A failure is
    // the end of the upload.
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

  // kernels must outlive the round and read rows in the host's memory; to sketch is the options'
  // choice, not theirs. Checks the options, the server's rows, and that the rule can run on a full
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

  // Takes no more updates, waits for those being worked on, and aggregates those that are in; an
  // upload that is not finished comes too late. Fails where may_close(now) is false, and the round
  // stays open. Once closed, it may be called again and gives the same.
  Result<Verdict> close(double now, MutableRow out);

 private:
  Result<Upload> begin(std::string_view client, DType dtype, std::size_t length, Delivery delivery);

  explicit OpenRound(std::shared_ptr<OpenRoundState> state) : state_(std::move(state)) {}
  std::shared_ptr<OpenRoundState> state_;
};

}  // namespace boba
