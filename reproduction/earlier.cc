#include "reproduction/earlier.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "boba/text/printable.h"
#include "reproduction/comparison.h"
#include "reproduction/csv_text.h"

namespace boba::reproduction {
namespace {

using Row = std::vector<std::string>;

// Cells of one line of a file, read one after another; the first that is wrong is kept.
class Reader {
 public:
  Reader(std::string_view file, std::size_t line) : file_(file), line_(line) {}

  double number(const std::string& text) {
    const auto value = number_in<double>(text);
    if (!value) wrong(text, "a number");
    return value.value_or(0);
  }

  std::optional<double> number_or_none(const std::string& text) {
    if (text.empty()) return std::nullopt;
    return number(text);
  }

  template <typename Whole>
  Whole whole(const std::string& text) {
    const auto value = number_in<Whole>(text);
    if (!value) wrong(text, "a whole number");
    return value.value_or(0);
  }

  // "1:92.43 2:92.6"
  std::map<std::uint64_t, double> by_seed(const std::string& text) {
    std::map<std::uint64_t, double> values;
    for (const std::string& part : parts_of(text, " ")) {
      const std::size_t colon = part.find(':');
      if (colon == std::string::npos) {
        wrong(part, "a seed and its number, like 1:92.43");
        continue;
      }
      const auto seed = whole<std::uint64_t>(part.substr(0, colon));
      if (!values.emplace(seed, number(part.substr(colon + 1))).second)
        wrong(text, "each seed once");
    }
    return values;
  }

  void wrong(std::string_view text, std::string_view wanted) {
    if (!fault_.empty()) return;
    fault_ = fmt::format("{}:{}: '{}' should be {}", file_, line_, excerpt(text), wanted);
  }

  Result<void> done() const {
    if (fault_.empty()) return {};
    return invalid_argument(fault_);
  }

