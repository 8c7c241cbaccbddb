// PromiseWatch: which promised places a trial may have spoilt, so that not all are looked at again.
//
// It learns which promises stand while nothing is tried. A place that depends on others by spread
// alone stands as long as no pod moved on its node or in its domains, and no constraint's least
// count has fallen: more elsewhere only makes a spread more even. All other places are doubtful
// after any move. With a promise on each host, a trial costs a look at one of them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "engine/fit.hpp"

namespace makeway {

class PromiseWatch {
 public:
  /// Nothing is known of any promise.
  void forget();
  /// How many were learnt.
  std::size_t size() const { return size_; }
  /// The next promise; `stands` while nothing is tried. The fit outlives this.
  void learn(NodeIndex node, PodFit& fit, bool stands);
  /// Positions of those that may not stand after these moves; some may be named twice.
  std::vector<std::uint32_t> doubtful(std::span<const Scratch::Move> moves) const;

 private:
  using Positions = std::vector<std::uint32_t>;
  struct Alike {
    std::vector<std::int32_t> least;  ///< By constraint, while nothing is tried.
    Positions positions;
  };

  std::uint32_t size_ = 0;
  Positions always_;
  std::map<NodeIndex, Positions> by_node_;
  std::map<const Topology*, std::map<std::uint32_t, Positions>> by_domain_;
  std::map<PodFit*, Alike> by_fit_;
};

}  // namespace makeway
