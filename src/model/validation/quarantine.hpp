// Quarantine (SPEC section 1, law 13): a bad object never stops the others, and that never protects
// it.
//
//  1. Decoders leave out what cannot be read and clamp what is too large; `isolate` makes the rest
//     of such an object harmless.
//  2. `quarantine_errors` does the same with what is wrong beside other objects: a class that is
//     not there, a queue that is its own ancestor. `quarantine_caps` takes back preemption
//     priorities that the administrator forbids.
//  3. A bound pod stays where it is, with its usage, a victim by its own priority; a pending one is
//     not placed, and its plan says why.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/problem.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"

namespace makeway {

/// What is wrong, of which objects.
class Quarantine {
 public:
  void add(Problem problem);
  void append(Quarantine more);

  bool empty() const { return problems_.empty(); }
  bool contains(std::string_view object) const { return objects_.contains(object); }
  /// Problems that do not say whose they are count as one object each.
  std::uint64_t objects() const { return objects_.size() + nameless_; }
  const Problems& problems() const { return problems_; }
  Problems& problems() { return problems_; }

 private:
  Problems problems_;  ///< Errors.
  std::set<std::string, std::less<>> objects_;
  std::uint64_t nameless_ = 0;
};

/// Of an object that was read with errors, `why` being the first. False: it holds nothing that
/// others rely on and is left out.
bool isolate(Change& object, const Problem& why);
/// A pending pod is not placed any more, a bound one stays as it is.
void hold(Pod& pod, const Problem& why);
void hold(Pod& pod, std::string_view reason);

/// The cluster has no errors (find_errors) afterwards that anything depends on.
void quarantine_errors(Cluster& cluster, Quarantine& quarantine);
void quarantine_caps(Cluster& cluster, const Configuration& configuration, Quarantine& quarantine);

}  // namespace makeway