 private:
  std::string_view file_;
  std::size_t line_;
  std::string fault_;
};

Result<void> read_number(const Row& row, Reader& reader, EarlierReport& report) {
  EarlierNumber number{row[0], row[1], row[2], row[3], row[4], row[5], {}};
  // A row without numbers was not run; the worst case is computed anew.
  if (row[8].empty() || row[3] == kWorst) return {};
  number.numbers.by_seed = reader.by_seed(row[13]);
  number.numbers.summary = Summary{reader.number(row[8]), reader.number_or_none(row[9]),
                                   reader.whole<std::size_t>(row[10])};
  if (number.numbers.summary->seeds < number.numbers.by_seed.size()) {
    reader.wrong(row[10],
                 fmt::format("at least the {} seeds of by_seed", number.numbers.by_seed.size()));
  }
  report.numbers.push_back(std::move(number));
  return reader.done();
}

Result<void> read_point(const Row& row, Reader& reader, EarlierReport& report) {
  report.points.push_back({row[0],
                           row[1],
                           row[2].empty() ? 0 : reader.whole<std::uint64_t>(row[2]),
                           {row[3], reader.number(row[4]), reader.number(row[5])}});
  return reader.done();
}

Result<void> read_facts(const Row& row, Reader& reader, EarlierReport& report) {
  EarlierFacts known{row[0], row[1], {}};
  if (row[1].empty()) {
    known.facts.versions.insert(row[7]);
  } else {
    for (const std::string& each : parts_of(row[7], "; ")) known.facts.versions.insert(each);
    known.facts.train = reader.whole<std::size_t>(row[2]);
    known.facts.test = reader.whole<std::size_t>(row[3]);
    known.facts.rounds = reader.whole<int>(row[4]);
    known.facts.honest = reader.whole<int>(row[5]);
    for (const std::string& each : parts_of(row[6], " ")) {
      known.facts.byzantine.insert(reader.whole<int>(each));
    }
  }
  report.facts.push_back(std::move(known));
  return reader.done();
}

template <typename Columns, typename Read>
Result<void> read_lines(std::string_view text, std::string_view file, const Columns& columns,
                        EarlierReport& report, Read&& read) {
  const auto rows = parse_csv(text, file, columns);
  if (!rows) return rows.error();
  for (std::size_t i = 0; i < rows->size(); ++i) {
    Reader reader(file, i + 2);
    if (Result<void> done = read((*rows)[i], reader, report); !done) return done;
  }
  return {};
}

// How many seeds came in.
std::size_t merge(const Numbers& earlier, const std::set<std::uint64_t>& wanted, Numbers& ours) {
  const std::size_t before = ours.seeds();
  for (const auto& each : earlier.by_seed) {
    if (wanted.contains(each.first)) ours.by_seed.insert(each);
  }
  const bool more = earlier.summary && earlier.summary->seeds > ours.by_seed.size() &&
                    earlier.summary->seeds <= wanted.size();
  if (more) ours.summary = earlier.summary;
  return ours.seeds() - before;
}

bool differ(const DatasetFacts& earlier, const DatasetFacts& facts) {
  return facts.train != 0 && (facts.train != earlier.train || facts.test != earlier.test);
}

void merge_facts(const DatasetFacts& earlier, DatasetFacts& facts) {
  if (facts.train == 0) {
    facts.train = earlier.train;
    facts.test = earlier.test;
    facts.rounds = earlier.rounds;
    facts.honest = earlier.honest;
  }
  facts.byzantine.insert(earlier.byzantine.begin(), earlier.byzantine.end());
  facts.versions.insert(earlier.versions.begin(), earlier.versions.end());
}

}  // namespace

Result<EarlierReport> parse_earlier(std::string_view numbers, std::string_view points,
                                    std::string_view facts) {
  EarlierReport report;
  Result<void> done = read_lines(numbers, "numbers.csv", kNumberColumns, report, read_number);
  if (done) done = read_lines(points, "points.csv", kPointColumns, report, read_point);
  if (done) done = read_lines(facts, "facts.csv", kFactColumns, report, read_facts);
  if (!done) return done.error();
  return report;
}

void add_earlier(const EarlierReport& earlier, PaperResults& results) {
  std::map<std::array<std::string, 4>, Cell*> cells;
  for (auto& entry : results.cells) {
    const CellKey& key = entry.first;
    cells[{key.dataset, key.rule, key.attack, setting_text(key.setting, key.second)}] =
        &entry.second;
  }
  std::set<std::string> used;
  std::set<std::string> other;
  for (const EarlierFacts& each : earlier.facts) {
    const auto known = results.facts.find(each.dataset);
    if (each.experiment == results.file.name && known != results.facts.end() &&
        differ(each.facts, known->second)) {
      other.insert(each.dataset);
    }
  }
  for (const EarlierNumber& each : earlier.numbers) {
    if (each.experiment != results.file.name) continue;
    if (other.contains(each.dataset)) {
      if (each.metric == "accuracy") {
        results.facts[each.dataset].other_data += each.numbers.seeds();
      }
      continue;
    }
    const auto found = cells.find({each.dataset, each.rule, each.attack, each.setting});
    if (found == cells.end()) continue;
    Cell& cell = *found->second;
    if (each.metric == "mrd") {
      merge(each.numbers, cell.seeds, cell.mrd);
    } else if (each.metric == "accuracy") {
      const std::size_t added = merge(each.numbers, cell.seeds, cell.accuracy);
      results.finished += added;
      results.facts[each.dataset].finished += added;
      if (added > 0) used.insert(each.dataset);
    }
  }
  for (const EarlierFacts& each : earlier.facts) {
    if (each.experiment == results.file.name && used.contains(each.dataset)) {
      merge_facts(each.facts, results.facts[each.dataset]);
    }
  }
}

Result<std::vector<sim::MeasurementRecord>> earlier_measurements(const EarlierReport& earlier,
                                                                 const PaperFile& file,
                                                                 const PaperOptions& options) {
  std::vector<sim::MeasurementRecord> records;
  if (file.kind == Kind::kPicture) return records;
  const auto expanded = expand(file, options);
  if (!expanded) return expanded.error();
  std::string machine;
  for (const EarlierFacts& each : earlier.facts) {
    if (each.experiment == file.name && !each.facts.versions.empty()) {
      machine = *each.facts.versions.begin();
    }
  }
  for (const PaperRun& run : expanded->runs) {
    sim::MeasurementRecord record;
    record.experiment = file.name;
    record.config = sim::canonical_text(run.experiment);
    record.seed = run.experiment.seed;
    record.machine = machine;
    const std::string name = measurement_name(run.experiment);
    for (const EarlierPoint& each : earlier.points) {
      if (each.experiment == file.name && each.measurement == name && each.seed == record.seed) {
        record.points.push_back(each.point);
      }
    }
    if (!record.points.empty()) records.push_back(std::move(record));
  }
  return records;
}

std::string measurement_name(const sim::Experiment& experiment) {
  return fmt::format("{} {} {} {}", sim::algorithm_name(experiment.training.algorithm),
                     experiment.data.partition, experiment.rule, experiment.attack);
}

std::string seeds_cell(const std::map<std::uint64_t, double>& by_seed) {
  std::string text;
  for (const auto& each : by_seed) {
    text += fmt::format("{}{}:{:.8g}", text.empty() ? "" : " ", each.first, each.second);
  }
  return text;
}

void take_longer(const EarlierReport* earlier, std::string_view experiment,
                 std::string_view measurement, std::map<std::string, RoundMean>& means) {
  if (earlier == nullptr) return;
  for (const EarlierPoint& each : earlier->points) {
    if (each.experiment != experiment || each.measurement != measurement) continue;
    if (!(each.point.x >= 1 && each.point.x < 1e15)) continue;
    const auto rounds = static_cast<std::size_t>(each.point.x);
    RoundMean& mean = means[each.point.series];
    if (rounds > mean.rounds) mean = {each.point.y, rounds};
  }
}

}  // namespace boba::reproduction
