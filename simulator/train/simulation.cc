#include "simulator/train/simulation.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "boba/core/kernels.h"
#include "boba/core/memory.h"
#include "boba/core/views.h"
#include "boba/kernels/cuda/cuda.h"
#include "boba/kernels/sketch/sketch.h"
#include "simulator/data/digest.h"
#include "simulator/train/checkpoint.h"
#include "simulator/train/class_means.h"
#include "simulator/train/metrics.h"
#include "simulator/train/plan.h"
#include "simulator/train/schedule.h"

namespace boba::sim {
namespace {

// Seconds since it was made or last read.
class Watch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - start_).count();
    start_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// What is fixed for a run.
struct Setup {
  ResolvedExperiment experiment;
  std::shared_ptr<const FederationPlan> plan;
  std::unique_ptr<Trainer> trainer;
  std::unique_ptr<const Kernels> kernels;
  RunHeader header;
};

// What a round's training gave: rows of the clients, then of the server.
struct Gathered {
  RowList clients;
  RowList server;
  RowList whole;
};

// Where no honest update, or a gradient of the server, is a number, the model has left the numbers.
// What attackers send then is no reason to go on walking.
Error model_lost() {
  return {ErrorCode::kRefused,
          "no honest update, or not all of the server's gradients, are finite: the model is lost"};
}

bool all_honest_refused(const Verdict& verdict, const Cohort& cohort) {
  for (std::size_t i = 0; i < cohort.honest.size(); ++i) {
    if (!verdict.clients[i].refused) return false;
  }
  return true;
}

class TrainedSimulation final : public Simulation {
 public:
  explicit TrainedSimulation(Setup setup)
      : setup_(std::move(setup)),
        oracle_(*setup_.trainer),
        length_(setup_.trainer->length()),
        parameters_(make_rows(1)),
        aggregate_(make_rows(1)) {
    const ResolvedExperiment& e = setup_.experiment;
    put(setup_.trainer->initial(), parameters_);
    const std::size_t rows = static_cast<std::size_t>(e.federation.honest) +
                             static_cast<std::size_t>(setup_.header.byzantine);
    updates_ = make_rows(rows);
    const std::size_t server_rows = setup_.plan->server.size();
    const bool whole = server_rows > 0 && e.training.algorithm != Algorithm::kFedSgd;
    // What neither rule nor attack looks at is not trained.
    const Shape alone{.clients = rows, .length = length_};
    const bool looked_at = !setup_.experiment.round_aggregator.admits(alone) ||
                           (setup_.experiment.attack_on_updates &&
                            setup_.experiment.attack_on_updates->looks_at_server());
    if (looked_at) server_ = make_rows(server_rows + (whole ? 1 : 0));
    for (const ShardPlan& shard : setup_.plan->server) {
      server_counts_.push_back(static_cast<double>(shard.examples.size()));
    }
    if (e.training.momentum > 0) velocity_ = make_rows(1);
  }

  const RunHeader& header() const override { return setup_.header; }
  std::span<const ClientRecord> clients() const override { return setup_.plan->clients; }
  int rounds_done() const override { return round_; }
  std::vector<float> parameters() const override { return get(parameters_); }

  TensorFile model() const override {
    TensorFile file = setup_.trainer->named(parameters());
    file.metadata["boba.version"] = setup_.header.version;
    file.metadata["boba.dataset"] = setup_.header.dataset;
    file.metadata["boba.model"] = setup_.header.model;
    file.metadata["boba.rule"] = setup_.header.rule;
    file.metadata["boba.attack"] = setup_.header.attack;
    file.metadata["boba.round"] = std::to_string(round_);
    return file;
  }

  Result<void> restore(std::string_view bytes) override {
    const bool momentum = velocity_.rows() > 0;
    auto state = unpack(bytes, length_, momentum);
    if (!state) return state.error();
    if (state->round < 0 || state->round > setup_.header.rounds) {
      return invalid_argument(
          fmt::format("checkpoint: after round {} of {}", state->round, setup_.header.rounds));
    }
    round_ = state->round;
    put(state->parameters, parameters_);
    if (momentum) put(state->velocity, velocity_);
    if (!remembers()) return {};
    auto memory = Memory::load(state->memory);
    if (!memory) return memory.error();
    memory_ = *std::move(memory);
    return {};
  }

  Result<RoundEntry> step(bool checkpoint) override {
    try {
      return next_round(checkpoint);
    } catch (const DeviceError& error) {
      return Error{ErrorCode::kUnsupported, error.what()};
    }
  }

