// An oracle written in Python, as the probing rules call it.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <string_view>

#include "boba/core/round.h"

namespace boba::python {

// Calls oracle.loss(point), a number, and oracle.gradient(point), an array of the point's type and
// length, with a copy of the point as a NumPy array. The rules run without the interpreter's lock;
// each call takes it. What the oracle raises ends the aggregation and is kept for its end.
class PythonOracle final : public ServerOracle {
 public:
  explicit PythonOracle(nanobind::object oracle) : oracle_(std::move(oracle)) {}

  Result<double> loss(const UpdateView& point) override;
  Result<void> gradient(const UpdateView& point, MutableRow out) override;

  // Raises what the oracle raised since the last time, if it did. REQUIRES: the interpreter's lock.
  void raise_again();

 private:
  template <class Body>
  auto guarded(Body body) -> decltype(body());

  nanobind::object oracle_;
  std::exception_ptr raised_;
};

}  // namespace boba::python
