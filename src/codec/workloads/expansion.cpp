#include "codec/workloads/expansion.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "codec/source.hpp"
#include "codec/workloads/json_edit.hpp"
#include "codec/workloads/made_names.hpp"
#include "codec/workloads/workload_kinds.hpp"
#include "codec/writer.hpp"
#include "model/names.hpp"
#include "model/selector.hpp"

namespace makeway {
namespace {

/// Keeps the one object of a text.
class OneObjectSink final : public ObjectSink {
 public:
  explicit OneObjectSink(Change& target) : target_(target) {}

  void object(const Change& object, const Origin& /*origin*/) override { target_ = object; }
  void own_document(std::string_view /*kind*/, std::string_view /*json*/,
                    const Origin& /*origin*/) override {}
  void workload(const ObjectType& /*type*/, std::string_view /*json*/,
                const Origin& /*origin*/) override {}

 private:
  Change& target_;
};

JsonValue owner_value(const OwnerReference& owner) {
  return array_value({object_value({{"kind", text_value(owner.kind)},
                                    {"name", text_value(owner.name)},
                                    {"uid", text_value(owner.uid)},
                                    {"controller", {.data = true}}})});
}

/// The members of `object` and the pairs, which win. Large objects are not copied.
std::string text_with(const JsonValue& object, const TextPairs& pairs) {
  if (!object.is_null() && object.as_object() == nullptr) return compact_text(object);
  std::string text = "{";
  const auto write_key = [&text](std::string_view key) {
    if (text.size() > 1) text += ',';
    append_json_string(text, key);
    text += ':';
  };
  if (const JsonValue::Object* const members = object.as_object()) {
    for (const JsonMember& each : *members) {
      const bool replaced =
          std::ranges::find(pairs, each.key, &TextPairs::value_type::first) != pairs.end();
      if (replaced) continue;
      write_key(each.key);
      text += compact_text(each.value);
    }
  }
  for (const auto& [key, value] : pairs) {
    write_key(key);
    append_json_string(text, value);
  }
  return text + "}";
}

std::optional<Operator> operator_of(std::string_view text) {
  if (text == "In") return Operator::in;
  if (text == "NotIn") return Operator::not_in;
  if (text == "Exists") return Operator::exists;
  if (text == "DoesNotExist") return Operator::does_not_exist;
  return std::nullopt;
}

void read_expression(const ManifestField& field, LabelSelector& selector) {
  Requirement wanted{.key = field.at("key").text()};
  const ManifestField written = field.at("operator");
  const std::optional<Operator> operation = operator_of(written.text());
  if (!operation) return written.refuse("expected In, NotIn, Exists or DoesNotExist");
  wanted.operation = *operation;
  for (const ManifestField& value : field.at("values").items())
    wanted.values.push_back(value.text());
  std::ranges::sort(wanted.values);
  selector.requirements.push_back(std::move(wanted));
}

}  // namespace

bool MadePods::take(std::size_t bytes) {
  if (pods_ >= pods_max || !charge(bytes)) return false;
  ++pods_;
  return true;
}

bool MadePods::charge(std::size_t bytes) {
  if (bytes_ + bytes > text_max) return false;
  bytes_ += bytes;
  return true;
}

std::string MadePods::fresh_name(const Cluster& cluster, std::string_view namespace_name,
                                 std::string_view base) {
  std::uint32_t& number = next_number_[fmt::format("{}/{}", namespace_name, base)];
  while (true) {
    std::string name = with_suffix(base, number++);
    if (!cluster.find_pod(namespace_name, name)) return name;
  }
}

Expansion::Expansion(const ExpansionScope& scope, const Manifest& root, bool asked)
    : scope_(scope), root_(root), asked_(asked), free_bytes_(root.text.size()) {
  result_.kind = root.kind->name;
  result_.namespace_name = root.namespace_name;
  result_.name = root.name;
  // Pods of other planes are placed by their own schedulers.
  if (root.being_deleted || !root.plane.empty()) stopped_ = true;
}

Expansion::Opened& Expansion::open(const Manifest& manifest, std::string_view text) {
  Opened*& opened = opened_by_[{&manifest, text.data() == manifest.live_text.data()}];
  if (opened == nullptr) {
    opened =
        &opened_.emplace_back(Opened{{}, ManifestProblems(manifest.object(), manifest.origin)});
    auto tree = parse_json_value(text);
    if (tree) {
      opened->tree = std::move(*tree);
    } else {
      Problem problem = std::move(tree.error());
      problem.origin = manifest.origin;
      opened->problems.add(std::move(problem));
    }
  }
  return *opened;
}

ManifestField Expansion::fields(const Manifest& manifest) {
  Opened& opened = open(manifest, manifest.text);
  return {&opened.tree, "", opened.problems};
}

ManifestField Expansion::status(const Manifest& manifest) {
  if (manifest.live_text.empty()) return fields(manifest).at("status");
  Opened& opened = open(manifest, manifest.live_text);
  return ManifestField(&opened.tree, "", opened.problems).at("status");
}

ManifestField Expansion::keep(JsonValue tree, const ManifestField& like) {
  kept_.push_back(std::move(tree));
  return {&kept_.back(), like.path(), like.problems()};
}

const Manifest* Expansion::find(std::string_view kind, std::string_view name) const {
  const WorkloadKind* const row = find_workload_kind(kind);
  const bool everywhere = row != nullptr && row->scope == Scope::everywhere;
  const auto found = scope_.manifests.find(
      {kind, root_.plane, everywhere ? std::string() : root_.namespace_name, std::string(name)});
  return found == scope_.manifests.end() ? nullptr : &found->second;
}

std::vector<const Manifest*> Expansion::children(std::string_view kind,
                                                 const OwnerReference& owner) const {
  std::vector<const Manifest*> all;
  const auto found =
      scope_.children.find({owner.kind, root_.plane, root_.namespace_name, owner.name});
  if (found == scope_.children.end()) return all;
  for (const Manifest* const child : found->second) {
    const bool other =
        !child->controller.uid.empty() && !owner.uid.empty() && child->controller.uid != owner.uid;
    if (child->kind->name == kind && !other) all.push_back(child);
  }
  return all;
}

std::vector<PodIndex> Expansion::pods_of(std::string_view kind, const std::string& name,
                                         const std::string& uid) const {
  return existing().of(namespace_name(), {.kind = std::string(kind), .name = name, .uid = uid});
}

OwnerReference Expansion::controller(std::string_view kind, std::string_view name,
                                     std::string_view uid) const {
  return {.kind = std::string(kind),
          .name = std::string(name),
          .uid = uid.empty() ? made_uid(fmt::format("{} {}/{}", kind, namespace_name(), name))
                             : std::string(uid),
          .controller = true};
}

std::int64_t Expansion::priority_of(const JsonValue& spec) const {
  if (const JsonValue* const given = spec.find("priority")) {
    if (const std::int64_t* const number = given->as_integer()) return *number;
  }
  const std::string_view name = text_at(spec, {"priorityClassName"});
  const PriorityClass* const named =
      name.empty() ? cluster().default_priority_class() : cluster().find_priority_class(name);
  return named == nullptr ? 0 : named->value;
}

void Expansion::hold(std::string why) {
  if (result_.held.empty()) result_.held = std::move(why);
  if (!asked_) stopped_ = true;
}

void Expansion::hold_if_off(const ManifestField& spec, std::string_view manager_of_kind) {
  if (spec.at("suspend").truth()) hold(fmt::format("it is suspended ({}.suspend)", spec.path()));
  const std::string manager = spec.at("managedBy").text();
  if (manager.empty() || manager == manager_of_kind) return;
  hold(fmt::format("{} manages it ({}.managedBy)", shorten(manager), spec.path()));
}

bool Expansion::note_if_present(std::string_view name) {
  const auto pod = cluster().find_pod(namespace_name(), name);
  if (pod) note_present(*pod);
  return pod.has_value();
}

void Expansion::note_present(PodIndex pod) {
  ++result_.present;
  if (existing().is_pending(pod)) {
    result_.pending.push_back(pod);
  } else if (existing().is_active(pod)) {
    result_.running.push_back(pod);
  }
}

void Expansion::share_loss(PodIndex pod, LossShare share) {
  // What a dump writes between shares; no name of Kubernetes has it.
  constexpr std::string_view separators = ";,";
  const bool runs = existing().is_active(pod) && !existing().is_pending(pod);
  if (ended_ || !runs || share.unit.find_first_of(separators) != std::string::npos ||
      share.part.find_first_of(separators) != std::string::npos) {
    return;
  }
  scope_.losses[pod].push_back(std::move(share));
}

std::string Expansion::fresh_name(std::string_view base) {
  if (stopped_) return with_suffix(base, 0);
  return scope_.made.fresh_name(cluster(), namespace_name(), base);
}

/// Read once for all; it was read before, so it is JSON.
const JsonValue* Expansion::reference(const Manifest& manifest) {
  const auto [at, is_new] = scope_.references.try_emplace(&manifest);
  if (is_new) at->second = parse_json_value(manifest.text).value_or(JsonValue{});
  return &at->second;
}

/// Looks the objects up that admission reads; they are references, and may be missing.
Admission Expansion::admission_of(PodTemplate& pods) {
  Admission admission;
  for (auto at = scope_.manifests.lower_bound({"LimitRange", root_.plane, namespace_name(), ""});
       at != scope_.manifests.end(); ++at) {
    const Manifest& range = at->second;
    if (range.kind->name != "LimitRange" || range.namespace_name != namespace_name() ||
        range.plane != root_.plane) {
      break;
    }
    admission.limit_ranges.push_back(reference(range));
  }
  const ManifestField spec(&pods.spec, pods.path + ".spec", *pods.problems);
  if (pods.spec.as_object() == nullptr) return admission;
  const ManifestField written = spec.at("runtimeClassName");
  const std::string name = written.text();
  if (name.empty()) return admission;
  if (const Manifest* const runtime = find("RuntimeClass", name)) {
    admission.runtime_class = reference(*runtime);
  } else {
    written.warn("there is no such RuntimeClass in the input; its overhead is not counted",
                 "add it to the input");
  }
  return admission;
}

bool Expansion::prepare(PodTemplate& pods) {
  if (pods.problems->has_errors()) return false;
  admit(admission_of(pods), pods.spec);
  pods.spec_text = compact_text(pods.spec);
  if (!charge(pods.spec_text.size())) return false;
  pods.bytes = pods.spec_text.size() + compact_text(pods.labels).size() +
               compact_text(pods.annotations).size();
  Change sample = Pod{};
  if (!decode(pods, pod_text(pods, {.name = "sample"}), sample)) return false;
  pods.sample = std::get<Pod>(std::move(sample));
  result_.templates.push_back(pods.sample.labels);
  return true;
}

std::string Expansion::pod_text(const PodTemplate& pods, const PodDetails& details) const {
  TextPairs annotations = details.annotations;
  annotations.emplace_back(names::made_from, result_.object());
  if (details.wave > 0) {
    annotations.emplace_back(names::wave, fmt::format("{}", details.wave));
    annotations.emplace_back(names::wave_after, details.wave_after);
  }
  std::string text = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":)";
  append_json_string(text, details.name);
  text += R"(,"namespace":)";
  append_json_string(text, namespace_name());
  text += R"(,"labels":)" + text_with(pods.labels, details.labels);
  text += R"(,"annotations":)" + text_with(pods.annotations, annotations);
  if (!pods.owner.kind.empty()) {
    text += R"(,"ownerReferences":)" + compact_text(owner_value(pods.owner));
  }
  text += R"(},"spec":)";
  text += details.spec_text == nullptr ? pods.spec_text : *details.spec_text;
  return text + "}";
}

bool Expansion::decode(const PodTemplate& pods, const std::string& text, Change& decoded) {
  std::string padded = text;
  padded.append(text_padding, '\0');
  DecodeReport report;
  OneObjectSink sink(decoded);
  scope_.decoder.decode(std::string_view(padded).substr(0, text.size()), pods.problems->origin(),
                        sink, report);
  const bool sound = !has_errors(report.problems) && report.objects == 1;
  for (Problem& problem : report.problems) {
    problem.object = pods.problems->object();
    problem.origin = pods.problems->origin();
    problem.field =
        problem.field.empty() ? pods.path : fmt::format("{}.{}", pods.path, problem.field);
    pods.problems->add(std::move(problem));
  }
  return sound;
}

void Expansion::refuse_bound() {
  stopped_ = true;
  if (!scope_.made.report_bound_once()) return;
  Opened& opened = open(root_, root_.text);
  opened.problems.add(
      {.field = "spec",
       .message = fmt::format("more than {} pods, or {} MiB of them, would be made from templates",
                              MadePods::pods_max, MadePods::text_max >> 20U),
       .remedy = "ask for fewer pods, or leave objects out"});
}

bool Expansion::charge(std::size_t bytes) {
  if (bytes <= free_bytes_) {
    free_bytes_ -= bytes;
    return true;
  }
  if (scope_.made.charge(bytes)) return true;
  refuse_bound();
  return false;
}

bool Expansion::step() {
  if (stopped_) return false;
  if (scope_.made.step()) return true;
  refuse_bound();
  return false;
}

bool Expansion::add(const PodTemplate& pods, const PodDetails& details) {
  if (stopped_ || pods.problems->has_errors()) return false;
  if (!scope_.made.take(pods.bytes)) {
    refuse_bound();
    return false;
  }
  Change made = Pod{};
  if (!decode(pods, pod_text(pods, details), made)) return false;
  const bool is_new = scope_.sink(
      made,
      {.object = pods.problems->object(), .field = pods.path, .origin = pods.problems->origin()});
  if (!is_new) {
    pods.problems->add({.field = pods.path,
                        .value = shorten(details.name),
                        .message = "there is another pod of that name",
                        .remedy = "two workloads want the same name; rename one of them"});
    return false;
  }
  ++result_.made;
  const Pod& pod = std::get<Pod>(made);
  if (const auto index = cluster().find_pod(pod.namespace_name, pod.name)) {
    if (existing().is_pending(*index)) result_.pending.push_back(*index);
  }
  return true;
}

void Expansion::add_object(const JsonValue& object) {
  if (stopped_) return;
  Opened& opened = open(root_, root_.text);
  const PodTemplate place{.problems = &opened.problems, .path = "spec"};
  Change made = Pod{};
  if (!decode(place, compact_text(object), made)) return;
  // One that is there already is better than ours.
  scope_.sink(made, {.object = opened.problems.object(),
                     .field = place.path,
                     .origin = opened.problems.origin()});
}

Problems Expansion::problems() const {
  Problems all;
  for (const Opened& opened : opened_) {
    std::ranges::copy(opened.problems.problems(), std::back_inserter(all));
  }
  return all;
}

std::optional<LabelSelector> read_selector(const ManifestField& selector) {
  if (!selector.is_present()) return std::nullopt;
  LabelSelector read;
  for (const auto& [key, value] : selector.at("matchLabels").texts()) {
    read.requirements.push_back(
        {.key = std::string(key), .operation = Operator::in, .values = {value}});
  }
  for (const ManifestField& item : selector.at("matchExpressions").items())
    read_expression(item, read);
  return read;
}

void check_selector(const ManifestField& selector, const PodTemplate& pods) {
  const std::optional<LabelSelector> wanted = read_selector(selector);
  if (!wanted || wanted->requirements.empty()) {
    return selector.refuse("expected a selector of its pods", "select the labels of the template");
  }
  if (matches(*wanted, pods.sample.labels)) return;
  selector.refuse("it does not select the pods of the template",
                  fmt::format("give {}.metadata.labels what it selects", pods.path));
}

}  // namespace makeway
