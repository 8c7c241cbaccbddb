#include "codec/decode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>

#include "base/check.hpp"
#include "codec/json_value.hpp"
#include "codec/kinds.hpp"
#include "codec/source.hpp"
#include "codec/unknown_fields.hpp"
#include "codec/workloads/workloads.hpp"
#include "model/names.hpp"
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

/// What to do with an object of some type.
struct KindFound {
  enum class Role : std::uint8_t { unknown, object, list, own_document, workload };
  Role role = Role::unknown;
  const TextKind* kind = nullptr;  ///< Of an object of the cluster.
};

KindFound kind_of(const TypeMeta& type) {
  using Role = KindFound::Role;
  if (type.kind == "List") return {.role = Role::list};
  const std::string_view group = type.group();
  // Pods are last in the table and most frequent.
  for (const TextKind& candidate : std::views::reverse(text_kinds)) {
    if (candidate.api_group != group || !type.kind.starts_with(candidate.row.name)) continue;
    const std::string_view rest = type.kind.substr(candidate.row.name.size());
    if (rest.empty()) return {.role = Role::object, .kind = &candidate};
    if (rest == "List") return {.role = Role::list};  // As the API server answers: PodList, ...
  }
  if (group == own_api_group) return {.role = Role::own_document};
  if (is_workload_kind(group, type.kind)) return {.role = Role::workload};
  if (type.kind.ends_with("List") &&
      is_workload_kind(group, type.kind.substr(0, type.kind.size() - 4))) {
    return {.role = Role::list};
  }
  return {};
}

}  // namespace

void DecodeReport::skip(std::string kind) {
  const auto known = skipped.find(kind);
  if (known != skipped.end()) {
    ++known->second;
  } else if (skipped.size() < skipped_kinds_max) {
    skipped.emplace(std::move(kind), 1);
  } else {
    ++skipped[std::string(other_kinds)];
  }
}

/// One text being decoded.
struct ObjectDecoder::State {
  simdjson::ondemand::parser parser;
  Change pod = Pod{};  ///< Kept apart, so that its buffers are used again.
  PodDraft draft;
  Change other;

  std::string_view all_text;  ///< With the other documents.
  std::string_view text;
  DecodeOptions options;
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
  void one(JsonReader& reader, JsonObjectCursor& object, const FieldPath& path,
           const TextKind& kind);
  void whole(JsonReader& reader, JsonObjectCursor& object, const FieldPath& path,
             const TypeMeta& type, KindFound::Role role) const;
  std::optional<TypeMeta> type_of(JsonReader& reader, JsonObjectCursor& object,
                                  const FieldPath& path, TypeMeta inherited) const;
  void report_problems(std::string_view object = {});
  bool put_into_quarantine(Change& object);
  void warn_of_unknown_fields(JsonReader& reader, JsonObjectCursor& object, const FieldPath& path,
                              const TextKind& kind);
};

ObjectDecoder::ObjectDecoder() : state_(std::make_unique<State>()) {}
ObjectDecoder::~ObjectDecoder() = default;

/// Hands over what was found, in `object` where that has a name.
void ObjectDecoder::State::report_problems(std::string_view object) {
  if (found.empty()) return;
  for (Problem& problem : found) {
    const std::uint64_t line = problem.origin.line;  // Of a syntax error.
    problem.origin = *origin;
    if (origin->line == 0) problem.origin.line = line;
    if (problem.object.empty()) problem.object = object;
  }
  report->problems.append(std::move(found));
  found.clear();
}

namespace {

/// An object that says itself in which plane it is, where that does not count.
void come_home(JsonReader& reader, const FieldPath& path, Change& object) {
  std::visit(
      [&](auto& each) {
        if (each.plane.empty()) return;
        const FieldPath metadata = path.at("metadata");
        reader.warn(metadata.at("annotations").at(names::key_plane), each.plane,
                    "not honoured: only a dump says in which plane an object is", "leave it out");
        each.plane.clear();
      },
      object);
}

/// Only a dump says what losing a pod costs; otherwise its controllers do.
void forget_loss_units(JsonReader& reader, const FieldPath& path, Change& object) {
  Pod* const pod = std::get_if<Pod>(&object);
  if (pod == nullptr || pod->notes.loss_units.empty()) return;
  const FieldPath metadata = path.at("metadata");
  reader.warn(metadata.at("annotations").at(names::loss_units), pod->notes.loss_units.front().unit,
              "not honoured: only a dump says what stops with a pod", "leave it out");
  pod->notes.loss_units.clear();
}

bool has_name(const Change& object) {
  return std::visit(
      [](const auto& each) {
        if constexpr (ClusterObject<std::decay_t<decltype(each)>>) {
          const ObjectKeyView key = key_of(each);
          return !key.name.empty() && is_object_name(key.name) &&
                 is_object_name(key.namespace_name) && is_object_name(key.plane);
        } else {
          return false;
        }
      },
      object);
}

}  // namespace

