// Bucketing, a stage before a rule: clients are shuffled into buckets of s, and each bucket's mean
// takes its clients' place. What is left over is dropped, or kept as a smaller bucket.
//
// S. P. Karimireddy, L. He, M. Jaggi. Byzantine-Robust Learning on Heterogeneous Datasets via
// Bucketing. ICLR 2022. Each Byzantine client spoils at most one bucket: f stays the same.
#pragma once

#include <string_view>
#include <tuple>

#include "boba/core/options.h"
#include "boba/rules/registry.h"

namespace boba {

enum class Remainder { kDrop, kKeep };
inline constexpr std::string_view kRemainderNames[] = {"drop", "keep"};

struct BucketingOptions {
  int s = 2;                               // clients per bucket
  Remainder remainder = Remainder::kDrop;  // of the last, incomplete bucket

  static constexpr Info info() {
    return {
        .name = "bucketing",
        .summary = "before a rule: means of random buckets of s clients",
        .computes =
            "A random permutation, drawn anew each round from the seed, deals the clients "
            "to floor(n/s) buckets; each bucket's mean is an update to the rule. The "
            "n mod s clients left over are dropped, or form a smaller bucket.",
        .condition =
            "Needs n >= s, or any n with remainder=keep. The rule then sees floor(n/s) "
            "updates of which up to f may be spoiled.",
        .cost = "n^2 in n-space for weight rules; on the fly in the tile pass for others",
        .citation =
            "S. P. Karimireddy, L. He, M. Jaggi. Byzantine-Robust Learning on "
            "Heterogeneous Datasets via Bucketing. ICLR 2022.",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("s", &BucketingOptions::s, "clients per bucket").between(1, 1 << 20),
        field("remainder", &BucketingOptions::remainder, "what happens to the n mod s left over")
            .one_of(kRemainderNames)};
  }
};

Result<NamedMix> make_bucketing(const BucketingOptions& options);

}  // namespace boba
