// Who comes to a round: numbers of clients, and what they mean for a rule's f.
#pragma once

#include <string>
#include <string_view>

#include "boba/core/result.h"
#include "simulator/experiment/experiment.h"

namespace boba::sim {

// share * count in whole clients, halves up: 0.29 of 50 are 15, though the product in binary is a
// little less than 14.5.
int clients_of(double share, int count);

// Whether every client takes part in every round.
bool everyone(const FederationSection& federation);

struct CohortSize {
  int honest = 0;     // at least 1
  int byzantine = 0;  // all of them where they all come
};
CohortSize cohort_size(const FederationSection& federation);

// The rule with every f scaled like the number of sampled clients, halves up; as it is where all
// Byzantine clients come.
Result<std::string> scaled_rule(std::string_view rule, const FederationSection& federation);

}  // namespace boba::sim
