// Gram: the round's inner products. A weight rule sees nothing else.
//
// Rows 0..clients()-1 are clients (after the stages before the rule), rows clients()..size()-1 are
// the server's gradients, for rules that need them. The products are about an origin o. Affine
// rules do not depend on it; for the others dot() adds it back.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "boba/core/kernels.h"
#include "boba/core/mix.h"

namespace boba {

class Gram {
 public:
  Gram() = default;
  // The first clients rows of the pass are clients; dtype is the type the products were formed in.
  Gram(GramPass pass, std::size_t clients, DType dtype);
  Gram(GramPass pass, std::size_t clients, double rounding);

  std::size_t clients() const { return clients_; }
  std::size_t servers() const { return size_ - clients_; }
  std::size_t size() const { return size_; }

  // <a_i - o, a_j - o>, size() by size(), row major, symmetric.
  std::span<const double> centred() const { return centred_; }
  double centred(std::size_t i, std::size_t j) const { return centred_[i * size_ + j]; }

  // <a_i, a_j>.
  double dot(std::size_t i, std::size_t j) const {
    return centred(i, j) + origin_dot_[i] + origin_dot_[j] + origin_sq_;
  }

  // |a_i|^2, clamped at 0 where rounding crosses it.
  double sq_norm(std::size_t i) const;

  // The largest term of the sum that sq_norm(i) is. The rounding of sq_norm(i) is relative to it.
  double raw_size(std::size_t i) const {
    return std::max({centred(i, i), std::abs(origin_dot_[i]), origin_sq_});
  }

  // |a_i - a_j|^2, clamped at 0 where rounding crosses it; infinity if it is not a number.
  double sq_distance(std::size_t i, std::size_t j) const;

  // All of client i at once: out[j] = sq_distance(i, j). REQUIRES: out has clients() places.
  void sq_distances(std::size_t i, std::span<double> out) const;

  // Rounding of one product relative to |a_i - o| |a_j - o|: a unit in the last place of the type
  // that the products were formed in.
  double rounding() const { return rounding_; }
  void set_rounding(double rounding) { rounding_ = rounding; }

  // Length of the sketches that were multiplied; 0: the rows themselves.
  std::size_t sketch() const { return sketch_; }

  // Drops all other client rows. kept rises. In place.
  void keep_clients(std::span<const std::size_t> kept);

  // Makes this row the origin. Lost digits do not come back: the rounding grows by the square of
  // the distances from the old origin over those from the new one. In place.
  void move_origin(std::size_t row);

  // The products after mixing the client rows: M K M'.
  Gram mixed(const Mix& mix) const;

  // The products after replacing every `parts` consecutive server rows by their mean.
  // REQUIRES: servers() is a multiple of parts.
  Gram joined(std::size_t parts) const;

 private:
  // M K M', M over all rows; its first `clients` rows are clients.
  Gram transformed(const Mix& mix, std::size_t clients) const;
  void take_diagonal();

  std::vector<double> centred_;
  std::vector<double> diagonal_;  // of centred_, without gaps
  std::vector<double> origin_dot_;
  double origin_sq_ = 0;
  double rounding_ = 0;
  std::size_t sketch_ = 0;
  std::size_t clients_ = 0;
  std::size_t size_ = 0;
};

// How well the origin suits the clients.
struct OriginFit {
  std::size_t medoid = 0;  // the client whose median squared distance to the others is least
  double condition = 1;    // median |g_i - o|^2 over that median; rounding grows in proportion
};

// REQUIRES: gram.clients() > 0. Ties to the lower index.
OriginFit origin_fit(const Gram& gram);

}  // namespace boba
