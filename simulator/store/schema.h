// The tables of a results database, and how older files become new ones. docs/results-database.md
// describes them for people.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "boba/core/result.h"
#include "simulator/store/sqlite.h"

namespace boba::sim::store {

// PRAGMA application_id of a results database: "boba".
inline constexpr std::int64_t kApplicationId = 0x626f6261;

// Script i leads from version i to version i + 1. A script that was released is never changed.
std::span<const char* const> migrations();

// Refuses a file that is not a results database, one of a later version, and one whose tables,
// views and indexes are not exactly those that the migrations make. An empty file is accepted.
// schema: "main", or the name under which a file is attached.
Result<void> check_identity(Database& database, std::string_view schema = "main");

// Brings the tables to the newest version; all of it happens, or nothing.
Result<void> migrate(Database& database);

// The views that boba itself reads, for this connection only: those of the file are not used.
Result<void> add_views(Database& database);

}  // namespace boba::sim::store