 private:
  Result<RoundEntry> next_round(bool checkpoint) {
    const int round = round_ + 1;
    const ResolvedExperiment& e = setup_.experiment;
    const FederationSection& federation = e.federation;
    const Cohort cohort = draw_cohort(federation, e.seed, round);
    RoundEntry entry;
    RoundRecord& record = entry.round;
    record.round = round;
    record.learning_rate = learning_rate(e.training, round);
    if (!everyone(federation)) record.participants = participants(cohort);

    Watch watch;
    auto rows = gather(cohort, round, record.learning_rate);
    if (!rows) return rows.error();
    record.train_seconds = watch.lap();
    const Result<void> forged = forge(cohort, round, record.learning_rate, *rows);
    record.attack_seconds = watch.lap();
    auto verdict = forged ? aggregate(*rows, cohort, round, record.learning_rate)
                          : Result<Verdict>(forged.error());
    record.aggregate_seconds = watch.lap();
    const bool lost = verdict ? all_honest_refused(*verdict, cohort) : !usable(cohort, *rows);
    if (lost) verdict = model_lost();
    if (!verdict && verdict.error().code != ErrorCode::kRefused) return verdict.error();
    if (verdict) {
      apply(record);
      judge(*verdict, cohort, setup_.plan->clients, record);
    } else {
      record.note = "no step: " + verdict.error().message;
      record.rejected = participants(cohort);
      record.false_rejects = static_cast<int>(cohort.honest.size());
    }
    watch.lap();
    const Result<void> evaluated =
        evaluate(round, verdict ? &*verdict : nullptr, cohort, lost, entry);
    if (!evaluated) return evaluated.error();
    record.evaluate_seconds = watch.lap();
    round_ = round;
    if (checkpoint) {
      entry.checkpoint =
          pack({.round = round_,
                .parameters = parameters(),
                .velocity = velocity_.rows() > 0 ? get(velocity_) : std::vector<float>(),
                .memory = remembers() ? memory_.save() : std::string()});
    }
    return entry;
  }

  UpdateMatrix make_rows(std::size_t rows) const {
    return setup_.kernels->make_rows(DType::kFloat32, rows, length_);
  }
  void put(std::span<const float> from, UpdateMatrix& to) const {
    const float* const row[] = {from.data()};
    setup_.kernels->put(UpdateView(std::span<const float* const>(row), length_), 0, to.row(0));
  }
  std::vector<float> get(const UpdateMatrix& from) const {
    std::vector<float> row(length_);
    setup_.kernels->get(from.view(), 0, MutableRow(std::span<float>(row)));
    return row;
  }
  bool remembers() const { return setup_.experiment.round_aggregator.uses_memory(); }
  std::span<const float> w() const { return {parameters_.view().row<float>(0), length_}; }

  std::vector<int> participants(const Cohort& cohort) const {
    std::vector<int> clients = cohort.honest;
    for (const int j : cohort.byzantine) clients.push_back(setup_.experiment.federation.honest + j);
    return clients;
  }

  // Trains everyone who trains in this round.
  Result<Gathered> gather(const Cohort& cohort, int round, double rate) {
    Gathered rows{RowList(DType::kFloat32, length_), RowList(DType::kFloat32, length_),
                  RowList(DType::kFloat32, length_)};
    std::vector<TrainingTask> tasks;
    for (std::size_t i = 0; i < cohort.honest.size(); ++i) {
      tasks.push_back({Learner::kHonest, static_cast<std::size_t>(cohort.honest[i]),
                       updates_.row_as<float>(i)});
      rows.clients.add(updates_.row(i));
    }
    for (std::size_t j = 0; j < cohort.byzantine.size(); ++j) {
      const std::size_t row = cohort.honest.size() + j;
      if (setup_.plan->flipped) {
        tasks.push_back({Learner::kFlipped, static_cast<std::size_t>(cohort.byzantine[j]),
                         updates_.row_as<float>(row)});
      }
      rows.clients.add(updates_.row(row));
    }
    for (std::size_t z = 0; z < server_.rows(); ++z) {
      const bool whole = z == setup_.plan->server.size();
      tasks.push_back({whole ? Learner::kServerWhole : Learner::kServerClass, whole ? 0 : z,
                       server_.row_as<float>(z)});
      (whole ? rows.whole : rows.server).add(server_.row(z));
    }
    const Result<void> done = setup_.trainer->train(w(), round, rate, tasks);
    if (!done) return done.error();
    return rows;
  }

