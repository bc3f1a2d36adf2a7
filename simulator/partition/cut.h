// What the partitions share: checking a request, and cutting each class into clients' pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "simulator/partition/partition.h"

namespace boba::sim {

// At least one client, 1 to 256 classes, no label beyond them, and an example for each client.
Result<void> check_request(std::string_view name, const PartitionRequest& request);

// In which order the examples of a class are dealt: as they stand, or shuffled with the seed. Data
// sets are seldom in random order, so neighbours are more alike than others of their class.
enum class ClassOrder { kFile, kShuffled };
inline constexpr std::string_view kClassOrderNames[] = {"file", "shuffled"};

// The examples of each class, in that order.
std::vector<std::vector<std::uint32_t>> by_class(const PartitionRequest& request,
                                                 ClassOrder order = ClassOrder::kFile);

// Where a row of count things is cut into pieces in proportion to the weights: piece i is
// [ends[i-1], ends[i]) and ends.back() is count. Piece ends are rounded, not sizes, so nothing is
// lost; a piece of weight 0 is empty. REQUIRES: finite weights >= 0, not all 0.
std::vector<std::size_t> cut(std::size_t count, std::span<const double> weights);

// Row i, column z: the weight of client i in class z. A class whose column is all 0 is cut evenly.
using ClassWeights = std::vector<std::vector<double>>;

// Each class, in that order, cut by its column of weights.
// REQUIRES: check_request, one row per client, one column per class.
Partition cut_classes(const PartitionRequest& request, const ClassWeights& weights,
                      ClassOrder order = ClassOrder::kFile);

// Makes a partition one that training can use: a client without examples gets the last one of the
// client with the most (ties go to the lower index), and every client's examples are sorted.
// REQUIRES: as many examples as clients.
void finish(Partition& partition);

}  // namespace boba::sim
