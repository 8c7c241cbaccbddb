#include "engine/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <limits>
#include <string_view>

#include "base/checked_math.hpp"

namespace makeway {
namespace {

/// part / whole in thousandths; huge amounts lose low bits instead of overflowing.
std::int64_t permille_of(std::int64_t part, std::int64_t whole) {
  constexpr std::int64_t safe = std::numeric_limits<std::int64_t>::max() / 1000;
  while (part > safe) {
    part /= 2;
    whole /= 2;
  }
  return whole == 0 ? std::numeric_limits<std::int64_t>::max() : part * 1000 / whole;
}

}  // namespace

PodFit::PodFit(Survey& survey, Scratch& scratch, PodIndex ask, const Holds& holds)
    : survey_(survey),
      scratch_(scratch),
      ask_(ask),
      holds_(holds),
      placing_(survey.verdicts_of(ask)),
      requests_(request_of(survey.cluster(), ask)),
      ports_(survey, scratch, ask),
      constraints_(survey, scratch, ask) {
  const Cluster& cluster = survey.cluster();
  const std::string& required = cluster.notes(cluster.pods().notes[ask]).required_node;
  pinned_ = !required.empty();
  if (pinned_) {
    const std::string_view plane = cluster.text(cluster.pods().plane[ask]);
    required_node_ = cluster.find_node(required, plane).value_or(NodeIndex{});
  }
  const Regimes& regimes = survey.regimes();
  regime_ = regimes.of(ask);
  stays_in_regime_ = regimes.mixed() && !regimes.crosses(ask);
  ask_priority_ = cluster.units()[cluster.pods().unit[ask]].scheduling_priority;
  hold_ask_ = {.pod = ask,
               .unit = {},
               .rank = {.priority = ask_priority_},
               .turns_on = cluster.pods().nominated[ask]};
}

bool PodFit::only_regime_refuses(NodeIndex node) {
  const std::optional<Refused>& refused = refused_by_node(node);
  if (!refused || refused->reason != RefusalReason::regime) return false;
  return !check_resources(node, std::vector<std::int64_t>(survey_.allocatable(node).size()));
}

std::vector<PodIndex> PodFit::holders(NodeIndex node) const {
  std::vector<PodIndex> held;
  std::ranges::copy_if(survey_.cluster().nodes().nominated[node], std::back_inserter(held),
                       [this](PodIndex pod) { return blocked_by(pod); });
  return held;
}

bool PodFit::any_blocks(const std::vector<PodIndex>& nominated) const {
  return std::ranges::any_of(nominated, [&](PodIndex pod) { return blocked_by(pod); });
}

std::optional<Refused> PodFit::check(NodeIndex node) {
  if (!reserved(node)) return check_unreserved(node);
  const std::vector<PodIndex>& nominated = survey_.cluster().nodes().nominated[node];
  const Scratch::Checkpoint before = scratch_.checkpoint();
  for (const PodIndex pod : nominated) {
    if (blocked_by(pod)) scratch_.place(pod, node);
  }
  std::optional<Refused> refusal = check_unreserved(node);
  scratch_.rollback(before);
  if (refusal) return refusal;
  return check_unreserved(node);
}

std::optional<Refused> PodFit::check_unreserved(NodeIndex node) {
  if (const std::optional<Refused>& refusal = refused_by_node(node)) return refusal;
  if (auto refusal = check_ports(node)) return refusal;
  if (auto refusal = check_resources(node, scratch_.used(node))) return refusal;
  return constraints_.check(node);
}

std::optional<Refused> PodFit::check_ports(NodeIndex node) {
  const std::optional<StringId> taken = ports_.first_taken(node);
  if (!taken) return std::nullopt;
  return Refused{.reason = RefusalReason::host_port, .detail = *taken, .resolvable = true};
}

/// Names the resource that is shortest in proportion to the request, then the first by name. What
/// is more than the whole node comes before everything else, and is compared with the whole node.
std::optional<Refused> PodFit::check_resources(NodeIndex node, std::span<const std::int64_t> used) {
  const std::span<const std::int64_t> allocatable = survey_.allocatable(node);
  std::optional<Refused> refusal;
  std::int64_t worst_permille = -1;
  for (const ResourceAmount& item : requests_) {
    const std::int64_t whole = allocatable[item.resource.value];
    const std::int64_t free = whole - used[item.resource.value] - kept_free(item);
    if (item.amount <= free) continue;
    const bool resolvable = item.amount <= whole;
    if (refusal && !refusal->resolvable && resolvable) continue;
    const std::int64_t missing = saturated_sub(item.amount, resolvable ? free : whole);
    const std::int64_t permille = permille_of(missing, item.amount);
    const StringId note = survey_.resource_note(item.resource);
    const bool worse =
        !refusal || refusal->resolvable != resolvable || permille > worst_permille ||
        (permille == worst_permille && survey_.text(note) < survey_.text(refusal->detail));
    if (!worse) continue;
    worst_permille = permille;
    refusal = Refused{.reason = RefusalReason::resource,
                      .detail = note,
                      .amount = missing,
                      .resolvable = resolvable};
  }
  return refusal;
}

std::int64_t PodFit::count_beside(NodeIndex node, std::span<const std::int64_t> used,
                                  std::int64_t most) {
  const std::span<const std::int64_t> allocatable = survey_.allocatable(node);
  for (const ResourceAmount& item : requests_) {
    if (item.amount <= 0) continue;
    const std::int64_t room =
        saturated_sub(allocatable[item.resource.value], used[item.resource.value]);
    most = std::min(most, std::max<std::int64_t>(room, 0) / item.amount);
  }
  return most;
}

// ---- Host ports ---------------------------------------------------------------------------------

namespace {

constexpr std::size_t word_bits = 64;
constexpr std::string_view every_address = "0.0.0.0";

bool is_every_address(const HostPort& port) { return port.ip.empty() || port.ip == every_address; }

bool clash(const HostPort& a, const HostPort& b) {
  if (a.port != b.port || a.protocol != b.protocol) return false;
  return is_every_address(a) || is_every_address(b) || a.ip == b.ip;
}

}  // namespace

std::string port_text(const HostPort& port) {
  constexpr std::array<std::string_view, 3> protocols = {"TCP", "UDP", "SCTP"};
  const std::string_view protocol = protocols.at(static_cast<std::size_t>(port.protocol));
  return is_every_address(port) ? fmt::format("{}/{}", port.port, protocol)
                                : fmt::format("{}:{}/{}", port.ip, port.port, protocol);
}

PortClashes::PortClashes(Survey& survey, Scratch& scratch, PodIndex ask)
    : cluster_(survey.cluster()), scratch_(scratch) {
  for (const HostPort& port : cluster_.shape(cluster_.pods().shape[ask]).ports) {
    ports_.push_back({.port = &port, .note = survey.note(port_text(port))});
  }
  taken_.resize((ports_.size() + word_bits - 1) / word_bits);
  if (any()) scratch_.attach(*this);
}

PortClashes::~PortClashes() {
  if (any()) scratch_.detach(*this);
}

std::optional<StringId> PortClashes::first_taken_of_any(NodeIndex node) {
  if (node != node_) {
    if (taken_count_ > 0) {
      for (Port& own : ports_) own.takers = 0;
      std::ranges::fill(taken_, 0);
      taken_count_ = 0;
    }
    node_ = node;
    scratch_.for_each_pod(node, [this](PodIndex pod) { count(pod, 1); });
  }
  if (taken_count_ == 0) return std::nullopt;
  while (taken_[first_word_] == 0) ++first_word_;
  const auto bit = static_cast<std::size_t>(std::countr_zero(taken_[first_word_]));
  return ports_[first_word_ * word_bits + bit].note;
}

void PortClashes::moved(PodIndex pod, NodeIndex node, int delta) {
  if (node == node_) count(pod, delta);
}

void PortClashes::count(PodIndex pod, int delta) {
  const ShapeId shape = cluster_.pods().shape[pod];
  if (shape == ShapeId{0}) return;
  const auto number = [](const Port& each) { return each.port->port; };
  for (const HostPort& taken : cluster_.shape(shape).ports) {
    for (Port& own : std::ranges::equal_range(ports_, taken.port, {}, number)) {
      if (!clash(taken, *own.port)) continue;
      const auto position = static_cast<std::size_t>(&own - ports_.data());
      const bool before = own.takers != 0;
      own.takers += delta;
      if (before != (own.takers != 0)) mark(position, !before);
    }
  }
}

void PortClashes::mark(std::size_t position, bool taken) {
  const std::size_t word = position / word_bits;
  taken_[word] ^= std::uint64_t{1} << position % word_bits;
  if (taken) {
    first_word_ = taken_count_ == 0 ? word : std::min(first_word_, word);
    ++taken_count_;
  } else {
    --taken_count_;
  }
}

}  // namespace makeway
