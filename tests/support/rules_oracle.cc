#include "tests/support/rules_oracle.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "boba/algebra/dense.h"

namespace boba::test::oracle {
namespace {

double sq_distance(const Row& a, const Row& b) {
  const Row difference = plus(a, b, -1);
  return dot(difference, difference);
}

// The mean of the n - f rows with the lowest values.
Row keep_lowest(const Rows& rows, std::size_t f, const std::function<double(std::size_t)>& value) {
  std::vector<double> values;
  for (std::size_t i = 0; i < rows.size(); ++i) values.push_back(value(i));
  return mean_of(rows, lowest(values, rows.size() - f));
}

Row column(const Rows& rows, std::size_t k) {
  Row values;
  for (const Row& row : rows) values.push_back(row[k]);
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace

Row mean(const Rows& rows) {
  Row sum(rows.front().size(), 0.0);
  for (const Row& row : rows) sum = plus(sum, row);
  return scaled({sum}, 1 / static_cast<double>(rows.size())).front();
}

Row mean_of(const Rows& rows, const std::vector<std::size_t>& chosen) {
  return mean(permuted(rows, chosen));
}

std::vector<std::size_t> lowest(const std::vector<double>& values, std::size_t k) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  order.resize(k);
  return order;
}

Row coomed(const Rows& rows, bool lower) {
  Row result;
  const std::size_t n = rows.size();
  for (std::size_t k = 0; k < rows.front().size(); ++k) {
    const Row v = column(rows, k);
    if (n % 2 == 1) {
      result.push_back(v[n / 2]);
    } else {
      result.push_back(lower ? v[n / 2 - 1] : (v[n / 2 - 1] + v[n / 2]) / 2);
    }
  }
  return result;
}

Row trmean(const Rows& rows, std::size_t f) {
  Row result;
  for (std::size_t k = 0; k < rows.front().size(); ++k) {
    const Row v = column(rows, k);
    double sum = 0;
    for (std::size_t i = f; i < v.size() - f; ++i) sum += v[i];
    result.push_back(sum / static_cast<double>(v.size() - 2 * f));
  }
  return result;
}

std::vector<double> krum_scores(const Rows& rows, std::size_t neighbours) {
  std::vector<double> scores;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<double> others;
    for (std::size_t j = 0; j < rows.size(); ++j) {
      if (j != i) others.push_back(sq_distance(rows[i], rows[j]));
    }
    std::sort(others.begin(), others.end());
    scores.push_back(std::accumulate(
        others.begin(), others.begin() + static_cast<std::ptrdiff_t>(neighbours), 0.0));
  }
  return scores;
}

Row krum(const Rows& rows, std::size_t neighbours) { return mkrum(rows, neighbours, 1); }

Row mkrum(const Rows& rows, std::size_t neighbours, std::size_t m) {
  return mean_of(rows, lowest(krum_scores(rows, neighbours), m));
}

double distance_sum(const Rows& rows, const Row& x) {
  double sum = 0;
  for (const Row& row : rows) sum += std::sqrt(sq_distance(row, x));
  return sum;
}

double geomed_defect(const Rows& rows, const Row& x) {
  double scale = 0;
  for (const Row& row : rows) scale = std::max(scale, norm(plus(row, x, -1)));
  Row pull(x.size(), 0.0);
  double at = 0;  // updates that x stands on: each offers any pull of norm 1 at most
  for (const Row& row : rows) {
    const Row away = plus(row, x, -1);
    if (norm(away) <= 1e-12 * scale) {
      ++at;
    } else {
      pull = plus(pull, away, 1 / norm(away));
    }
  }
  return std::max(0.0, norm(pull) - at) / static_cast<double>(rows.size());
}

Row selfrej(const Rows& rows, std::size_t f, const QuadraticLoss& loss, const Row& w, double eta) {
  return keep_lowest(rows, f, [&](std::size_t i) { return loss.value(plus(w, rows[i], -eta)); });
}

Row avgrej(const Rows& rows, std::size_t f, const QuadraticLoss& loss, const Row& w, double eta) {
  return keep_lowest(rows, f, [&](std::size_t i) {
    Rows others = rows;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    return -loss.value(plus(w, mean(others), -eta));
  });
}

Row zeno(const Rows& rows, std::size_t f, double rho, const QuadraticLoss& loss, const Row& w,
         double eta) {
  return keep_lowest(rows, f, [&](std::size_t i) {
    return loss.value(plus(w, rows[i], -eta)) + rho * eta * eta * dot(rows[i], rows[i]);
  });
}

Row fltrust(const Rows& rows, const Row& server) {
  Row sum(server.size(), 0.0);
  double trusts = 0;
  for (const Row& row : rows) {
    if (norm(row) == 0 || norm(server) == 0) continue;
    const double trust = std::max(0.0, dot(row, server) / (norm(row) * norm(server)));
    sum = plus(sum, row, trust * norm(server) / norm(row));
    trusts += trust;
  }
  return trusts == 0 ? sum : scaled({sum}, 1 / trusts).front();
}

Row bygars(const Rows& rows, int k, double alpha, const QuadraticLoss& loss, const Row& w,
           double eta) {
  std::vector<double> q(rows.size(), 0.0);
  const auto result = [&] {
    Row sum(w.size(), 0.0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (norm(rows[i]) > 0) sum = plus(sum, rows[i], q[i] / norm(rows[i]));
    }
    return sum;
  };
  for (int step = 0; step < k; ++step) {
    const Row v = loss.slope(plus(w, result(), -eta));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (norm(rows[i]) > 0 && norm(v) > 0) {
        q[i] += alpha * eta * dot(rows[i], v) / (norm(rows[i]) * norm(v));
      }
    }
  }
  return result();
}

