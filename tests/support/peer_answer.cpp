#include "support/peer_answer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace makeway {

AskName ask_name(AskKind kind, std::string_view key) {
  const std::size_t slash = key.find('/');
  return {.kind = kind,
          .namespace_name = std::string(key.substr(0, slash)),
          .name = std::string(key.substr(slash + 1))};
}

std::string verdict(Outcome outcome) {
  const bool no = outcome == Outcome::waits || outcome == Outcome::not_found;
  return no ? "infeasible" : std::string(choice_name(outcome));
}

std::vector<std::string> sorted_texts(const JsonValue* array) {
  std::vector<std::string> result;
  if (array == nullptr) return result;
  for (const JsonValue& item : *array->as_array()) result.push_back(*item.as_string());
  std::ranges::sort(result);
  return result;
}

std::vector<std::string> victim_keys(const PlanAsk& ask) {
  std::vector<std::string> keys;
  keys.reserve(ask.victims.size());
  for (const PlanVictim& victim : ask.victims) {
    keys.push_back(fmt::format("{}/{}", victim.namespace_name, victim.name));
  }
  std::ranges::sort(keys);
  return keys;
}

std::vector<PodPlacement> placements_of(const JsonValue& expect) {
  std::vector<PodPlacement> result;
  const JsonValue* const placements = expect.find("placements");
  if (placements == nullptr) return result;
  for (const JsonMember& member : *placements->as_object()) {
    const AskName pod = ask_name(AskKind::pod, member.key);
    result.push_back({.namespace_name = pod.namespace_name,
                      .name = pod.name,
                      .node = *member.value.as_string()});
  }
  return result;
}

std::vector<PodIndex> victims_of(const Cluster& cluster, const JsonValue& expect) {
  std::vector<PodIndex> pods;
  for (const std::string& key : sorted_texts(expect.find("victims"))) {
    const AskName pod = ask_name(AskKind::pod, key);
    pods.push_back(*cluster.find_pod(pod.namespace_name, pod.name));
  }
  return pods;
}

std::uint64_t PeerTally::better() const {
  std::uint64_t sum = 0;
  for (const auto& [key, count] : better_on) sum += count;
  return sum;
}

void PeerTally::print(std::string_view file) const {
  fmt::print("{}: {} cases; ours is equal in {}, better in {}, worse in {}\n", file, cases, equal,
             better(), worse.size());
  for (const auto& [key, count] : better_on) fmt::print("  better on {}: {}\n", key, count);
  for (const auto& [reason, count] : left_out) fmt::print("  left out, {}: {}\n", reason, count);
}

}  // namespace makeway
