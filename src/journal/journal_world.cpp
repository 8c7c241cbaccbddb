#include "journal/journal_world.hpp"

#include <utility>
#include <variant>

#include "codec/changes.hpp"
#include "codec/dump.hpp"
#include "codec/writer.hpp"

namespace makeway {
namespace {

std::string list_of(const Cluster& cluster) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  write_cluster(writer, cluster);
  return text;
}

std::optional<AskKind> ask_kind_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::pod: return AskKind::pod;
    case ObjectKind::pod_group: return AskKind::pod_group;
    case ObjectKind::session: return AskKind::session;
    case ObjectKind::replica_schedule: return AskKind::replica_schedule;
    default: return std::nullopt;
  }
}

}  // namespace

void note_states(std::map<AskName, AskState>& waiting, std::span<const AskState> changed) {
  for (const AskState& state : changed) {
    if (state.outcome == Outcome::fits) {
      waiting.erase(state.ask);
    } else {
      waiting.insert_or_assign(state.ask, state);
    }
  }
}

void note_removals(std::map<AskName, AskState>& waiting, std::span<const Change> changes) {
  if (waiting.empty()) return;
  for (const Change& change : changes) {
    const auto* const removal = std::get_if<Removal>(&change);
    if (removal == nullptr || !removal->plane.empty()) continue;
    const std::optional<AskKind> kind = ask_kind_of(removal->kind);
    if (!kind) continue;
    waiting.erase(
        {.kind = *kind, .namespace_name = removal->namespace_name, .name = removal->name});
  }
}

std::optional<Error> JournalWorld::take_base(const BaseRecord& base, bool after_gap) {
  now_ = base.now;
  // Files may be missing between two that are there.
  const bool continues = begun_ && !base.begins && !after_gap && base.cycles == cycles_;
  if (begun_ && !after_gap && base.cycles != cycles_) ++gaps_;
  cycles_ = base.cycles;
  if (continues && list_of(cluster_) == base.objects) return std::nullopt;
  Cluster cluster;
  cluster.begin_bulk();
  std::optional<Error> error =
      read_changes(base.objects, [&](const Change& change) { cluster.apply(change); });
  cluster.finish_bulk();
  if (error) return error;
  cluster_ = std::move(cluster);
  begun_ = true;
  waiting_.clear();
  note_states(waiting_, base.waiting);
  if (!continues) return std::nullopt;
  return Error{.message = "the objects of the base are not those that the changes led to"};
}

std::optional<Error> JournalWorld::take(const JournalEntry& entry) {
  if (const auto* const rules = std::get_if<ConfigurationRecord>(&entry.record)) {
    configuration_ = rules->configuration;
    preset_ = rules->preset;
    configuration_hash_ = rules->hash;
  } else if (const auto* const base = std::get_if<BaseRecord>(&entry.record)) {
    return take_base(*base, entry.after_gap);
  } else if (const auto* const batch = std::get_if<ChangesRecord>(&entry.record)) {
    if (!begun_) return Error{.message = "there are changes before any base"};
    for (const Change& change : batch->changes) cluster_.apply(change);
    note_removals(waiting_, batch->changes);
    now_ = batch->now;
  } else if (const auto* const cycle = std::get_if<CycleRecord>(&entry.record)) {
    if (!begun_) return Error{.message = "there is a cycle before any base"};
    note_states(waiting_, cycle->changed);
    now_ = cycle->now;
    cycles_ = cycle->number;
  }
  return std::nullopt;
}

}  // namespace makeway
