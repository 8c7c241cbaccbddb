#include "codec/decode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/check.hpp"
#include "codec/decoders.hpp"
#include "codec/source.hpp"
#include "model/object_text.hpp"

namespace makeway {
namespace {

constexpr int list_depth_max = 4;  // Lists of lists are legal and pointless.

struct TypeMeta {
  std::string_view api_version;
  std::string_view kind;

  std::string_view group() const {
    const std::size_t slash = api_version.find('/');
    return slash == std::string_view::npos ? std::string_view{} : api_version.substr(0, slash);
  }
};

/// A raw JSON string up to its closing quote. Kinds and versions have no escapes; one that has is
/// simply a kind we do not know.
std::string_view raw_text(simdjson::ondemand::raw_json_string raw, const char* end) {
  const char* const begin = raw.raw();
  return {begin, static_cast<std::size_t>(std::find(begin, end, '"') - begin)};
}

enum class Kind : std::uint8_t {
  unknown,
  pod,
  node,
  priority_class,
  budget,
  namespace_object,
  pod_group,
  workload,
  queue,
  replica_schedule,
  resource_group,
  session,
  partition,
  list,
  own
};

struct KindName {
  std::string_view group;
  std::string_view name;
  Kind kind;
};
constexpr std::string_view own_group = "makeway.dev";
constexpr std::array kind_names = {
    KindName{"", "Pod", Kind::pod},
    KindName{"", "Node", Kind::node},
    KindName{"", "Namespace", Kind::namespace_object},
    KindName{"scheduling.k8s.io", "PriorityClass", Kind::priority_class},
    KindName{"scheduling.k8s.io", "PodGroup", Kind::pod_group},
    KindName{"scheduling.k8s.io", "Workload", Kind::workload},
    KindName{"policy", "PodDisruptionBudget", Kind::budget},
    KindName{own_group, Queue::kind_name, Kind::queue},
    KindName{own_group, ReplicaSchedule::kind_name, Kind::replica_schedule},
    KindName{own_group, ResourceGroup::kind_name, Kind::resource_group},
    KindName{own_group, Session::kind_name, Kind::session},
    KindName{own_group, Partition::kind_name, Kind::partition},
};

Kind kind_of(const TypeMeta& type) {
  if (type.kind == "List") return Kind::list;
  for (const KindName& candidate : kind_names) {
    if (candidate.group != type.group() || !type.kind.starts_with(candidate.name)) continue;
    const std::string_view rest = type.kind.substr(candidate.name.size());
    if (rest.empty()) return candidate.kind;
    if (rest == "List") return Kind::list;  // As the API server answers: PodList, NodeList, ...
  }
  return type.group() == own_group ? Kind::own : Kind::unknown;
}

}  // namespace

void DecodeReport::add(Problems more) {
  for (Problem& problem : more) {
    if (problems.size() < problems_max) {
      problems.push_back(std::move(problem));
    } else {
      ++problems_left_out;
    }
  }
}

/// One text being decoded.
struct ObjectDecoder::State {
  simdjson::ondemand::parser parser;
  Change pod = Pod{};  ///< Kept apart, so that its buffers are used again.
  PodDraft draft;
  Change other;

  std::string_view text;
  const Origin* origin = nullptr;
  ObjectSink* sink = nullptr;
  DecodeReport* report = nullptr;
  Problems found;

