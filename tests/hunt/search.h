// The hunt: random scenes and, from those where liars gain most, a climb by small changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/hunt/engine.h"
#include "tests/hunt/generate.h"
#include "tests/hunt/judge.h"

namespace boba::hunt {

struct SearchOptions {
  double seconds = 60;     // ends the search; 0: rounds do
  std::size_t rounds = 0;  // likewise; 0: no limit
  std::uint64_t seed = 1;
  GenerateOptions generate;
  JudgeOptions judge;
  std::filesystem::path folder;  // where failures are written
  bool verbose = false;
  bool progress = false;  // a line on standard error
};

// What was seen of one rule with its stages.
struct Tally {
  std::size_t rounds = 0;
  std::size_t errors = 0;
  std::size_t near_ties = 0;  // and sensitive ones
  std::size_t as_near = 0;
  std::size_t failures = 0;
  double score = 0;  // the largest that does not fail
  double engine_deviation = 0;
  double oracle_deviation = 0;
};

struct Report {
  std::map<std::string, Tally> rules;
  std::map<std::string, std::size_t> errors;  // by sentence, numbers left out
  std::map<std::string, std::size_t> forced;  // those of them that liars cause
  std::size_t rounds = 0;
  std::size_t failures = 0;
};

Report search(const Engine& engine, const SearchOptions& options);

// Prints the tables.
void print(const Report& report);

// One judgement in words, for a failure.
std::string describe(const Scene& scene, const Judgement& judgement);

}  // namespace boba::hunt
