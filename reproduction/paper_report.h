// One self-contained HTML page: every table and figure of the paper beside ours.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "boba/core/result.h"
#include "reproduction/earlier.h"
#include "reproduction/expand.h"
#include "reproduction/paper_file.h"
#include "simulator/store/store.h"

namespace boba::reproduction {

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
                                      const sim::Store* store,
                                      const EarlierReport* earlier = nullptr);

}  // namespace boba::reproduction
