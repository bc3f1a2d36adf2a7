// Plots of clients: who was accepted, their labels, and the labels that BOBA estimates.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "simulator/report/report_data.h"

namespace boba::sim::report {

inline constexpr std::size_t kMostClients = 300;  // drawn; evenly chosen from more

// Clients accepted and left out over rounds, stacked. rounds: means over seeds.
std::string verdict_panel(const std::string& title, std::span<const RoundPoint> rounds);

// At each round that all runs have.
std::vector<RoundPoint> mean_rounds(std::span<const RunData* const> runs);

// Classes down, clients across; dark: many of the client's examples are of the class.
std::string partition_strip(const RunData& run, const std::vector<std::string>& classes);

// Clients down; left the true mix, right the estimated one.
// REQUIRES: run.estimate.
std::string label_mix_panel(const std::string& title, const RunData& run,
                            const std::vector<std::string>& classes);

// The honest clients that hold something, by their main class.
std::vector<const ClientRecord*> ordered_clients(const RunData& run);

}  // namespace boba::sim::report
