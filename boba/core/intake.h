// Intake: which updates of a round take part.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "boba/core/result.h"
#include "boba/core/round.h"
#include "boba/core/views.h"

namespace boba {

struct Intake {
  std::vector<std::size_t> kept;  // rows of the round's updates, rising
  std::vector<Refusal> refused;   // hostile rows; they count as Byzantine
  std::vector<Refusal> repeated;  // a client's second update and later; its first still counts

  explicit Intake(const Round& round);

  // The updates that take part, in order.
  RowList rows(const Round& round) const;

  // Refuses updates; positions[k].row is a position in kept. Returns the positions that stay.
  std::vector<std::size_t> refuse(std::span<const Refusal> positions);

  // f less the updates that were refused as Byzantine.
  std::size_t tolerated(int f) const;

  // The error where all updates were refused. REQUIRES: kept is empty, refused is not.
  Error nothing_left() const;
};

}  // namespace boba
