#include "support/short_notation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace makeway {
namespace {

/// How the value of a word becomes YAML.
enum class Form : std::uint8_t {
  text,     ///< In quotes.
  number,   ///< As it stands.
  flag,     ///< A word without a value: true.
  name,     ///< A word without a value: the name of the object.
  time,     ///< "09:30" and "09:30:15" are times of 2026-01-01.
  names,    ///< "a,b": a list of texts.
  amounts,  ///< "cpu:2,gpu:1": resources.
  parts,    ///< "a:b:c" put into a shape, which `$1`, `$2` and `$3` stand in.
  item,     ///< The same, as one item of a list: the word may stand there several times.
};

struct Word {
  std::string_view kinds;  ///< Those that have the word, each between two spaces.
  std::string_view name;
  std::string_view path;  ///< Keys, separated by spaces.
  Form form = Form::text;
  std::string_view shape;  ///< For parts and items.
};

/// A word may stand here several times, with a shape for each number of parts.
constexpr auto words = std::to_array<Word>({
    {" node pod gang group queue session resourcegroup partition schedule ", "created",
     "metadata creationTimestamp", Form::time},
    {" node pod session schedule ", "uid", "metadata uid"},
    {" pod gang group session schedule ", "p", "spec priority", Form::number},
    {" queue ", "p", "spec priority", Form::number},
    {" class ", "p", "value", Form::number},
    {" class ", "default", "globalDefault", Form::flag},
    {" pod gang group schedule ", "class", "spec priorityClassName"},

    {" node ", "zone", "metadata labels zone"},
    {" node ", "rack", "metadata labels rack"},
    {" node ", "pool", "metadata labels pool"},
    {" node ", "hostname", "metadata labels kubernetes.io/hostname", Form::name},
    {" node ", "plane", "metadata labels makeway.dev/plane"},
    {" node ", "cordoned", "spec unschedulable", Form::flag},
    {" node ", "taint", "spec taints", Form::item, "{key: $1, effect: $2}"},
    {" node ", "taint", "spec taints", Form::item, "{key: $1, value: $2, effect: $3}"},

    {" pod gang group ", "app", "metadata labels app"},
    {" pod gang group ", "queue", "metadata labels makeway.dev/queue"},
    {" pod ", "deployment", "metadata labels makeway.dev/deployment"},
    {" pod ", "group", "spec schedulingGroup podGroupName"},
    {" pod ", "workload", "spec workloadRef", Form::parts, "{name: $1, podGroup: $2}"},
    {" pod ", "workload", "spec workloadRef", Form::parts,
     "{name: $1, podGroup: $2, podGroupReplicaKey: $3}"},
    {" pod ", "owner", "metadata ownerReferences", Form::item,
     "{kind: $1, name: $2, uid: u, controller: true}"},
    {" pod ", "owner", "metadata ownerReferences", Form::item,
     "{kind: $1, name: $2, uid: $3, controller: true}"},
    {" pod ", "started", "status startTime", Form::time},
    {" pod ", "deleted", "metadata deletionTimestamp", Form::time},
    {" pod ", "grace", "metadata deletionGracePeriodSeconds", Form::number},
    {" pod ", "nominated", "status nominatedNodeName"},
    {" pod session volume volumeclaim ", "phase", "status phase"},
    {" pod ", "condition", "status conditions", Form::item, "{type: $1, status: $2}"},
    {" pod ", "condition", "status conditions", Form::item, "{type: $1, status: $2, reason: $3}"},
    {" pod ", "pin", "spec affinity nodeAffinity", Form::parts,
     "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: "
     "[{key: metadata.name, operator: In, values: [$1]}]}]}}"},
    {" pod ", "near", "spec affinity podAffinity", Form::parts,
     "{requiredDuringSchedulingIgnoredDuringExecution: "
     "[{labelSelector: {matchLabels: {$1: $2}}, topologyKey: $3}]}"},
    {" pod ", "apart", "spec affinity podAntiAffinity", Form::parts,
     "{requiredDuringSchedulingIgnoredDuringExecution: "
     "[{labelSelector: {matchLabels: {$1: $2}}, topologyKey: $3}]}"},
    {" pod ", "spread", "spec topologySpreadConstraints", Form::item,
     "{maxSkew: 1, topologyKey: $3, whenUnsatisfiable: DoNotSchedule, "
     "labelSelector: {matchLabels: {$1: $2}}}"},
    {" pod ", "select", "spec nodeSelector", Form::parts, "{$1: $2}"},
    {" pod ", "tolerates", "spec tolerations", Form::item, "{key: $1, operator: Exists}"},
    {" pod ", "claim", "spec volumes", Form::item,
     "{name: $1, persistentVolumeClaim: {claimName: $1}}"},
    {" pod ", "scheduler", "spec schedulerName"},
    {" pod ", "preempts", "spec preemptionPolicy"},

    {" gang ", "min", "spec schedulingPolicy gang minCount", Form::number},
    {" gang group ", "mode", "spec disruptionMode", Form::parts, "{$1: {}}"},
    {" gang group ", "topology", "spec schedulingConstraints topology", Form::item, "{key: $1}"},

    {" queue ", "weight", "spec weight", Form::number},
    {" queue ", "parent", "spec parent"},
    {" queue resourcegroup ", "namespaces", "spec namespaces", Form::names},
    {" queue ", "reclaimable", "spec reclaimable", Form::number},
    {" queue ", "limit", "spec limit", Form::amounts},
    {" queue ", "guarantee", "spec guarantee", Form::amounts},
    {" queue ", "allocated", "status allocated", Form::amounts},
    {" queue ", "preempting", "status preempting", Form::amounts},

    {" resourcegroup partition ", "nodes", "spec nodes", Form::names},
    {" resourcegroup ", "order", "spec preemptionOrder"},
    {" resourcegroup ", "preemptible", "spec preemptiblePriority", Form::number},
    {" session partition ", "group", "spec resourceGroup"},
    {" partition ", "tier", "spec tier", Form::number},
    {" partition session ", "preemptible", "spec preemptible", Form::flag},
    {" partition ", "mode", "spec mode"},
    {" partition ", "grace", "spec graceTime"},
    {" partition ", "exempt", "spec exemptTime"},
    {" session ", "partition", "spec partition"},
    {" session ", "type", "spec type"},
    {" session ", "checkpointing", "spec checkpointing", Form::flag},
    {" session ", "kernel", "kernel name"},
    {" session ", "nominated", "kernel nominatedNode"},
    {" session ", "started", "status started", Form::time},
    {" session ", "fate", "status fate"},
    {" session ", "preemptions", "status preemptions", Form::number},
    {" session ", "preempted-by", "status preemptedBy"},
    {" session ", "preempted-at", "status preemptedAt", Form::time},
    {" session ", "ends", "status endsAt", Form::time},
    {" session ", "resumes", "status resumeAfter", Form::time},

    {" schedule ", "unmet", "spec unmet", Form::number},
    {" schedule ", "plane", "spec planes", Form::item, "{name: $1}"},
    {" schedule ", "plane", "spec planes", Form::item, "{name: $1, committed: %2}"},
    {" schedule ", "plane", "spec planes", Form::item, "{name: $1, committed: %2, score: %3}"},

    {" volumeclaim ", "volume", "spec volumeName"},
    {" volume volumeclaim ", "storage", "spec storageClassName"},
    {" volume volumeclaim ", "mode", "spec accessModes", Form::names},
    {" volume ", "claim", "spec claimRef", Form::parts, "{namespace: $1, name: $2}"},
    {" volume ", "csi", "spec csi", Form::parts, "{driver: $1, volumeHandle: $2}"},
    {" volume ", "on", "spec nodeAffinity", Form::parts,
     "{required: {nodeSelectorTerms: [{matchExpressions: "
     "[{key: $1, operator: In, values: [$2]}]}]}}"},

    {" budget ", "app", "spec selector matchLabels app"},
    {" budget ", "min", "spec minAvailable", Form::number},
    {" budget ", "max", "spec maxUnavailable", Form::number},
    {" budget ", "allowed", "status disruptionsAllowed", Form::number},
});

constexpr std::string_view default_pods = "110";

struct Kind {
  std::string_view name;
  std::string_view head;       ///< apiVersion and kind.
  std::string_view resources;  ///< Where cpu, memory and the others go; empty: it has none.
};

constexpr auto kinds = std::to_array<Kind>({
    {"node", "apiVersion: v1, kind: Node", "status allocatable"},
    {"pod", "apiVersion: v1, kind: Pod", "requests"},
    {"gang", "apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup", ""},
    {"group", "apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup", ""},
    {"class", "apiVersion: scheduling.k8s.io/v1, kind: PriorityClass", ""},
    {"budget", "apiVersion: policy/v1, kind: PodDisruptionBudget", ""},
    {"queue", "apiVersion: makeway.dev/v1, kind: Queue", ""},
    {"session", "apiVersion: makeway.dev/v1, kind: Session", "kernel resources"},
    {"resourcegroup", "apiVersion: makeway.dev/v1, kind: ResourceGroup", ""},
    {"partition", "apiVersion: makeway.dev/v1, kind: Partition", ""},
    {"schedule", "apiVersion: makeway.dev/v1, kind: ReplicaSchedule", "spec resources"},
    {"volume", "apiVersion: v1, kind: PersistentVolume", ""},
    {"volumeclaim", "apiVersion: v1, kind: PersistentVolumeClaim", ""},
});

/// YAML that grows by its paths: a text, a list of texts, or a map.
struct Tree {
  struct Member;

