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

// What a pass saw of one row. A row that is not finite is left out of the pass wherever it could
// spoil another row's numbers.
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

// How products are formed: in the rows' type, or in double whatever it is, at about twice the time
// for float32 rows.
enum class Precision { kRows, kDouble };

class Kernels {
 public:
  virtual ~Kernels() = default;

  // What runs, for people: "cpu, 2 threads, avx512".
  virtual std::string name() const = 0;

  // All inner products of the rows. origin holds a weight per row, and o = sum of origin[i] * a_i
  // rounded to the rows' type; empty means o = 0. Rows that make up o must be finite.
  virtual GramPass gram(const UpdateView& rows, std::span<const double> origin,
                        Precision precision = Precision::kRows) const = 0;

  // Norms, and products with r = sum of weights[j] * reference row j (none: norms only).
  virtual DotsPass dots(const UpdateView& rows, const UpdateView& reference,
                        std::span<const double> weights) const = 0;

  // Projects each row to plan.length numbers, row i to out[i * plan.length] and on, with sums in
  // double in the order of the columns; zeros for a row that is not finite. REQUIRES: out has
  // rows.rows() * plan.length places.
  virtual std::vector<RowScan> sketch(const UpdateView& rows, const SketchPlan& plan,
                                      std::span<double> out) const = 0;

  // out = keep * out + sum of weights[i] * a_i, summed in double. Rows of weight 0 are not read;
  // keep = 0 does not read out. A non-finite row with weight spoils out; scan names it.
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

  // Rows of a caller's own, zero to begin with, in the memory that the passes work in. Here and
  // below the host's memory, unless a device has its own.
  virtual UpdateMatrix make_rows(DType dtype, std::size_t rows, std::size_t length) const;
  // All of out becomes value.
  virtual void fill(MutableRow out, double value) const;
  virtual void copy(const UpdateView& rows, std::size_t i, MutableRow out) const;
  // Copies a row from the host's memory, or to it.
  virtual void put(const UpdateView& host, std::size_t i, MutableRow out) const;
  virtual void get(const UpdateView& rows, std::size_t i, MutableRow host) const;

  // Where the rows of a call are some columns of longer updates (boba/dist): the whole length, the
  // inner products of columns [first, first + count) of the whole, and kernels for rows that are
  // whole as they are. Otherwise the rows' length, their columns, and these kernels.
  virtual std::size_t whole_length(const UpdateView& rows) const { return rows.length(); }
  virtual GramPass gram_of_columns(const UpdateView& rows, std::size_t first,
                                   std::size_t count) const;
  virtual const Kernels& for_whole_rows() const { return *this; }

  // A number that no client knows, for random stages without a seed: from the operating system,
  // and the same for all ranks of a job.
  virtual Result<std::uint64_t> secret_seed() const;
};

}  // namespace boba
