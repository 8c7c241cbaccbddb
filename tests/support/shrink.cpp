#include "support/shrink.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <variant>

#include "model/normalize.hpp"

namespace makeway {
namespace {

/// Sets it to nothing; false: it was nothing already.
template <class Value>
bool reset(Value& value) {
  if (value == Value{}) return false;
  value = Value{};
  return true;
}

using Step = bool (*)(Change&);

template <class Object, auto Member>
bool reset_member(Change& change) {
  Object* const object = std::get_if<Object>(&change);
  return object != nullptr && reset(object->*Member);
}

template <auto Member>
bool reset_shape(Change& change) {
  Pod* const pod = std::get_if<Pod>(&change);
  return pod != nullptr && reset(pod->shape.*Member);
}

template <auto Member>
bool reset_notes(Change& change) {
  Pod* const pod = std::get_if<Pod>(&change);
  return pod != nullptr && reset(pod->notes.*Member);
}

template <auto Member>
bool reset_fleet_status(Change& change) {
  ReplicaSchedule* const schedule = std::get_if<ReplicaSchedule>(&change);
  return schedule != nullptr && reset(schedule->status.*Member);
}

bool drop_last_kernel(Change& change) {
  Session* const session = std::get_if<Session>(&change);
  if (session == nullptr || session->kernels.size() < 2) return false;
  session->kernels.pop_back();
  return true;
}

bool drop_nominations(Change& change) {
  Session* const session = std::get_if<Session>(&change);
  if (session == nullptr) return false;
  bool any = false;
  for (Kernel& kernel : session->kernels) any = reset(kernel.nominated_node) || any;
  return any;
}

bool drop_last_claim(Change& change) {
  ReplicaSchedule* const schedule = std::get_if<ReplicaSchedule>(&change);
  if (schedule == nullptr || schedule->status.claims.empty()) return false;
  schedule->status.claims.pop_back();
  return true;
}

bool drop_last_plane(Change& change) {
  ReplicaSchedule* const schedule = std::get_if<ReplicaSchedule>(&change);
  if (schedule == nullptr || schedule->planes.empty()) return false;
  schedule->planes.pop_back();
  return true;
}

bool drop_last_amount(Change& change) {
  const auto drop = [](Amounts& amounts) {
    if (amounts.empty()) return false;
    amounts.pop_back();
    return true;
  };
  if (Pod* const pod = std::get_if<Pod>(&change)) return drop(pod->requests);
  if (Node* const node = std::get_if<Node>(&change)) return drop(node->allocatable);
  return false;
}

bool drop_last_label(Change& change) {
  const auto drop = [](Labels& labels) {
    if (labels.empty()) return false;
    labels.pop_back();
    return true;
  };
  if (Pod* const pod = std::get_if<Pod>(&change)) return drop(pod->labels);
  if (Node* const node = std::get_if<Node>(&change)) return drop(node->labels);
  return false;
}

constexpr std::array steps = {
    &reset_member<Pod, &Pod::shape>,
    &reset_shape<&PodShape::node_selector>,
    &reset_shape<&PodShape::node_terms>,
    &reset_shape<&PodShape::tolerations>,
    &reset_shape<&PodShape::ports>,
    &reset_shape<&PodShape::affinity>,
    &reset_shape<&PodShape::anti_affinity>,
    &reset_shape<&PodShape::spread>,
    &reset_member<Pod, &Pod::notes>,
    &reset_notes<&PodNotes::preemption_priority_class>,
    &reset_notes<&PodNotes::preemption_cost_seconds>,
    &reset_notes<&PodNotes::last_checkpoint>,
    &reset_notes<&PodNotes::loss_units>,
    &reset_notes<&PodNotes::reserved_since>,
    &reset_notes<&PodNotes::promised>,
    &reset_member<Pod, &Pod::labels>,
    &drop_last_label,
    &reset_member<Pod, &Pod::nominated_node>,
    &reset_member<Pod, &Pod::group>,
    &reset_member<Pod, &Pod::scheduler>,
    &reset_member<Pod, &Pod::priority_class>,
    &reset_member<Pod, &Pod::preemption_policy>,
    &reset_member<Pod, &Pod::requests>,
    &drop_last_amount,
    &reset_member<Pod, &Pod::owners>,
    &reset_member<Pod, &Pod::uid>,
    &reset_member<Pod, &Pod::started>,
    &reset_member<Pod, &Pod::created>,
    &reset_member<Pod, &Pod::deletion>,
    &reset_member<Pod, &Pod::deletion_grace_seconds>,
    &reset_member<Pod, &Pod::ready>,
    &reset_member<Pod, &Pod::mirror>,
    &reset_member<Pod, &Pod::opted_out>,
    &reset_member<Pod, &Pod::is_protected>,
    &reset_member<Pod, &Pod::is_owner>,
    &reset_member<Pod, &Pod::disrupted_by_preemption>,
    &reset_member<Pod, &Pod::kept>,
    &reset_member<Node, &Node::labels>,
    &reset_member<Node, &Node::taints>,
    &reset_member<Node, &Node::unschedulable>,
    &reset_member<Node, &Node::created>,
    &reset_member<PodGroup, &PodGroup::created>,
    &reset_member<PodGroup, &PodGroup::queue>,
    &reset_member<PodGroup, &PodGroup::opted_out>,
    &reset_member<PodGroup, &PodGroup::last_checkpoint>,
    &reset_member<PodGroup, &PodGroup::preemption_cost_seconds>,
    &reset_member<Queue, &Queue::guarantee>,
    &reset_member<Queue, &Queue::limit>,
    &reset_member<Queue, &Queue::allocated>,
    &reset_member<Queue, &Queue::preempting>,
    &reset_member<Queue, &Queue::parent>,
    &reset_member<Queue, &Queue::priority>,
    &reset_member<ReplicaSchedule, &ReplicaSchedule::status>,
    &reset_fleet_status<&ReplicaStatus::missed>,
    &reset_fleet_status<&ReplicaStatus::surplus>,
    &reset_fleet_status<&ReplicaStatus::claims>,
    &drop_last_claim,
    &drop_last_plane,
    &reset_member<ReplicaSchedule, &ReplicaSchedule::unmet>,
    &reset_member<ReplicaSchedule, &ReplicaSchedule::created>,
    &reset_member<Session, &Session::status>,
    &reset_member<Session, &Session::requeue>,
    &reset_member<Session, &Session::preemptible>,
    &reset_member<Session, &Session::checkpointing>,
    &drop_last_kernel,
    &drop_nominations,
};

class Shrinker {
 public:
  Shrinker(std::vector<Change> objects, const StillFails& fails)
      : objects_(std::move(objects)), fails_(fails) {}