  std::string text;
  std::vector<std::string> items;
  std::vector<Member> members;

  Tree& at(std::string_view path);
  std::string flow() const;
  bool empty() const { return text.empty() && items.empty() && members.empty(); }
};

struct Tree::Member {
  std::string key;
  Tree tree;
};

Tree& Tree::at(std::string_view path) {
  const std::size_t space = path.find(' ');
  const std::string_view key = path.substr(0, space);
  auto found = std::ranges::find(members, key, &Member::key);
  if (found == members.end()) found = members.insert(found, {.key = std::string(key), .tree = {}});
  return space == std::string_view::npos ? found->tree : found->tree.at(path.substr(space + 1));
}

std::string Tree::flow() const {
  if (!text.empty()) return text;
  if (!items.empty()) return fmt::format("[{}]", fmt::join(items, ", "));
  std::vector<std::string> pairs;
  for (const auto& [key, tree] : members)
    pairs.push_back(fmt::format("\"{}\": {}", key, tree.flow()));
  return fmt::format("{{{}}}", fmt::join(pairs, ", "));
}

std::string quoted(std::string_view text) { return fmt::format("\"{}\"", text); }

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// The words of a line; `"` keeps spaces together, `#` after a space begins a comment.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> result;
  bool inside = false;
  bool in_quotes = false;
  for (const char byte : line) {
    if (byte == '#' && !inside) break;
    if (byte == ' ' && !in_quotes) {
      inside = false;
      continue;
    }
    if (!inside) result.emplace_back();
    inside = true;
    if (byte == '"') {
      in_quotes = !in_quotes;
    } else {
      result.back() += byte;
    }
  }
  return result;
}

