// WatchedObjects: what the watches of one cluster report, as changes of its objects.
//
// Lists become the difference to what was there; an object of another uid under an old name is a
// removal and another object; a pod that has finished is gone. One bad object stops no other
// (law 13): what can be read of it is taken, and the problem is kept.
// The last state of a pod that has finished and was a kernel of a session comes with its removal:
// the session keeper must know how it ended. The scheduler also learns which DaemonSets there are,
// and which pods a kubelet refused; of a plane, what its Deployments and autoscalers scale.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "codec/decode.hpp"
#include "codec/json_value.hpp"
#include "codec/object_state.hpp"
#include "control/plane_view.hpp"
#include "control/port.hpp"
#include "kube/resource_watch.hpp"

namespace makeway::kube {

enum class FeedUse : std::uint8_t {
  to_look,      ///< Nothing is decided: objects only, as a list shows them.
  to_compare,   ///< Nothing is written: nominations of all schedulers count as they stand.
  to_schedule,  ///< Object states come along, and only our own records count (version_cache.hpp).
};

class WatchedObjects final : public WatchListener {
 public:
  using Give = std::function<void(Change, std::optional<ObjectState>)>;
  using Fail = std::function<void(const ServedResource&, const ApiError&)>;
  /// What is reported to the loop besides objects.
  struct Reports {
    std::function<void(DaemonSetUpdate)> daemon_set;
    std::function<void(KubeletRefusal)> refusal;
    std::function<void(DeploymentUpdate)> deployment;
    std::function<void(AutoscalerUpdate)> autoscaler;
  };
  /// `fail` may be empty; so may the reports, and the plane: home.
  explicit WatchedObjects(Give give, Fail fail = {}, FeedUse use = FeedUse::to_look,
                          Reports reports = {}, std::string plane = {})
      : give_(std::move(give)),
        fail_(std::move(fail)),
        use_(use),
        reports_(std::move(reports)),
        plane_(std::move(plane)) {}

  void listed(const ServedResource& served, const ObjectPages& pages) override;
  void happened(const ServedResource& served, const WatchEvent& event) override;
  void failed(const ServedResource& served, const ApiError& error) override;

  std::uint64_t failures() const { return failures_; }
  std::uint64_t refused() const { return refused_; }

 private:
  using Name = std::pair<std::string, std::string>;  ///< Namespace and name.
  using Uids = std::map<Name, std::string>;

  struct Decoded {
    Change change;
    std::optional<ObjectState> seen_object = std::nullopt;
  };

  /// What a text holds, by name.
  std::map<Name, Decoded> decode(const ServedResource& served, std::string_view padded_text);
  void add_object_states(const ServedResource& served, std::string_view padded_text,
                         std::map<Name, Decoded>& objects) const;
  void report_refusal(const ObjectState& finished) const;
  void listed_daemon_sets(const ServedResource& served, const ObjectPages& pages);
  void listed_news(const ServedResource& served, const ObjectPages& pages);
  void happened_news(const ServedResource& served, const WatchEvent& event);
  std::optional<Name> report_update(const ServedResource& served, const JsonValue& object) const;
  void report_removal(const ServedResource& served, const Name& name) const;
  void upsert(const ServedResource& served, const Name& name, Decoded decoded);
  void remove(const ServedResource& served, const Name& name);

  Give give_;
  Fail fail_;
  FeedUse use_;
  Reports reports_;
  std::string plane_;
  ObjectDecoder decoder_;
  std::map<std::string_view, Uids> known_;  ///< By resource.
  std::uint64_t failures_ = 0;
  std::uint64_t refused_ = 0;  ///< Objects with errors.
};

/// Whether it makes sense to watch them: the store keeps objects of this kind, or the loop
/// must know which there are.
bool is_watched(const Resource& resource, FeedUse use);
/// What to watch instead. The loop must see why a pod has failed, and a server ends
/// the watch of an object that leaves a selection with how it was before; where there are sessions,
/// also that it has succeeded. Of a DaemonSet only its name matters.
const Resource& watched_instead(const Resource& resource, FeedUse use, bool has_sessions);

}  // namespace makeway::kube
