// Rounds that are filled as updates arrive.

#include "boba/core/open_round.h"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/core/bind.h"
#include "python/core/engine.h"
#include "python/core/errors.h"
#include "python/core/memory.h"
#include "python/core/oracle.h"
#include "python/core/rows.h"
#include "python/core/verdict.h"

namespace nb = nanobind;

namespace boba::python {
namespace {

void check(const Result<void>& result) {
  if (!result) raise(result.error());
}

UpdateView view_of(const nb::object& rows) {
  return rows.is_none() ? UpdateView() : nb::cast<const Rows&>(rows).view();
}

// The round with all that it looks at.
class HeldRound {
 public:
  HeldRound(const Aggregator& rule, const std::string& dtype, std::size_t length,
            std::vector<std::string> cohort, std::size_t most, std::size_t most_uploads,
            nb::object server, std::vector<double> server_counts, nb::object server_whole,
            nb::object model, double learning_rate, const nb::object& oracle,
            std::optional<std::uint64_t> seed, std::uint32_t number, std::size_t quorum,
            std::optional<double> deadline, int threads)
      : kernels_(kernels_for(threads)),
        kept_{std::move(server), std::move(server_whole), std::move(model)} {
    if (!oracle.is_none()) oracle_ = std::make_unique<PythonOracle>(oracle);
    OpenRoundOptions options;
    options.dtype = dtype == name(DType::kFloat32) ? DType::kFloat32 : DType::kFloat64;
    options.length = length;
    options.cohort = std::move(cohort);
    options.most = most;
    options.most_uploads = most_uploads;
    options.server = view_of(kept_[0]);
    options.server_counts = std::move(server_counts);
    options.server_whole = view_of(kept_[1]);
    options.model = view_of(kept_[2]);
    options.learning_rate = learning_rate;
    options.oracle = oracle_.get();
    options.seed = seed;
    options.number = number;
    options.quorum = quorum;
    options.deadline = deadline;
    round_.emplace(value_or_raise(OpenRound::open(*kernels_, rule, std::move(options))));
  }

  // With adopt the row is not copied and stays alive as long as the round.
  void submit(const std::string& client, const nb::object& row, bool adopt) {
    const UpdateView view = nb::cast<const Rows&>(row).view();
    std::optional<Result<void>> taken;
    {
      const nb::gil_scoped_release unlocked;
      taken.emplace(adopt ? round_->adopt(client, view) : round_->submit(client, view));
    }
    check(*taken);
    if (adopt) kept_.push_back(row);
  }

  OpenRound::Upload begin(const std::string& client, const std::string& dtype, std::size_t length) {
    const DType type = dtype == name(DType::kFloat32) ? DType::kFloat32 : DType::kFloat64;
    return value_or_raise(round_->begin(client, type, length));
  }

  bool may_close(double now) const { return round_->may_close(now); }

  nb::dict progress() const {
    const Progress progress = round_->progress();
    nb::dict record;
    record["accepted"] = progress.accepted;
    record["refused"] = progress.refused;
    record["uploading"] = progress.uploading;
    record["asked"] = progress.asked;
    record["bytes"] = progress.bytes;
    record["closed"] = progress.closed;
    return record;
  }

  HeldVerdict close(double now, const nb::ndarray<>& out, const std::string& dtype,
                    std::size_t length, HeldMemory* memory) {
    const DType type = dtype == name(DType::kFloat32) ? DType::kFloat32 : DType::kFloat64;
    const MutableRow target = writable_row(out, type, length);
    std::optional<Result<Verdict>> verdict;
    const auto begin = std::chrono::steady_clock::now();
    {
      const nb::gil_scoped_release unlocked;
      verdict.emplace(
          in_turn(memory, [&](Memory* past) { return round_->close(now, target, past); }));
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (oracle_) oracle_->raise_again();
    return {value_or_raise(*std::move(verdict)), seconds.count()};
  }

 private:
  std::shared_ptr<const Kernels> kernels_;
  std::vector<nb::object> kept_;  // server rows, the whole, the model; then adopted updates
  std::unique_ptr<PythonOracle> oracle_;
  std::optional<OpenRound> round_;
};

// Bytes of anything with the buffer protocol, for the life of the object.
class Bytes {
 public:
  explicit Bytes(nb::handle value) {
    if (PyObject_GetBuffer(value.ptr(), &buffer_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { PyBuffer_Release(&buffer_); }

  std::span<const std::byte> span() const {
    return {static_cast<const std::byte*>(buffer_.buf), static_cast<std::size_t>(buffer_.len)};
  }

 private:
  Py_buffer buffer_ = {};
};

void append(OpenRound::Upload& upload, nb::handle chunk) {
  const Bytes bytes(chunk);
  std::optional<Result<void>> done;
  {
    const nb::gil_scoped_release unlocked;
    done.emplace(upload.append(bytes.span()));
  }
  check(*done);
}

void finish(OpenRound::Upload& upload) {
  std::optional<Result<void>> done;
  {
    const nb::gil_scoped_release unlocked;
    done.emplace(upload.finish());
  }
  check(*done);
}

}  // namespace

void bind_open_round(nb::module_& module) {
  nb::class_<OpenRound::Upload>(module, "Upload")
      .def("append", &append, nb::arg("chunk"))
      .def("finish", &finish)
      .def("give_up", &OpenRound::Upload::give_up);
  nb::class_<HeldRound>(module, "OpenRound")
      .def(nb::init<const Aggregator&, const std::string&, std::size_t, std::vector<std::string>,
                    std::size_t, std::size_t, nb::object, std::vector<double>, nb::object,
                    nb::object, double, const nb::object&, std::optional<std::uint64_t>,
                    std::uint32_t, std::size_t, std::optional<double>, int>(),
           nb::arg("rule"), nb::arg("dtype"), nb::arg("length"), nb::arg("cohort"), nb::arg("most"),
           nb::arg("most_uploads"), nb::arg("server").none(), nb::arg("server_counts"),
           nb::arg("server_whole").none(), nb::arg("model").none(), nb::arg("learning_rate"),
           nb::arg("oracle").none(), nb::arg("seed").none(), nb::arg("number"), nb::arg("quorum"),
           nb::arg("deadline").none(), nb::arg("threads"))
      .def("submit", &HeldRound::submit, nb::arg("client"), nb::arg("row"), nb::arg("adopt"))
      .def("begin", &HeldRound::begin, nb::arg("client"), nb::arg("dtype"), nb::arg("length"),
           nb::keep_alive<0, 1>())
      .def("may_close", &HeldRound::may_close, nb::arg("now"))
      .def_prop_ro("progress", &HeldRound::progress)
      .def("close", &HeldRound::close, nb::arg("now"), nb::arg("out"), nb::arg("dtype"),
           nb::arg("length"), nb::arg("memory").none());
}

}  // namespace boba::python