std::string resource_name(std::string_view word) {
  return word == "gpu" ? "nvidia.com/gpu" : std::string(word);
}

bool is_resource(std::string_view word) {
  return word == "cpu" || word == "memory" || word == "gpu" || word == "pods" || word.contains('/');
}

Result<std::string> time_text(std::string_view value) {
  if (value.contains('T')) return quoted(value);
  if (value.size() == 5 && value[2] == ':') return fmt::format("\"2026-01-01T{}:00Z\"", value);
  if (value.size() == 8 && value[2] == ':') return fmt::format("\"2026-01-01T{}Z\"", value);
  return input_error("a time such as 09:30, 09:30:15 or 2026-01-01T09:30:15Z is expected");
}

Result<std::string> number_text(std::string_view value) {
  const bool is_number = !value.empty() && std::ranges::all_of(value, [](char byte) {
    return (byte >= '0' && byte <= '9') || byte == '-' || byte == '%';
  });
  if (is_number || value == "true" || value == "false") return std::string(value);
  return input_error("a number is expected");
}

std::string names_text(std::string_view value) {
  std::vector<std::string> names;
  for (const std::string_view name : split_at(value, ',')) names.push_back(quoted(name));
  return fmt::format("[{}]", fmt::join(names, ", "));
}

Result<std::string> amounts_text(std::string_view value) {
  std::vector<std::string> amounts;
  for (const std::string_view amount : split_at(value, ',')) {
    const std::vector<std::string_view> pair = split_at(amount, ':');
    if (pair.size() != 2) return input_error("amounts such as cpu:2,memory:1Gi are expected");
    amounts.push_back(fmt::format("\"{}\": \"{}\"", resource_name(pair[0]), pair[1]));
  }
  return fmt::format("{{{}}}", fmt::join(amounts, ", "));
}

