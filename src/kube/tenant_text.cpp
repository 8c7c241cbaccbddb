#include "kube/tenant_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace makeway::kube {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kind_words = {
    {{"Pod", "a pod"},
     {"PodGroup", "a pod group"},
     {"Session", "a session"},
     {"Deployment", "a deployment"},
     {"ReplicaSchedule", "a replica schedule"}}};
constexpr std::string_view namespace_words = "in namespace";

/// What replaces a name of another namespace, and the word before it, which begins at `last`;
/// empty: the name may be shown.
std::string replacement_for(std::string_view text_shown, std::size_t last, std::string_view name,
                            std::string_view namespace_name,
                            const std::vector<PodPlacement>& named) {
  const std::string_view before = text_shown.substr(last);
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) {
    const bool is_other =
        text_shown.ends_with(namespace_words) && !name.empty() && name != namespace_name;
    return is_other ? "another namespace" : "";
  }
  if (name.substr(0, slash) == namespace_name) return {};
  const auto* const kind =
      std::ranges::find(kind_words, before, [](const auto& each) { return each.first; });
  if (kind != kind_words.end()) return fmt::format("{} of another namespace", kind->second);
  const bool is_named = std::ranges::any_of(named, [&](const PodPlacement& pod) {
    return fmt::format("{}/{}", pod.namespace_name, pod.name) == name;
  });
  if (!is_named) return {};
  const bool is_kernel = name.find('/', slash + 1) != std::string_view::npos;
  return fmt::format("{}{}{} of another namespace", before, before.empty() ? "" : " ",
                     is_kernel ? "a kernel" : "a pod");
}

}  // namespace

std::string tenant_text(std::string_view text, std::string_view namespace_name,
                        const std::vector<PodPlacement>& named) {
  std::string text_shown;
  std::size_t last = 0;  // Where the word before begins.
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const std::string_view name = word.substr(0, word.find_last_not_of(",;:.()") + 1);
    const std::string instead = replacement_for(text_shown, last, name, namespace_name, named);
    if (!instead.empty()) {
      const bool is_alone = last == text_shown.size();
      text_shown.resize(last);
      if (is_alone && at > 0) text_shown += ' ';
      text_shown += instead;
      text_shown += word.substr(name.size());
      last = text_shown.size();
    } else {
      if (at > 0) text_shown += ' ';
      last = text_shown.size();
      text_shown += word;
    }
    at = end + 1;
  }
  return text_shown;
}

}  // namespace makeway::kube
