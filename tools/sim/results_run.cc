#include "tools/sim/results_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <string>

#include "boba/text/printable.h"
#include "boba/text/table.h"
#include "simulator/report/settings.h"
#include "tools/json.h"
#include "tools/sim/results_common.h"

namespace boba::tools {
namespace {

constexpr std::size_t kMostLines = 20;
constexpr std::size_t kMostNotes = 5;

std::string heading_text(const sim::RunRecord& run) {
  const sim::RunHeader& header = run.header;
  std::string text =
      fmt::format("run {}: {} on {}, attack {}, seed {}\n", run.id, printable(header.rule),
                  printable(header.dataset), printable(header.attack), header.seed);
  text += fmt::format("{} after {} of {} rounds, accuracy {} %, mrd {} points, {:.1f} s\n",
                      sim::name(run.status), run.rounds_done, header.rounds, percent(run.accuracy),
                      percent(run.mrd), run.seconds);
  if (!run.owner.empty()) text += fmt::format("held by {}\n", printable(run.owner));
  if (!run.error.empty()) text += fmt::format("error: {}\n", printable(run.error));
  return text;
}

std::string settings_text(const sim::RunRecord& run) {
  const sim::RunHeader& header = run.header;
  std::string text = "\nSettings\n";
  std::istringstream lines(header.config);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) text += "  " + printable(line) + '\n';
  }
  text += fmt::format("  experiment {}, {} parameters, boba {}\n", printable(header.name),
                      header.parameters, printable(header.version));
  text += fmt::format("  data {}\n", printable(header.data));
  text += fmt::format("  created {}{}\n", printable(run.created),
                      run.finished.empty() ? "" : ", finished " + printable(run.finished));
  if (!run.model_file.empty()) text += fmt::format("  model {}\n", printable(run.model_file));
  return text;
}

std::string class_name(const sim::RunHeader& header, std::size_t k) {
  return k < header.classes.size() ? header.classes[k] : fmt::format("class {}", k);
}

std::string clients_text(const WholeRun& run) {
  if (run.clients.empty()) return "";
  std::size_t classes = run.record.header.classes.size();
  for (const sim::ClientRecord& client : run.clients)
    classes = std::max(classes, client.labels.size());
  std::vector<Table::Column> columns = {{"client", Align::kRight}, {"kind"}};
  for (std::size_t k = 0; k < classes; ++k) {
    columns.push_back({class_name(run.record.header, k), Align::kRight});
  }
  columns.push_back({"all", Align::kRight});
  columns.push_back({"corruption"});
  Table table(std::move(columns));
  for (const sim::ClientRecord& client : run.clients) {
    std::vector<std::string> cells = {std::to_string(client.client),
                                      client.honest ? "honest" : "Byzantine"};
    for (std::size_t k = 0; k < classes; ++k) {
      const std::size_t count = k < client.labels.size() ? client.labels[k] : 0;
      cells.push_back(count == 0 ? "." : std::to_string(count));
    }
    const std::size_t all =
        std::accumulate(client.labels.begin(), client.labels.end(), std::size_t{0});
    cells.push_back(std::to_string(all));
    cells.push_back(client.corruption);
    table.add(std::move(cells));
  }
  return "\nClients, examples of each class\n" + table.text(2);
}

std::string evaluations_text(const WholeRun& run) {
  if (run.evaluations.empty()) return "";
  Table table({{"round", Align::kRight}, {"accuracy", Align::kRight}, {"loss", Align::kRight}});
  for (const sim::EvaluationRecord& evaluation : run.evaluations) {
    table.add({std::to_string(evaluation.round), percent(evaluation.accuracy),
               evaluation.loss ? short_number(*evaluation.loss) : "-"});
  }
  return "\nAccuracy in percent\n" + table.text(2);
}

