#include "engine/port_clashes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

namespace makeway {
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