/// Goes through the object once more, so only what is written by hand is looked at.
void ObjectDecoder::State::warn_of_unknown_fields(JsonReader& reader, JsonObjectCursor& object,
                                                  const FieldPath& path, const TextKind& kind) {
  const std::string_view name = kind.row.name;
  if (!has_known_fields(name) || report->looked_at == objects_looked_at_max) return;
  ++report->looked_at;
  std::string_view json;
  auto error = object.reset().error();
  if (error == simdjson::SUCCESS) error = object.raw_json().get(json);
  if (error != simdjson::SUCCESS) return reader.broken(error, path);
  if (json.contains("\"uid\"")) return;
  const auto tree = parse_json_value(json);
  if (!tree) return;  // Reported, if it matters.
  for (Problem& problem : find_unknown_fields(name, *tree)) {
    const std::string above = path.text();
    if (!above.empty()) problem.field = fmt::format("{}.{}", above, problem.field);
    found.push_back(std::move(problem));
  }
}

/// Moves the errors there; false: nothing of the object is left.
bool ObjectDecoder::State::put_into_quarantine(Change& object) {
  const std::string name = object_text(object);
  const Problem* first = nullptr;
  Problems others;
  for (Problem& problem : found) {
    problem.origin = *origin;
    if (problem.object.empty()) problem.object = name;
    if (problem.severity != Severity::error) {
      others.push_back(std::move(problem));
      continue;
    }
    if (first == nullptr) first = &problem;
    report->quarantine.add(problem);
  }
  const bool kept = has_name(object) && first != nullptr && isolate(object, *first);
  found = std::move(others);
  return kept;
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
  if (type->group() == own_api_group && type->api_version != own_api_version) {
    Problem problem{.origin = *origin,
                    .field = path.at("apiVersion").text(),
                    .value = shorten(type->api_version),
                    .message = "expected makeway.dev/v1"};
    if (options.keep_going) return report->quarantine.add(std::move(problem));
    return reader.refuse(path.at("apiVersion"), problem.value, problem.message);
  }
  const KindFound found_kind = kind_of(*type);
  switch (found_kind.role) {
    case KindFound::Role::unknown:
      return report->skip(fmt::format("{} {}", shorten(type->api_version), shorten(type->kind)));
    case KindFound::Role::list: return list(reader, object, path, *type, depth);
    case KindFound::Role::own_document:
    case KindFound::Role::workload: return whole(reader, object, path, *type, found_kind.role);
    case KindFound::Role::object: return one(reader, object, path, *found_kind.kind);
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
  reader.each_field(object, path, [&](const JsonField& items) {
    if (items.key != "items") return;
    items.each_item([&](const JsonField& item) {
      JsonObjectCursor inner;
      if (const auto error = item.cursor.get_object().get(inner)) {
        if (error != simdjson::INCORRECT_TYPE) return item.reader.broken(error, item.path);
        return item.refuse({}, "expected an object");
      }
      any_object(reader, inner, item.path, item_type, depth + 1);
    });
  });
}

void ObjectDecoder::State::one(JsonReader& reader, JsonObjectCursor& object, const FieldPath& path,
                               const TextKind& kind) {
  report_problems();  // What was found so far is not about this object.
  Change& decoded = kind.row.kind == ObjectKind::pod ? pod : other;
  const ObjectCursor cursor{.reader = reader, .object = object, .path = path};
  const bool present = kind.decode(cursor, draft, options.plane, decoded) == PodState::present;
  if (!options.planes_of_dumps && options.plane.empty()) come_home(reader, path, decoded);
  if (!options.planes_of_dumps) forget_loss_units(reader, path, decoded);
  const Pod* const as_pod = std::get_if<Pod>(&decoded);
  const bool by_hand = present && (as_pod == nullptr || as_pod->uid.empty());
  if (options.unknown_fields && by_hand && !reader.is_broken()) {
    warn_of_unknown_fields(reader, object, path, kind);
  }
  bool refused = has_errors(found);
  if (refused && options.keep_going && !reader.is_broken()) {
    if (!present) found.clear();  // What has finished does no harm.
    refused = present && !put_into_quarantine(decoded);
  }
  if (!found.empty()) report_problems(object_text(decoded));
  if (refused) return;
  if (present) {
    ++report->objects;
    sink->object(decoded, *origin);
  } else {
    ++report->finished_pods;
  }
}

/// Hands the text of an object on.
void ObjectDecoder::State::whole(JsonReader& reader, JsonObjectCursor& object,
                                 const FieldPath& path, const TypeMeta& type,
                                 KindFound::Role role) const {
  std::string_view json;
  if (const auto error = object.raw_json().get(json)) return reader.broken(error, path);
  const std::string kind(type.kind);
  if (role == KindFound::Role::workload) {
    const std::string group(type.group());
    sink->workload({.api_group = group, .kind = kind}, json, *origin);
  } else {
    sink->own_document(kind, json, *origin);
  }
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
  simdjson::ondemand::document root;
  const auto error =
      parser.iterate(document.data(), document.size(), document.size() + text_padding).get(root);
  JsonReader reader(found, {.whole = all_text,
                            .document = document,
                            .cursor = error == simdjson::SUCCESS ? &root : nullptr});
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
                           DecodeReport& report, const DecodeOptions& options) {
  Origin here = origin;
  state_->all_text = text;
  state_->options = options;
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
