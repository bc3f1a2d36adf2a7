// Gauss: independent normal numbers, unrelated to any gradient.
//
// The paper on BOBA writes sigma^2 = 200 and ran sigma = 200 on the local parameters w - eta * g,
// which is sigma / eta on gradients: gauss(sigma=200,on=parameters).
#pragma once

#include <array>
#include <string_view>
#include <tuple>

#include "boba/attacks/registry.h"

namespace boba {

struct GaussOptions {
  enum class On { kGradient, kParameters };
  static constexpr std::array<std::string_view, 2> kOn = {"gradient", "parameters"};

  double sigma = 14.142135623730951;  // standard deviation; the square root of 200
  On on = On::kGradient;              // parameters: sigma / learning rate on the gradient
  double mean = 0;                    // of each number; measured on what sigma is

  static constexpr Info info() {
    return {
        .name = "gauss",
        .summary = "independent normal numbers",
        .computes =
            "Every Byzantine client sends numbers drawn from a normal distribution with "
            "the given mean, 0 by default, and standard deviation sigma; with on=parameters both "
            "are those of the local parameters, divided by the learning rate on gradients.",
        .condition = "on=parameters needs the round's learning rate.",
        .cost = "one pass over each forged row",
        .citation =
            "W. Bao, J. Wu, J. He. BOBA: Byzantine-Robust Federated Learning with Label "
            "Skewness. AISTATS 2024.",
        .python = "Gaussian",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("sigma", &GaussOptions::sigma, "standard deviation of each number").between(0, 1e30),
        field("on", &GaussOptions::on, "what sigma is measured on").one_of(kOn),
        field("mean", &GaussOptions::mean, "mean of each number").between(-1e30, 1e30)};
  }
};

Result<NamedAttack> make_gauss(const GaussOptions& options);

}  // namespace boba
