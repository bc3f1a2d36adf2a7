// Kernels: the passes over d. One object per device; everything else works on small matrices.
//
// REQUIRES, for every method: all views of a call have one type and one length. Methods are
// thread-safe, never write to their inputs, and give the same bits for any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "boba/core/mix.h"
#include "boba/core/result.h"
#include "boba/core/views.h"

namespace boba {

// What a pass saw of one row. A row that is not finite does not enter numbers of other rows.
struct RowScan {
  bool finite = true;
  double max_abs = 0;  // largest absolute value; 0 when not finite
};

// Inner products about an origin o: centred(i, j) = <a_i - o, a_j - o>.
struct GramPass {
  std::vector<double> centred;     // N by N, row major, symmetric; 0 where a row is not finite
  std::vector<double> origin_dot;  // <o, a_i - o>; all 0 without an origin
  double origin_sq = 0;            // <o, o>
  std::vector<RowScan> scan;
  std::size_t sketch = 0;  // length of the sketches that were multiplied; 0: the rows themselves
};

struct DotsPass {
  std::vector<double> dot;      // <a_i, r>; empty without a reference
  std::vector<double> sq_norm;  // <a_i, a_i>; infinity when the row is not finite
  double reference_sq = 0;      // <r, r>
  std::vector<RowScan> scan;
};

struct OutputPass {
  bool finite = true;         // every number written is finite
  std::vector<RowScan> scan;  // one per row; rows of weight 0 are not read and count as finite
};

// Seed, round, client and purpose of a stream of random numbers; see random.h.
struct StreamKey;

// Which random projection; see sketch.h.
struct SketchPlan;

// How products are formed: in the rows' type, or in double, which takes about twice the time for
// float32 rows.
enum class Precision { kRows, kDouble };

class Kernels {
 public:
  virtual ~Kernels() = default;

  // What runs, in words: "cpu, 2 threads, avx512".
  virtual std::string name() const = 0;

  // All inner products of the rows. origin holds a weight per row, and o = sum of origin[i] * a_i
  // rounded to the rows' type; empty means o = 0. Rows that make up o must be finite.
  virtual GramPass gram(const UpdateView& rows, std::span<const double> origin,
                        Precision precision = Precision::kRows) const = 0;

  // Norms, and products with r = sum of weights[j] * reference row j (none: norms only).
  virtual DotsPass dots(const UpdateView& rows, const UpdateView& reference,
                        std::span<const double> weights) const = 0;

  // Projects each row to plan.length numbers; those of row i begin at out[i * plan.length]. Sums
  // are in double, in the order of the columns. A row that is not finite gives zeros. REQUIRES: out
  // has rows.rows() * plan.length places.
  virtual std::vector<RowScan> sketch(const UpdateView& rows, const SketchPlan& plan,
                                      std::span<double> out) const = 0;

  // out = keep * out + sum of weights[i] * a_i, summed in double. Rows of weight 0 are not read,
  // and neither is out if keep is 0. A non-finite row with a weight spoils out; scan names it.
  virtual OutputPass combine(const UpdateView& rows, std::span<const double> weights, double keep,
                             MutableRow out) const = 0;

  // Per coordinate, the mean of the sorted values at positions [first, last) of the rows, or of
  // the mixed rows where mix is given. A non-finite row spoils out; scan names it.
  virtual OutputPass order_mean(const UpdateView& rows, const Mix* mix, std::size_t first,
                                std::size_t last, MutableRow out) const = 0;

  // Per coordinate, out = mean_factor * mean + deviation_factor * standard deviation (with n - 1;
  // 0 for a single row).
  virtual OutputPass moments(const UpdateView& rows, double mean_factor, double deviation_factor,
                             MutableRow out) const = 0;

  // Fills out with independent normal numbers of standard deviation sigma.
  virtual OutputPass normal(const StreamKey& key, double sigma, MutableRow out) const = 0;

  // New rows of zeros in the memory that the passes read: the host's memory, unless these kernels
  // run on a device with its own.
  virtual UpdateMatrix make_rows(DType dtype, std::size_t rows, std::size_t length) const;
  // Sets all of out to value.
  virtual void fill(MutableRow out, double value) const;
  virtual void copy(const UpdateView& rows, std::size_t i, MutableRow out) const;
  // Copies a row from the host's memory, or to the host's memory.
  virtual void put(const UpdateView& host, std::size_t i, MutableRow out) const;
  virtual void get(const UpdateView& rows, std::size_t i, MutableRow host) const;

  // The rows of a call may be some columns of longer updates (boba/dist). These give the length of
  // the whole updates, the inner products of their columns [first, first + count), and kernels for
  // rows that are whole. Other kernels see whole rows only.
  virtual std::size_t whole_length(const UpdateView& rows) const { return rows.length(); }
  virtual GramPass gram_of_columns(const UpdateView& rows, std::size_t first,
                                   std::size_t count) const;
  virtual const Kernels& for_whole_rows() const { return *this; }

  // A seed that no client knows, for random stages of a round without one: from the operating
  // system, and the same for all ranks of a job.
  virtual Result<std::uint64_t> secret_seed() const;
};

}  // namespace boba
