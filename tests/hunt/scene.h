// Scene: one round of the hunt, with all that repeats it: the rows, who lies, the rule, the
// numbers' type and the way it is computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/random.h"
#include "boba/core/views.h"
#include "tests/support/rules_round.h"

namespace boba::hunt {

using test::Row;
using test::Rows;

// Random numbers by a key, one after the other.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint32_t round, std::uint32_t stream = 0)
      : key_{.seed = seed, .round = round, .client = stream, .purpose = Purpose::kSynthetic} {}

  double uniform() { return uniform_at(key_, next_++); }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  double normal() { return normal_at(key_, next_++); }
  // 0 .. count - 1.
  std::size_t below(std::size_t count);
  std::size_t between(std::size_t low, std::size_t high) { return low + below(high - low + 1); }
  bool chance(double probability) { return uniform() < probability; }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[below(list.size())];
  }

 private:
  StreamKey key_;
  std::uint64_t next_ = 0;
};

enum class Family {
  kCoordinate,  // order statistics
  kDistance,    // products of the clients
  kSubspace,    // and of the server's rows
  kProbing,     // the server's loss
  kDirection,   // the server's gradient: norms do not count
};

// A rule with its stages.
struct RuleUse {
  std::string rule;         // "krum", "rage-raw", ...
  std::size_t f = 0;        // where the rule has it
  std::size_t classes = 0;  // of boba-hull-found; 0: auto
  std::size_t bucket = 0;   // clients per bucket; 0: no bucketing
  bool keep = false;        // remainder=keep
  double lambda = 0;        // of server-mix; 0: none

  Family family() const;
  bool has_f() const;
  std::string spec() const;
  std::string spec_without_stages() const;
  // For tables: the spec without numbers.
  std::string title() const;
};

enum class Backend { kOneThread, kTwoThreads, kSketch, kOpen, kOpenSketch, kRanks, kCuda };
std::string_view name(Backend backend);

struct Scene {
  RuleUse use;
  DType dtype = DType::kFloat32;
  Backend backend = Backend::kOneThread;
  Rows updates;            // in double, each number one of dtype
  std::vector<bool> liar;  // who of the updates
  Rows server;
  Row model;  // w, and the server's loss: sum of curvature_k (w_k - centre_k)^2 / 2
  Row curvature;
  Row centre;
  double eta = 0.125;
  std::uint64_t seed = 1;  // of bucketing and sketches
  std::string story;       // how the rows were made, for people

  std::size_t length() const { return updates.front().size(); }
  std::size_t liars() const;
  bool sketched() const { return backend == Backend::kSketch || backend == Backend::kOpenSketch; }
};

// What the honest clients sent.
struct Honest {
  Row mean;
  double spread = 0;  // root mean square distance from the mean; never 0
};
Honest honest_part(const Scene& scene);

double distance(const Row& a, const Row& b);
double length_of(const Row& a);

// The nearest finite number of the type.
double fitted(double value, DType dtype);

}  // namespace boba::hunt