Row rage(const Rows& rows, std::size_t steps, bool raw) {
  const std::size_t n = rows.size();
  std::vector<double> w(n, 1 / static_cast<double>(n));
  const auto weighted_mean = [&] {
    Row sum(rows.front().size(), 0.0);
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      sum = plus(sum, rows[i], w[i]);
      total += w[i];
    }
    return scaled({sum}, 1 / total).front();
  };
  for (std::size_t step = 0; step < steps; ++step) {
    const Row mu = weighted_mean();
    const double total = std::accumulate(w.begin(), w.end(), 0.0);
    Eigen::MatrixXd m(n, mu.size());
    for (std::size_t i = 0; i < n; ++i) {
      const Row centred = scaled({plus(rows[i], mu, -1)}, std::sqrt(w[i] / total)).front();
      for (std::size_t k = 0; k < mu.size(); ++k) m(i, k) = centred[k];
    }
    const algebra::ThinSvd svd = algebra::thin_svd(m);
    Row v(mu.size());
    for (std::size_t k = 0; k < v.size(); ++k) v[k] = svd.v(k, 0);
    std::vector<double> tau(n);
    double most = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double along = dot(raw ? rows[i] : plus(rows[i], mu, -1), v);
      tau[i] = along * along;
      if (w[i] > 0) most = std::max(most, tau[i]);
    }
    if (most == 0) break;
    for (std::size_t i = 0; i < n; ++i) {
      if (w[i] > 0) w[i] *= 1 - tau[i] / most;
    }
  }
  return weighted_mean();
}

Rows buckets(const Rows& rows, const std::vector<std::size_t>& order, std::size_t s, bool keep) {
  Rows result;
  for (std::size_t first = 0; first < order.size(); first += s) {
    const std::size_t last = std::min(first + s, order.size());
    if (last - first < s && !keep) break;
    result.push_back(mean_of(rows, {order.begin() + static_cast<std::ptrdiff_t>(first),
                                    order.begin() + static_cast<std::ptrdiff_t>(last)}));
  }
  return result;
}

}  // namespace boba::test::oracle
