// Trust (SPEC section 10): in a live cluster a mark on an object is a request of its tenant, not a
// right.
//
// `apply_trust` is one pure step between the objects as they were read and every decision: marks
// that `trust.mode` does not honour are taken off the objects, so that the plan is the one
// that would be made without them, and no later step has to know about trust. Marks count in
// namespaces that the configuration lists, or that carry the label makeway.dev/trusted.
// With `trust.mode` files it changes nothing, unless `trust.outsideQueues` says so.
//
// A live run does not examine everything after every change: a `TrustScope`
// names the pods and groups to look at. Its cluster must show these as they were read; what is
// outside of it stays as it is. What the step has edited comes back with how it was before.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/problem.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"

namespace makeway {

/// The rows of the table in SPEC section 10 that may be refused.
enum class TrustMark : std::uint8_t {
  pinned,
  protection,
  preemption_priority,
  group_priority,
  queue_label,
  outside_queues,
  deployment_label,
  session,
  replica_schedule,
  cost,
  note,
  configuration,
};
template <>
inline constexpr std::array<std::string_view, 12> choice_names<TrustMark> = {"pinned",
                                                                             "protection",
                                                                             "preemption-priority",
                                                                             "group-priority",
                                                                             "queue-label",
                                                                             "outside-queues",
                                                                             "deployment-label",
                                                                             "session",
                                                                             "replica-schedule",
                                                                             "cost",
                                                                             "note",
                                                                             "configuration"};

/// All marks of one sort that did not count.
struct NotHonoured {
  TrustMark mark = TrustMark::pinned;
  std::int64_t objects = 0;
  std::string object;  ///< The first by name, with what it says.
  std::string field;
  std::string value;

  friend bool operator==(const NotHonoured&, const NotHonoured&) = default;
};

class TrustReport {
 public:
  TrustReport() = default;
  /// Called with every single mark; its `objects` is 1.
  explicit TrustReport(std::function<void(const NotHonoured&)> on_each)
      : on_each_(std::move(on_each)) {}
  void add(TrustMark mark, std::string object, std::string field, std::string_view value);
  /// Those that there are, in the order of TrustMark.
  std::vector<NotHonoured> list() const;
  /// One warning a mark, with the number of objects.
  Problems problems() const;

 private:
  std::array<NotHonoured, choice_names<TrustMark>.size()> marks_;
  std::function<void(const NotHonoured&)> on_each_;
};

/// Why marks of this sort do not count.
std::string_view reason_of(TrustMark mark);

/// What to look at; everything else of the cluster has been looked at before.
struct TrustScope {
  std::vector<PodIndex> pods;
  std::vector<GroupIndex> groups;
};

/// An object that the step has changed. What was or is not there is a Removal.
struct TrustEdit {
  Change before;
  Change after;
};

/// What the step has to know besides the cluster.
struct TrustFacts {
  /// Whether such a DaemonSet exists; DaemonSets are no objects of the store.
  std::function<bool(std::string_view namespace_name, std::string_view name)> has_daemon_set;
  std::optional<Time> now;  ///< None: the newest time that only the cluster itself writes.
  /// The caller has decided which pods are kept (KeptBy); otherwise a pod cannot claim it.
  bool decides_kept = false;
  /// Reservations come from the status, which tenants cannot write, and not from annotations.
  bool recalls_notes = false;
  const TrustScope* scope = nullptr;                ///< Null: everything.
  std::function<void(const NotHonoured&)> on_each;  ///< For callers that report every object.
};

TrustReport apply_trust(Cluster& cluster, const Configuration& configuration,
                        const TrustFacts& facts);
/// The same, with what it has changed: each object once, in the order of kind and name.
TrustReport apply_trust(Cluster& cluster, const Configuration& configuration,
                        const TrustFacts& facts, std::vector<TrustEdit>& edits);

}  // namespace makeway
