// Mix: the matrix M of a stage that replaces client rows by weighted means of them.
//
// Each row of M sums to 1, so mixing commutes with a shift of the origin.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace boba {

class Mix {
 public:
  struct Term {
    std::size_t row = 0;  // a row before mixing
    double weight = 0;
  };

  // Adds a mixed row. REQUIRES: the weights sum to 1.
  void add(std::span<const Term> terms) {
    terms_.insert(terms_.end(), terms.begin(), terms.end());
    ends_.push_back(terms_.size());
  }

  // Adds a row that is not mixed.
  void keep(std::size_t row) {
    const Term own{row, 1.0};
    add({&own, 1});
  }

  std::size_t rows() const { return ends_.size(); }
  std::span<const Term> terms(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return {terms_.data() + begin, ends_[i] - begin};
  }

 private:
  std::vector<Term> terms_;
  std::vector<std::size_t> ends_;
};

}  // namespace boba