  std::size_t next_document(std::string_view document);
  void document(JsonReader& reader, simdjson::ondemand::document& root);
  void any_object(JsonReader& reader, JsonObjectCursor& object, const FieldPath& path,
                  TypeMeta inherited, int depth);
  void list(JsonReader& reader, JsonObjectCursor& object, const FieldPath& path,
            const TypeMeta& type, int depth);
  void one(JsonReader& reader, JsonObjectCursor& object, const FieldPath& path, Kind kind);
  void own(JsonReader& reader, JsonObjectCursor& object, const FieldPath& path,
           const TypeMeta& type) const;
  std::optional<TypeMeta> type_of(JsonReader& reader, JsonObjectCursor& object,
                                  const FieldPath& path, TypeMeta inherited) const;
  void place_problems(std::size_t first, std::string_view object);
  void report_problems();
};

ObjectDecoder::ObjectDecoder() : state_(std::make_unique<State>()) {}
ObjectDecoder::~ObjectDecoder() = default;

/// Names the object in the problems found since `first`.
void ObjectDecoder::State::place_problems(std::size_t first, std::string_view object) {
  for (std::size_t index = first; index < found.size(); ++index) {
    if (found[index].object.empty()) found[index].object = object;
  }
}

/// Hands over what was found: the report keeps the first problems and counts the rest.
void ObjectDecoder::State::report_problems() {
  for (Problem& problem : found) problem.origin = *origin;
  report->add(std::move(found));
  found.clear();
}

/// Looks for kind and apiVersion without unescaping, since every text may be unescaped only once.
std::optional<TypeMeta> ObjectDecoder::State::type_of(JsonReader& reader, JsonObjectCursor& object,
                                                      const FieldPath& path,
                                                      TypeMeta inherited) const {
  if (!inherited.kind.empty()) return inherited;  // The items of a typed list are of its type.
  const char* const end = text.data() + text.size();
  TypeMeta type = inherited;
  // Both stand first nearly always; a search by name would walk the whole object for the second.
  for (auto result : object) {
    simdjson::ondemand::field field;
    if (const auto error = std::move(result).get(field)) {
      reader.broken(error, path);
      return std::nullopt;
    }
    const std::string_view key = raw_text(field.key(), end);
    if (key != "apiVersion" && key != "kind") continue;
    simdjson::ondemand::raw_json_string raw;
    if (field.value().get_raw_json_string().get(raw) != simdjson::SUCCESS) {
      reader.refuse(path.at(key), {}, "expected a string");
      return std::nullopt;
    }
    (key == "kind" ? type.kind : type.api_version) = raw_text(raw, end);
    if (!type.kind.empty() && !type.api_version.empty()) break;
  }
  if (const auto error = object.reset().error()) {
    reader.broken(error, path);
    return std::nullopt;
  }
  return type;
}

void ObjectDecoder::State::any_object(JsonReader& reader, JsonObjectCursor& object,
                                      const FieldPath& path, TypeMeta inherited, int depth) {
  const std::optional<TypeMeta> type = type_of(reader, object, path, inherited);
  if (!type) return;
  if (type->kind.empty()) {
    reader.refuse(path.at("kind"), {}, "expected an object with a kind",
                  "set apiVersion and kind, or leave the file out if it is no manifest");
    return;
  }
  if (type->group() == own_group && type->api_version != "makeway.dev/v1") {
    reader.refuse(path.at("apiVersion"), type->api_version, "expected makeway.dev/v1");
    return;
  }
  const Kind kind = kind_of(*type);
  if (kind == Kind::unknown) {
    ++report->skipped[fmt::format("{} {}", shorten(type->api_version), shorten(type->kind))];
  } else if (kind == Kind::list) {
    list(reader, object, path, *type, depth);
  } else if (kind == Kind::own) {
    own(reader, object, path, *type);
  } else {
    one(reader, object, path, kind);
  }
}

void ObjectDecoder::State::list(JsonReader& reader, JsonObjectCursor& object, const FieldPath& path,
                                const TypeMeta& type, int depth) {
  if (depth >= list_depth_max) {
    reader.refuse(path, {}, "lists are nested too deeply", "put the objects into one List");
    return;
  }
  TypeMeta item_type;
  if (type.kind != "List") {
    item_type = {.api_version = type.api_version,
                 .kind = type.kind.substr(0, type.kind.size() - 4)};
  }
  reader.each_field(object, path,
                    [&](std::string_view key, JsonCursor& items, const FieldPath& at) {
                      if (key != "items") return;
                      reader.each_item(items, at, [&](JsonCursor& item, const FieldPath& to) {
                        JsonObjectCursor inner;
                        if (const auto error = item.get_object().get(inner)) {
                          if (error != simdjson::INCORRECT_TYPE) return reader.broken(error, to);
                          return reader.refuse(to, {}, "expected an object");
                        }
                        any_object(reader, inner, to, item_type, depth + 1);
                      });
                    });
}

void ObjectDecoder::State::one(JsonReader& reader, JsonObjectCursor& object, const FieldPath& path,
                               Kind kind) {
  const std::size_t first = found.size();
  bool present = true;
  const ObjectCursor cursor{.reader = reader, .object = object, .path = path};
  switch (kind) {
    case Kind::pod:
      present = decode_pod(cursor, draft, std::get<Pod>(pod)) == PodState::present;
      break;
    case Kind::node: decode_node(cursor, other.emplace<Node>()); break;
    case Kind::priority_class: decode_priority_class(cursor, other.emplace<PriorityClass>()); break;
    case Kind::budget: decode_budget(cursor, other.emplace<DisruptionBudget>()); break;
    case Kind::namespace_object: decode_namespace(cursor, other.emplace<Namespace>()); break;
    case Kind::pod_group: decode_pod_group(cursor, other.emplace<PodGroup>()); break;
    case Kind::workload: decode_workload(cursor, other.emplace<Workload>()); break;
    case Kind::queue: decode_own(cursor, other.emplace<Queue>()); break;
    case Kind::replica_schedule: decode_own(cursor, other.emplace<ReplicaSchedule>()); break;
    case Kind::resource_group: decode_own(cursor, other.emplace<ResourceGroup>()); break;
    case Kind::session: decode_own(cursor, other.emplace<Session>()); break;
    case Kind::partition: decode_own(cursor, other.emplace<Partition>()); break;
    case Kind::unknown:
    case Kind::list:
    case Kind::own: CHECK(false, "not an object of a cluster");
  }
  const Change& decoded = kind == Kind::pod ? pod : other;
  if (found.size() != first) {
    place_problems(first, object_text(decoded));
    report_problems();
  } else if (present) {
    ++report->objects;
    sink->object(decoded, *origin);
  } else {
    ++report->finished_pods;
  }
}

void ObjectDecoder::State::own(JsonReader& reader, JsonObjectCursor& object, const FieldPath& path,
                               const TypeMeta& type) const {
  std::string_view json;
  if (const auto error = object.raw_json().get(json)) return reader.broken(error, path);
  const std::string kind(type.kind);
  sink->own_document(kind, json, *origin);
}

void ObjectDecoder::State::document(JsonReader& reader, simdjson::ondemand::document& root) {
  JsonObjectCursor object;
  const FieldPath path;
  const auto error = root.get_object().get(object);
  if (error == simdjson::INCORRECT_TYPE) {
    reader.refuse(path, {}, "expected an object, found something else",
                  "a manifest begins with apiVersion and kind");
  } else if (error != simdjson::SUCCESS) {
    reader.broken(error, path);
  } else {
    any_object(reader, object, path, {}, 0);
  }
}

namespace {

/// The end of the JSON object at the beginning of `text`, by counting braces outside strings.
std::size_t object_end(std::string_view text) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char byte = text[at];
    if (quoted) {
      if (byte == '\\') ++at;
      if (byte == '"') quoted = false;
    } else if (byte == '"') {
      quoted = true;
    } else if (byte == '{' || byte == '[') {
      ++depth;
    } else if (byte == '}' || byte == ']') {
      if (depth <= 1) return at + 1;
      --depth;
    }
  }
  return text.size();
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos ? std::string_view{} : text.substr(begin);
}

