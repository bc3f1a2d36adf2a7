// Mimic: a copy of one honest client's update, so that its data count more than others'.
//
// S. P. Karimireddy, L. He, M. Jaggi. Byzantine-Robust Learning on Heterogeneous Datasets via
// Bucketing. ICLR 2022.
#pragma once

#include <array>
#include <string_view>
#include <tuple>

#include "boba/attacks/registry.h"

namespace boba {

struct MimicOptions {
  enum class Choose { kFixed, kStrongest };
  static constexpr std::array<std::string_view, 2> kChoose = {"fixed", "strongest"};

  int client = 0;                  // the honest row to copy, with choose=fixed
  Choose choose = Choose::kFixed;  // strongest: furthest along the honest updates' top direction

  static constexpr Info info() {
    return {
        .name = "mimic",
        .summary = "a copy of one honest client's update",
        .computes =
            "Every Byzantine client sends a copy of one honest update: that of the given "
            "client, or with choose=strongest the one with the largest squared projection, "
            "centred, on the top principal direction of the honest updates.",
        .condition = "Needs the client among the honest ones.",
        .cost = "one read of a row; strongest: one norm and one Gram pass, h^3 in n-space",
        .citation =
            "S. P. Karimireddy, L. He, M. Jaggi. Byzantine-Robust Learning on "
            "Heterogeneous Datasets via Bucketing. ICLR 2022.",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("client", &MimicOptions::client, "the honest row to copy, with choose=fixed")
            .between(0, 1 << 20),
        field("choose", &MimicOptions::choose, "how the row is chosen").one_of(kChoose)};
  }
};

Result<NamedAttack> make_mimic(const MimicOptions& options);

}  // namespace boba
