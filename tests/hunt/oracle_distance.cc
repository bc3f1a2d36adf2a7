// krum, mkrum, geomed and rage by their definitions.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/hunt/oracle.h"

namespace boba::hunt {
namespace {

using Real = long double;
using Point = std::vector<Real>;

// value * 2^-bits.
Big shrunk(Big value, mp_bitcnt_t bits) {
  mpf_div_2exp(value.get_mpf_t(), value.get_mpf_t(), bits);
  return value;
}

Real to_real(const Big& value) {
  const double high = to_double(value);
  return static_cast<Real>(high) + static_cast<Real>(to_double(value - Big(high)));
}

// Coordinates of the clients about client `at`: Cholesky's factor of their products, with pivots.
std::vector<Point> coordinates(const Products& products, std::size_t at) {
  const std::size_t n = products.clients;
  BigMatrix k(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      k(i, j) = products.k(i, j) - products.k(i, at) - products.k(at, j) + products.k(at, at);
    }
  }
  std::vector<Point> points(n);
  Big first = 0;
  for (std::size_t step = 0; step < n; ++step) {
    std::size_t pivot = 0;
    for (std::size_t i = 1; i < n; ++i) {
      if (k(i, i) > k(pivot, pivot)) pivot = i;
    }
    if (step == 0) first = k(pivot, pivot);
    if (k(pivot, pivot) <= shrunk(first, 300)) break;
    const Big root = root_of(k(pivot, pivot));
    std::vector<Big> column(n);
    for (std::size_t i = 0; i < n; ++i) column[i] = k(i, pivot) / root;
    for (std::size_t i = 0; i < n; ++i) {
      points[i].push_back(to_real(column[i]));
      for (std::size_t j = 0; j < n; ++j) k(i, j) -= column[i] * column[j];
    }
  }
  return points;
}

Real dot(const Point& a, const Point& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), Real{0});
}

Point between(const Point& from, const Point& to) {
  Point result(from.size());
  for (std::size_t k = 0; k < from.size(); ++k) result[k] = to[k] - from[k];
  return result;
}

// Solves the system of a positive definite matrix by elimination; empty where it is not one.
Point solve(std::vector<Point> m, Point b) {
  const std::size_t n = b.size();
  for (std::size_t p = 0; p < n; ++p) {
    if (!(m[p][p] > 0)) return {};
    for (std::size_t i = p + 1; i < n; ++i) {
      const Real factor = m[i][p] / m[p][p];
      for (std::size_t j = p; j < n; ++j) m[i][j] -= factor * m[p][j];
      b[i] -= factor * b[p];
    }
  }
  for (std::size_t p = n; p-- > 0;) {
    for (std::size_t j = p + 1; j < n; ++j) b[p] -= m[p][j] * b[j];
    b[p] /= m[p][p];
  }
  return b;
}

// The geometric median of points none of which it is, from a place better than all of them.
Point descend(const std::vector<Point>& points, Point x, Real scale) {
  const std::size_t dimension = x.size();
  for (int iteration = 0; iteration < 2000; ++iteration) {
    Real inverse_sum = 0;
    Point slope(dimension, 0);
    Point target(dimension, 0);
    std::vector<Point> hessian(dimension, Point(dimension, 0));
    std::vector<Real> far;
    std::vector<Point> away;
    for (const Point& point : points) {
      away.push_back(between(point, x));
      far.push_back(std::max(std::sqrt(dot(away.back(), away.back())), scale * 1e-30L));
      const Real inverse = 1 / far.back();
      inverse_sum += inverse;
      for (std::size_t a = 0; a < dimension; ++a) {
        slope[a] += away.back()[a] * inverse;
        target[a] += point[a] * inverse;
        for (std::size_t b = 0; b < dimension; ++b) {
          hessian[a][b] -= away.back()[a] * away.back()[b] * inverse * inverse * inverse;
        }
      }
    }
    for (std::size_t a = 0; a < dimension; ++a) {
      hessian[a][a] += inverse_sum;
      target[a] /= inverse_sum;
    }
    Point step = solve(hessian, slope);
    for (Real& s : step) s = -s;
    bool newton = !step.empty();
    if (newton) {
      const Real decline = dot(step, slope);
      Real part = 1;
      for (; part > 1e-6L; part /= 2) {
        Real change = 0;
        for (std::size_t i = 0; i < points.size(); ++i) {
          const Real more = 2 * part * dot(away[i], step) + part * part * dot(step, step);
          change += more / (std::sqrt(std::max(Real{0}, far[i] * far[i] + more)) + far[i]);
        }
        if (change <= 0.1L * part * decline) break;
      }
      newton = part > 1e-6L;
      for (Real& s : step) s *= part;
    }
    if (!newton) step = between(x, target);
    for (std::size_t a = 0; a < dimension; ++a) x[a] += step[a];
    if (std::sqrt(dot(step, step)) <= 1e-14L * scale) break;
  }
  return x;
}

}  // namespace