/// `shape` with "$1" replaced by the first of the parts in quotes, "%1" by it as it stands.
std::string shaped(std::string_view shape, std::span<const std::string_view> parts) {
  std::string text(shape);
  for (std::size_t index = 0; index < parts.size(); ++index) {
    text = replaced(std::move(text), fmt::format("${}", index + 1), quoted(parts[index]));
    text = replaced(std::move(text), fmt::format("%{}", index + 1), parts[index]);
  }
  return text;
}

std::size_t part_count(std::string_view shape) {
  std::size_t count = 0;
  while (shape.contains(fmt::format("${}", count + 1)) ||
         shape.contains(fmt::format("%{}", count + 1))) {
    ++count;
  }
  return count;
}

/// One object, while its line is read.
class Object {
 public:
  Object(const Kind& kind, std::string_view full_name);

  bool has(std::string_view word) const;
  /// "word=value", "word" or "@node".
  Result<void> add(std::string_view word);
  std::string document() &&;

 private:
  std::vector<const Word*> forms_of(std::string_view name) const;
  Result<void> put(std::span<const Word* const> forms, std::string_view value);
  Result<void> put_parts(std::span<const Word* const> forms, std::string_view value);
  /// "label:app=web" and the like.
  Result<void> put_mark(std::string_view name, std::string_view value);
  Result<void> set(std::string_view path, Result<std::string> text);
  Result<void> unknown() const;

  const Kind& kind_;
  std::string_view name_;
  Tree tree_;
};

Object::Object(const Kind& kind, std::string_view full_name) : kind_(kind), name_(full_name) {
  const std::size_t slash = full_name.find('/');
  if (slash != std::string_view::npos) {
    name_ = full_name.substr(slash + 1);
    tree_.at("metadata namespace").text = quoted(full_name.substr(0, slash));
  }
  tree_.at("metadata name").text = quoted(name_);
  if (kind.name == "group") tree_.at("spec schedulingPolicy basic").text = "{}";
}

std::vector<const Word*> Object::forms_of(std::string_view name) const {
  std::vector<const Word*> forms;
  const std::string kind = fmt::format(" {} ", kind_.name);
  for (const Word& word : words) {
    if (word.name == name && word.kinds.contains(kind)) forms.push_back(&word);
  }
  return forms;
}

bool Object::has(std::string_view word) const {
  const std::string_view name = word.substr(0, word.find('='));
  if (word.starts_with('@')) return kind_.name == "pod" || kind_.name == "session";
  return name.contains(':') || !forms_of(name).empty() ||
         (is_resource(name) && !kind_.resources.empty());
}

Result<void> Object::unknown() const {
  return input_error(fmt::format("{} has no such word", kind_.name));
}

Result<void> Object::set(std::string_view path, Result<std::string> text) {
  if (!text) return std::unexpected(text.error());
  Tree& place = tree_.at(path);
  if (!place.empty()) return input_error("it is there twice");
  place.text = *std::move(text);
  return {};
}

Result<void> Object::put_mark(std::string_view name, std::string_view value) {
  const std::size_t colon = name.find(':');
  const std::string_view map = name.substr(0, colon);
  const std::string_view key = name.substr(colon + 1);
  if (map == "label") return set(fmt::format("metadata labels {}", key), quoted(value));
  if (map == "annotation") return set(fmt::format("metadata annotations {}", key), quoted(value));
  if (map != "makeway") return unknown();
  return set(fmt::format("metadata annotations makeway.dev/{}", key), quoted(value));
}

Result<void> Object::put_parts(std::span<const Word* const> forms, std::string_view value) {
  const std::vector<std::string_view> parts = split_at(value, ':');
  for (const Word* form : forms) {
    if (part_count(form->shape) != parts.size()) continue;
    if (form->form == Form::parts) return set(form->path, shaped(form->shape, parts));
    tree_.at(form->path).items.push_back(shaped(form->shape, parts));
    return {};
  }
  return input_error(fmt::format("{} parts are too few or too many", parts.size()));
}