  std::vector<Change> run() {
    while (drop_objects() || simplify_objects()) {
    }
    return std::move(objects_);
  }

 private:
  bool drop_objects() {
    bool any = false;
    for (std::size_t chunk = std::max<std::size_t>(1, objects_.size() / 2); chunk > 0; chunk /= 2) {
      for (std::size_t at = 0; at < objects_.size();) {
        std::vector<Change> fewer = objects_;
        const std::size_t end = std::min(at + chunk, fewer.size());
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at),
                    fewer.begin() + static_cast<std::ptrdiff_t>(end));
        if (fails_(fewer)) {
          objects_ = std::move(fewer);
          any = true;
        } else {
          at += chunk;
        }
      }
    }
    return any;
  }

  bool simplify_objects() {
    bool any = false;
    for (std::size_t at = 0; at < objects_.size(); ++at) {
      for (const Step step : steps) {
        std::vector<Change> simpler = objects_;
        if (!step(simpler[at])) continue;
        std::visit([](auto& object) { canonical(object); }, simpler[at]);
        if (simpler[at] == objects_[at] || !fails_(simpler)) continue;
        objects_ = std::move(simpler);
        any = true;
      }
    }
    return any;
  }

  template <class Object>
  static void canonical(Object& object) {
    if constexpr (requires { normalize(object); }) normalize(object);
  }

  std::vector<Change> objects_;
  const StillFails& fails_;
};

}  // namespace

std::vector<Change> shrink(std::vector<Change> objects, const StillFails& fails) {
  return Shrinker(std::move(objects), fails).run();
}

}  // namespace makeway
