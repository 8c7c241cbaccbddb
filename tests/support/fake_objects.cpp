#include "support/fake_objects.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include "base/check.hpp"
#include "support/fake_json.hpp"

namespace makeway {
namespace {

using fake::key_in;
using fake::member;
using fake::string_value;
using fake::text_at;
using fake::text_of;

struct PlainKind {
  std::string_view group_version;
  std::string_view plural;
  std::string_view kind;
};
/// What every Kubernetes serves, of what we read.
constexpr std::array plain_kinds = {
    PlainKind{"v1", "namespaces", "Namespace"},
    PlainKind{"v1", "nodes", "Node"},
    PlainKind{"v1", "pods", "Pod"},
    PlainKind{"v1", "persistentvolumes", "PersistentVolume"},
    PlainKind{"v1", "persistentvolumeclaims", "PersistentVolumeClaim"},
    PlainKind{"v1", "limitranges", "LimitRange"},
    PlainKind{"apps/v1", "daemonsets", "DaemonSet"},
    PlainKind{"policy/v1", "poddisruptionbudgets", "PodDisruptionBudget"},
    PlainKind{"scheduling.k8s.io/v1", "priorityclasses", "PriorityClass"},
    PlainKind{"storage.k8s.io/v1", "storageclasses", "StorageClass"},
    PlainKind{"storage.k8s.io/v1", "csinodes", "CSINode"},
    PlainKind{"node.k8s.io/v1", "runtimeclasses", "RuntimeClass"},
};

/// "status.phase!=Failed,spec.nodeName=n1"; no match is null.
bool matches(const JsonValue& tree, std::string_view selector) {
  if (tree.is_null()) return false;
  while (!selector.empty()) {
    const std::string_view term = selector.substr(0, selector.find(','));
    const std::size_t equals = term.find('=');
    const bool differs = equals > 0 && term[equals - 1] == '!';
    const std::string_view path = term.substr(0, differs ? equals - 1 : equals);
    if ((text_at(tree, path) == term.substr(equals + 1)) == differs) return false;
    selector.remove_prefix(std::min(term.size() + 1, selector.size()));
  }
  return true;
}

/// As the items of a typed list are.
JsonValue without_type(JsonValue tree) {
  std::erase_if(std::get<JsonValue::Object>(tree.data), [](const JsonMember& each) {
    return each.key == "kind" || each.key == "apiVersion";
  });
  return tree;
}

/// Of the object, as much as was asked for.
JsonValue answered(const FakeKind& kind, JsonValue tree) {
  if (!kind.metadata_only) return tree;
  std::erase_if(std::get<JsonValue::Object>(tree.data),
                [](const JsonMember& each) { return each.key != "metadata"; });
  member(tree, "kind") = string_value(kind.answered_kind());
  member(tree, "apiVersion") = string_value(kind.answered_version());
  return tree;
}

std::string event_text(std::string_view type, const JsonValue& object) {
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, text_of(object));
}

}  // namespace

