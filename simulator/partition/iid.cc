#include "simulator/partition/iid.h"

#include "boba/core/random.h"
#include "simulator/partition/cut.h"

namespace boba::sim {
namespace {

class Iid final : public PartitionScheme {
 public:
  explicit Iid(const IidOptions&) {}

  Result<Partition> deal(const PartitionRequest& request) const override {
    if (Result<void> good = check_request("iid", request); !good) return good.error();
    const std::size_t n = request.labels.size();
    const std::size_t h = request.clients;
    const auto order = permutation({.seed = request.seed, .purpose = Purpose::kPartition}, n);
    Partition partition;
    partition.clients.resize(h);
    for (std::size_t i = 0; i < h; ++i) {
      for (std::size_t k = i * n / h; k < (i + 1) * n / h; ++k) {
        partition.clients[i].push_back(static_cast<std::uint32_t>(order[k]));
      }
    }
    finish(partition);
    return partition;
  }
};

}  // namespace

Result<NamedPartition> make_iid(const IidOptions& options) {
  return make_named<NamedPartition, Iid>(options);
}

}  // namespace boba::sim
