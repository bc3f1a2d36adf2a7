#include "boba/core/aggregator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "boba/core/prepared_rows.h"
#include "boba/core/refusal.h"
#include "boba/text/printable.h"

namespace boba {
namespace {

template <Element T>
bool overlaps(const UpdateView& rows, std::span<T> out) {
  const std::less<const T*> before;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const T* row = rows.row<T>(i);
    if (row == nullptr) continue;  // turned away on arrival
    if (before(row, out.data() + out.size()) && before(out.data(), row + rows.length()))
      return true;
  }
  return false;
}

Result<void> check_output(const Round& round, const MutableRow& out) {
  if (out.length() != round.updates.length() || out.dtype() != round.updates.dtype()) {
    return invalid_argument(fmt::format(
        "the output is {} of length {}, the updates are {} of length {}; both must be alike",
        name(out.dtype()), out.length(), name(round.updates.dtype()), round.updates.length()));
  }
  const bool overlap = visit(out.dtype(), [&](auto zero) {
    const auto span = out.as<decltype(zero)>();
    return overlaps(round.updates, span) || overlaps(round.server, span) ||
           overlaps(round.server_whole, span) || overlaps(round.model, span);
  });
  if (overlap) return invalid_argument("the output overlaps an input; it needs memory of its own");
  return {};
}

// An error met after rows were refused says so; one about their number is of that kind.
Error explained(Error error, const Intake& intake, bool too_few = false) {
  if (intake.refused.empty() || error.code == ErrorCode::kRefused) return error;
  if (too_few) error.code = ErrorCode::kRefused;
  error.message +=
      fmt::format("; {} updates were refused before (client {}: {})", intake.refused.size(),
                  intake.refused.front().row, intake.refused.front().reason);
  return error;
}

// Rows that the output pass had no need to read are looked at too: nobody hostile goes unnamed.
void scan_unread(const Kernels& kernels, const PreparedRows& rows, std::span<const double> weights,
                 std::vector<RowScan>& scan) {
  std::vector<bool> read(scan.size(), rows.mix() == nullptr && weights.empty());
  for (std::size_t i = 0; i < weights.size(); ++i) read[i] = weights[i] != 0;
  if (weights.empty() && rows.mix() != nullptr) {
    for (std::size_t i = 0; i < rows.mix()->rows(); ++i) {
      for (const Mix::Term& term : rows.mix()->terms(i)) read[term.row] = true;
    }
  }
  RowList unread(rows.clients().dtype(), rows.clients().length());
  std::vector<std::size_t> position;
  for (std::size_t i = 0; i < scan.size(); ++i) {
    if (read[i]) continue;
    unread.add(rows.clients(), i);
    position.push_back(i);
  }
  if (position.empty()) return;
  const DotsPass pass = kernels.dots(unread.view(), {}, {});
  for (std::size_t k = 0; k < position.size(); ++k) scan[position[k]] = pass.scan[k];
}

struct Output {
  OutputPass clients;  // scan: one per update that takes part
  std::vector<double> client_weights;
};

Result<Output> write(const Kernels& kernels, const Round& round, const PreparedRows& rows,
                     const Decision& decision, MutableRow out) {
  const std::size_t n = rows.clients().rows();
  Output output;
  if (decision.order) {
    output.clients = kernels.order_mean(rows.clients(), rows.mix(), decision.order->first,
                                        decision.order->last, out);
    if (decision.server_weights.empty()) return output;
    if (Result<void> good = check_server_rows(kernels, round.server); !good) return good.error();
    const OutputPass blend =
        kernels.combine(round.server, decision.server_weights, decision.order_factor, out);
    output.clients.finite = output.clients.finite && blend.finite;
    return output;
  }
  std::vector<double> row_weights;
  for (const RowDecision& row : decision.rows) row_weights.push_back(row.weight);
  output.client_weights = rows.client_weights(row_weights);
  RowList all(rows.clients());
  std::vector<double> weights = output.client_weights;
  if (!decision.server_weights.empty()) {
    all.add(round.server);
    weights.insert(weights.end(), decision.server_weights.begin(), decision.server_weights.end());
  }
  output.clients = kernels.combine(all.view(), weights, 0, out);
  for (std::size_t i = n; i < output.clients.scan.size(); ++i) {
    if (output.clients.scan[i].finite) continue;
    return invalid_argument(fmt::format("server gradient {} contains NaN or infinity", i - n));
  }
  output.clients.scan.resize(n);
  return output;
}

// Whether the output depends on the clients at all.
bool takes_clients(const Decision& decision) {
  if (decision.order) return true;
  return std::any_of(decision.rows.begin(), decision.rows.end(),
                     [](const RowDecision& row) { return row.weight != 0; });
}

void mark_refused(const Refusal& refusal, std::size_t client, Verdict& verdict) {
  verdict.clients[client].accepted = false;
  verdict.clients[client].refused = true;
  verdict.clients[client].reason = refusal.reason;
  ++verdict.refused;
}

// What the decision about mixed rows means for the client at a position of the intake.
void judge_mixed(const Mix& mix, std::size_t position, const Decision& decision,
                 const std::string& left_out, ClientVerdict& client) {
  client.accepted = false;
  std::size_t parts = 0;
  for (std::size_t i = 0; i < mix.rows(); ++i) {
    for (const Mix::Term& term : mix.terms(i)) {
      if (term.row != position) continue;
      ++parts;
      client.accepted = client.accepted || decision.rows[i].accepted;
      client.bucket = i;
      client.facts = decision.rows[i].facts;
      client.measures = decision.rows[i].measures;
      client.label_mix = decision.rows[i].label_mix;
      client.reason = fmt::format("bucket {}: {}", i, decision.rows[i].reason);
    }
  }
  if (parts == 1) return;
  client.bucket.reset();
  client.facts.clear();
  client.measures.clear();
  client.label_mix.clear();
  client.reason = parts == 0 ? left_out : fmt::format("mixed into {} rows", parts);
}

// Names the clients of each group of copies, as far as a sentence goes.
void name_copies(const Copies& copies, const Intake& intake, Verdict& verdict) {
  constexpr std::size_t kMostGroups = 5;
  constexpr std::size_t kMostNames = 10;
  for (std::size_t k = 0; k < copies.size(); ++k) {
    if (copies[k]) verdict.clients[intake.kept[k]].copy_of = intake.kept[*copies[k]];
  }
  const std::vector<std::vector<std::size_t>> groups = copy_groups(copies);
  for (std::size_t g = 0; g < std::min(groups.size(), kMostGroups); ++g) {
    const std::vector<std::size_t>& group = groups[g];
    std::vector<std::string> names;
    for (std::size_t k : group) {
      if (names.size() == kMostNames) break;
      const ClientVerdict& client = verdict.clients[intake.kept[k]];
      names.push_back(client.id.empty() ? fmt::format("{}", client.index) : printable(client.id));
    }
    if (group.size() > names.size()) {
      names.push_back(fmt::format("and {} more", group.size() - names.size()));
    }
    verdict.notes.push_back(fmt::format("{} clients sent the same update, or nearly the same: {}",
                                        group.size(), fmt::join(names, ", ")));
  }
  if (groups.size() > kMostGroups) {
    verdict.notes.push_back(
        fmt::format("{} more groups of clients did so", groups.size() - kMostGroups));
  }
}

// Who did not come, and that the products are not those of the rows.
void add_remarks(const Round& round, std::size_t sketch, Verdict& verdict) {
  verdict.absent.assign(round.absent.begin(), round.absent.end());
  verdict.sketch = sketch;
  if (!verdict.absent.empty()) {
    verdict.notes.push_back(
        fmt::format("{} of {} clients did not come in time: {}", verdict.absent.size(),
                    verdict.absent.size() + verdict.updates,
                    printable(fmt::format("{}", fmt::join(verdict.absent, ", ")))));
  }
  if (sketch > 0) {
    verdict.notes.push_back(fmt::format(
        "weights come from inner products of sketches of length {}; the output pass is exact",
        sketch));
  } else if (round.products_sketch > 0 && !round.products.empty()) {
    verdict.notes.push_back(
        "products of sketches were no use here; those of the updates themselves were formed");
  }
}

// What the round tells a memory: of the clients that took part, and of those that were refused.
std::vector<Memory::Entry> lessons(const Round& round, const PreparedRows& rows,
                                   const Intake& intake, const Rule& rule, const Memory& memory,
                                   const Decision& decision) {
  std::vector<Memory::Entry> entries;
  for (std::size_t k = 0; k < intake.kept.size(); ++k) {
    const std::string_view id = round.id(intake.kept[k]);
    if (!id.empty()) entries.push_back({id, decision.rows[k].state});
  }
  std::set<std::size_t> repeated;
  for (const Refusal& refusal : intake.repeated) repeated.insert(refusal.row);
  for (const Refusal& refusal : intake.refused) {
    const std::string_view id = round.id(refusal.row);
    if (id.empty() || repeated.contains(refusal.row)) continue;
    const Memory::Client* known = memory.find(id);
    const std::span<const double> state =
        known == nullptr ? std::span<const double>() : std::span<const double>(known->state);
    std::vector<double> after = rule.after_refusal(state, rows.shape());
    if (!after.empty()) entries.push_back({id, std::move(after)});
  }
  return entries;
}

Verdict report(const Round& round, const PreparedRows& rows, const Intake& intake,
               Decision decision, const Output& output) {
  Verdict verdict;
  verdict.updates = round.updates.rows();
  verdict.length = rows.shape().length;
  verdict.classes = round.server.rows();
  verdict.weighted = !decision.order;
  verdict.clients.resize(verdict.updates);
  for (std::size_t i = 0; i < verdict.updates; ++i) {
    verdict.clients[i].index = i;
    if (!round.ids.empty()) verdict.clients[i].id = round.ids[i];
    if (verdict.weighted) verdict.clients[i].weight = 0;
  }
  for (const auto* list : {&intake.refused, &intake.repeated}) {
    for (const Refusal& refusal : *list) mark_refused(refusal, refusal.row, verdict);
  }
  for (std::size_t k = 0; k < intake.kept.size(); ++k) {
    ClientVerdict& client = verdict.clients[intake.kept[k]];
    if (verdict.weighted) client.weight = output.client_weights[k];
    if (rows.mix() != nullptr) {
      judge_mixed(*rows.mix(), k, decision, rows.left_out()[k], client);
      continue;
    }
    RowDecision& row = decision.rows[k];
    client.accepted = row.accepted;
    client.reason = std::move(row.reason);
    client.facts = std::move(row.facts);
    client.measures = std::move(row.measures);
    client.label_mix = std::move(row.label_mix);
  }
  if (verdict.weighted) {
    for (const ClientVerdict& client : verdict.clients) verdict.weights.push_back(*client.weight);
  }
  verdict.server_weights = std::move(decision.server_weights);
  verdict.server_weights.resize(verdict.classes, 0.0);
  verdict.measures = std::move(decision.measures);
  verdict.warnings = std::move(decision.warnings);
  verdict.notes = std::move(decision.notes);
  verdict.reports = std::move(decision.reports);
  name_copies(rows.copies(output.clients.scan), intake, verdict);
  add_remarks(round, rows.gram().sketch(), verdict);
  if (rows.drawn_seed()) {
    verdict.notes.push_back(
        fmt::format("random stages drew with the seed {}, secret until now", *rows.drawn_seed()));
  }
  return verdict;
}

}  // namespace

