// FakeObjects: what a FakeApiserver keeps. Objects as JSON with versions, the history of changes,
// the snapshots behind pages, and the texts of its answers. Not thread-safe; the server locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codec/json_value.hpp"

namespace makeway {

struct FakeKind {
  std::string api_group;  ///< Empty: the core.
  std::string version;
  std::string plural;
  std::string kind;
  bool metadata_only = false;  ///< What is asked for: PartialObjectMetadata.

  std::string group_version() const;
  /// What an answer says that it is of.
  std::string answered_kind() const;
  std::string answered_version() const;
  std::string path() const;
};

class FakeObjects {
 public:
  FakeObjects();

  void serve(std::string_view group_version, std::string_view plural, std::string_view kind);
  /// Null: nothing is served there.
  const FakeKind* find_path(std::string_view path) const;
  std::int64_t put(std::string_view json);
  void put_all(std::string_view json);
  std::int64_t put_tree(JsonValue tree);
  /// Null: there is none.
  const JsonValue* find(std::string_view kind, std::string_view namespace_name,
                        std::string_view name) const;
  /// By namespace and name.
  std::vector<JsonValue> all(std::string_view kind) const;
  void remove(std::string_view kind, std::string_view namespace_name, std::string_view name);
  void compact();
  std::int64_t version() const { return version_; }
  bool is_compacted(std::int64_t since) const { return since < compacted_; }
  /// The last change of any object of the kind that is remembered; 0: none.
  std::int64_t last_change_of(const FakeKind& kind) const;

  struct ListOrder {
    const FakeKind& kind;
    std::string selector;
    std::size_t limit = 0;
    std::string continue_token;
  };
  /// The answer to a list; empty: its token has expired.
  std::string list(const ListOrder& order);
  /// A page of these items.
  std::string page(const FakeKind& kind, const std::vector<std::string>& items,
                   std::string_view token) const;
  std::string group_list() const;
  /// Empty: there is no such group.
  std::string resource_list(std::string_view path) const;
  std::string dump() const;
  /// Lines of a watch, after that version.
  std::string events_since(const FakeKind& kind, std::string_view selector,
                           std::int64_t since) const;
  std::string initial_events(const FakeKind& kind, std::string_view selector) const;

 private:
  struct Event {
    std::int64_t version = 0;
    std::string kind;
    JsonValue before;  ///< Null: it was not there.
    JsonValue after;   ///< Null: it is gone.
  };
  struct Snapshot {
    std::int64_t version = 0;
    std::vector<std::string> items;  ///< That no page had yet.
  };

  std::vector<std::string> items_of(const FakeKind& kind, std::string_view selector,
                                    bool with_type) const;

  std::vector<FakeKind> kinds_;
  /// By kind, namespace and name.
  std::map<std::string, std::map<std::string, JsonValue>, std::less<>> objects_;
  std::vector<Event> history_;
  std::map<std::string, Snapshot, std::less<>> snapshots_;
  std::int64_t version_ = 1'000;
  std::int64_t compacted_ = 0;
  std::uint64_t tokens_ = 0;
};

/// 0: it is none.
std::int64_t number_in(std::string_view text);
/// A Status as JSON. The message is written as it is.
std::string status_text(int code, std::string_view reason, std::string_view message = "fake",
                        std::string_view details_kind = {});
std::string error_event(int code, std::string_view reason);
std::string bookmark_event(const FakeKind& kind, std::int64_t version, bool ends_initial_events);

}  // namespace makeway