std::vector<Big> krum_weights(const Products& products, std::size_t f, bool many) {
  const std::size_t n = products.clients;
  std::vector<Big> scores;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<Big> others;
    for (std::size_t j = 0; j < n; ++j) {
      if (j != i) others.push_back(products.sq_distance(i, j));
    }
    std::sort(others.begin(), others.end());
    Big score = 0;
    for (std::size_t k = 0; k < n - f - 2; ++k) score += others[k];
    scores.push_back(score);
  }
  const std::size_t count = many ? n - f : 1;
  std::vector<Big> weights(n);
  for (std::size_t i : smallest_of(scores, count)) weights[i] = Big(1) / static_cast<double>(count);
  return weights;
}

std::vector<Big> geomed_weights(const Products& products) {
  const std::size_t n = products.clients;
  std::vector<Big> sums(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const Big square = products.sq_distance(i, j);
      if (square > 0) sums[i] += root_of(square);
    }
  }
  const std::size_t best = smallest_of(sums, 1).front();
  std::vector<Big> weights(n);
  const std::vector<Point> points = coordinates(products, best);
  const std::size_t dimension = points.front().size();
  // The pull of the others on the best update: it is the median where that is no more than their
  // number.
  Point pull(dimension, 0);
  Real equal = 0;
  Real inverse_sum = 0;
  std::vector<Real> sorted;
  for (const Point& point : points) sorted.push_back(std::sqrt(dot(point, point)));
  std::sort(sorted.begin(), sorted.end());
  const Real scale = sorted[n / 2];
  for (const Point& point : points) {
    const Real far = std::sqrt(dot(point, point));
    if (far <= 1e-40L * scale) {
      ++equal;
      continue;
    }
    inverse_sum += 1 / far;
    for (std::size_t a = 0; a < dimension; ++a) pull[a] += point[a] / far;
  }
  const Real strength = std::sqrt(dot(pull, pull));
  if (strength <= equal * (1 + 1e-15L)) {
    std::vector<std::size_t> medians;
    for (std::size_t i = 0; i < n; ++i) {
      if (sums[i] - sums[best] <= shrunk(sums[best], 200)) medians.push_back(i);
    }
    for (std::size_t i : medians) weights[i] = Big(1) / static_cast<double>(medians.size());
    return weights;
  }
  Point start = pull;
  for (Real& s : start) s *= (1 - equal / strength) / inverse_sum;
  const Point x = descend(points, start, scale);
  // The median is the fixed point of Weiszfeld's map.
  Real sum = 0;
  std::vector<Real> inverse;
  for (const Point& point : points) {
    const Point away = between(point, x);
    inverse.push_back(1 / std::max(std::sqrt(dot(away, away)), 1e-18L * scale));
    sum += inverse.back();
  }
  Big all = 0;
  for (std::size_t i = 0; i < n; ++i) {
    weights[i] = static_cast<double>(inverse[i] / sum);
    all += weights[i];
  }
  // A sum other than 1 would count the common part of the updates.
  for (Big& weight : weights) weight /= all;
  return weights;
}

std::vector<Big> rage_weights(const Products& products, std::size_t steps, bool raw, double tie) {
  const std::size_t n = products.clients;
  const BigMatrix& k = products.k;
  std::vector<Big> weights(n, Big(1) / static_cast<double>(n));
  const auto normalise = [&] {
    Big total = 0;
    for (const Big& weight : weights) total += weight;
    for (Big& weight : weights) weight /= total;
  };
  for (std::size_t step = 0; step < steps; ++step) {
    normalise();
    // q_i = <g_i, mu>, s = <mu, mu>.
    std::vector<Big> q(n);
    Big s = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) q[i] += k(i, j) * weights[j];
    }
    for (std::size_t i = 0; i < n; ++i) s += q[i] * weights[i];
    std::vector<Big> root(n);
    for (std::size_t i = 0; i < n; ++i) root[i] = root_of(weights[i]);
    BigMatrix scaled(n, n);
    Big size = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        scaled(i, j) = root[i] * root[j] * (k(i, j) - q[i] - q[j] + s);
      }
      size += weights[i] * k(i, i);
    }
    const BigEigen all = eigen(scaled);
    // Noise on the products may leave no positive variance, and a size below zero.
    if (all.values[0] <= 0 || all.values[0] <= shrunk(size, 130)) break;
    // v = sum of t_i (g_i - mu).
    std::vector<Big> t(n);
    const Big value = root_of(all.values[0]);
    for (std::size_t i = 0; i < n; ++i) t[i] = root[i] * all.vectors(i, 0) / value;
    std::vector<Big> tau(n);
    Big most = 0;
    for (std::size_t i = 0; i < n; ++i) {
      Big along = 0;
      for (std::size_t j = 0; j < n; ++j) {
        along += t[j] * (raw ? Big(k(i, j) - q[i]) : Big(k(i, j) - q[i] - q[j] + s));
      }
      tau[i] = along * along;
      if (weights[i] > 0 && tau[i] > most) most = tau[i];
    }
    if (most == 0) break;
    std::vector<Big> less = weights;
    bool some = false;
    for (std::size_t i = 0; i < n; ++i) {
      if (less[i] == 0) continue;
      Big left = 1 - tau[i] / most;
      if (left < shrunk(1, 100) || left < tie) left = 0;
      less[i] *= left;
      some = some || less[i] > 0;
    }
    if (!some) break;
    weights = less;
  }
  normalise();
  return weights;
}

}  // namespace boba::hunt
