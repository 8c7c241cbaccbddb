// FakeWrites: what a FakeApiserver does with writes, with the codes and the order of checks of
// Kubernetes 1.37 (binding, pods/status, delete, eviction, podgroups/status, queues/status,
// claims, leases, events, deployments/scale).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "support/fake_objects.hpp"

namespace makeway {

struct FakeAnswer {
  int status = 200;
  std::string body;
};

struct FakeWrite {
  std::string method;
  std::string path;
  std::string body;
};

/// What became of pods, for tests that count.
struct FakeDeed {
  /// "bind", "mark", "delete", "evict", "nominate", "select node", "scale", "event ..."
  std::string what;
  std::string object;  ///< "shop/web"
  std::string detail;  ///< The node, or the note.

  friend bool operator==(const FakeDeed&, const FakeDeed&) = default;
};

class FakeWrites {
 public:
  explicit FakeWrites(FakeObjects& objects) : objects_(objects) {}

  /// None: no such object can be written, or it is no write.
  std::optional<FakeAnswer> handle(const FakeWrite& write, Time now);
  /// GET of one object.
  std::optional<FakeAnswer> get(std::string_view path) const;

  /// Bound pods run at once; pods that are deleted are gone at once. Otherwise they leave with
  /// `let_go`.
  void set_kubelet(bool runs, bool lets_go) {
    kubelet_runs_ = runs;
    kubelet_lets_go_ = lets_go;
  }
  /// Every pod that is being deleted is gone now. How many these were.
  std::size_t let_go();
  const std::vector<FakeDeed>& deeds() const { return deeds_; }

 private:
  struct Place {
    std::string kind;
    std::string namespace_name;
    std::string name;
    std::string part;  ///< "status", "binding"; empty: the object itself.
  };
  static std::optional<Place> place_of(std::string_view path);

  FakeAnswer bind(const Place& place, const JsonValue& body, Time now);
  FakeAnswer patch_claim(const Place& place, const JsonValue& body);
  FakeAnswer scale(const Place& place, const JsonValue& body);
  FakeAnswer patch_status(const Place& place, const JsonValue& body);
  FakeAnswer erase(const Place& place, const JsonValue& body, Time now);
  FakeAnswer evict(const Place& place, const JsonValue& body, Time now);
  FakeAnswer start_leaving(JsonValue pod, std::optional<std::int64_t> grace, Time now);
  FakeAnswer write_lease(const FakeWrite& write, const Place& place, JsonValue body);
  FakeAnswer take_event(const JsonValue& body);
  std::optional<FakeAnswer> spend_budget(const JsonValue& pod);

  FakeObjects& objects_;
  std::vector<FakeDeed> deeds_;
  bool kubelet_runs_ = true;
  bool kubelet_lets_go_ = false;
};

}  // namespace makeway