Aggregator Aggregator::after(MixStagePtr stage, const std::string& stage_spec) const {
  Aggregator result = *this;
  result.mixes_.insert(result.mixes_.begin(), std::move(stage));
  result.spec_ = stage_spec + " | " + spec_;
  return result;
}

Aggregator Aggregator::before(BlendStagePtr stage, const std::string& stage_spec) const {
  Aggregator result = *this;
  result.blends_.push_back(std::move(stage));
  result.spec_ = spec_ + " | " + stage_spec;
  return result;
}

Aggregator Aggregator::renamed(std::string spec) const {
  Aggregator result = *this;
  result.spec_ = std::move(spec);
  return result;
}

Result<void> Aggregator::admits(Shape shape) const {
  for (const MixStagePtr& stage : mixes_) {
    if (Result<void> good = stage->admits(shape); !good) return good;
    // How many rows there are depends on no seed.
    shape.clients = stage->mix(shape, 0, 0).rows();
  }
  if (Result<void> good = rule_->admits(shape); !good) return good;
  for (const BlendStagePtr& blend : blends_) {
    if (Result<void> good = blend->admits(shape); !good) return good;
  }
  return {};
}

bool Aggregator::needs_server_rows() const {
  return server_data() == ServerData::kRows ||
         std::any_of(blends_.begin(), blends_.end(),
                     [](const BlendStagePtr& blend) { return blend->needs_server_rows(); });
}

