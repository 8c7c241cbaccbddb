#include "support/random_planes.hpp"

#include <string>
#include <variant>

namespace makeway {

void scatter_over_planes(Prng& prng, std::vector<Change>& changes) {
  static const std::vector<std::string> planes = {"", "east", "west"};
  for (Change& change : changes) {
    std::visit([&](auto& object) { object.plane = prng.pick(planes); }, change);
  }
}

void repeat_in_plane(std::vector<Change>& objects) {
  std::vector<Change> copies = objects;
  for (Change& change : copies) {
    std::visit([](auto& object) { object.plane = "east"; }, change);
  }
  objects.insert(objects.end(), copies.begin(), copies.end());
}

}  // namespace makeway