  // Whether a rule could have worked with what was trained. Asked only when it failed.
  bool usable(const Cohort& cohort, const Gathered& rows) const {
    const DotsPass clients = setup_.kernels->dots(rows.clients.view(), {}, {});
    bool honest = false;
    for (std::size_t i = 0; i < cohort.honest.size(); ++i) honest |= clients.scan[i].finite;
    for (const RowList* list : {&rows.server, &rows.whole}) {
      if (list->rows() == 0) continue;
      for (const RowScan& scan : setup_.kernels->dots(list->view(), {}, {}).scan) {
        if (!scan.finite) return false;
      }
    }
    return honest;
  }

  // What a step of the server multiplies an update with.
  double step_of(double rate) const {
    return setup_.experiment.training.algorithm == Algorithm::kFedSgd ? rate : 1.0;
  }

  // Attacks look at honest updates that are numbers.
  Result<void> forge(const Cohort& cohort, int round, double rate, const Gathered& rows) {
    if (!setup_.experiment.attack_on_updates || cohort.byzantine.empty()) return {};
    RowList honest(DType::kFloat32, length_);
    const UpdateView all = rows.clients.view();
    for (std::size_t i = 0; i < cohort.honest.size(); ++i) honest.add(all, i);
    const Result<void> done = forge_from(honest, cohort.honest, rows, cohort, round, rate);
    if (done) return done;
    const DotsPass pass = setup_.kernels->dots(honest.view(), {}, {});
    RowList finite(DType::kFloat32, length_);
    std::vector<int> clients;
    for (std::size_t i = 0; i < cohort.honest.size(); ++i) {
      if (!pass.scan[i].finite) continue;
      finite.add(all, i);
      clients.push_back(cohort.honest[i]);
    }
    if (finite.rows() == cohort.honest.size()) return done;
    if (finite.rows() == 0) {
      return model_lost();
    }
    const Result<void> rest = forge_from(finite, clients, rows, cohort, round, rate);
    if (rest) return rest;
    return Error{ErrorCode::kRefused, rest.error().message};
  }

  // clients: those that sent the honest rows.
  Result<void> forge_from(const RowList& honest, std::span<const int> clients, const Gathered& rows,
                          const Cohort& cohort, int round, double rate) {
    const std::vector<double> mixes = label_mixes(setup_.plan->clients, clients);
    std::vector<MutableRow> out;
    for (std::size_t j = 0; j < cohort.byzantine.size(); ++j) {
      out.push_back(updates_.row(cohort.honest.size() + j));
    }
    const UpdateView server =
        class_means(*setup_.kernels, rows.server.view(), setup_.plan->server_parts, corners_);
    const auto report =
        setup_.experiment.attack_on_updates->forge(*setup_.kernels,
                                                   {.honest = honest.view(),
                                                    .server = server,
                                                    .learning_rate = step_of(rate),
                                                    .seed = setup_.experiment.seed,
                                                    .number = static_cast<std::uint32_t>(round),
                                                    .label_mixes = mixes},
                                                   out);
    if (!report) return report.error();
    return {};
  }

  Result<Verdict> aggregate(const Gathered& rows, const Cohort& cohort, int round, double rate) {
    std::vector<std::string> ids;
    if (remembers()) {
      for (const int client : cohort.honest) ids.push_back(std::to_string(client));
      const FederationSection& federation = setup_.experiment.federation;
      for (const int j : cohort.byzantine) {
        ids.push_back(std::to_string(federation.honest + j));
        if (federation.byzantine_ids == ByzantineIds::kNew) ids.back() += fmt::format("-{}", round);
      }
    }
    Memory* const memory = remembers() ? &memory_ : nullptr;
    Round view{.updates = rows.clients.view(),
               .ids = ids,
               .server = rows.server.view(),
               .server_counts = rows.server.rows() > 0 ? std::span<const double>(server_counts_)
                                                       : std::span<const double>(),
               .server_whole = rows.whole.view(),
               .model = parameters_.view(),
               .learning_rate = step_of(rate),
               .oracle = setup_.plan->server.empty() ? nullptr : &oracle_,
               .seed = setup_.experiment.seed,
               .number = static_cast<std::uint32_t>(round)};
    const MutableRow out = aggregate_.row(0);
    if (!setup_.experiment.sketch)
      return setup_.experiment.round_aggregator.aggregate(*setup_.kernels, view, out, memory);
    const auto sketched = make_sketch_kernels(
        *setup_.kernels,
        sketch_plan(*setup_.experiment.sketch, setup_.experiment.seed, view.number));
    if (!sketched) return sketched.error();
    return setup_.experiment.round_aggregator.aggregate(**sketched, view, out, memory);
  }

