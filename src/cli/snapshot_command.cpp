#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.hpp"
#include "base/printable.hpp"
#include "base/time.hpp"
#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/overview/overview.hpp"
#include "cli/problem_text.hpp"
#include "cli/terminal.hpp"
#include "codec/dump.hpp"
#include "codec/json_value.hpp"
#include "codec/writer.hpp"
#include "kube/live_feed.hpp"
#include "model/names.hpp"

namespace makeway::cli {
namespace {

// A dump that can be given away: every name in it is another one.
//
// Names, namespaces, uids, values of labels, taints and selectors become numbers in the order of
// the texts, the same everywhere, so that a plan of the result is the same plan with other names:
// every order that ends in a name stays. Nothing can be guessed back, since nothing is computed
// from the text. Label keys, resources, amounts, priorities, times, and the names that Kubernetes
// itself gives a meaning to (kube-system, system-node-critical) stay.

/// Fields whose text, or whose list of texts, are names.
constexpr std::array<std::string_view, 27> name_fields = {"claimName",
                                                          "deployment",
                                                          "hostIP",
                                                          "name",
                                                          "namespace",
                                                          "namespaces",
                                                          "node",
                                                          "nodeName",
                                                          "nodes",
                                                          "nominatedNodeName",
                                                          "parent",
                                                          "partition",
                                                          "plane",
                                                          "podGroup",
                                                          "podGroupName",
                                                          "priorityClassName",
                                                          "provisioner",
                                                          "queue",
                                                          "resourceClaimName",
                                                          "resourceGroup",
                                                          "storageClassName",
                                                          "templateName",
                                                          "uid",
                                                          "value",
                                                          "values",
                                                          "volumeName",
                                                          "workloadName"};

/// Mappings whose values are names.
constexpr std::array<std::string_view, 4> name_maps = {"labels", "matchLabels", "nodeSelector",
                                                       "regimes"};

/// Annotations without names: a label key, and one that only has to be there.
constexpr std::array nameless_annotations = {names::preferred_topology, names::mirror_pod};

bool is_one_of(std::string_view key, std::span<const std::string_view> keys) {
  return std::ranges::find(keys, key) != keys.end();
}

enum class Place : std::uint8_t {
  elsewhere,
  name,
  sentence,  ///< Of words, some of which are names: "StatefulSet shop/db".
};

Place place_of(std::string_view parent, std::string_view key) {
  if (parent == "annotations") {
    return is_one_of(key, nameless_annotations) ? Place::elsewhere : Place::sentence;
  }
  return is_one_of(parent, name_maps) || is_one_of(key, name_fields) ? Place::name
                                                                     : Place::elsewhere;
}

/// Texts that identify nothing: numbers, booleans, Kubernetes' own names.
bool stays(std::string_view text) {
  constexpr std::array<std::string_view, 7> known = {"",      "default",     "total",      "true",
                                                     "false", "kube-system", "kube-public"};
  return is_one_of(text, known) || text.starts_with("system-") ||
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_part_of_name(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_';
}

/// Calls `visit(text, place)` for every text that is a name or may have names in it.
template <class Visit>
void each_text(JsonValue& value, std::string_view key, Place place, const Visit& visit) {
  if (auto* const text = std::get_if<std::string>(&value.data)) {
    if (place != Place::elsewhere) visit(*text, place);
  } else if (auto* const items = std::get_if<JsonValue::Array>(&value.data)) {
    for (JsonValue& item : *items) each_text(item, key, place, visit);
  } else if (auto* const members = std::get_if<JsonValue::Object>(&value.data)) {
    for (JsonMember& member : *members) {
      each_text(member.value, member.key, place_of(key, member.key), visit);
      if (key == "disruptedPods") visit(member.key, Place::name);
    }
  }
}

/// The text, word by word and what is between, as `change(word)` leaves it.
template <class Change>
std::string each_word(std::string_view text, const Change& change) {
  std::string result;
  while (!text.empty()) {
    const auto end = std::ranges::find_if_not(text, is_part_of_name);
    const auto length = std::max<std::size_t>(static_cast<std::size_t>(end - text.begin()), 1);
    std::string word(text.substr(0, length));
    text.remove_prefix(length);
    change(word);
    result += word;
  }
  return result;
}

class NameHider {
 public:
  void learn(const std::string& text, Place place) {
    if (place == Place::name) return learn_name(text);
    // Kinds begin with a capital letter, times and counts with a digit.
    each_word(text, [this](const std::string& word) {
      if (word.front() >= 'a' && word.front() <= 'z') learn_name(word);
    });
  }

  void number() {
    const std::size_t digits = fmt::formatted_size("{}", names_.size());
    std::size_t next = 0;
    for (auto& [name, hidden] : names_) hidden = fmt::format("n{:0{}}", ++next, digits);
  }

  void replace(std::string& text, Place place) const {
    if (place == Place::name) return replace_name(text);
    text = each_word(text, [this](std::string& word) { replace_name(word); });
  }

 private:
  void learn_name(const std::string& text) {
    if (!stays(text)) names_.emplace(text, std::string{});
  }
  void replace_name(std::string& text) const {
    if (const auto found = names_.find(text); found != names_.end()) text = found->second;
  }

  std::map<std::string, std::string, std::less<>> names_;
};

/// Of a canonical dump.
void hide_names(JsonValue& dump) {
  NameHider hider;
  each_text(dump, {}, Place::elsewhere,
            [&](const std::string& text, Place place) { hider.learn(text, place); });
  hider.number();
  each_text(dump, {}, Place::elsewhere,
            [&](std::string& text, Place place) { hider.replace(text, place); });
}

// `makeway snapshot --watch-for`: the state from watches, instead of from one list.

constexpr std::int64_t reconnect_patience_ms = 60'000;
constexpr Duration step{100};

using DaemonSets = std::set<std::pair<std::string, std::string>>;

void take_changes(kube::LiveFeed& feed, Cluster& cluster, DaemonSets& daemon_sets) {
  const kube::ChangeMailbox::Taken taken = feed.mailbox().take_all();
  for (const Change& change : taken.changes) cluster.apply(change);
  for (const DaemonSetUpdate& update : taken.updates.daemon_sets) {
    std::pair name(update.namespace_name, update.name);
    if (update.exists) {
      daemon_sets.insert(std::move(name));
    } else {
      daemon_sets.erase(name);
    }
  }
}

Loaded loaded_from(Cluster cluster, const DaemonSets& daemon_sets) {
  Loaded loaded;
  loaded.cluster = std::move(cluster);
  for (const auto& [namespace_name, name] : daemon_sets) {
    loaded.workloads.push_back(
        {.kind = "DaemonSet", .namespace_name = namespace_name, .name = name});
  }
  return loaded;
}

/// Watches for that long, or until Ctrl-C. At the end every kind must be watched; one that is not
/// has a minute to recover. None: the problem was printed.
std::optional<Loaded> watch_cluster(const kube::TargetRequest& request, Duration span,
                                    Terminal& terminal) {
  OpenedCluster opened = open_cluster(request, terminal.kube);
  std::vector<kube::ServedResource> served;
  if (opened.connection != nullptr) {
    if (auto found = opened.connection->api().discover()) {
      served = std::move(*found);
    } else {
      opened.problems.push_back(found.error().problem);
    }
  }
  print_problems(opened.problems, terminal);
  if (opened.problems.count(Severity::error) > 0) return std::nullopt;

  const InterruptWatch interrupt;
  constexpr std::uint64_t jitter_seed = 1;
  kube::LiveFeed feed(std::move(opened.connection), served, jitter_seed, {},
                      kube::FeedUse::to_compare);
  Cluster cluster;
  DaemonSets daemon_sets;
  const Time start = kube::monotonic_now();
  while (kube::monotonic_now() - start < span && !interrupt.seen()) {
    feed.mailbox().wait(step);
    take_changes(feed, cluster, daemon_sets);
  }
  const Time end = kube::monotonic_now();
  while (!feed.sees_all() && (kube::monotonic_now() - end).ms < reconnect_patience_ms) {
    feed.mailbox().wait(step);
  }
  const bool sees_all = feed.sees_all();
  take_changes(feed, cluster, daemon_sets);
  if (sees_all) return loaded_from(std::move(cluster), daemon_sets);
  Problems missing;
  for (kube::MissingWatch& each : feed.missing()) {
    missing.push_back(std::move(each.error.problem));
  }
  terminal.error.write(
      fmt::format("{}makeway: not all kinds could be watched a minute after the end; nothing is "
                  "shown\n",
                  problem_lines(missing, palette_for_error(terminal))));
  return std::nullopt;
}

/// Only a live cluster can be watched, and it is watched as it is.
Result<Duration> watch_span(const Arguments& arguments, const ClusterInput& input) {
  const std::string_view text = arguments.text("watch-for");
  Result<Duration> span = parse_duration(text);
  std::string wrong;
  if (!span) {
    wrong = span.error().message;
  } else if (!input.live) {
    wrong = "files cannot be watched; name a live cluster with --kubeconfig or --live";
  } else if (!input.sources.empty() || !input.planes.empty() || arguments.has("keep-going")) {
    wrong = "-f, --plane and --keep-going are for a cluster that is read once";
  }
  if (wrong.empty()) return span;
  return wrong_usage(fmt::format("--watch-for '{}': {}", shorten(text), wrong));
}

/// An error is a usage error; without one and without a cluster, the problem was printed.
Result<std::optional<Loaded>> read_cluster(const Arguments& arguments, const ClusterInput& input,
                                           Terminal& terminal) {
  if (!arguments.has("watch-for")) {
    return load_or_report(input, terminal,
                          {.limits = {}, .asked = {}, .keep_going = arguments.has("keep-going")});
  }
  const Result<Duration> span = watch_span(arguments, input);
  if (!span) return std::unexpected(span.error());
  return watch_cluster(*input.live, *span, terminal);
}

std::vector<DaemonSetName> daemon_sets_of(const Loaded& loaded) {
  std::vector<DaemonSetName> names;
  for (const WorkloadPods& workload : loaded.workloads) {
    if (workload.kind != "DaemonSet") continue;
    names.push_back({.namespace_name = workload.namespace_name, .name = workload.name});
  }
  std::ranges::sort(names);
  return names;
}

std::string hidden_dump(const Loaded& loaded, DumpFormat format) {
  auto tree = parse_json_value(dump(loaded.cluster, DumpFormat::json, daemon_sets_of(loaded)));
  CHECK(tree.has_value(), "a dump is JSON");
  hide_names(*tree);
  std::string text;
  if (format == DumpFormat::json) {
    JsonWriter writer(text);
    write_value(*tree, writer);
  } else {
    YamlWriter writer(text);
    write_value(*tree, writer);
  }
  return text;
}

void show(const Loaded& loaded, const Arguments& arguments, Terminal& terminal) {
  terminal.error.write(
      quarantine_lines(loaded.quarantine, loaded.cluster, palette_for_error(terminal)));
  const std::string_view format = arguments.text("output");
  if (format != "text") {
    const DumpFormat as = format == "json" ? DumpFormat::json : DumpFormat::yaml;
    terminal.out.write(arguments.has("hide-names")
                           ? hidden_dump(loaded, as)
                           : dump(loaded.cluster, as, daemon_sets_of(loaded)));
  } else {
    const auto& found = loaded.configuration;
    terminal.out.write(
        overview_text(loaded, {.all = arguments.has("all"),
                               .palette = palette_for_out(terminal, arguments.text("color")),
                               .configuration = found ? found->configuration : Configuration{}}));
  }
}

}  // namespace

ExitStatus run_snapshot(const Arguments& arguments, Terminal& terminal) {
  const auto input = input_of(arguments, terminal, LiveByDefault::yes);
  const std::string_view missing =
      "there is no cluster; name files with -f or --plane, or a live one with --kubeconfig";
  if (!input || input->empty()) {
    return usage_error("snapshot", input ? missing : std::string_view(input.error().message),
                       terminal);
  }
  if (arguments.has("hide-names") && arguments.text("output") == "text") {
    return usage_error("snapshot", "--hide-names is for -o json and -o yaml", terminal);
  }
  const auto loaded = read_cluster(arguments, *input, terminal);
  if (!loaded) {
    return usage_error("snapshot", loaded.error().message, terminal);
  }
  if (!*loaded) return ExitStatus::failed;
  show(**loaded, arguments, terminal);
  return ExitStatus::done;
}

}  // namespace makeway::cli