/// Blanks, and the lines "---" with which people separate documents of JSON as well.
std::string_view without_separators(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  text = without_blanks(text);
  while (text.starts_with("---") && (text.size() == 3 || blanks.contains(text[3]))) {
    text = without_blanks(text.substr(3));
  }
  return text;
}

/// Where the first of several documents ends, when that is soon: JSON lines, manifests put
/// together. 0 when there is one document only, or a first one too large to look through
/// beforehand.
std::size_t early_end(std::string_view text) {
  constexpr std::size_t peek_bytes = 64U << 10U;
  const std::string_view head = text.substr(0, peek_bytes);
  const std::size_t end = object_end(head);
  const bool more = end < head.size() && !without_separators(text.substr(end)).empty();
  return more ? end : 0;
}

}  // namespace

/// Decodes the document at the beginning of `document` and returns how much of it that was.
std::size_t ObjectDecoder::State::next_document(std::string_view document) {
  text = document;
  found.clear();
  JsonReader reader(found);
  simdjson::ondemand::document root;
  const auto error =
      parser.iterate(document.data(), document.size(), document.size() + text_padding).get(root);
  std::size_t used = document.size();
  if (error != simdjson::SUCCESS) {
    reader.broken(error, {});
  } else {
    this->document(reader, root);
    const char* location = nullptr;
    const bool more =
        !reader.is_broken() && root.current_location().get(location) == simdjson::SUCCESS;
    if (more) used = object_end(document);  // Another one follows, or this kind was skipped.
  }
  report_problems();
  return used;
}

void ObjectDecoder::decode(std::string_view text, const Origin& origin, ObjectSink& sink,
                           DecodeReport& report) {
  Origin here = origin;
  state_->origin = &here;
  state_->sink = &sink;
  state_->report = &report;
  std::string_view rest = without_blanks(text);
  std::size_t end = early_end(rest);
  if (end != 0) here.document = 1;
  while (true) {
    const std::string_view document = end == 0 ? rest : rest.substr(0, end);
    rest = without_separators(rest.substr(state_->next_document(document)));
    if (rest.empty()) return;
    here.document = std::max(here.document, 1U) + 1;
    end = object_end(rest);
  }
}

}  // namespace makeway
