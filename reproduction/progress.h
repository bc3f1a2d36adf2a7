// How far experiments of the paper are.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "boba/core/result.h"
#include "reproduction/expand.h"
#include "reproduction/paper_file.h"
#include "simulator/store/store.h"

namespace boba::reproduction {

struct PaperProgress {
  std::string name;
  std::string title;
  std::string what;
  std::string datasets;  // "mnist, cifar10"
  std::string seeds;     // "5", "1 to 5"
  std::size_t runs = 0;  // or measurements
  std::size_t done = 0;
  std::optional<double> seconds_left;  // none: nothing finished to judge by
};

// store may be null: nothing is done yet.
Result<std::vector<PaperProgress>> progress_of(std::span<const PaperFile> files,
                                               const PaperOptions& options,
                                               const sim::Store* store);

// The measurements of an experiment that the options ask for, of all that a store has.
Result<std::vector<sim::MeasurementRecord>> wanted_measurements(const PaperFile& file,
                                                                const PaperOptions& options,
                                                                const sim::Store& store);
// How many the options ask for.
Result<std::size_t> count_measurements(const PaperFile& file, const PaperOptions& options);
// The config of a picture.
std::string picture_config(bool quick);
// Seeds of an experiment without grids.
int picture_seeds(const PaperFile& file, const PaperOptions& options);

}  // namespace boba::reproduction
