// Metrics of a model from its confusion matrix, and of a decision from its verdict.
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

// The evaluation of a model with NaN or infinite parameters. It predicts the first class for every
// example, as for scores that are NaN. No client can recover such a model, and its last finite
// parameters would have a random accuracy.
Evaluation of_lost_model(Evaluation evaluation, std::size_t classes);

// Notes in the record which clients were left out, rightly or not, and how far BOBA's label mixes
// are from the truth. Rows of the verdict are the cohort's honest clients, then its Byzantine ones.
void judge(const Verdict& verdict, const Cohort& cohort, std::span<const ClientRecord> clients,
           RoundRecord& record);

// BOBA's label mixes, if the verdict has any.
EstimateRecord estimates(const Verdict& verdict, const Cohort& cohort, int honest, int round);

}  // namespace boba::sim
