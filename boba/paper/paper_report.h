// One self-contained HTML page: every table and figure of the paper beside ours.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "boba/core/result.h"
#include "boba/paper/earlier.h"
#include "boba/paper/expand.h"
#include "boba/paper/paper_file.h"
#include "boba/store/store.h"

namespace boba::paper {

struct NumbersFile {
  std::string name;  // "numbers.csv"
  std::string text;
};

struct PaperReport {
  std::string html;
  std::vector<NumbersFile> numbers;  // numbers.csv, points.csv, facts.csv
};

// store: null if there is no database. earlier: numbers that stand where the database has fewer
// seeds; may be null. One of them must be there.
Result<PaperReport> make_paper_report(std::span<const PaperFile> files, const PaperOptions& options,
                                      const Store* store, const EarlierReport* earlier = nullptr);

}  // namespace boba::paper