// Recall of each class beside its line of the confusion matrix.
std::string last_evaluation_text(const WholeRun& run) {
  if (run.evaluations.empty() || run.evaluations.back().recall.empty()) return "";
  const sim::EvaluationRecord& last = run.evaluations.back();
  const std::size_t classes = last.recall.size();
  const bool whole = last.confusion.size() == classes * classes;
  std::vector<Table::Column> columns = {{"truth"}, {"recall", Align::kRight}};
  for (std::size_t k = 0; whole && k < classes; ++k) {
    columns.push_back({class_name(run.record.header, k), Align::kRight});
  }
  Table table(std::move(columns));
  for (std::size_t truth = 0; truth < classes; ++truth) {
    std::vector<std::string> cells = {class_name(run.record.header, truth),
                                      percent(last.recall[truth])};
    for (std::size_t k = 0; whole && k < classes; ++k) {
      const std::int64_t count = last.confusion[truth * classes + k];
      cells.push_back(count == 0 ? "." : std::to_string(count));
    }
    table.add(std::move(cells));
  }
  return fmt::format(
             "\nRound {}: recall in percent, and the predictions for examples of each class\n",
             last.round) +
         table.text(2);
}

// Means over consecutive rounds.
class RoundRange {
 public:
  RoundRange(std::span<const sim::RoundRecord> rounds, std::size_t clients)
      : rounds_(rounds), clients_(clients) {}

  std::vector<std::string> cells() const {
    const int first = rounds_.front().round;
    const int last = rounds_.back().round;
    return {first == last ? std::to_string(first) : fmt::format("{}-{}", first, last),
            mean([&](const sim::RoundRecord& each) { return static_cast<double>(accepted(each)); }),
            mean([](const sim::RoundRecord& each) { return double{1} * each.false_accepts; }),
            mean([](const sim::RoundRecord& each) { return double{1} * each.false_rejects; }),
            mean([](const sim::RoundRecord& each) { return each.label_error.value_or(NAN); }),
            mean([](const sim::RoundRecord& each) { return each.update_norm; }),
            mean([](const sim::RoundRecord& each) { return each.learning_rate; })};
  }

 private:
  std::size_t accepted(const sim::RoundRecord& round) const {
    const std::size_t came = round.participants.empty() ? clients_ : round.participants.size();
    return came - std::min(came, round.rejected.size());
  }
  // Of the rounds that have the number.
  template <class Part>
  std::string mean(Part part) const {
    double sum = 0;
    std::size_t count = 0;
    for (const sim::RoundRecord& round : rounds_) {
      const double value = part(round);
      if (!std::isfinite(value)) continue;
      sum += value;
      ++count;
    }
    return count == 0 ? "-" : short_number(sum / static_cast<double>(count));
  }

  std::span<const sim::RoundRecord> rounds_;
  std::size_t clients_;
};

std::string rounds_text(const WholeRun& run) {
  if (run.rounds.empty()) return "";
  const sim::RunHeader& header = run.record.header;
  const std::size_t clients =
      run.clients.empty() ? static_cast<std::size_t>(std::max(0, header.honest + header.byzantine))
                          : run.clients.size();
  Table table({{"rounds"},
               {"accepted", Align::kRight},
               {"false accepts", Align::kRight},
               {"false rejects", Align::kRight},
               {"label error", Align::kRight},
               {"update norm", Align::kRight},
               {"learning rate", Align::kRight}});
  const std::size_t step = (run.rounds.size() + kMostLines - 1) / kMostLines;
  const std::span<const sim::RoundRecord> rounds(run.rounds);
  for (std::size_t i = 0; i < rounds.size(); i += step) {
    table.add(RoundRange(rounds.subspan(i, std::min(step, rounds.size() - i)), clients).cells());
  }
  return fmt::format("\nRounds{}\n", step > 1 ? ", means" : "") + table.text(2);
}

std::string notes_text(const WholeRun& run) {
  std::string text;
  std::size_t notes = 0;
  for (const sim::RoundRecord& round : run.rounds) {
    if (round.note.empty()) continue;
    if (++notes <= kMostNotes) {
      text += fmt::format("  round {}: {}\n", round.round, printable(round.note));
    }
  }
  if (notes > kMostNotes) text += fmt::format("  and {} more\n", notes - kMostNotes);
  return text.empty() ? "" : "\nNotes\n" + text;
}