std::int64_t number_in(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string status_text(int code, std::string_view reason, std::string_view message,
                        std::string_view details_kind) {
  return fmt::format(
      "{{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{{}},\"status\":\"Failure\","
      "\"message\":\"{}\",\"reason\":\"{}\"{},\"code\":{}}}",
      message, reason,
      details_kind.empty() ? std::string{}
                           : fmt::format(",\"details\":{{\"kind\":\"{}\"}}", details_kind),
      code);
}

std::string error_event(int code, std::string_view reason) {
  return fmt::format("{{\"type\":\"ERROR\",\"object\":{}}}\n", status_text(code, reason));
}

std::string bookmark_event(const FakeKind& kind, std::int64_t version, bool ends_initial_events) {
  return fmt::format(
      "{{\"type\":\"BOOKMARK\",\"object\":{{\"kind\":\"{}\",\"apiVersion\":\"{}\",\"metadata\":{{"
      "\"resourceVersion\":\"{}\",\"creationTimestamp\":null{}}}}}}}\n",
      kind.answered_kind(), kind.answered_version(), version,
      ends_initial_events ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");
}

std::string FakeKind::group_version() const {
  return api_group.empty() ? version : fmt::format("{}/{}", api_group, version);
}

std::string FakeKind::answered_kind() const {
  return metadata_only ? "PartialObjectMetadata" : kind;
}

std::string FakeKind::answered_version() const {
  return metadata_only ? "meta.k8s.io/v1" : group_version();
}

std::string FakeKind::path() const {
  return fmt::format("{}{}/{}", api_group.empty() ? "/api/" : "/apis/", group_version(), plural);
}

FakeObjects::FakeObjects() {
  for (const PlainKind& each : plain_kinds) serve(each.group_version, each.plural, each.kind);
}

void FakeObjects::serve(std::string_view group_version, std::string_view plural,
                        std::string_view kind) {
  const std::size_t slash = group_version.find('/');
  const bool is_core = slash == std::string_view::npos;
  kinds_.push_back(
      {.api_group = std::string(is_core ? "" : group_version.substr(0, slash)),
       .version = std::string(is_core ? group_version : group_version.substr(slash + 1)),
       .plural = std::string(plural),
       .kind = std::string(kind)});
}

const FakeKind* FakeObjects::find_path(std::string_view path) const {
  const auto found =
      std::ranges::find_if(kinds_, [&](const FakeKind& kind) { return kind.path() == path; });
  return found == kinds_.end() ? nullptr : &*found;
}

std::int64_t FakeObjects::put(std::string_view json) {
  auto tree = parse_json_value(json);
  CHECK(tree.has_value(), "the test's own JSON");
  return put_tree(std::move(*tree));
}

std::int64_t FakeObjects::put_tree(JsonValue tree) {
  const std::string kind = text_at(tree, "kind");
  JsonValue& place = objects_[kind][key_in(tree)];
  member(member(tree, "metadata"), "resourceVersion") = string_value(std::to_string(++version_));
  history_.push_back({.version = version_, .kind = kind, .before = place, .after = tree});
  place = std::move(tree);
  return version_;
}

const JsonValue* FakeObjects::find(std::string_view kind, std::string_view namespace_name,
                                   std::string_view name) const {
  const auto all = objects_.find(kind);
  if (all == objects_.end()) return nullptr;
  const auto found = all->second.find(fmt::format("{}/{}", namespace_name, name));
  return found == all->second.end() ? nullptr : &found->second;
}

std::vector<JsonValue> FakeObjects::all(std::string_view kind) const {
  std::vector<JsonValue> found;
  const auto of_kind = objects_.find(kind);
  if (of_kind == objects_.end()) return found;
  for (const auto& [key, tree] : of_kind->second) found.push_back(tree);
  return found;
}

void FakeObjects::put_all(std::string_view json) {
  auto tree = parse_json_value(json);
  CHECK(tree.has_value(), "the test's own JSON");
  for (const JsonValue& item : *tree->find("items")->as_array()) put_tree(item);
}

void FakeObjects::remove(std::string_view kind, std::string_view namespace_name,
                         std::string_view name) {
  const std::string key = fmt::format("{}/{}", namespace_name, name);
  auto& all = objects_[std::string(kind)];
  const auto found = all.find(key);
  if (found == all.end()) return;
  JsonValue before = found->second;
  member(member(before, "metadata"), "resourceVersion") = string_value(std::to_string(++version_));
  history_.push_back(
      {.version = version_, .kind = std::string(kind), .before = std::move(before), .after = {}});
  all.erase(found);
}

void FakeObjects::compact() {
  compacted_ = ++version_;
  history_.clear();
  snapshots_.clear();
}

std::vector<std::string> FakeObjects::items_of(const FakeKind& kind, std::string_view selector,
                                               bool with_type) const {
  std::vector<std::string> items;
  const auto all = objects_.find(kind.kind);
  if (all == objects_.end()) return items;
  for (const auto& [key, tree] : all->second) {
    if (!matches(tree, selector)) continue;
    const bool has_type = with_type || kind.metadata_only;
    items.push_back(text_of(answered(kind, has_type ? tree : without_type(tree))));
  }
  return items;
}

std::string FakeObjects::page(const FakeKind& kind, const std::vector<std::string>& items,
                              std::string_view token) const {
  return fmt::format(
      "{{\"kind\":\"{}List\",\"apiVersion\":\"{}\",\"metadata\":{{\"resourceVersion\":\"{}\"{}}},"
      "\"items\":[{}]}}",
      kind.answered_kind(), kind.answered_version(), version_,
      token.empty() ? std::string{} : fmt::format(",\"continue\":\"{}\"", token),
      fmt::join(items, ","));
}

std::string FakeObjects::list(const ListOrder& order) {
  Snapshot snapshot;
  if (order.continue_token.empty()) {
    snapshot = {.version = version_, .items = items_of(order.kind, order.selector, false)};
  } else {
    const auto found = snapshots_.find(order.continue_token);
    if (found == snapshots_.end()) return {};
    snapshot = found->second;
  }
  std::vector<std::string> first = snapshot.items;
  std::string token;
  if (order.limit > 0 && first.size() > order.limit) {
    const auto cut = static_cast<std::ptrdiff_t>(order.limit);
    snapshot.items.assign(first.begin() + cut, first.end());
    first.resize(order.limit);
    token = fmt::format("page/{}=", ++tokens_);
    snapshots_[token] = snapshot;
  }
  // All pages of a list are of one version.
  const std::int64_t newest = std::exchange(version_, snapshot.version);
  std::string text = page(order.kind, first, token);
  version_ = newest;
  return text;
}

std::string FakeObjects::group_list() const {
  std::map<std::string, std::set<std::string>> groups;
  for (const FakeKind& kind : kinds_) {
    if (!kind.api_group.empty()) groups[kind.api_group].insert(kind.version);
  }
  std::vector<std::string> texts;
  for (const auto& [group, versions] : groups) {
    std::vector<std::string> each;
    for (const std::string& version : versions) {
      each.push_back(
          fmt::format("{{\"groupVersion\":\"{0}/{1}\",\"version\":\"{1}\"}}", group, version));
    }
    texts.push_back(fmt::format("{{\"name\":\"{}\",\"versions\":[{}],\"preferredVersion\":{}}}",
                                group, fmt::join(each, ","), each.front()));
  }
  return fmt::format("{{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[{}]}}",
                     fmt::join(texts, ","));
}

std::string FakeObjects::resource_list(std::string_view path) const {
  std::vector<std::string> texts;
  std::string group_version;
  for (const FakeKind& kind : kinds_) {
    if (kind.path() != fmt::format("{}/{}", path, kind.plural)) continue;
    group_version = kind.group_version();
    texts.push_back(
        fmt::format("{{\"name\":\"{}\",\"kind\":\"{}\",\"verbs\":[\"get\",\"list\","
                    "\"watch\"]}}",
                    kind.plural, kind.kind));
  }
  if (texts.empty()) return {};
  return fmt::format(
      "{{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"groupVersion\":\"{}\","
      "\"resources\":[{}]}}",
      group_version, fmt::join(texts, ","));
}

std::string FakeObjects::dump() const {
  std::vector<std::string> items;
  for (const FakeKind& kind : kinds_) {
    std::ranges::move(items_of(kind, {}, true), std::back_inserter(items));
  }
  return fmt::format("{{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{}]}}",
                     fmt::join(items, ","));
}

std::int64_t FakeObjects::last_change_of(const FakeKind& kind) const {
  std::int64_t last = 0;
  for (const Event& event : history_) {
    if (event.kind == kind.kind) last = event.version;
  }
  return last;
}

std::string FakeObjects::events_since(const FakeKind& kind, std::string_view selector,
                                      std::int64_t since) const {
  std::string text;
  for (const Event& event : history_) {
    if (event.version <= since || event.kind != kind.kind) continue;
    const bool was_in = matches(event.before, selector);
    const bool is_in = matches(event.after, selector);
    if (is_in) {
      text += event_text(was_in ? "MODIFIED" : "ADDED", answered(kind, event.after));
    } else if (was_in) {
      // The last content that matched, with the version of what ended that.
      JsonValue gone = event.before;
      member(member(gone, "metadata"), "resourceVersion") =
          string_value(std::to_string(event.version));
      text += event_text("DELETED", answered(kind, std::move(gone)));
    }
  }
  return text;
}

std::string FakeObjects::initial_events(const FakeKind& kind, std::string_view selector) const {
  std::string text;
  for (const std::string& item : items_of(kind, selector, true)) {
    text += fmt::format("{{\"type\":\"ADDED\",\"object\":{}}}\n", item);
  }
  return text + bookmark_event(kind, version_, true);
}

}  // namespace makeway
