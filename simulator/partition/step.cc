#include "simulator/partition/step.h"

#include "simulator/partition/cut.h"
#include "simulator/partition/majors.h"

namespace boba::sim {
namespace {

// From here on, the minor classes together weigh less than half an example.
constexpr double kInfinite = 1e15;

class Step final : public PartitionScheme {
 public:
  explicit Step(const StepOptions& options) : options_(options) {}

  Result<Partition> deal(const PartitionRequest& request) const override {
    if (Result<void> good = check_request("step", request); !good) return good.error();
    const auto times = deal_majors("step", request.clients, request.classes,
                                   static_cast<std::size_t>(options_.majors));
    if (!times) return times.error();
    ClassWeights weights;
    for (const auto& row : *times) {
      std::vector<double>& mine = weights.emplace_back();
      for (const int count : row) mine.push_back(weight(count));
    }
    return cut_classes(request, weights, options_.order);
  }

  Result<void> admits(std::size_t clients, std::size_t classes) const override {
    const auto times =
        deal_majors("step", clients, classes, static_cast<std::size_t>(options_.majors));
    return times ? Result<void>() : times.error();
  }

 private:
  double weight(int count) const {
    if (options_.alpha >= kInfinite) return count;
    return 1 + (options_.alpha - 1) * count;
  }

  StepOptions options_;
};

}  // namespace

Result<NamedPartition> make_step(const StepOptions& options) {
  return make_named<NamedPartition, Step>(options);
}

}  // namespace boba::sim