std::string times_text(const WholeRun& run) {
  if (run.rounds.empty()) return "";
  Table table({{"part"}, {"seconds", Align::kRight}, {"a round", Align::kRight}});
  const auto add = [&](const char* part, double sim::RoundRecord::*member) {
    double sum = 0;
    for (const sim::RoundRecord& round : run.rounds) {
      if (std::isfinite(round.*member)) sum += round.*member;
    }
    table.add({part, fmt::format("{:.3f}", sum),
               fmt::format("{:.6f}", sum / static_cast<double>(run.rounds.size()))});
  };
  add("training", &sim::RoundRecord::train_seconds);
  add("attack", &sim::RoundRecord::attack_seconds);
  add("aggregation", &sim::RoundRecord::aggregate_seconds);
  add("evaluation", &sim::RoundRecord::evaluate_seconds);
  return "\nTimes\n" + table.text(2);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json number_or_null(const std::optional<double>& value) {
  return value ? json_number(*value) : Json();
}

// {"rule": "boba(f=16)", "data.set": "mnist", ...}
Json settings_of(const sim::RunHeader& header) {
  Json settings = Json::object();
  for (const auto& [key, value] : sim::report::config_of(header)) settings[key] = value;
  return settings;
}

Json to_json(const sim::RunRecord& run) {
  const sim::RunHeader& header = run.header;
  return {{"run", run.id},
          {"status", sim::name(run.status)},
          {"name", header.name},
          {"dataset", header.dataset},
          {"partition", header.partition},
          {"model", header.model},
          {"algorithm", header.algorithm},
          {"rule", header.rule},
          {"attack", header.attack},
          {"honest", header.honest},
          {"byzantine", header.byzantine},
          {"seed", header.seed},
          {"rounds", header.rounds},
          {"rounds_done", run.rounds_done},
          {"accuracy", number_or_null(run.accuracy)},
          {"mrd", number_or_null(run.mrd)},
          {"seconds", json_number(run.seconds)},
          {"parameters", header.parameters},
          {"version", header.version},
          {"data", header.data},
          {"created", run.created},
          {"finished", text_or_null(run.finished)},
          {"error", text_or_null(run.error)},
          {"owner", text_or_null(run.owner)},
          {"model_file", text_or_null(run.model_file)},
          {"settings", settings_of(header)},
          {"classes", header.classes}};
}

Json to_json(const sim::ClientRecord& client) {
  return {{"client", client.client},
          {"honest", client.honest},
          {"labels", client.labels},
          {"corruption", text_or_null(client.corruption)}};
}

Json to_json(const sim::RoundRecord& round) {
  return {{"round", round.round},
          {"learning_rate", json_number(round.learning_rate)},
          {"train_seconds", json_number(round.train_seconds)},
          {"attack_seconds", json_number(round.attack_seconds)},
          {"aggregate_seconds", json_number(round.aggregate_seconds)},
          {"evaluate_seconds", json_number(round.evaluate_seconds)},
          {"update_norm", json_number(round.update_norm)},
          {"participants", round.participants.empty() ? Json() : Json(round.participants)},
          {"rejected", round.rejected},
          {"false_accepts", round.false_accepts},
          {"false_rejects", round.false_rejects},
          {"label_error", number_or_null(round.label_error)},
          {"fits", round.fits ? Json(*round.fits) : Json()},
          {"note", text_or_null(round.note)}};
}

Json to_json(const sim::EvaluationRecord& evaluation) {
  return {{"round", evaluation.round},
          {"loss", number_or_null(evaluation.loss)},
          {"accuracy", json_number(evaluation.accuracy)},
          {"recall", json_numbers(evaluation.recall)},
          {"confusion", evaluation.confusion}};
}

template <class T>
Json to_list(const std::vector<T>& records) {
  Json list = Json::array();
  for (const T& record : records) list.push_back(to_json(record));
  return list;
}

}  // namespace

std::string run_text(const WholeRun& run) {
  return heading_text(run.record) + settings_text(run.record) + clients_text(run) +
         evaluations_text(run) + last_evaluation_text(run) + rounds_text(run) + notes_text(run) +
         times_text(run);
}

std::string run_json(const WholeRun& run) {
  Json json = to_json(run.record);
  json["clients"] = to_list(run.clients);
  json["evaluations"] = to_list(run.evaluations);
  json["per_round"] = to_list(run.rounds);
  json["estimate"] = Json();
  if (run.estimate) {
    Json shares = Json::array();
    for (const auto& row : run.estimate->shares) shares.push_back(json_numbers(row));
    json["estimate"] = {
        {"round", run.estimate->round}, {"clients", run.estimate->clients}, {"shares", shares}};
  }
  return print_report(json);
}

}  // namespace boba::tools
