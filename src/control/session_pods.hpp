// SessionPods: pods of a live cluster that are kernels of sessions (SPEC section 8).
//
// In the store a kernel is a row of its own, made from the Session. The pod that runs it would be
// counted once more, so the loop is not shown it:
//  1. The pod that a row stands for is hidden: its controller is that Session, it has the name that
//     we gave it, and it is where the status says that the kernel is.
//  2. Any other pod whose controller is a Session is usage where it runs (what an earlier start
//     left behind, or a user made by hand), and no ask where it does not.
//  3. Pods of planes are never kernels, whatever their names and controllers.
//  4. A session that does not run and has a kernel without a template is not shown: there is
//     nothing to start, and it would keep others waiting.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/objects.hpp"
#include "model/plan.hpp"

namespace makeway {

/// Of the start after so many preemptions: "train-main-0".
std::string kernel_pod_name(std::string_view session, std::string_view kernel,
                            std::int64_t preemptions);
/// Whether its controller is a Session.
bool is_of_session(const Pod& pod);
/// Whether it is about a session, or a kernel of one: a pod may have the same name.
bool is_about_session(const PlanAction& action);
/// What the plan says about the session that leaves by that action; null: nothing.
const PlanSessionVictim* session_victim(const Plan& plan, const PlanAction& action);

class SessionPods {
 public:
  /// What the others may see instead of these changes.
  std::vector<Change> show(std::vector<Change> changes);

 private:
  using Name = std::pair<std::string, std::string>;  ///< Namespace, name.
  struct Row {
    std::string owner;  ///< The uid of the Session.
    std::string node;
  };
  struct Known {
    Pod pod;
    bool is_shown = false;
  };

  void take_session(Session session, std::vector<Change>& shown);
  void take_pod(Pod pod, std::vector<Change>& shown);
  void take_removal(const Removal& gone, std::vector<Change>& shown);
  void look_at(const std::set<Name>& pods, std::vector<Change>& shown);
  bool is_hidden(const Pod& pod) const;

  std::map<Name, std::set<Name>> sessions_;  ///< Names of the pods that their rows stand for.
  std::map<Name, Row> rows_;                 ///< By pod.
  std::map<Name, Known> pods_;
  std::set<Name> held_;  ///< Sessions that are not shown.
};

}  // namespace makeway
