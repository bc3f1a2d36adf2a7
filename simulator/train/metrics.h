// What a confusion matrix and a verdict say about a model and about a decision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boba/core/verdict.h"
#include "simulator/store/records.h"
#include "simulator/train/schedule.h"
#include "simulator/train/trainer.h"

namespace boba::sim {

// Accuracy and recalls; the recall of a class without test examples is NaN.
EvaluationRecord measure(const Evaluation& evaluation, std::size_t classes, int round);

// What a model that has left the numbers predicts: the first class, as for scores that are not
// numbers. Its last finite parameters would score at random, and no client can leave them.
Evaluation of_lost_model(Evaluation evaluation, std::size_t classes);

// Notes in the record who was rejected, rightly or not, and how far BOBA's label mixes are from the
// truth. Rows of the verdict are the cohort's honest clients, then its Byzantine ones.
void judge(const Verdict& verdict, const Cohort& cohort, std::span<const ClientRecord> clients,
           RoundRecord& record);

// BOBA's label mixes, if the verdict has any.
EstimateRecord estimates(const Verdict& verdict, const Cohort& cohort, int honest, int round);

}  // namespace boba::sim