Result<void> Object::put(std::span<const Word* const> forms, std::string_view value) {
  const std::string_view path = forms.front()->path;
  switch (forms.front()->form) {
    case Form::text: return set(path, quoted(value));
    case Form::name: return set(path, quoted(name_));
    case Form::flag: return set(path, "true");
    case Form::time: return set(path, time_text(value));
    case Form::names: return set(path, names_text(value));
    case Form::amounts: return set(path, amounts_text(value));
    case Form::number: return set(path, number_text(value));
    case Form::parts:
    case Form::item: return put_parts(forms, value);
  }
  return {};
}

Result<void> Object::add(std::string_view word) {
  if (!has(word)) return unknown();
  if (word.starts_with('@')) {
    return set(kind_.name == "pod" ? "spec nodeName" : "kernel node", quoted(word.substr(1)));
  }
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : word.substr(equals + 1);
  const std::vector<const Word*> forms = forms_of(name);
  const bool is_bare =
      !forms.empty() && (forms.front()->form == Form::flag || forms.front()->form == Form::name);
  if (is_bare != (equals == std::string_view::npos)) {
    return input_error(is_bare ? "it takes no value" : "it needs a value");
  }
  if (!forms.empty()) return put(forms, value);
  if (name.contains(':')) return put_mark(name, value);
  return set(fmt::format("{} {}", kind_.resources, resource_name(name)), quoted(value));
}

std::string Object::document() && {
  if (kind_.name == "node" && tree_.at("status allocatable pods").empty()) {
    tree_.at("status allocatable pods").text = quoted(default_pods);
  }
  if (kind_.name == "pod") {
    tree_.at("spec containers").text =
        fmt::format("[{{name: c, resources: {{requests: {}}}}}]", tree_.at("requests").flow());
  }
  if (kind_.name == "session") {
    if (tree_.at("kernel name").empty()) tree_.at("kernel name").text = "main";
    tree_.at("spec kernels").text = fmt::format("[{}]", tree_.at("kernel").flow());
  }
  std::string members(kind_.head);
  for (const auto& [key, tree] : tree_.members) {
    if (key != "requests" && key != "kernel") members += fmt::format(", {}: {}", key, tree.flow());
  }
  return fmt::format("--- {{{}}}\n", members);
}

/// What went wrong with a word of the line that is being read.
std::unexpected<Error> word_error(std::string_view word, const Error& error) {
  return input_error(fmt::format("'{}': {}", word, error.message));
}

Result<std::string> one_object(const Kind& kind, std::string_view name,
                               std::span<const std::string> rest) {
  Object object(kind, name);
  for (const std::string& word : rest) {
    if (const auto added = object.add(word); !added) return word_error(word, added.error());
  }
  return std::move(object).document();
}

const Kind* find_kind(std::string_view name) {
  const auto kind = std::ranges::find(kinds, name, &Kind::name);
  return kind == kinds.end() ? nullptr : &*kind;
}

/// "gang g x3 min=2 cpu=1": the group g and its pods g-0, g-1 and g-2. A word that a group and a
/// pod have goes to all of them.
Result<std::string> gang_with_members(std::string_view name, std::size_t count,
                                      std::span<const std::string> rest) {
  const Kind& gang = *find_kind("gang");
  const Kind& pod = *find_kind("pod");
  std::vector<std::string> of_gang;
  std::vector<std::string> of_pods = {fmt::format("group={}", name.substr(name.find('/') + 1))};
  for (const std::string& word : rest) {
    const bool for_gang = Object(gang, name).has(word);
    const bool for_pods = Object(pod, name).has(word);
    if (for_gang || !for_pods) of_gang.push_back(word);
    if (for_pods) of_pods.push_back(word);
  }
  Result<std::string> text = one_object(gang, name, of_gang);
  for (std::size_t index = 0; text && index < count; ++index) {
    const Result<std::string> member = one_object(pod, fmt::format("{}-{}", name, index), of_pods);
    if (!member) return member;
    *text += *member;
  }
  return text;
}

