#include "simulator/train/spread.h"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "boba/dist/sharded.h"
#include "simulator/train/trainer.h"

namespace boba::sim {
namespace {

// What rank 0 says to the others.
enum class Order : std::uint64_t { kRelease, kMake, kRestore, kStep };

Order broadcast_order(const Communicator& ranks, Order order = Order::kRelease) {
  std::array<std::uint64_t, 1> word = {static_cast<std::uint64_t>(order)};
  ranks.broadcast(0, std::as_writable_bytes(std::span(word)));
  return static_cast<Order>(word[0]);
}

// Trains every rank's share of the tasks, and gives all updates to all.
class SpreadTrainer final : public Trainer {
 public:
  SpreadTrainer(std::unique_ptr<Trainer> inner, const Communicator& ranks)
      : inner_(std::move(inner)), ranks_(ranks) {}

  std::size_t length() const override { return inner_->length(); }
  std::vector<float> initial() const override { return inner_->initial(); }
  TensorFile named(std::span<const float> parameters) const override {
    return inner_->named(parameters);
  }

  Result<void> train(std::span<const float> w, int round, double rate,
                     std::span<const TrainingTask> tasks) override {
    if (const Result<void> start = check_start(w, round, rate, tasks.size()); !start) return start;
    const auto size = static_cast<std::size_t>(ranks_.size());
    const auto begin_of = [&](int rank) {
      return tasks.size() * static_cast<std::size_t>(rank) / size;
    };
    const std::size_t begin = begin_of(ranks_.rank());
    const auto mine = tasks.subspan(begin, begin_of(ranks_.rank() + 1) - begin);
    Result<void> done;
    if (!mine.empty()) done = inner_->train(w, round, rate, mine);
    if (done = agree(ranks_, done); !done) return done;
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      for (std::size_t t = begin_of(rank); t < begin_of(rank + 1); ++t) {
        ranks_.broadcast(rank, std::as_writable_bytes(tasks[t].out));
      }
    }
    return {};
  }

  Result<Evaluation> evaluate(std::span<const float> w) override { return inner_->evaluate(w); }
  Result<void> server_losses(std::span<const std::span<const float>> points,
                             std::span<double> out) override {
    return inner_->server_losses(points, out);
  }
  std::size_t losses_at_once() const override { return inner_->losses_at_once(); }
  Result<void> server_gradient(std::span<const float> w, std::span<float> out) override {
    return inner_->server_gradient(w, out);
  }

 private:
  // Every rank does the rest of a round by itself. If one came to another model, or skipped a
  // round, its updates would mix with the others' and nobody would see it.
  Result<void> check_start(std::span<const float> w, int round, double rate,
                           std::size_t tasks) const {
    std::string start = fmt::format("{} {:a} {} ", round, rate, tasks);
    start.append(reinterpret_cast<const char*>(w.data()), w.size_bytes());
    if (all_same(ranks_, start)) return {};
    return Error{ErrorCode::kInternal,
                 fmt::format("the ranks begin round {} with different models: their machines "
                             "compute differently; use machines of one kind",
                             round)};
  }

  std::unique_ptr<Trainer> inner_;
  const Communicator& ranks_;
};

// All ranks together.
Place spread(Place place, const Communicator& ranks) {
  assert(place.device == "cpu");
  place.ranks = &ranks;
  place.simd = common_simd(ranks);
  return place;
}

template <class T>
Result<void> outcome_of(const Result<T>& result) {
  return result ? Result<void>() : Result<void>(result.error());
}

// Tells the others what it is asked to do, and does it with them.
class LeadingSimulation final : public Simulation {
 public:
  LeadingSimulation(std::unique_ptr<Simulation> inner, const Communicator& ranks)
      : inner_(std::move(inner)), ranks_(ranks) {}

  const RunHeader& header() const override { return inner_->header(); }
  std::span<const ClientRecord> clients() const override { return inner_->clients(); }
  int rounds_done() const override { return inner_->rounds_done(); }
  std::vector<float> parameters() const override { return inner_->parameters(); }
  TensorFile model() const override { return inner_->model(); }

  Result<RoundEntry> step(bool checkpoint) override {
    broadcast_order(ranks_, Order::kStep);
    auto entry = inner_->step(checkpoint);
    if (const Result<void> all = agree(ranks_, outcome_of(entry)); !all) return all.error();
    return entry;
  }

  Result<void> restore(std::string_view checkpoint) override {
    broadcast_order(ranks_, Order::kRestore);
    broadcast_text(ranks_, 0, std::string(checkpoint));
    return agree(ranks_, inner_->restore(checkpoint));
  }

 private:
  std::unique_ptr<Simulation> inner_;
  const Communicator& ranks_;
};

// Whether all ranks have made a simulation, and of the same data.
Result<void> check_made(const Communicator& ranks,
                        const Result<std::unique_ptr<Simulation>>& made) {
  if (const Result<void> all = agree(ranks, outcome_of(made)); !all) return all;
  const RunHeader& header = (*made)->header();
  if (all_same(ranks, fmt::format("{}\n{}\n{}", header.version, header.data, header.config))) {
    return {};
  }
  return Error{ErrorCode::kIo,
               fmt::format("the ranks have different data, experiments or versions of boba; rank 0 "
                           "has {} with checksum {}",
                           header.dataset, header.data)};
}

}  // namespace

std::unique_ptr<Trainer> spread_trainer(std::unique_ptr<Trainer> trainer,
                                        const Communicator& ranks) {
  return std::make_unique<SpreadTrainer>(std::move(trainer), ranks);
}

Result<std::unique_ptr<Simulation>> make_leading_simulation(
    const ResolvedExperiment& experiment, const Dataset& dataset, const Place& place,
    std::string_view name, const Communicator& ranks, std::shared_ptr<const FederationPlan> plan) {
  broadcast_order(ranks, Order::kMake);
  auto made = make_simulation(experiment, dataset, spread(place, ranks), name, std::move(plan));
  if (const Result<void> all = check_made(ranks, made); !all) return all.error();
  return std::unique_ptr<Simulation>(std::make_unique<LeadingSimulation>(std::move(*made), ranks));
}

void follow(const MakeSimulation& make, const Place& place, const Communicator& ranks) {
  std::unique_ptr<Simulation> simulation;
  // In each case rank 0 tells what went wrong, here or there.
  for (;;) {
    switch (broadcast_order(ranks)) {
      case Order::kRelease:
        return;
      case Order::kMake: {
        simulation.reset();
        auto made = make(spread(place, ranks));
        if (check_made(ranks, made)) simulation = std::move(*made);
        break;
      }
      case Order::kRestore: {
        const std::string checkpoint = broadcast_text(ranks, 0, "");
        (void)agree(ranks, simulation->restore(checkpoint));
        break;
      }
      case Order::kStep:
        (void)agree(ranks, outcome_of(simulation->step(false)));
        break;
    }
  }
}

void follow(const ResolvedExperiment& experiment,
            const std::function<Result<std::shared_ptr<const Dataset>>()>& dataset,
            const Place& place, const Communicator& ranks) {
  std::shared_ptr<const Dataset> data;  // outlives the simulations
  const auto make = [&](const Place& mine) -> Result<std::unique_ptr<Simulation>> {
    auto found = dataset();
    if (!found) return found.error();
    data = std::move(*found);
    return make_simulation(experiment, *data, mine, "");
  };
  follow(make, place, ranks);
}

void release_followers(const Communicator& ranks) { broadcast_order(ranks, Order::kRelease); }

}  // namespace boba::sim
