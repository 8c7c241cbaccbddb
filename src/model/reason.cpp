#include "model/reason.hpp"

namespace makeway {

Reasons named(const std::vector<std::string>& names) {
  Reasons list;
  list.reserve(names.size());
  for (const std::string& name : names) {
    list.push_back({.code = ReasonCode::named, .arguments = {name}});
  }
  return list;
}

}  // namespace makeway
