#include "cli/ask_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <tuple>
#include <vector>

#include "base/problem.hpp"
#include "model/knobs.hpp"

namespace makeway::cli {
namespace {

constexpr std::string_view default_namespace = "default";

std::optional<AskKind> kind_of(std::string_view word) {
  const auto lower = [](unsigned char byte) { return std::tolower(byte); };
  if (std::ranges::equal(word, std::string_view("pod"), {}, lower)) return AskKind::pod;
  if (std::ranges::equal(word, std::string_view("podgroup"), {}, lower)) return AskKind::pod_group;
  return std::nullopt;
}

struct Candidate {
  AskKind kind = AskKind::pod;
  std::string_view namespace_name;
  std::string_view name;
};

/// Every unit that somebody could have meant, in the order of its name: pending pods and groups.
std::vector<Candidate> candidates(const Cluster& cluster) {
  std::vector<Candidate> all;
  const PodColumns& pods = cluster.pods();
  for (std::uint32_t slot = 0; slot < pods.slots(); ++slot) {
    const PodIndex pod{slot};
    if (!pods.flags[pod].exists || pods.node[pod].exists()) continue;
    all.push_back({.kind = AskKind::pod,
                   .namespace_name = cluster.text(pods.namespace_name[pod]),
                   .name = pods.name[slot]});
  }
  for (const GroupIndex group : cluster.groups_by_name()) {
    all.push_back({.kind = AskKind::pod_group,
                   .namespace_name = cluster.text(cluster.groups()[group].namespace_name),
                   .name = cluster.text(cluster.groups()[group].name)});
  }
  std::ranges::sort(all, {}, [](const Candidate& unit) {
    return std::tuple(unit.kind, unit.namespace_name, unit.name);
  });
  return all;
}

std::string text_of(const Candidate& unit) {
  return fmt::format("{} {}/{}", choice_name(unit.kind), shorten(unit.namespace_name),
                     shorten(unit.name));
}

}  // namespace

std::optional<WrittenAsk> parse_ask(std::string_view text) {
  WrittenAsk ask;
  const std::size_t first = text.find('/');
  if (first != std::string_view::npos && text.find('/', first + 1) != std::string_view::npos) {
    ask.kind = kind_of(text.substr(0, first));
    if (ask.kind) text.remove_prefix(first + 1);
  }
  const std::size_t slash = text.find('/');
  const bool bare = slash == std::string_view::npos;
  ask.namespace_name = bare ? default_namespace : text.substr(0, slash);
  ask.name = bare ? text : text.substr(slash + 1);
  if (ask.namespace_name.empty() || ask.name.empty() || ask.name.ends_with('/')) {
    return std::nullopt;
  }
  return ask;
}

bool is_there(const AskName& ask, const Cluster& cluster) {
  return ask.kind == AskKind::pod ? cluster.find_pod(ask.namespace_name, ask.name).has_value()
                                  : cluster.find_group(ask.namespace_name, ask.name).has_value();
}

AskName resolve_ask(const WrittenAsk& written, const Cluster& cluster) {
  AskName ask{.kind = written.kind.value_or(AskKind::pod),
              .namespace_name = written.namespace_name,
              .name = written.name};
  if (written.kind || is_there(ask, cluster)) return ask;
  AskName group = ask;
  group.kind = AskKind::pod_group;
  return is_there(group, cluster) ? group : ask;
}

std::string near_misses(const AskName& ask, const Cluster& cluster) {
  constexpr std::size_t shown_max = 3;
  const std::vector<Candidate> all = candidates(cluster);
  std::vector<std::string_view> here;
  std::vector<std::string_view> anywhere;
  for (const Candidate& unit : all) {
    anywhere.push_back(unit.name);
    if (unit.namespace_name == ask.namespace_name) here.push_back(unit.name);
  }
  // The same name in another namespace, then a slip of the pen in this one, then anywhere.
  const bool same = std::ranges::find(anywhere, ask.name) != anywhere.end();
  const std::string_view near_here = nearest_of(here, ask.name);
  const std::string_view near = near_here.empty() ? nearest_of(anywhere, ask.name) : near_here;
  const std::string_view wanted = same ? std::string_view(ask.name) : near;
  std::vector<std::string> found;
  for (const Candidate& unit : all) {
    const bool far = !same && !near_here.empty() && unit.namespace_name != ask.namespace_name;
    if (unit.name == wanted && !far && found.size() < shown_max) found.push_back(text_of(unit));
  }
  if (!found.empty()) return fmt::format("did you mean {}?", fmt::join(found, " or "));
  if (all.empty()) return "nothing is pending";
  return all.size() == 1 ? fmt::format("only {} is pending", text_of(all.front()))
                         : fmt::format("pending are {} and others", text_of(all.front()));
}

}  // namespace makeway::cli
