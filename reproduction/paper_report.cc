#include "reproduction/paper_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "reproduction/comparison.h"
#include "reproduction/earlier.h"
#include "reproduction/embedded.h"
#include "reproduction/goals.h"
#include "reproduction/page_parts.h"
#include "reproduction/progress.h"
#include "reproduction/published.h"
#include "reproduction/results.h"
#include "simulator/report/report.h"
#include "simulator/report/text.h"

namespace boba::reproduction {
namespace {

using sim::report::escape;

// Metrics of published/cost.csv, and names in points.csv of what is no measurement of its own.
constexpr const char* kTimes = "milliseconds";
constexpr const char* kFits = "fits";

std::string csv_head(std::span<const std::string_view> columns) {
  const std::vector<std::string> cells(columns.begin(), columns.end());
  return sim::report::csv_line(cells);
}

struct Chapter {
  const PaperFile* file = nullptr;
  std::optional<PaperResults> results;
  std::vector<Comparison> cells;
  std::vector<sim::MeasurementRecord> records;
  std::string more;  // HTML after the pictures
};

class Maker {
 public:
  Maker(const PaperOptions& options, const sim::Store* store, const EarlierReport* earlier)
      : options_(options), store_(store), earlier_(earlier) {}

  Result<PaperReport> make(std::span<const PaperFile> files) {
    RunIndex index;
    if (store_ != nullptr) {
      auto read = RunIndex::read(*store_);
      if (!read) return read.error();
      index = *std::move(read);
    }
    auto texts = explanations();
    if (!texts) return texts.error();
    auto wanted = targets();
    if (!wanted) return wanted.error();
    targets_ = *std::move(wanted);
    for (const PaperFile& file : files) {
      Result<void> done = is_runs(file.kind) ? add_runs(file, index, *texts) : add_measured(file);
      if (!done) return done.error();
    }
    const auto cost = published_values("cost");
    if (!cost) return cost.error();
    if (Result<void> done = add_times(*cost); !done) return done.error();
    if (Result<void> done = add_fits(*cost); !done) return done.error();
    PaperReport report;
    report.html = page();
    report.numbers = numbers();
    return report;
  }

 private:
  Result<void> add_runs(const PaperFile& file, const RunIndex& index,
                        const std::vector<Explanation>& texts) {
    auto results = collect(file, options_, index, store_);
    if (!results) return results.error();
    if (earlier_ != nullptr) add_earlier(*earlier_, *results);
    const auto published = published_values(file.published);
    if (!published) return published.error();
    Chapter chapter;
    chapter.file = &file;
    chapter.cells = compare(*results, *published, texts, options_.quick);
    chapter.results = *std::move(results);
    chapters_.push_back(std::move(chapter));
    return {};
  }

  Result<void> add_measured(const PaperFile& file) {
    Chapter chapter;
    chapter.file = &file;
    if (store_ != nullptr) {
      auto records = wanted_measurements(file, options_, *store_);
      if (!records) return records.error();
      chapter.records = *std::move(records);
    }
    if (earlier_ != nullptr) {
      auto records = earlier_measurements(*earlier_, file, options_);
      if (!records) return records.error();
      for (sim::MeasurementRecord& record : *records) {
        const bool known =
            std::any_of(chapter.records.begin(), chapter.records.end(),
                        [&](const sim::MeasurementRecord& other) {
                          return other.config == record.config && other.seed == record.seed;
                        });
        if (!known) chapter.records.push_back(std::move(record));
      }
    }
    chapters_.push_back(std::move(chapter));
    return {};
  }

  Chapter* chapter_of(std::string_view name) {
    for (Chapter& chapter : chapters_) {
      if (chapter.file->name == name) return &chapter;
    }
    return nullptr;
  }

  // The ablation's comparison of times.
  Result<void> add_times(std::span<const Published> cost) {
    Chapter* ablation = chapter_of("ablation");
    if (ablation == nullptr) return {};
    for (const char* rule : {"boba", "boba-es"}) {
      for (const auto& entry : runs_of(*ablation->results, rule)) {
        const auto means = means_of(entry.second);
        if (!means) return means.error();
        if (means->milliseconds.rounds > 0) times_[rule] = means->milliseconds;
      }
    }
    take_longer(earlier_, "ablation", kTimes, times_);
    std::vector<std::string> parts;
    for (const auto& entry : times_) {
      parts.push_back(fmt::format("{} {:.3g} ms", entry.first, entry.second.mean));
    }
    if (parts.empty()) return {};
    std::vector<std::string> published;
    for (const Published& each : cost) {
      if (each.metric == kTimes) published.push_back(fmt::format("{} {} ms", each.rule, each.mean));
    }
    ablation->more += fmt::format(
        "<p>Time of an aggregation, on average over all rounds: {} (the paper: {}).</p>",
        escape(sim::report::listed(parts)), escape(fmt::format("{}", fmt::join(published, ", "))));
    return {};
  }

