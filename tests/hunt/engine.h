// What the library makes of a scene, on each of its backends.
#pragma once

#include <memory>
#include <string>

#include "boba/core/kernels.h"
#include "boba/core/result.h"
#include "boba/core/verdict.h"
#include "tests/hunt/scene.h"

namespace boba::hunt {

struct EngineAnswer {
  std::string error;  // empty: there is an output
  Row out;
  Verdict verdict;
};

class Engine {
 public:
  Engine();

  // Takes the first GPU for Backend::kCuda.
  Result<void> use_cuda();

  // What the library throws is an error here.
  EngineAnswer run(const Scene& scene) const;

 private:
  EngineAnswer run_whole(const Scene& scene, const Kernels& kernels) const;
  EngineAnswer run_open(const Scene& scene) const;
  static EngineAnswer run_ranked(const Scene& scene);

  std::unique_ptr<const Kernels> one_;
  std::unique_ptr<const Kernels> two_;
  std::unique_ptr<const Kernels> cuda_;
};

}  // namespace boba::hunt
