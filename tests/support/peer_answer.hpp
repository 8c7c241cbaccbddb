// What a case of tests/vectors expects, in the words of a plan, and a count of how our answers
// compare with it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codec/json_value.hpp"
#include "model/cluster.hpp"
#include "model/plan.hpp"
#include "policies/decide.hpp"

namespace makeway {

/// An ask by its key, "default/urgent".
AskName ask_name(AskKind kind, std::string_view key);
/// As kube-scheduler says it: it knows no waiting, and nothing that was not found.
std::string verdict(Outcome outcome);
/// The strings of an array, sorted; none where there is no array.
std::vector<std::string> sorted_texts(const JsonValue* array);
/// The keys of the victims, sorted.
std::vector<std::string> victim_keys(const PlanAsk& ask);
/// `placements`: an object from the pod's key to the node.
std::vector<PodPlacement> placements_of(const JsonValue& expect);
/// The pods of `victims`, in the order of their keys.
std::vector<PodIndex> victims_of(const Cluster& cluster, const JsonValue& expect);

/// How often ours is equal or better, on which key, and what was left out for which reason.
struct PeerTally {
  std::uint64_t cases = 0;
  std::uint64_t equal = 0;
  std::map<std::string, std::uint64_t> better_on;
  std::vector<std::string> worse;  ///< What is said about each.
  std::map<std::string, std::uint64_t> left_out;

  std::uint64_t better() const;
  void print(std::string_view file) const;
};

}  // namespace makeway
