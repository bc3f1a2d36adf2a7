#include "simulator/report/grouping.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace boba::sim::report {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// What distinguishes runs that are compared with each other.
bool is_axis(std::string_view key) {
  return key == "rule" || key == "attack" || key == "seed" || key == "federation.byzantine";
}

// What one run can say, sorted by who has to agree on it.
struct Parts {
  const RunData* run = nullptr;
  Config shared;   // all
  Config server;   // runs whose rules look at server data; empty: this one does not
  Config turnout;  // runs with attackers of whom some may stay away; empty: this one has none
};

// The lines "key = value" of an experiment's canonical text.
Parts parts_of(const RunData& run) {
  Parts parts;
  parts.run = &run;
  bool has_server = false;
  for (std::string_view text = run.record.header.config; !text.empty();) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = trimmed(line.substr(0, equals));
    const std::string_view value = trimmed(line.substr(equals + 1));
    if (is_axis(key)) continue;
    const bool server = key.starts_with("server.");
    const bool turnout = key == "federation.byzantine_turnout";
    (server ? parts.server : turnout ? parts.turnout : parts.shared).emplace_back(key, value);
    has_server = has_server || (key == "server.per_class" && value != "0") ||
                 (key == "server.counts" && !value.empty());
  }
  if (!has_server) parts.server.clear();
  return parts;
}

// Equal keys: the same but for server and turnout. The fields stand in for a config that says less
// than it should.
std::string key_of(const Parts& parts) {
  const RunHeader& header = parts.run->record.header;
  std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n", header.data, header.dataset, header.partition,
                  header.model, header.algorithm, header.honest, header.rounds);
  for (const auto& [name, value] : parts.shared) key += name + "=" + value + "\n";
  return key;
}

// The different ones that are given; one that says nothing if none is.
std::vector<Config> choices(const std::vector<Parts>& all, Config Parts::*part) {
  std::vector<Config> found;
  for (const Parts& each : all) {
    const Config& config = each.*part;
    if (config.empty() || std::find(found.begin(), found.end(), config) != found.end()) continue;
    found.push_back(config);
  }
  if (found.empty()) found.emplace_back();
  return found;
}

bool agrees(const Config& said, const Config& chosen) { return said.empty() || said == chosen; }

Group group_of(const std::vector<Parts>& all, const Config& server, const Config& turnout) {
  Group group;
  group.config = all[0].shared;
  group.config.insert(group.config.end(), turnout.begin(), turnout.end());
  group.config.insert(group.config.end(), server.begin(), server.end());
  for (const Parts& each : all) {
    if (agrees(each.server, server) && agrees(each.turnout, turnout)) {
      group.runs.push_back(each.run);
    }
  }
  return group;
}

}  // namespace

std::vector<Group> comparable_runs(std::span<const RunData> runs) {
  std::vector<std::vector<Parts>> alike;
  std::map<std::string, std::size_t> places;
  for (const RunData& run : runs) {
    Parts parts = parts_of(run);
    const auto [place, is_new] = places.try_emplace(key_of(parts), alike.size());
    if (is_new) alike.emplace_back();
    alike[place->second].push_back(std::move(parts));
  }
  std::vector<Group> groups;
  std::set<const RunData*> placed;
  for (const std::vector<Parts>& all : alike) {
    for (const Config& server : choices(all, &Parts::server)) {
      for (const Config& turnout : choices(all, &Parts::turnout)) {
        Group group = group_of(all, server, turnout);
        // A pair that adds no run compares nothing new.
        bool adds = false;
        for (const RunData* run : group.runs) adds = placed.insert(run).second || adds;
        if (adds) groups.push_back(std::move(group));
      }
    }
  }
  return groups;
}

}  // namespace boba::sim::report
