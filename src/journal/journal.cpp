#include "journal/journal.hpp"

#include <utility>

#include "journal/journal_world.hpp"

namespace makeway {

Result<std::unique_ptr<Journal>> Journal::open(JournalOptions options) {
  Result<JournalFile> file = JournalFile::open(std::move(options));
  if (!file) return std::unexpected(file.error());
  return std::make_unique<Journal>(*std::move(file));
}

void Journal::start(const LoopStart& start) {
  rules_ = configuration_text(start);
  file_.append(JournalType::configuration, rules_);
  begun_ = false;  // A loop that starts anew is shown everything anew.
}

void Journal::write_base(Time now, const Cluster& cluster, bool begins) {
  std::vector<AskState> waiting;
  waiting.reserve(waiting_.size());
  for (const auto& [ask, state] : waiting_) waiting.push_back(state);
  file_.append(
      JournalType::base,
      base_text({.now = now, .begins = begins, .cycles = cycles_, .waiting = waiting}, cluster));
  base_end_ = file_.size();
}

void Journal::refresh(Time now, const Cluster& cluster) {
  const JournalOptions& options = file_.options();
  const std::uint64_t grown = file_.size() - base_end_;
  // A base that is itself about as large as a file may be must not make every batch a file.
  const bool full =
      options.bytes_max > 0 && file_.size() >= options.bytes_max && grown >= options.bytes_max / 4;
  if (!full && grown < options.base_every) return;
  if (full) {
    file_.rotate();
    file_.append(JournalType::configuration, rules_);
  }
  write_base(now, cluster, false);
}

void Journal::batch(const AppliedBatch& batch, const Cluster& cluster) {
  if (!file_.alarm().empty()) {
    file_.append(JournalType::changes, {});  // Counts it as lost.
    return;
  }
  if (!batch.receipts.empty()) {
    file_.append(JournalType::receipts, receipts_text(batch.now, batch.receipts));
  }
  if (!begun_) {
    begun_ = true;
    return write_base(batch.now, cluster, true);
  }
  if (batch.changes.empty() && batch.effects.empty()) return;
  file_.append(JournalType::changes, changes_text(batch));
  note_removals(waiting_, batch.changes);
  note_removals(waiting_, batch.effects);
  refresh(batch.now, cluster);
}

std::vector<AskState> Journal::changed_states(const MadeCycle& cycle) const {
  std::vector<AskState> changed;
  if (!cycle.made.plan) return changed;
  for (const PlanAsk& ask : cycle.made.plan->asks) {
    AskState state{
        .ask = ask_name_of(ask), .outcome = ask.outcome, .reason = ask.reason, .since = cycle.now};
    const auto known = waiting_.find(state.ask);
    if (known != waiting_.end() && known->second.outcome == state.outcome) continue;
    changed.push_back(std::move(state));
  }
  return changed;
}

void Journal::cycle(const MadeCycle& cycle, const Cluster& /*cluster*/) {
  ++cycles_;
  if (!file_.alarm().empty()) {
    file_.append(JournalType::cycle, {});  // Counts it as lost.
    return;
  }
  for (const RefusedPlan& refused : cycle.made.refused) {
    file_.append(JournalType::refused, refused_text(cycles_, cycle.now, refused));
  }
  const std::vector<AskState> changed = changed_states(cycle);
  file_.append(JournalType::cycle, cycle_text(cycles_, cycle, changed));
  note_states(waiting_, changed);
}

}  // namespace makeway
