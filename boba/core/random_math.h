// The arithmetic of random.h, for processors and GPUs alike.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define BOBA_EVERYWHERE __host__ __device__
#else
#define BOBA_EVERYWHERE
#endif

namespace boba {

struct RandomWords {
  std::uint32_t word[4];
};

// Philox4x32-10. The purpose takes the top of the key, which the seed's own bits are folded over.
BOBA_EVERYWHERE inline RandomWords philox(std::uint64_t seed, std::uint32_t round,
                                          std::uint32_t client, std::uint32_t purpose,
                                          std::uint64_t position) {
  RandomWords x{{static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position >> 32),
                 client, round}};
  std::uint32_t k0 = static_cast<std::uint32_t>(seed);
  std::uint32_t k1 = static_cast<std::uint32_t>(seed >> 32) ^ (purpose * 0x9E3779B1U);
  for (int i = 0; i < 10; ++i) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * x.word[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * x.word[2];
    x = {{static_cast<std::uint32_t>(p1 >> 32) ^ x.word[1] ^ k0, static_cast<std::uint32_t>(p1),
          static_cast<std::uint32_t>(p0 >> 32) ^ x.word[3] ^ k1, static_cast<std::uint32_t>(p0)}};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return x;
}

// Uniform on the open interval (0, 1), 52 bits, from the first or second half of a block.
BOBA_EVERYWHERE inline double uniform_of(const RandomWords& words, std::size_t half) {
  const std::uint64_t bits =
      (std::uint64_t{words.word[2 * half]} << 32 | words.word[2 * half + 1]) >> 12;
  return (static_cast<double>(bits) + 0.5) * 0x1p-52;
}

// coefficients by rising power.
template <std::size_t N>
BOBA_EVERYWHERE inline double polynomial(const double (&coefficients)[N], double x) {
  double sum = 0;
  for (std::size_t i = N; i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

// AS 241 in its three pieces. REQUIRES: 0 < p < 1.
BOBA_EVERYWHERE inline double quantile_of_normal(double p) {
  constexpr double kCentralNum[] = {3.3871328727963666080e0, 1.3314166789178437745e2,
                                    1.9715909503065514427e3, 1.3731693765509461125e4,
                                    4.5921953931549871457e4, 6.7265770927008700853e4,
                                    3.3430575583588128105e4, 2.5090809287301226727e3};
  constexpr double kCentralDen[] = {1.0,
                                    4.2313330701600911252e1,
                                    6.8718700749205790830e2,
                                    5.3941960214247511077e3,
                                    2.1213794301586595867e4,
                                    3.9307895800092710610e4,
                                    2.8729085735721942674e4,
                                    5.2264952788528545610e3};
  constexpr double kMiddleNum[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                   5.76949722146069140550e0,  3.64784832476320460504e0,
                                   1.27045825245236838258e0,  2.41780725177450611770e-1,
                                   2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr double kMiddleDen[] = {1.0,
                                   2.05319162663775882187e0,
                                   1.67638483018380384940e0,
                                   6.89767334985100004550e-1,
                                   1.48103976427480074590e-1,
                                   1.51986665636164571966e-2,
                                   5.47593808499534494600e-4,
                                   1.05075007164441684324e-9};
  constexpr double kFarNum[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                1.78482653991729133580e0,  2.96560571828504891230e-1,
                                2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr double kFarDen[] = {1.0,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15};
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kCentralNum, r) / polynomial(kCentralDen, r);
  }
  const double tail = std::sqrt(-std::log(q < 0 ? p : 1 - p));
  const double r = tail <= 5 ? tail - 1.6 : tail - 5;
  const double size = tail <= 5 ? polynomial(kMiddleNum, r) / polynomial(kMiddleDen, r)
                                : polynomial(kFarNum, r) / polynomial(kFarDen, r);
  return q < 0 ? -size : size;
}

}  // namespace boba
