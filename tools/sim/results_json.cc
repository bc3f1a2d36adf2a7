// boba show --json: everything of a run, every round of it.

#include <sstream>
#include <string>

#include "tools/json.h"
#include "tools/sim/results_run.h"

namespace boba::tools {
namespace {

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json number_or_null(const std::optional<double>& value) {
  return value ? json_number(*value) : Json();
}

// {"rule": "boba(f=16)", "data.set": "mnist", ...}: the lines of the canonical text.
Json settings_of(const std::string& config) {
  Json settings = Json::object();
  std::istringstream lines(config);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t sign = line.find(" = ");
    if (sign != std::string::npos) settings[line.substr(0, sign)] = line.substr(sign + 3);
  }
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
          {"settings", settings_of(header.config)},
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
