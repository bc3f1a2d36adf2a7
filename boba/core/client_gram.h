// ClientGram: the inner products of a round's clients and server rows, about an origin near the
// clients. docs/numerics.md says why the origin matters and what is guaranteed.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "boba/core/gram.h"
#include "boba/core/intake.h"
#include "boba/core/kernels.h"
#include "boba/core/mix.h"
#include "boba/core/result.h"
#include "boba/core/round.h"
#include "boba/core/views.h"

namespace boba {

class ClientGram {
 public:
  ClientGram() = default;
  // server: the server's rows that the rule needs, perhaps none. What is given must outlive the
  // object.
  ClientGram(const Kernels& kernels, const Round& round, RowList server)
      : kernels_(&kernels), round_(&round), server_(std::move(server)) {}

  // Forms the products of the updates that take part, and refuses those that prove unusable.
  // use_known: takes the products that came with the round, if they are accurate enough.
  Result<void> form(bool use_known, Intake& intake);

  // Refuses clients too far from the others. tolerance: Byzantine clients; none: any minority.
  // sums: sums of rows may cancel, so the limit is lower, and products in float32 are formed again
  // in double where the remaining clients call for it.
  void screen(std::optional<int> tolerance, bool sums, Intake& intake);

  void mix(const Mix& mix) { gram_ = gram_.mixed(mix); }

  // Forms the products again in double; false where that would gain nothing. mix: how the rows were
  // mixed, or null.
  bool sharpen(const Mix* mix);

  const Gram& gram() const { return gram_; }
  UpdateView server() const { return server_.view(); }

 private:
  bool take_known(const Intake& intake);
  Result<void> compute(Intake& intake);
  void compute_about_median();
  std::vector<double> choose_origin(const RowList& rows) const;

  const Kernels* kernels_ = nullptr;
  const Round* round_ = nullptr;
  RowList clients_;
  RowList server_;
  Gram gram_;
  std::size_t medoid_ = 0;      // the client nearest to the others, before mixing
  bool server_origin_ = false;  // sharpen() subtracts the mean of the server's rows, or the medoid
};

}  // namespace boba
