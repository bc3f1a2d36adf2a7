// The rules that look at the rows themselves or at their directions: probing rules, bygars,
// fltrust and the coordinate rules.

#include <algorithm>
#include <cmath>

#include "tests/hunt/oracle.h"

namespace boba::hunt {
namespace {

constexpr double kRho = 5e-4;        // zeno
constexpr double kAlpha = 0.05;      // bygars
constexpr int kReputationSteps = 3;  // bygars
constexpr double kLeastSquare = 0x1p-960;

Big square_of(const BigRow& row) {
  Big sum = 0;
  for (const Big& x : row) sum += x * x;
  return sum;
}

// The server's loss at w - eta * step, which is a point of the rows' type.
Big loss_at(const Scene& scene, const BigRow& step, double noise, Dice& dice) {
  Big sum = 0;
  Big x;
  for (std::size_t k = 0; k < step.size(); ++k) {
    x = step[k] * -scene.eta;
    x += scene.model[k];
    double point = to_double(x);
    if (noise > 0) point *= 1 + noise * dice.uniform(-1, 1);
    if (scene.dtype == DType::kFloat32) point = static_cast<double>(static_cast<float>(point));
    if (!std::isfinite(point)) return 1e300;
    x = point;
    x -= scene.centre[k];
    x *= x;
    x *= scene.curvature[k];
    sum += x;
  }
  return sum / 2;
}

}  // namespace

std::vector<BigRow> bucket_means(const Rows& rows, const Buckets& buckets) {
  std::vector<BigRow> means;
  for (const std::vector<std::size_t>& bucket : buckets) {
    BigRow mean(rows.front().size());
    for (std::size_t k = 0; k < mean.size(); ++k) {
      for (std::size_t row : bucket) mean[k] += rows[row][k];
      if (bucket.size() > 1) mean[k] /= static_cast<double>(bucket.size());
    }
    means.push_back(std::move(mean));
  }
  return means;
}

std::vector<Big> probing_weights(const Scene& scene, const std::vector<BigRow>& rows, std::size_t f,
                                 const OracleOptions& options) {
  Dice dice(options.noise_seed, 79);
  const std::size_t n = rows.size();
  const std::size_t d = rows.front().size();
  std::vector<Big> values;
  if (scene.use.rule == "avgrej") {
    BigRow sum(d);
    for (const BigRow& row : rows) {
      for (std::size_t k = 0; k < d; ++k) sum[k] += row[k];
    }
    for (const BigRow& row : rows) {
      BigRow others(d);
      for (std::size_t k = 0; k < d; ++k) {
        others[k] = (sum[k] - row[k]) / static_cast<double>(n - 1);
      }
      values.push_back(-loss_at(scene, others, options.noise, dice));
    }
  } else {
    for (const BigRow& row : rows) {
      Big value = loss_at(scene, row, options.noise, dice);
      if (scene.use.rule == "zeno") value += Big(kRho) * scene.eta * scene.eta * square_of(row);
      values.push_back(value);
    }
  }
  std::vector<Big> weights(n);
  for (std::size_t i : smallest_of(values, n - f)) {
    weights[i] = Big(1) / static_cast<double>(n - f);
  }
  return weights;
}

std::vector<Big> bygars_weights(const Scene& scene, const std::vector<BigRow>& rows) {
  const std::size_t n = rows.size();
  const std::size_t d = rows.front().size();
  std::vector<Big> norms;
  for (const BigRow& row : rows) {
    const Big square = square_of(row);
    norms.push_back(square < kLeastSquare ? Big(0) : Big(root_of(square)));
  }
  std::vector<Big> q(n);
  for (int step = 0; step < kReputationSteps; ++step) {
    BigRow slope(d);
    for (std::size_t k = 0; k < d; ++k) {
      Big x = 0;
      for (std::size_t i = 0; i < n; ++i) {
        if (norms[i] > 0 && q[i] != 0) x += rows[i][k] * q[i] / norms[i];
      }
      slope[k] = scene.curvature[k] * (scene.model[k] - scene.eta * x - scene.centre[k]);
    }
    const Big length = root_of(square_of(slope));
    if (length == 0) break;
    for (std::size_t i = 0; i < n; ++i) {
      if (norms[i] == 0) continue;
      Big product = 0;
      for (std::size_t k = 0; k < d; ++k) product += rows[i][k] * slope[k];
      q[i] += Big(kAlpha) * scene.eta * product / (norms[i] * length);
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (norms[i] > 0) q[i] /= norms[i];
  }
  return q;
}

std::vector<Big> fltrust_weights(const Products& products) {
  const std::size_t n = products.clients;
  const std::size_t c = products.servers();
  Big server_square = 0;
  for (std::size_t y = 0; y < c; ++y) {
    for (std::size_t z = 0; z < c; ++z) server_square += products.k(n + y, n + z);
  }
  server_square /= static_cast<double>(c * c);
  std::vector<Big> weights(n);
  if (server_square < kLeastSquare) return weights;
  const Big server = root_of(server_square);
  Big sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (products.k(i, i) < kLeastSquare) continue;
    Big product = 0;
    for (std::size_t z = 0; z < c; ++z) product += products.k(i, n + z);
    product /= static_cast<double>(c);
    if (product <= 0) continue;
    const Big norm = root_of(products.k(i, i));
    const Big trust = product / (norm * server);
    sum += trust;
    weights[i] = trust * server / norm;
  }
  if (sum == 0) return weights;
  for (Big& weight : weights) weight /= sum;
  return weights;
}

Row coordinate_answer(const Scene& scene, const Rows& sent, const Buckets& buckets, std::size_t f) {
  const std::size_t n = buckets.size();
  std::size_t first = f;
  std::size_t last = n - f;
  if (scene.use.rule == "coomed") {
    first = (n - 1) / 2;
    last = n / 2 + 1;
  }
  Row out;
  std::vector<Big> values(n);
  for (std::size_t k = 0; k < sent.front().size(); ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      // By definition a mixed row is formed in double and rounded, as if a client had sent it.
      double mean = 0;
      for (std::size_t row : buckets[i]) {
        mean += sent[row][k] * (1 / static_cast<double>(buckets[i].size()));
      }
      values[i] = scene.dtype == DType::kFloat32 ? static_cast<float>(mean) : mean;
    }
    std::sort(values.begin(), values.end());
    Big sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += values[i];
    sum /= static_cast<double>(last - first);
    out.push_back(to_double(sum));
  }
  return out;
}

}  // namespace boba::hunt
