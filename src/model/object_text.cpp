#include "model/object_text.hpp"

#include <fmt/format.h>

namespace makeway {
namespace {

struct ObjectText {
  std::string operator()(const Node& object) const { return object_text("Node", {}, object.name); }
  std::string operator()(const Pod& object) const { return namespaced("Pod", object); }
  std::string operator()(const PriorityClass& object) const {
    return object_text("PriorityClass", {}, object.name);
  }
  std::string operator()(const DisruptionBudget& object) const {
    return namespaced("PodDisruptionBudget", object);
  }
  std::string operator()(const PodGroup& object) const { return namespaced("PodGroup", object); }
  std::string operator()(const Workload& object) const { return namespaced("Workload", object); }
  std::string operator()(const Namespace& object) const {
    return object_text("Namespace", {}, object.name);
  }
  std::string operator()(const Removal& removal) const {
    return object_text("removal of", removal.namespace_name, removal.name);
  }

  template <class Object>
  static std::string namespaced(std::string_view kind, const Object& object) {
    return object_text(kind, object.namespace_name, object.name);
  }
};

}  // namespace

std::string object_text(std::string_view kind, std::string_view namespace_name,
                        std::string_view name) {
  if (name.empty()) return std::string(kind);
  if (namespace_name.empty()) return fmt::format("{} {}", kind, name);
  return fmt::format("{} {}/{}", kind, namespace_name, name);
}

std::string object_text(const Change& change) { return std::visit(ObjectText{}, change); }

}  // namespace makeway
