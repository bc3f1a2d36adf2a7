// Conditions on runs, as `boba results --where` takes them: "rule=boba,accuracy>=0.9".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "boba/core/options.h"
#include "boba/core/result.h"
#include "simulator/store/sqlite.h"

namespace boba::sim::store {

using Operand = std::variant<std::int64_t, double, std::string>;

// SQL over the columns of results and runs and status_now, with a place for each value.
struct Where {
  std::string sql;  // "1" if there is no condition
  std::vector<Operand> operands;

  // They look into this object.
  std::vector<Value> values() const;
};

// Comma-separated conditions, all of which hold; a comma inside brackets belongs to a value.
//   key=value   key!=value    the whole text, or the name of a spec before its brackets
//   key~text    key!~text     contains it, in capitals or not
//   key<value and <= > >=     numbers and times
Result<Where> parse_where(std::string_view text);

// The keys of conditions.
std::vector<OptionInfo> where_keys();

}  // namespace boba::sim::store
