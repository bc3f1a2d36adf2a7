// Small runs to put into a database.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/store/records.h"
#include "simulator/store/store.h"

namespace boba::test {
using namespace sim;  // NOLINT

// A run of three classes; the config names rule, attack and seed.
RunHeader sample_header(const std::string& rule = "boba(f=2)", const std::string& attack = "ipm",
                        std::uint64_t seed = 1);

// Four honest clients and one Byzantine one.
std::vector<ClientRecord> sample_clients();

// Round number round; rejects client 4, and client 0 falsely where the round is even.
RoundRecord sample_round(int round);

// Recalls of three classes; the accuracy is their mean.
EvaluationRecord sample_evaluation(int round, const std::vector<double>& recall);

// Round, checkpoint "state N", and an evaluation with an estimate where recall is not empty.
RoundEntry sample_entry(int round, const std::vector<double>& recall = {});

// Adds, claims and finishes a run of one evaluated round; throws where a step fails.
std::int64_t add_finished_run(Store& store, const RunHeader& header,
                              const std::vector<double>& recall);

// The same bytes with some of them changed at random.
std::string damaged(std::string bytes, std::uint32_t trial, std::uint64_t hits);

}  // namespace boba::test
