#include "simulator/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "boba/files/embedded.h"
#include "simulator/report/sections.h"
#include "simulator/report/text.h"

namespace boba::sim::report {

// report.css and report.js, by cmake/boba_embed.cmake.
std::span<const EmbeddedFile> embedded_assets();

namespace {

constexpr std::size_t kMostSettings = 20;  // with plots; the table has the runs of all

struct Chapter {
  const Setting* setting = nullptr;
  std::string id;
  std::vector<Section> sections;
};

// "2026-03-01 to 2026-03-02".
std::string dates_of(const std::vector<const RunData*>& runs) {
  std::set<std::string> days;
  for (const RunData* run : runs) {
    if (run->record.created.size() >= 10) days.insert(run->record.created.substr(0, 10));
  }
  if (days.empty()) return "";
  return days.size() == 1 ? *days.begin() : *days.begin() + " to " + *days.rbegin();
}

template <class Field>
std::string distinct(const std::vector<const RunData*>& runs, Field field, std::size_t most = 8) {
  std::vector<std::string> values;
  for (const RunData* run : runs) {
    const std::string value = clip(field(run->record.header), 80);
    if (!value.empty() && std::find(values.begin(), values.end(), value) == values.end()) {
      values.push_back(value);
    }
  }
  return listed(values, most);
}

std::string fact(std::string_view name, const std::string& value) {
  if (value.empty()) return "";
  return fmt::format("<div{}><dt>{}</dt><dd>{}</dd></div>",
                     value.size() > 32 ? " class=\"long\"" : "", name, escape(value));
}

std::string clients_fact(const Setting& setting) {
  std::set<int> byzantine;
  for (const Axis& attack : setting.attacks) {
    if (attack.is_attack()) byzantine.insert(attack.byzantine);
  }
  std::vector<std::string> counts;
  counts.reserve(byzantine.size());
  for (int count : byzantine) counts.push_back(std::to_string(count));
  const std::string honest = fmt::format("{} honest", setting.runs[0]->record.header.honest);
  return counts.empty() ? honest : honest + " and " + listed(counts) + " Byzantine";
}

std::vector<std::string> specs_of(const std::vector<Axis>& axes) {
  std::vector<std::string> specs;
  for (const Axis& axis : axes) {
    const std::string spec = clip(axis.spec, 80);
    if (std::find(specs.begin(), specs.end(), spec) == specs.end()) specs.push_back(spec);
  }
  return specs;
}

std::string config_details(const Setting& setting) {
  if (setting.config.empty()) return "";
  std::string rows;
  for (const auto& [key, value] : setting.config) {
    rows += "<tr><th scope=\"row\">" + escape(clip(key, 60)) + "</th><td>" +
            escape(clip(value, 200)) + "</td></tr>";
  }
  return "<details><summary>Everything these runs share</summary><table class=\"config\">" + rows +
         "</table></details>";
}

std::string facts(const Setting& setting) {
  const RunHeader& header = setting.runs[0]->record.header;
  const std::string model =
      header.parameters > 0
          ? fmt::format("{}, {} parameters", clip(header.model, 80), header.parameters)
          : clip(header.model, 80);
  const auto seed = [](const RunHeader& each) { return std::to_string(each.seed); };
  const auto version = [](const RunHeader& each) { return each.version; };
  return "<dl class=\"facts\">" + fact("Data set", clip(header.dataset, 80)) +
         fact("Partition", clip(header.partition, 80)) + fact("Model", model) +
         fact("Algorithm", clip(header.algorithm, 80)) + fact("Clients", clients_fact(setting)) +
         fact("Rounds", std::to_string(header.rounds)) +
         fact("Rules", listed(specs_of(setting.rules), 20)) +
         fact("Attacks", listed(specs_of(setting.attacks), 20)) +
         fact("Seeds", distinct(setting.runs, seed)) +
         fact("boba", distinct(setting.runs, version)) + fact("Date", dates_of(setting.runs)) +
         "</dl>" + config_details(setting);
}

// "63 runs: 60 finished, 2 running, 1 failed".
std::string status_line(const std::vector<RunData>& runs) {
  std::map<RunStatus, std::size_t> counts;
  for (const RunData& run : runs) ++counts[run.record.status];
  std::string text = counted(runs.size(), "run");
  if (counts.size() == 1 && counts.begin()->first == RunStatus::kFinished) {
    return text + ", all finished";
  }
  std::string list;
  for (RunStatus status : {RunStatus::kFinished, RunStatus::kRunning, RunStatus::kStopped,
                           RunStatus::kFailed, RunStatus::kWaiting}) {
    if (counts[status] == 0) continue;
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", counts[status], name(status));
  }
  return text + ": " + list;
}

std::string section_html(const Section& section, const std::string& id, bool nested) {
  const char* level = nested ? "h3" : "h2";
  return fmt::format(
      "<section class=\"part\" id=\"{}\"><{}>{}</{}><figure>{}<figcaption>{}</figcaption></figure>"
      "</section>\n",
      id, level, escape(section.heading), level, section.body, section.caption);
}

std::string contents(const std::vector<Chapter>& chapters) {
  std::string html = "<nav class=\"contents\" aria-label=\"Contents\"><ol>";
  for (const Chapter& chapter : chapters) {
    std::string items;
    for (const Section& section : chapter.sections) {
      items += fmt::format("<li><a href=\"#{}-{}\">{}</a></li>", chapter.id, section.name,
                           escape(section.heading));
    }
    if (chapters.size() == 1) {
      html += items;
    } else {
      html += fmt::format("<li><a href=\"#{}\">{}</a><ol>{}</ol></li>", chapter.id,
                          escape(chapter.setting->title), items);
    }
  }
  return html + "<li><a href=\"#runs\">All runs</a></li></ol></nav>";
}

std::string chapter_html(const Chapter& chapter, std::size_t number, bool several) {
  std::string html;
  if (several) {
    html += fmt::format("<section class=\"chapter\" id=\"{}\"><h2><span>{}</span> {}</h2>",
                        chapter.id, number, escape(chapter.setting->title));
    html += facts(*chapter.setting);
    const std::string sentence = conclusion(*chapter.setting);
    if (!sentence.empty()) html += "<p class=\"conclusion\">" + escape(sentence) + "</p>";
  }
  for (const Section& section : chapter.sections) {
    html += section_html(section, chapter.id + "-" + section.name, several);
  }
  return several ? html + "</section>\n" : html;
}

std::string header(std::string_view title, const std::vector<RunData>& runs,
                   const std::vector<Setting>& settings) {
  std::string html = "<header><h1>" + escape(clip(title, 200)) + "</h1><p class=\"lead\">" +
                     escape(status_line(runs));
  if (settings.size() == 1) {
    html += " · " + escape(settings[0].title) + "</p>";
    const std::string sentence = conclusion(settings[0]);
    if (!sentence.empty()) html += "<p class=\"conclusion\">" + escape(sentence) + "</p>";
    return html + facts(settings[0]) + "</header>\n";
  }
  html += " · " + counted(settings.size(), "setting") + "</p><p>";
  html +=
      "Runs are compared within a setting: the same data, partition, model, algorithm and "
      "federation; they differ in rule, attack and seed.";
  if (settings.size() > kMostSettings) {
    html += fmt::format(
        " The first {} settings are drawn; the table at the end has the runs of "
        "all {}.",
        kMostSettings, settings.size());
  }
  return html + "</p></header>\n";
}

// " Not compared, ...: krum and lie." or nothing.
std::string left_aside(const Setting& setting, const std::vector<Worst>& compared) {
  std::vector<std::string> labels;
  for (std::size_t rule = 0; rule < setting.rules.size(); ++rule) {
    const bool known = std::any_of(compared.begin(), compared.end(),
                                   [&](const Worst& worst) { return worst.rule == rule; });
    if (!known) labels.push_back(clip(setting.rules[rule].label, 40));
  }
  if (labels.empty()) return "";
  return " Not compared, since not finished under all attacks: " + listed(labels) + ".";
}

}  // namespace

std::string_view style_sheet() { return embedded_text(embedded_assets(), "report.css"); }

std::string_view script() { return embedded_text(embedded_assets(), "report.js"); }

std::string document(std::string_view title, const std::string& body, std::string_view more_style) {
  std::string style = "\n" + std::string(style_sheet());
  if (!more_style.empty()) style += "\n" + std::string(more_style);
  return "<!DOCTYPE html>\n<html lang=\"en\" data-errors=\"0\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n"
         "<meta name=\"generator\" content=\"boba report\">\n<link rel=\"icon\" href=\"data:,\">\n"
         "<title>" +
         escape(clip(title, 200)) + "</title>\n<style>" + style +
         "</style>\n</head>\n<body>\n<main>\n" + body +
         "</main>\n<div id=\"tip\" role=\"status\" "
         "hidden></div>\n<script>\n" +
         std::string(script()) + "</script>\n</body>\n</html>\n";
}

std::string conclusion(const Setting& setting) {
  std::vector<Worst> cases = setting.worst_cases();
  if (cases.empty()) return "";
  const auto describe = [&](const Worst& worst) {
    return fmt::format("{} % (under {})", percent(worst.accuracy.mean),
                       clip(setting.attacks[worst.attack].label, 40));
  };
  const auto label = [&](const Worst& worst) { return clip(setting.rules[worst.rule].label, 40); };
  // Rules that met fewer attacks, or have not finished under one, would look better than they are.
  std::erase_if(cases, [](const Worst& worst) { return !worst.complete; });
  if (cases.empty()) return "The grid is not complete yet: no rule has finished under all attacks.";
  const std::string pending = left_aside(setting, cases);
  const Worst& best = cases[0];
  const std::string attacks =
      best.attacks == 1 ? "the one attack" : fmt::format("{} attacks", best.attacks);
  if (cases.size() == 1) {
    return fmt::format("Over {}, the lowest accuracy of {} is {}.", attacks, label(best),
                       describe(best)) +
           pending;
  }
  std::string text =
      fmt::format("{} holds up best: over {} its lowest accuracy is {}; next is {} with {}",
                  label(best), attacks, describe(best), label(cases[1]), describe(cases[1]));
  if (cases.size() > 2) {
    text += fmt::format(", and {} falls to {}", label(cases.back()), describe(cases.back()));
  }
  const Cell& quiet = setting.cell(best.rule, 0);
  if (!setting.attacks[0].is_attack() && quiet.accuracy.count > 0 && !quiet.partial) {
    text +=
        fmt::format(". Without attack {} reaches {} %", label(best), percent(quiet.accuracy.mean));
  }
  return text + "." + pending;
}

std::string page(std::string_view title, const std::vector<RunData>& runs) {
  if (runs.empty()) {
    return document(title,
                    "<header><h1>" + escape(clip(title, 200)) +
                        "</h1><p class=\"lead\">There are no runs to report.</p>"
                        "<p>Runs come from <code>boba run</code>; try <code>boba run "
                        "quickstart</code>, then <code>boba report</code> again.</p></header>");
  }
  const std::vector<Setting> settings = settings_of(runs);
  std::vector<Chapter> chapters;
  for (std::size_t i = 0; i < std::min(settings.size(), kMostSettings); ++i) {
    chapters.push_back({&settings[i], fmt::format("s{}", i + 1), sections_of(settings[i], i + 1)});
  }
  std::string body = header(title, runs, settings) + contents(chapters);
  for (std::size_t i = 0; i < chapters.size(); ++i) {
    body += chapter_html(chapters[i], i + 1, settings.size() > 1);
  }
  body += section_html(runs_section(settings), "runs", false);
  return document(title, body);
}

}  // namespace boba::sim::report

namespace boba::sim {

Result<std::string> make_report(const Store& store, const ReportOptions& options) {
  Result<std::vector<report::RunData>> runs = report::read_runs(store, options.where);
  if (!runs) return runs.error();
  return report::page(options.title, *runs);
}

}  // namespace boba::sim
