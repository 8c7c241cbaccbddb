// PortClashes: which of an ask's host ports are taken on a node of a what-if world.
//
// The ports of the node that was asked about last are counted, and the counts follow every move
// there; so a search that puts thousands of pods back one by one looks at each of them once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/scratch.hpp"
#include "engine/survey.hpp"

namespace makeway {

class PortClashes final : public ScratchWatcher {
 public:
  PortClashes(Survey& survey, Scratch& scratch, PodIndex ask);
  ~PortClashes() override;
  PortClashes(const PortClashes&) = delete;
  PortClashes& operator=(const PortClashes&) = delete;

  /// Whether the ask has host ports at all.
  bool any() const { return !ports_.empty(); }
  /// The first of the ask's own ports that is taken, by whichever pod: pods that this world has
  /// placed come in no order that means anything.
  std::optional<StringId> first_taken(NodeIndex node) {
    return any() ? first_taken_of_any(node) : std::nullopt;
  }

  void moved(PodIndex pod, NodeIndex node, int delta) override;

 private:
  struct Port {
    const HostPort* port = nullptr;
    StringId note;
    std::int64_t takers = 0;  ///< Ports of pods on `node_` that clash with it.
  };

  std::optional<StringId> first_taken_of_any(NodeIndex node);
  void count(PodIndex pod, int delta);
  void mark(std::size_t position, bool taken);

  const Cluster& cluster_;
  Scratch& scratch_;
  NodeIndex node_;                    ///< The one that is counted.
  std::vector<Port> ports_;           ///< Sorted by their number.
  std::vector<std::uint64_t> taken_;  ///< A bit for each of `ports_`.
  std::size_t taken_count_ = 0;
  std::size_t first_word_ = 0;  ///< No bit is set in the words before it.
};

/// "8080/TCP", with the address in front when it is not every address.
std::string port_text(const HostPort& port);

}  // namespace makeway
