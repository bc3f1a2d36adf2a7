// Who comes to a round: numbers of clients, and what they mean for a rule's f.
#pragma once

#include <vector>

#include "boba/core/spec.h"
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

// A rule's stages with every f scaled like the number of sampled clients, halves up; as they are
// where all Byzantine clients come.
std::vector<Params> scaled_stages(std::vector<Params> stages, const FederationSection& federation);

}  // namespace boba::sim
