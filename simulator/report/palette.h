// How many colours there are; style.cc has them, for light and for dark pages.
#pragma once

namespace boba::sim::report {

inline constexpr int kHues = 12;     // of rules: classes c0, c1, ...
inline constexpr int kDashes = 7;    // d0, d1, ...; 7 and 12 have no common factor: 84 rules differ
inline constexpr int kFillings = 3;  // of bars, which have no dashes: v0, v1, v2; 36 rules differ
inline constexpr int kShades = 9;    // of heat maps: h0 is low, h8 high; k0..k8 the text upon them

}  // namespace boba::sim::report