  // The server's step.
  void apply(RoundRecord& record) {
    const Kernels& kernels = *setup_.kernels;
    const double one = 1;
    const double step = -step_of(record.learning_rate);
    record.update_norm = std::sqrt(kernels.dots(aggregate_.view(), {}, {}).sq_norm[0]);
    UpdateView direction = aggregate_.view();
    if (velocity_.rows() > 0) {
      kernels.combine(direction, {&one, 1}, setup_.experiment.training.momentum, velocity_.row(0));
      direction = velocity_.view();
    }
    kernels.combine(direction, {&step, 1}, 1, parameters_.row(0));
  }

  Result<void> evaluate(int round, const Verdict* verdict, const Cohort& cohort, bool lost,
                        RoundEntry& entry) {
    const int every = setup_.experiment.run.evaluate_every;
    if (round % every != 0 && round != setup_.header.rounds) return {};
    auto evaluation = setup_.trainer->evaluate(w());
    if (!evaluation) return evaluation.error();
    const std::size_t classes = setup_.header.classes.size();
    if (lost) evaluation = of_lost_model(*std::move(evaluation), classes);
    entry.evaluation = measure(*evaluation, classes, round);
    if (verdict != nullptr) {
      EstimateRecord record =
          estimates(*verdict, cohort, setup_.experiment.federation.honest, round);
      if (!record.clients.empty()) entry.estimate = std::move(record);
    }
    return {};
  }

  Setup setup_;
  TrainerOracle oracle_;
  std::size_t length_;
  // One row each, where the kernels and the trainer work.
  UpdateMatrix parameters_;
  UpdateMatrix velocity_;  // none without momentum
  UpdateMatrix aggregate_;
  UpdateMatrix updates_;
  UpdateMatrix server_;
  UpdateMatrix corners_;  // means of a class's server rows, where there are several
  std::vector<double> server_counts_;
  Memory memory_;  // of rules that use one
  int round_ = 0;
};

// A script is part of what determines a run's numbers, and its path says little about it.
std::string script_checksum(const ModelSection& model) {
  if (model.script.empty()) return "";
  std::ifstream file(model.script, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  Digest digest;
  digest.add({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  return fmt::format("+{}", digest.finish());
}

}  // namespace

Result<RunHeader> header_of(const ResolvedExperiment& experiment, const Dataset& dataset,
                            std::string_view name, std::string_view gpu) {
  const auto parameters = count_parameters(experiment, dataset);
  if (!parameters) return parameters.error();
  RunHeader header;
  header.name = name;
  header.config = canonical_text(experiment);
  header.data = dataset.checksum + script_checksum(experiment.model);
  header.baseline = canonical_text(baseline_of(experiment));
  header.dataset = dataset.name;
  header.partition = experiment.data.partition;
  header.model = experiment.model.kind;
  header.algorithm = algorithm_name(experiment.training.algorithm);
  header.rule = experiment.rule;
  header.attack = experiment.attack;
  header.honest = experiment.federation.honest;
  header.byzantine = experiment.federation.byzantine;
  header.seed = experiment.seed;
  header.rounds = experiment.training.rounds;
  header.parameters = *parameters;
  header.classes = dataset.classes;
  header.version = version_text(BOBA_VERSION, gpu);
  header.gpu = gpu;
  return header;
}

Result<std::unique_ptr<Simulation>> make_simulation(const ResolvedExperiment& experiment,
                                                    const Dataset& dataset, const Place& place,
                                                    std::string_view name,
                                                    std::shared_ptr<const FederationPlan> plan) {
  auto kernels = make_kernels(place);
  if (!kernels) return kernels.error();
  if (!plan) {
    auto made = make_plan(experiment, dataset);
    if (!made) return made.error();
    plan = std::make_shared<const FederationPlan>(*std::move(made));
  }
  auto trainer = make_trainer(experiment, dataset, *plan, place);
  if (!trainer) return trainer.error();
  auto header = header_of(experiment, dataset, name, place.gpu() ? (*kernels)->name() : "");
  if (!header) return header.error();
  const auto begin = [](Setup setup) -> Result<std::unique_ptr<Simulation>> {
    try {
      return std::unique_ptr<Simulation>(std::make_unique<TrainedSimulation>(std::move(setup)));
    } catch (const DeviceError& error) {
      return Error{ErrorCode::kUnsupported, error.what()};
    }
  };
  return begin(Setup{.experiment = experiment,
                     .plan = std::move(plan),
                     .trainer = std::move(*trainer),
                     .kernels = *std::move(kernels),
                     .header = std::move(*header)});
}

}  // namespace boba::sim