  // The number of fits over training belongs to the running times.
  Result<void> add_fits(std::span<const Published> cost) {
    Chapter* time = chapter_of("time");
    if (time == nullptr) return {};
    std::map<std::string, std::vector<std::int64_t>> ids;
    for (const char* name : {"unbiasedness", "robustness"}) {
      const Chapter* chapter = chapter_of(name);
      if (chapter == nullptr) continue;
      for (auto& entry : runs_of(*chapter->results, "boba")) {
        auto& list = ids[entry.first];
        list.insert(list.end(), entry.second.begin(), entry.second.end());
      }
    }
    for (const auto& entry : ids) {
      const auto means = means_of(entry.second);
      if (!means) return means.error();
      if (means->fits.rounds > 0) fits_[entry.first] = means->fits;
    }
    take_longer(earlier_, "time", kFits, fits_);
    std::string rows;
    for (const auto& entry : fits_) {
      const auto paper = std::find_if(cost.begin(), cost.end(), [&](const Published& each) {
        return each.metric == kFits && each.dataset == entry.first;
      });
      rows += fmt::format("<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{:.2f}</td></tr>",
                          escape(dataset_title(entry.first)),
                          paper == cost.end() ? "–" : fmt::format("{:.2f}", paper->mean),
                          entry.second.mean);
    }
    if (rows.empty()) return {};
    time->more +=
        "<h3>Fits of a subspace in a round, on average</h3><table><thead><tr><th "
        "scope=\"col\">data set</th><th scope=\"col\" class=\"n\">published</th><th scope=\"col\" "
        "class=\"n\">ours</th></tr></thead><tbody>" +
        rows + "</tbody></table>";
    return {};
  }

  Result<RoundMeans> means_of(const std::vector<std::int64_t>& runs) const {
    return store_ == nullptr ? RoundMeans{} : round_means(*store_, runs);
  }

  std::string body_of(const Chapter& chapter) const {
    switch (chapter.file->kind) {
      case Kind::kTable:
        return tables_html(*chapter.results, chapter.cells, options_.quick);
      case Kind::kLines:
        return lines_html(*chapter.results, chapter.cells);
      case Kind::kBars:
        return bars_html(*chapter.results, chapter.cells);
      case Kind::kMatrix:
        return matrix_html(*chapter.results, chapter.cells);
      case Kind::kPca:
        return pca_html(chapter.records);
      case Kind::kPicture:
        return picture_html(chapter.records);
      case Kind::kTime:
        return time_html(chapter.records);
      case Kind::kLossRatio:
        break;
    }
    return loss_ratio_html(chapter.records);
  }

  std::string status_of(const Chapter& chapter) const {
    if (!chapter.results) {
      return chapter.records.empty() ? "not run"
                                     : sim::report::counted(chapter.records.size(), "measurement");
    }
    std::string text = chapter.results->finished == 0
                           ? std::string("not run")
                           : fmt::format("{} of {} runs finished", chapter.results->finished,
                                         chapter.results->wanted);
    if (chapter.file->published.empty() && chapter.file->what.starts_with("Fig")) {
      text += "; the paper shows a picture and no numbers";
    }
    if (chapter.results->grids_left_out > 0) text += "; the small version leaves data sets out";
    return text;
  }

  std::string chapter_html(const Chapter& chapter, std::size_t number) const {
    const PaperFile& file = *chapter.file;
    return fmt::format(
        "<section class=\"chapter\" id=\"{}\"><h2><span>{}</span> {}</h2><p class=\"lead\">{} · "
        "{}</p><p>{}</p>{}{}</section>\n",
        escape(file.name), number, escape(file.title),
        escape(file.what.empty() ? file.name : file.what), escape(status_of(chapter)),
        escape(file.about), body_of(chapter), chapter.more);
  }

  std::string goals_part() {
    if (chapter_of("unbiasedness") == nullptr || chapter_of("robustness") == nullptr ||
        options_.quick) {
      return "";
    }
    Compared compared;
    for (const Chapter& chapter : chapters_) compared[chapter.file->name] = chapter.cells;
    return "<section class=\"part\" id=\"goals\"><h2>Summary</h2>" +
           goals_html(goals(targets_, compared)) + "</section>";
  }

