#include "codec/resource_names.hpp"

#include <algorithm>

#include "model/resource.hpp"

namespace makeway {
namespace {

/// Calls `visit(amounts)` for what the object asks for.
template <class Object, class Visit>
void each_request(Object& object, const Visit& visit) {
  if (auto* const pod = std::get_if<Pod>(&object)) visit(pod->requests);
  if (auto* const session = std::get_if<Session>(&object)) {
    for (auto& kernel : session->kernels) visit(kernel.requests);
  }
}

}  // namespace

ResourceNames::ResourceNames() {
  for (const std::string_view name : {cpu_name, memory_name, storage_name, pods_name}) {
    offered_.emplace(name);
  }
}

bool ResourceNames::names_new(const Change& object) {
  if (const Node* const node = std::get_if<Node>(&object)) {
    for (const Amount& amount : node->allocatable) offered_.insert(amount.resource);
    return false;
  }
  bool any = false;
  each_request(object, [&](const Amounts& amounts) {
    any = any || !std::ranges::all_of(amounts, [&](const Amount& amount) {
            return offered_.contains(amount.resource);
          });
  });
  return any;
}

std::vector<bool> ResourceNames::limit(std::span<Change* const> objects) const {
  std::set<std::string, std::less<>> others;
  for (const Change* const object : objects) {
    each_request(*object, [&](const Amounts& amounts) {
      for (const Amount& amount : amounts) {
        if (!offered_.contains(amount.resource)) others.insert(amount.resource);
      }
    });
  }
  const std::size_t room =
      offered_.size() < resource_names_max ? resource_names_max - offered_.size() : 0;
  while (others.size() > room) others.erase(std::prev(others.end()));
  std::vector<bool> shortened;
  for (Change* const object : objects) {
    std::size_t taken = 0;
    each_request(*object, [&](Amounts& amounts) {
      taken += std::erase_if(amounts, [&](const Amount& amount) {
        return !offered_.contains(amount.resource) && !others.contains(amount.resource);
      });
    });
    shortened.push_back(taken > 0);
  }
  return shortened;
}

}  // namespace makeway
