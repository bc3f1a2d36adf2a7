#include "simulator/partition/pairs.h"

#include "simulator/partition/cut.h"
#include "simulator/partition/majors.h"

namespace boba::sim {
namespace {

class Pairs final : public PartitionScheme {
 public:
  explicit Pairs(const PairsOptions& options) : options_(options) {}

  Result<Partition> deal(const PartitionRequest& request) const override {
    if (Result<void> good = check_request("pairs", request); !good) return good.error();
    const auto times = deal_majors("pairs", request.clients, request.classes, 2);
    if (!times) return times.error();
    ClassWeights weights;
    for (const auto& row : *times) weights.emplace_back(row.begin(), row.end());
    return cut_classes(request, weights, options_.order);
  }

  Result<void> admits(std::size_t clients, std::size_t classes) const override {
    const auto times = deal_majors("pairs", clients, classes, 2);
    return times ? Result<void>() : times.error();
  }

 private:
  PairsOptions options_;
};

}  // namespace

Result<NamedPartition> make_pairs(const PairsOptions& options) {
  return make_named<NamedPartition, Pairs>(options);
}

}  // namespace boba::sim
