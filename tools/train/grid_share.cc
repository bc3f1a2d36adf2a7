#include "tools/train/grid_share.h"

#include <nlohmann/json.hpp>

namespace boba::tools {
namespace {

using nlohmann::json;

std::string to_text(const GridShare& share) {
  json ids = json::array();
  for (const auto& [place, id] : share.ids) ids.push_back({place, id});
  // What a file's name or an error says need not be UTF-8.
  return json{{"ids", ids},
              {"complaints", share.complaints},
              {"complete", share.complete},
              {"stopped", share.stopped}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

void add(const json& part, GridShare& all) {
  for (const json& run : part["ids"]) all.ids[run[0].get<std::size_t>()] = run[1];
  for (const json& complaint : part["complaints"]) all.complaints.push_back(complaint);
  all.complete += part["complete"].get<std::size_t>();
  all.stopped = all.stopped || part["stopped"].get<bool>();
}

}  // namespace

GridShare joined(const Communicator& ranks, const GridShare& mine) {
  if (ranks.size() == 1) return mine;
  GridShare all;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    add(json::parse(broadcast_text(ranks, rank, to_text(mine))), all);
  }
  return all;
}

}  // namespace boba::tools