bool Aggregator::needs_server_gradient() const { return server_data() == ServerData::kGradient; }

bool Aggregator::needs_oracle() const {
  return server_data() == ServerData::kLoss || server_data() == ServerData::kLossGradient;
}

bool Aggregator::uses_server() const {
  return needs_server_rows() || needs_server_gradient() || needs_oracle();
}

Traits Aggregator::traits() const {
  Traits traits = rule_->traits();
  traits.shifts = traits.shifts && !needs_server_rows();
  // A bucket with one row far out is far out.
  traits.robust = traits.robust && mixes_.empty() && blends_.empty();
  return traits;
}

bool Aggregator::uses_memory() const {
  // A mixed row is no client.
  return mixes_.empty() && rule_->memory_width({.clients = 1, .classes = 1}) > 0;
}

bool Aggregator::needs_gram() const {
  const Need need = rule_->need();
  if (need == Need::kGram || need == Need::kServerGram) return true;
  return need != Need::kNothing && !mixes_.empty();
}

Result<Verdict> Aggregator::aggregate(const Kernels& kernels, const Round& round, MutableRow out,
                                      Memory* memory) const {
  if (Result<void> good = check(round); !good) return good.error();
  if (Result<void> good = check_output(round, out); !good) return good.error();
  if (!uses_memory()) memory = nullptr;
  Intake intake(round);
  // Each turn but the last refuses an update, so the loop ends.
  for (;;) {
    Result<PreparedRows> rows = PreparedRows::make(kernels, round, *rule_, mixes_, intake);
    if (!rows) return explained(rows.error(), intake);
    const Shape& shape = rows->shape();
    if (Result<void> good = rule_->admits(shape); !good) {
      // With hostile rows gone, n and f are smaller; a rule that meets no numbers looks for them.
      if (rule_->need() == Need::kNothing) {
        const DotsPass pass = kernels.dots(rows->clients(), {}, {});
        const auto refused = refusals(kernels, rows->clients(), pass.scan);
        intake.refuse(refused);
        if (!refused.empty()) continue;
      }
      return explained(good.error(), intake, true);
    }
    for (const BlendStagePtr& blend : blends_) {
      if (Result<void> good = blend->admits(shape); !good) {
        return explained(good.error(), intake, true);
      }
    }
    if (memory != nullptr) {
      const Result<void> suits = memory->suits(spec_, rule_->memory_width(shape));
      if (!suits) return suits.error();
      rows->recall(*memory, intake);
    }
    Result<Decision> decision = rule_->decide(*rows);
    if (!decision) return explained(decision.error(), intake);
    for (const BlendStagePtr& blend : blends_) blend->blend(shape, *decision);

    Result<Output> output = write(kernels, round, *rows, *decision, out);
    if (!output) return explained(output.error(), intake);
    // Rules that need no products meet the numbers here for the first time.
    std::vector<Refusal> unused;
    if (rule_->need() == Need::kNothing) {
      scan_unread(kernels, *rows, output->client_weights, output->clients.scan);
      std::vector<Refusal> refused = refusals(kernels, rows->clients(), output->clients.scan);
      if (!refused.empty() && takes_clients(*decision)) {
        intake.refuse(refused);
        continue;
      }
      unused = std::move(refused);
    }
    if (!output->clients.finite) {
      return invalid_argument(fmt::format(
          "the result overflows {}: the updates are too large for it", name(out.dtype())));
    }
    if (memory != nullptr) {
      memory->remember(spec_, rule_->memory_width(shape),
                       lessons(round, *rows, intake, *rule_, *memory, *decision));
    }
    Verdict verdict = report(round, *rows, intake, *std::move(decision), *output);
    for (const Refusal& refusal : unused) mark_refused(refusal, intake.kept[refusal.row], verdict);
    if (memory != nullptr && round.ids.empty()) {
      verdict.notes.emplace_back("the updates have no ids, so the memory remembers no client");
    }
    verdict.rule = spec_;
    return verdict;
  }
}

}  // namespace boba
