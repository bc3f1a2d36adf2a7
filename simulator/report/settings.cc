#include "simulator/report/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "boba/text/split.h"
#include "simulator/report/text.h"

namespace boba::sim::report {
namespace {

struct Group {
  Config config;  // what its runs share
  std::vector<const RunData*> runs;
};

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

Parts parts_of(const RunData& run) {
  Parts parts;
  parts.run = &run;
  bool has_server = false;
  for (const auto& [key, value] : config_of(run.record.header)) {
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

// In the order of their first runs.
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

constexpr std::size_t kLongestClassList = 1000;
constexpr std::size_t kLongestName = 80;

std::string plain_title(const RunHeader& header) {
  std::string title;
  for (const std::string* part :
       {&header.dataset, &header.model, &header.algorithm, &header.partition}) {
    if (part->empty()) continue;
    title += (title.empty() ? "" : " · ") + clip(*part, 60);
  }
  return title.empty() ? "runs" : title;
}

// Settings of equal titles get the keys in which they differ added.
void make_titles_differ(std::vector<Setting>& settings) {
  std::map<std::string, std::vector<Setting*>> by_title;
  for (Setting& setting : settings) by_title[setting.title].push_back(&setting);
  for (auto& entry : by_title) {
    if (entry.second.size() < 2) continue;
    // A key that only some have distinguishes them too.
    std::map<std::string, std::multiset<std::string>> values;
    for (const Setting* setting : entry.second) {
      for (const auto& [key, value] : setting->config) values[key].insert(value);
    }
    const auto differs = [&](const std::string& key, const std::string& value) {
      return values[key].count(value) < entry.second.size();
    };
    std::size_t number = 0;
    for (Setting* setting : entry.second) {
      std::string added;
      for (const auto& [key, value] : setting->config) {
        if (!differs(key, value)) continue;
        added += (added.empty() ? "" : ", ") + key.substr(key.rfind('.') + 1) + " " + value;
      }
      ++number;
      setting->title += " · " + (added.empty() ? fmt::format("no. {}", number) : clip(added, 120));
    }
  }
}

// Short names where they are unambiguous among the given.
void label(std::vector<Axis>& axes) {
  std::map<std::string, std::set<std::string>> specs;
  std::map<std::string, std::set<int>> counts;
  for (const Axis& axis : axes) {
    specs[short_spec(axis.spec)].insert(axis.spec);
    counts[axis.spec].insert(axis.byzantine);
  }
  for (Axis& axis : axes) {
    const std::string name = short_spec(axis.spec);
    axis.label = clip(specs[name].size() == 1 && !name.empty() ? name : axis.spec, kLongestName);
    if (counts[axis.spec].size() > 1) axis.label += fmt::format(" b={}", axis.byzantine);
  }
}

std::size_t index_of(std::vector<Axis>& axes, const std::string& spec, int byzantine) {
  const auto found = std::find_if(axes.begin(), axes.end(), [&](const Axis& axis) {
    return axis.spec == spec && axis.byzantine == byzantine;
  });
  if (found != axes.end()) return static_cast<std::size_t>(found - axes.begin());
  axes.emplace_back();
  axes.back().spec = spec;
  axes.back().byzantine = byzantine;
  return axes.size() - 1;
}

// Finished runs if there are any, else those that came furthest.
void choose_runs(Cell& cell) {
  const bool finished = std::any_of(cell.runs.begin(), cell.runs.end(),
                                    [](const RunData* run) { return run->finished(); });
  int furthest = 0;
  for (const RunData* run : cell.runs) furthest = std::max(furthest, run->record.rounds_done);
  std::erase_if(cell.runs, [&](const RunData* run) {
    if (!run->record.accuracy) return true;
    return finished ? !run->finished() : run->record.rounds_done < furthest;
  });
  cell.partial = !finished && !cell.runs.empty();
  std::stable_sort(cell.runs.begin(), cell.runs.end(), [](const RunData* a, const RunData* b) {
    return a->record.header.seed < b->record.header.seed;
  });
  std::vector<double> accuracies;
  std::vector<double> drops;
  for (const RunData* run : cell.runs) {
    accuracies.push_back(*run->record.accuracy);
    if (run->record.mrd) drops.push_back(*run->record.mrd);
  }
  cell.accuracy = statistics_of(accuracies);
  cell.mrd = statistics_of(drops);
}

void fill_cells(Setting& setting) {
  for (const RunData* run : setting.runs) {
    const RunHeader& header = run->record.header;
    index_of(setting.rules, header.rule, 0);
    index_of(setting.attacks, header.attack, header.byzantine);
  }
  std::stable_sort(setting.attacks.begin(), setting.attacks.end(),
                   [](const Axis& a, const Axis& b) { return !a.is_attack() && b.is_attack(); });
  label(setting.rules);
  label(setting.attacks);
  setting.cells.assign(setting.rules.size(), std::vector<Cell>(setting.attacks.size()));
  for (const RunData* run : setting.runs) {
    const RunHeader& header = run->record.header;
    Cell& cell = setting.cells[index_of(setting.rules, header.rule, 0)]
                              [index_of(setting.attacks, header.attack, header.byzantine)];
    cell.runs.push_back(run);
    ++cell.all;
    if (run->record.status == RunStatus::kFailed) ++cell.failed;
  }
  for (std::vector<Cell>& row : setting.cells) {
    for (Cell& cell : row) choose_runs(cell);
  }
}

// As many names as there are recalls, whatever the header says.
void name_classes(Setting& setting) {
  std::size_t count = 0;
  for (const RunData* run : setting.runs) {
    if (setting.classes.empty()) setting.classes = run->record.header.classes;
    count = std::max(count, run->recall.size());
    for (const ClientRecord& client : run->clients) count = std::max(count, client.labels.size());
  }
  count = std::min(count, kLongestClassList);
  for (std::string& name : setting.classes) name = clip(name, kLongestName);
  while (setting.classes.size() < count) {
    setting.classes.push_back(fmt::format("class {}", setting.classes.size()));
  }
}

}  // namespace

Config config_of(const RunHeader& header) {
  Config config;
  for (std::string_view text = header.config; !text.empty();) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t equals = line.find('=');
    if (equals == line.npos) continue;
    config.emplace_back(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
  }
  return config;
}

std::string short_spec(std::string_view spec) {
  std::string name;
  int depth = 0;
  for (char c : spec) {
    if (c == '(') ++depth;
    if (depth == 0) name += c;
    if (c == ')' && depth > 0) --depth;
  }
  return name;
}

std::vector<Worst> Setting::worst_cases() const {
  std::vector<Worst> cases;
  for (std::size_t rule = 0; rule < rules.size(); ++rule) {
    Worst worst;
    worst.rule = rule;
    worst.complete = true;
    for (std::size_t attack = 0; attack < attacks.size(); ++attack) {
      const Statistics& accuracy = cell(rule, attack).accuracy;
      if (!attacks[attack].is_attack()) continue;
      if (accuracy.count == 0 || cell(rule, attack).partial) worst.complete = false;
      if (accuracy.count == 0) continue;
      if (worst.attacks++ == 0 || accuracy.mean < worst.accuracy.mean) {
        worst.attack = attack;
        worst.accuracy = accuracy;
      }
    }
    if (worst.attacks > 0) cases.push_back(worst);
  }
  std::stable_sort(cases.begin(), cases.end(), [](const Worst& a, const Worst& b) {
    if (a.complete != b.complete) return a.complete;
    if (a.attacks != b.attacks) return a.attacks > b.attacks;
    return a.accuracy.mean > b.accuracy.mean;
  });
  return cases;
}

std::vector<Setting> settings_of(std::span<const RunData> runs) {
  std::vector<Setting> settings;
  std::map<std::string, std::size_t> hues;
  for (Group& group : comparable_runs(runs)) {
    Setting setting;
    setting.title = plain_title(group.runs[0]->record.header);
    setting.runs = std::move(group.runs);
    setting.config = std::move(group.config);
    fill_cells(setting);
    name_classes(setting);
    for (Axis& rule : setting.rules) {
      rule.hue = hues.try_emplace(rule.label, hues.size()).first->second;
    }
    settings.push_back(std::move(setting));
  }
  make_titles_differ(settings);
  return settings;
}

}  // namespace boba::sim::report