  std::string page() {
    std::string body = fmt::format(
        "<header><h1>BOBA, reproduced</h1><p class=\"lead\">W. Bao, J. Wu, J. He. BOBA: "
        "Byzantine-Robust Federated Learning with Label Skewness. AISTATS 2024{}</p>",
        options_.quick ? " · small versions" : "");
    body += options_.quick
                ? "<p>Small versions: fewer examples and rounds, one seed. They show the order of "
                  "the rules; the paper's numbers stand beside the full ones only.</p></header>"
                : "<p>Each cell has the published mean and standard deviation, ours, and the "
                  "difference, in percent and percentage points. The best of a column is bold, the "
                  "second best underlined. A bar at the right edge marks a difference of more than "
                  "max(1 point, 2 sd), sd being the paper's; the number leads to the explanation "
                  "below the table. The worst case is computed from the columns, for the paper "
                  "too.</p></header>";
    body += goals_part();
    body += "<nav class=\"contents\" aria-label=\"Contents\"><ol>";
    for (const Chapter& chapter : chapters_) {
      body += fmt::format("<li><a href=\"#{}\">{}</a></li>", escape(chapter.file->name),
                          escape(chapter.file->title));
    }
    body += "</ol></nav>\n";
    for (std::size_t i = 0; i < chapters_.size(); ++i) body += chapter_html(chapters_[i], i + 1);
    return sim::report::document("BOBA, reproduced", body, embedded_text("paper.css"));
  }

  std::vector<NumbersFile> numbers() const {
    std::vector<Comparison> all;
    for (const Chapter& chapter : chapters_) {
      all.insert(all.end(), chapter.cells.begin(), chapter.cells.end());
    }
    return {{"numbers.csv", to_csv(all)}, {"points.csv", points()}, {"facts.csv", facts()}};
  }

  std::string points() const {
    std::string text = csv_head(kPointColumns);
    const auto add = [&](const std::string& experiment, const std::string& what,
                         const std::string& seed, const sim::MeasuredPoint& point) {
      const std::vector<std::string> cells = {experiment,
                                              what,
                                              seed,
                                              point.series,
                                              fmt::format("{:.6g}", point.x),
                                              fmt::format("{:.6g}", point.y)};
      text += sim::report::csv_line(cells);
    };
    for (const Chapter& chapter : chapters_) {
      for (const sim::MeasurementRecord& record : chapter.records) {
        const auto experiment = sim::experiment_from_text(record.config);
        const std::string what = experiment ? measurement_name(*experiment) : "";
        for (const sim::MeasuredPoint& point : record.points) {
          // The clouds of the picture are thousands of points, and the seed gives them again.
          if (point.series.ends_with(" attack")) continue;
          add(record.experiment, what, std::to_string(record.seed), point);
        }
      }
    }
    // A picture is not drawn without its clouds, but what is kept of it stays.
    for (const EarlierPoint& each : kept_points()) {
      add(each.experiment, each.measurement, std::to_string(each.seed), each.point);
    }
    for (const auto& entry : times_) {
      add("ablation", kTimes, "",
          {entry.first, static_cast<double>(entry.second.rounds), entry.second.mean});
    }
    for (const auto& entry : fits_) {
      add("time", kFits, "",
          {entry.first, static_cast<double>(entry.second.rounds), entry.second.mean});
    }
    return text;
  }

  std::vector<EarlierPoint> kept_points() const {
    std::vector<EarlierPoint> kept;
    if (earlier_ == nullptr) return kept;
    for (const Chapter& chapter : chapters_) {
      if (chapter.file->kind != Kind::kPicture || !chapter.records.empty()) continue;
      for (const EarlierPoint& each : earlier_->points) {
        if (each.experiment == chapter.file->name) kept.push_back(each);
      }
    }
    return kept;
  }

  std::string facts() const {
    std::string text = csv_head(kFactColumns);
    for (const Chapter& chapter : chapters_) {
      if (!chapter.records.empty()) {
        const std::vector<std::string> cells = {
            chapter.file->name, "", "", "", "", "", "", chapter.records.front().machine};
        text += sim::report::csv_line(cells);
      }
      if (!chapter.results) continue;
      for (const auto& entry : chapter.results->facts) {
        const DatasetFacts& known = entry.second;
        if (known.finished == 0) continue;
        const std::vector<std::string> cells = {chapter.file->name,
                                                entry.first,
                                                std::to_string(known.train),
                                                std::to_string(known.test),
                                                std::to_string(known.rounds),
                                                std::to_string(known.honest),
                                                fmt::format("{}", fmt::join(known.byzantine, " ")),
                                                fmt::format("{}", fmt::join(known.versions, "; "))};
        text += sim::report::csv_line(cells);
      }
    }
    return text;
  }

  const PaperOptions& options_;
  const sim::Store* store_;
  const EarlierReport* earlier_;
  std::vector<Target> targets_;
  std::vector<Chapter> chapters_;
  std::map<std::string, RoundMean> times_;  // of the ablation, by rule
  std::map<std::string, RoundMean> fits_;   // by data set
};

}  // namespace

Result<PaperReport> make_paper_report(std::span<const PaperFile> files, const PaperOptions& options,
                                      const sim::Store* store, const EarlierReport* earlier) {
  return Maker(options, store, earlier).make(files);
}

}  // namespace boba::reproduction
