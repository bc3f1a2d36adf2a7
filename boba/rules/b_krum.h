// Krum and Multi-Krum on the means of random buckets of s clients, with the same f:
// b-krum(f,s) is bucketing(s) | krum(f), b-mkrum(f,s) is bucketing(s) | mkrum(f).
//
// S. P. Karimireddy, L. He, M. Jaggi. Byzantine-Robust Learning on Heterogeneous Datasets via
// Bucketing. ICLR 2022. The guarantee needs floor(n/s) >= 2f + 3.
#pragma once

#include <tuple>

#include "boba/core/aggregator.h"
#include "boba/core/options.h"

namespace boba {

struct BKrumOptions {
  int f = 0;  // Byzantine clients tolerated
  int s = 2;  // clients per bucket

  static constexpr Info info() {
    return {
        .name = "b-krum",
        .summary = "krum on means of random buckets",
        .computes =
            "bucketing(s) | krum(f): clients are dealt at random to floor(n/s) buckets, "
            "and Krum with the same f chooses one bucket's mean.",
        .condition = "Needs floor(n/s) - f - 2 >= 1; guaranteed for floor(n/s) >= 2f + 3.",
        .cost = "one Gram pass, one output pass; n^2 log n in n-space",
        .citation =
            "S. P. Karimireddy, L. He, M. Jaggi. Byzantine-Robust Learning on "
            "Heterogeneous Datasets via Bucketing. ICLR 2022.",
        .python = "BucketedKrum",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("f", &BKrumOptions::f, "Byzantine clients tolerated").between(0, 1 << 20),
        field("s", &BKrumOptions::s, "clients per bucket").between(1, 1 << 20)};
  }
};

struct BMkrumOptions {
  int f = 0;  // Byzantine clients tolerated
  int s = 2;  // clients per bucket

  static constexpr Info info() {
    return {
        .name = "b-mkrum",
        .summary = "mkrum on means of random buckets",
        .computes =
            "bucketing(s) | mkrum(f): clients are dealt at random to floor(n/s) buckets, "
            "and Multi-Krum with the same f averages all but f of the buckets' means.",
        .condition = "Needs floor(n/s) - f - 2 >= 1; guaranteed for floor(n/s) >= 2f + 3.",
        .cost = "one Gram pass, one output pass; n^2 log n in n-space",
        .citation =
            "S. P. Karimireddy, L. He, M. Jaggi. Byzantine-Robust Learning on "
            "Heterogeneous Datasets via Bucketing. ICLR 2022.",
        .python = "BucketedMultiKrum",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("f", &BMkrumOptions::f, "Byzantine clients tolerated").between(0, 1 << 20),
        field("s", &BMkrumOptions::s, "clients per bucket").between(1, 1 << 20)};
  }
};

Result<Aggregator> make_b_krum(const BKrumOptions& options);
Result<Aggregator> make_b_mkrum(const BMkrumOptions& options);

}  // namespace boba
