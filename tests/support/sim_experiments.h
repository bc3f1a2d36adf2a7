// Small experiments and data sets for the tests of the simulator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/data/dataset.h"
#include "simulator/experiment/experiment.h"
#include "simulator/train/trainer.h"

namespace boba::test {
using namespace sim;  // NOLINT

// Images of noise around a pattern per class.
Dataset small_images(std::size_t classes, ImageShape shape, std::size_t per_class);
// Texts whose words point to their class.
Dataset small_texts(std::size_t classes, std::size_t length, std::size_t per_class);

// Nine clients of three classes, two attackers, an MLP: a run takes milliseconds.
Experiment small_experiment();
Dataset small_dataset();

// The server's losses, which must be there.
std::vector<double> server_losses(Trainer& trainer, const std::vector<std::vector<float>>& points);

}  // namespace boba::test
