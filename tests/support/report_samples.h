// Made-up runs that look like real ones: for the report's tests and for looking at it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/report/report_data.h"
#include "simulator/store/store.h"

namespace boba::test {
using namespace sim;  // NOLINT

struct SampleGrid {
  std::string dataset = "fashion-mnist";
  std::string partition = "pairs";
  std::vector<std::string> rules = {"average", "mkrum(f=16)", "boba(f=16)"};
  std::vector<std::string> attacks = {"none", "ipm(gamma=10)", "lie", "gauss(on=parameters)"};
  int seeds = 2;
  int rounds = 20;
  int every = 5;  // rounds between evaluations
  int honest = 20;
  int byzantine = 3;
  std::vector<std::string> classes = {"T-shirt/top", "Trouser", "Pullover", "Dress"};
  std::string more_config = {};  // lines "key = value"
};

// A run as the simulator would leave it.
struct SampleRun {
  RunHeader header;
  std::vector<ClientRecord> clients;
  std::vector<RoundEntry> entries;
};

// The product of rules, attacks and seeds, the rule slowest.
std::vector<SampleRun> sample_runs(const SampleGrid& grid);

// Writes them, all finished. Throws what the store refuses.
void fill_store(Store& store, const std::vector<SampleRun>& runs);

// What reading them back gives, without a store; all finished, ids from 1.
std::vector<report::RunData> run_data(const std::vector<SampleRun>& runs);

// The grid of a talk: 100 + 15 clients, 7 attacks, 3 seeds, 10 classes, 200 rounds.
SampleGrid large_grid();

}  // namespace boba::test