std::optional<std::size_t> count_in(std::string_view text) {
  std::size_t count = 0;
  const char* const end = text.end();
  const auto read = std::from_chars(text.begin(), end, count);
  if (read.ec != std::errc() || read.ptr != end) return {};
  return count;
}

/// A line without a range.
Result<std::string> plain_line(std::span<const std::string> line) {
  const Kind* const kind = find_kind(line[0]);
  if (kind == nullptr) return word_error(line[0], {.message = "no such kind"});
  if (line.size() < 2) return word_error(line[0], {.message = "a name is missing"});
  const std::span<const std::string> rest = line.subspan(2);
  if (kind->name == "gang" && !rest.empty() && rest[0].starts_with('x')) {
    const std::optional<std::size_t> count = count_in(std::string_view(rest[0]).substr(1));
    if (count) return gang_with_members(line[1], *count, rest.subspan(1));
  }
  return one_object(*kind, line[1], rest);
}

/// "1..3" and "a..c": all between the two, empty when it is no range.
std::vector<std::string> values_in(std::string_view range) {
  const std::size_t dots = std::min(range.find(".."), range.size());
  const std::string_view first = range.substr(0, dots);
  const std::string_view last = range.substr(std::min(dots + 2, range.size()));
  const auto is_letter = [](std::string_view text) {
    return text.size() == 1 && text[0] >= 'a' && text[0] <= 'z';
  };
  std::vector<std::string> values;
  if (is_letter(first) && is_letter(last)) {
    for (char letter = first[0]; letter <= last[0]; ++letter) values.emplace_back(1, letter);
    return values;
  }
  const auto begin = count_in(first);
  const auto end = count_in(last);
  if (!begin || !end) return {};
  for (std::size_t number = *begin; number <= *end; ++number) {
    values.push_back(std::to_string(number));
  }
  return values;
}

/// "n{1..3}" stands for n1, n2 and n3, one line each; "{}" in the words after it is the number.
Result<std::string> expand_line(const std::vector<std::string>& line) {
  const std::size_t open = line.size() < 2 ? std::string::npos : line[1].find('{');
  if (open == std::string::npos) return plain_line(line);
  const std::string& name = line[1];
  const std::size_t close = std::min(name.find('}', open), name.size());
  const std::string_view range = std::string_view(name).substr(open + 1, close - open - 1);
  const std::vector<std::string> values = values_in(range);
  if (values.empty()) {
    return word_error(name, {.message = "a range such as {1..3} or {a..c} is expected"});
  }
  std::string text;
  for (const std::string& value : values) {
    std::vector<std::string> one = line;
    one[1].replace(open, close + 1 - open, value);
    for (std::string& word : one) word = replaced(std::move(word), "{}", value);
    const Result<std::string> document = plain_line(one);
    if (!document) return document;
    text += *document;
  }
  return text;
}

/// "apiVersion: v1" and whatever else begins a document of YAML.
bool begins_yaml(std::string_view line) {
  const std::string_view word = line.substr(0, line.find(' '));
  return word.ends_with(':');
}

}  // namespace

Result<std::string> expand_short_notation(std::string_view text) {
  constexpr std::string_view separator = "---";
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::vector<std::string> lines;  // Of the YAML; each with its newline.
  std::optional<std::size_t> separator_line;
  bool in_yaml = false;
  bool has_objects = false;
  std::size_t number = 0;
  for (const std::string_view line : split_at(text, '\n')) {
    ++number;
    const auto error = [&](std::string_view message) {
      return input_error(fmt::format("line {}: {}", number, message));
    };
    std::string expanded = "\n";
    if (line == separator) {
      in_yaml = false;
      separator_line = lines.size();
    } else if (in_yaml || begins_yaml(line)) {
      if (!in_yaml && separator_line) lines[*separator_line] = "---\n";
      if (!in_yaml && !separator_line && has_objects) return error("a line --- is missing");
      in_yaml = true;
      expanded = fmt::format("{}\n", line);
    } else if (const std::vector<std::string> line_words = words_of(line); !line_words.empty()) {
      Result<std::string> documents = expand_line(line_words);
      if (!documents) return error(documents.error().message);
      expanded = *std::move(documents);
      separator_line.reset();
      has_objects = true;
    }
    lines.push_back(std::move(expanded));
  }
  return fmt::format("{}", fmt::join(lines, ""));
}

}  // namespace makeway
