#include "tests/support/experiment_make.h"

#include <cstddef>
#include <span>
#include <stdexcept>
#include <utility>

#include "boba/core/random.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

// Draws from one stream, the next number each time.
class Dice {
 public:
  explicit Dice(std::uint64_t number) : key_{.seed = number, .purpose = Purpose::kSynthetic} {}

  double between(double low, double high) { return low + (high - low) * uniform_at(key_, at_++); }
  int whole(int low, int high) { return static_cast<int>(between(low, high + 0.999)); }
  bool coin() { return between(0, 1) < 0.5; }
  std::string one_of(std::initializer_list<const char*> texts) {
    return std::data(texts)[whole(0, static_cast<int>(texts.size()) - 1)];
  }

 private:
  StreamKey key_;
  std::uint64_t at_ = 0;
};

void choose_training(Dice& dice, TrainingSection& training) {
  training.algorithm = static_cast<Algorithm>(dice.whole(0, 2));
  training.rounds = dice.whole(1, 1000000);
  training.learning_rate = dice.between(1e-9, 10);
  training.decay_start = dice.whole(0, 1000);
  training.decay_every = dice.whole(1, 1000);
  training.decay = dice.coin() ? 1 : dice.between(0.1, 1);
  training.local_steps = dice.whole(1, 100);
  training.batch = dice.whole(0, 100);
  training.mu = dice.between(0, 1);
  training.momentum = dice.coin() ? 0 : dice.between(0, 0.99);
}

}  // namespace

Experiment random_experiment(std::uint64_t number) {
  Dice dice(number);
  Experiment e;
  const bool texts = dice.coin();
  e.rule = dice.one_of({"average", "boba( f = 3 )", "krum(f=0)", "mkrum(f=3,m=5)", "fltrust",
                        "bucketing(s=2)|krum(f=1)", "trmean(f=2) | server-mix(lambda=0.25)"});
  e.attack = dice.one_of({"none", "ipm", "ipm(gamma=10)", "gauss(sigma=200,on=parameters)",
                          "labelflip", "labelflip(mode=next)", "nan"});
  e.seed = static_cast<std::uint64_t>(dice.between(0, 9e18));
  e.data.set = texts ? "ag-news" : dice.one_of({"mnist", "fashion-mnist", "cifar10"});
  e.data.partition = dice.one_of({"iid", "dirichlet(alpha=0.1)", "shards( per_client=2 )"});
  e.data.corruption = texts ? "none" : dice.one_of({"none", "all", "gaussian-noise"});
  e.data.severity = dice.whole(1, 5);
  e.data.train = dice.whole(0, 50000);
  e.data.test = dice.whole(0, 5000);
  e.data.length = dice.whole(1, 100);
  e.model.kind = texts ? dice.one_of({"gru", "gru(units=32,pooling=mean)"})
                       : dice.one_of({"mlp", "mlp(width=64,depth=2)", "cnn(channels=8)"});
  choose_training(dice, e.training);
  // Enough in every cohort for every rule above, and an attacker in it.
  e.federation.honest = dice.whole(20, 500);
  e.federation.byzantine = dice.whole(1, 200);
  e.federation.participation = dice.coin() ? 1 : dice.between(0.5, 1);
  e.federation.byzantine_turnout = static_cast<ByzantineTurnout>(dice.whole(0, 1));
  e.server.per_class = dice.whole(1, 100);
  if (dice.coin()) {
    e.server.counts = texts ? "40, 40,20,20" : "1,2,3,4,5,6,7,8,9,10";
  }
  e.server.noise = texts ? "none" : dice.one_of({"none", "speckle-noise"});
  e.server.severity = dice.whole(1, 5);
  e.run.evaluate_every = dice.whole(1, 100);
  return e;
}

ResolvedExperiment resolved(const Experiment& experiment) {
  Result<ResolvedExperiment> made = resolve(experiment);
  if (!made) throw std::runtime_error(made.error().message);
  return *std::move(made);
}

std::string canonical_text(const Experiment& experiment) {
  return sim::canonical_text(resolved(experiment));
}

std::string lines(std::initializer_list<std::string_view> each) {
  std::string text;
  for (std::string_view line : each) {
    text += line;
    text += '\n';
  }
  return text;
}

}  // namespace boba::test
