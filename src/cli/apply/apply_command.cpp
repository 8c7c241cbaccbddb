#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "cli/apply/apply_text.hpp"
#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/problem_text.hpp"
#include "cli/run/run_request.hpp"
#include "cli/terminal.hpp"
#include "codec/configuration_codec.hpp"
#include "codec/json_value.hpp"
#include "codec/presets.hpp"
#include "codec/source.hpp"
#include "control/control_loop.hpp"
#include "kube/clocks.hpp"
#include "kube/connection.hpp"
#include "kube/live_port.hpp"
#include "kube/live_settings.hpp"
#include "kube/own_rights.hpp"
#include "kube/plan_carrier.hpp"
#include "model/object_text.hpp"
#include "model/profiles.hpp"

namespace makeway::cli {
namespace {

// `makeway apply`: carries out a reviewed plan on a live cluster (issue 23).
//
//  1. It does not start without the permissions that it needs. It takes the Lease of `makeway run`,
//     or refuses and names the holder: two writers would break each other's guards.
//  2. It reads the cluster, decides the plan again on it (control/approved_plan.hpp), lets the
//     judge check that, shows what has changed and what would be done, and asks for confirmation.
//  3. Then a ControlLoop carries it out through the same writer, guards and brakes as
//     `makeway run`,
//     until every ask is done or was dropped.
//  4. Ctrl-C, a lost Lease and `makeway.dev/pause` end it in order: writes in flight are finished,
//     and what is left is printed. The same command continues from there: it recognizes what is
//     done.
//  5. With --dry-run it ends after showing the changes; it takes no Lease and writes nothing.

struct ApplyParts {
  const PlanDocument& plan;
  const ChosenAsks& chosen;
  const ConfigurationDocument& document;
  std::unique_ptr<kube::Connection> connection;
  std::vector<kube::ServedResource> served;
  std::vector<std::string> schedulers;  ///< schedulerNames of the pods that may be placed.
  LeaseRequest lease;
  bool yes = false;
  bool dry_run = false;
};

// Two adapters between the loop of `makeway apply` and the cluster.

/// A port on which nothing is decided until the user has confirmed; changes are read meanwhile.
class HeldPort final : public Port {
 public:
  /// It outlives this one.
  explicit HeldPort(Port& behind) : behind_(behind) {}

  void open() { is_open_ = true; }
  Batch poll(Time deadline) override {
    Batch batch = behind_.poll(deadline);
    batch.blind = batch.blind || !is_open_;
    return batch;
  }
  void submit(const Plan& plan) override { behind_.submit(plan); }

 private:
  Port& behind_;
  bool is_open_ = false;
};

/// Remembers the versions of the pods that a plan names, and passes all changes on to the writer.
class VersionCarrier final : public kube::PlanCarrier {
 public:
  using Key = std::pair<std::string, std::string>;  ///< Namespace and name.

  /// `behind` may be null: then nothing is written. It outlives this one.
  VersionCarrier(kube::PlanCarrier* behind, std::map<Key, std::string> planned)
      : behind_(behind), planned_(std::move(planned)) {}

  /// Pods with another version than planned: the planned one, and the current one.
  std::map<Key, std::pair<std::string, std::string>> moved() const {
    std::map<Key, std::pair<std::string, std::string>> moved;
    for (const auto& [key, version] : planned_) {
      const auto found = seen_.find(key);
      if (found != seen_.end() && found->second != version) moved[key] = {version, found->second};
    }
    return moved;
  }

  void carry_out(const Plan& plan) override {
    if (behind_ != nullptr) behind_->carry_out(plan);
  }
  std::vector<Receipt> take_receipts() override {
    return behind_ == nullptr ? std::vector<Receipt>{} : behind_->take_receipts();
  }
  void saw(const std::vector<Change>& changes, std::vector<ObjectState>&& states) override {
    for (const ObjectState& state : states) {
      Key key{state.namespace_name, state.name};
      if (state.kind == ObjectKind::pod && planned_.contains(key)) {
        seen_[std::move(key)] = state.version;
      }
    }
    if (behind_ != nullptr) behind_->saw(changes, std::move(states));
  }
  std::optional<Time> sending_since() const override {
    return behind_ == nullptr ? std::nullopt : behind_->sending_since();
  }
  std::size_t unsent() const override { return behind_ == nullptr ? 0 : behind_->unsent(); }

 private:
  kube::PlanCarrier* behind_;
  std::map<Key, std::string> planned_;
  std::map<Key, std::string> seen_;
};

constexpr Duration apply_step_max{200};  ///< A signal is noticed within this.
constexpr Duration apply_finish_max{5'000};
constexpr Duration first_lists_max{300'000};  ///< Timeout of the first lists.
/// Timeout without any progress while no pod is leaving; asks are retried more often.
constexpr Duration quiet_max{360'000};

class ApplyRun {
 public:
  ApplyRun(ApplyParts parts, Terminal& terminal, const Palette& palette)
      : parts_(std::move(parts)),
        configuration_(parts_.document.configuration),
        terminal_(terminal),
        palette_(palette),
        host_(host_name()),
        identity_(new_identity(host_)),
        tools_(real_tools()),
        progress_(parts_.chosen.asks, tools_.decide),
        lease_times_(kube::lease_times(configuration_)) {
    if (const auto seen = parts_.connection->http().date()) {
      lease_time_.note(seen->date, seen->monotonic);
    }
  }

  ExitStatus run() {
    if (!may_begin() || !is_same_cluster()) return ExitStatus::failed;
    if (!parts_.dry_run && !take_lease()) return ExitStatus::failed;
    if (!begin() || !await_first_lists() || has_own_objects() || !knows_any_pod()) {
      return end(ExitStatus::failed);
    }
    const ApplyPreview preview = look_ahead();
    show(preview);
    if (parts_.dry_run) return end(status_of(preview));
    if (preview.evictions + preview.binds == 0) {
      terminal_.out.write("Nothing to apply.\n");
      return end(status_of(preview));
    }
    if (const std::optional<ExitStatus> refused = ask(preview)) return end(*refused);
    const ExitStatus status = carry_out();
    if (actuator_ != nullptr && status != ExitStatus::lease_lost) {
      actuator_->await_idle(apply_finish_max);
    }
    print_news();
    print(summary_text(parts_.chosen, progress_, palette_));
    return end(status);
  }

 private:
  void print(const std::string& text) {
    terminal_.out.write(text);
    terminal_.out.flush();
  }
  void print_error(const std::string& text) {
    terminal_.error.write(fmt::format("error: {}\n", text));
  }
  void print_problem(const Problem& problem) { print_problems(Problems{problem}, terminal_); }

  std::string lease_text() const {
    return fmt::format("Lease {}/{}", parts_.lease.namespace_name, parts_.lease.name);
  }

  // ---- Before ----

  /// Rule 1.
  bool may_begin() {
    if (parts_.dry_run) return true;
    const bool has_groups = std::ranges::any_of(
        parts_.served,
        [](const kube::ServedResource& each) { return each.resource->plural == "podgroups"; });
    const auto missing = kube::missing_rights(
        parts_.connection->api(),
        kube::scheduler_rights({.lease_namespace = parts_.lease.namespace_name,
                                .lease_name = parts_.lease.name,
                                .evicts_by_api = configuration_.budgets.mode == BudgetMode::strict,
                                .has_groups = has_groups}));
    for (const kube::Right& right : missing) {
      print_error(
          fmt::format("this user may not {} {}; add the rule {} to a role of it "
                      "(deploy/rbac.yaml has all of them)",
                      right.verb, right.resource, kube::rule_for(right)));
    }
    return missing.empty();
  }

  /// Every cluster has that namespace; if it cannot be read, pod uids decide (`knows_any_pod`).
  bool is_same_cluster() {
    if (parts_.plan.cluster.empty()) return true;
    const std::string path = "/api/v1/namespaces/kube-system";
    const auto answer = parts_.connection->api().get(
        path,
        {.request = fmt::format("GET {}{}", parts_.connection->http().settings().server, path),
         .verb = "get",
         .resource = "namespaces"});
    if (!answer) return true;
    const auto tree = parse_json_value(answer->body.view());
    const JsonValue* const metadata = tree ? tree->find("metadata") : nullptr;
    const JsonValue* const uid = metadata == nullptr ? nullptr : metadata->find("uid");
    const std::string* const found = uid == nullptr ? nullptr : uid->as_string();
    if (found == nullptr || *found == parts_.plan.cluster) return true;
    print_error(fmt::format(
        "cluster \"{}\": this plan is of another cluster; the uid of namespace kube-system is {} "
        "here; name the plan's cluster with --kubeconfig or --context",
        shorten(parts_.plan.cluster), shorten(*found)));
    return false;
  }

  std::unique_ptr<kube::Connection> connect() {
    auto opened =
        kube::Connection::open(parts_.connection->target(), kube::real_connection_tools());
    if (opened) return std::move(*opened);
    for (const Problem& problem : opened.error()) print_problem(problem);
    return nullptr;
  }

  /// A holder that still runs renews the Lease within its duration.
  bool take_lease() {
    auto connection = connect();
    if (connection == nullptr) return false;
    keeper_ = std::make_unique<kube::LeaseKeeper>(
        std::move(connection),
        kube::LeaseName{.namespace_name = parts_.lease.namespace_name,
                        .name = parts_.lease.name,
                        .identity = identity_},
        lease_times_, gate_,
        [this] {
          return lease_time_.at(kube::monotonic_now()).value_or(kube::SystemClock().now());
        },
        [] {});
    const Time until = kube::monotonic_now() + lease_times_.lease + lease_times_.write_timeout();
    std::string reported_holder;
    while (!keeper_->await_lead(apply_step_max)) {
      const std::string holder = keeper_->holder();
      if (!holder.empty() && holder != reported_holder && holder != identity_) {
        reported_holder = holder;
        terminal_.error.write(
            fmt::format("{} is held by {}; waiting {} to see whether it still "
                        "renews it\n",
                        lease_text(), holder, to_text(lease_times_.lease)));
        terminal_.error.flush();
      }
      if (!interrupts_.seen() && kube::monotonic_now() < until) continue;
      print_no_lease(holder);
      keeper_.reset();
      return false;
    }
    return !is_paused();
  }

  void print_no_lease(const std::string& holder) {
    if (holder.empty() || holder == identity_) {
      return print_error(
          fmt::format("{} cannot be acquired: {}; nothing was changed", lease_text(),
                      keeper_->trouble().empty() ? "no answer" : keeper_->trouble()));
    }
    print_error(fmt::format(
        "{} is held by {}, which schedules this cluster now; stop it first (such as `kubectl -n "
        "makeway scale deployment/makeway --replicas=0`), and start it again afterwards; nothing "
        "was changed",
        lease_text(), holder));
  }

  bool is_paused() {
    if (gate_.paused() == kube::WritePause::none) return false;
    print_error(
        fmt::format("makeway.dev/pause on {} stops evictions or all writes; "
                    "remove it with `kubectl -n {} annotate lease {} "
                    "makeway.dev/pause-`",
                    lease_text(), parts_.lease.namespace_name, parts_.lease.name));
    return true;
  }

  // ---- The cluster of today ----

  bool begin() {
    auto reads = connect();
    if (reads == nullptr) return false;
    const auto served = reads->api().discover();
    if (!served) {
      print_problem(served.error().problem);
      return false;
    }
    feed_ = std::make_unique<kube::LiveFeed>(std::move(reads), *served,
                                             kube::real_connection_tools().jitter_seed,
                                             kube::WatchLimits{}, kube::FeedUse::to_schedule);
    if (!parts_.dry_run) {
      auto writes = connect();
      if (writes == nullptr) return false;
      actuator_ = std::make_unique<kube::Actuator>(
          std::move(writes),
          kube::actuator_settings(configuration_, *served, fmt::format("makeway-{}", host_)), gate_,
          kube::ActuatorTools{.server_now =
                                  [this] {
                                    return feed_->server_time()
                                        .at(kube::monotonic_now())
                                        .value_or(kube::SystemClock().now());
                                  },
                              .wake = [this] { feed_->mailbox().wake(); }});
    }
    carrier_ = std::make_unique<VersionCarrier>(actuator_.get(), parts_.chosen.versions);
    LiveViewOptions seen = kube::view_options(parts_.schedulers);
    seen.may_leave = approved_victims(parts_.chosen.asks);
    view_ = std::make_unique<LiveView>(configuration_, std::move(seen));
    port_ = std::make_unique<kube::LivePort>(*feed_, carrier_.get(), view_.get());
    held_ = std::make_unique<HeldPort>(*port_);
    loop_tools_ = tools_;
    loop_tools_.decide = [this](const Cluster& cluster, const Configuration& configuration,
                                const PlanRequest& request) {
      return progress_.decide(cluster, configuration, request);
    };
    loop_ = std::make_unique<ControlLoop>(*held_, configuration_, loop_tools_, loop_options());
    return true;
  }

  LoopOptions loop_options() {
    constexpr std::size_t asks_max = 1'000'000;  // A plan is decided as a whole.
    LoopOptions options;
    options.preset = parts_.document.name;
    options.poll_max = apply_step_max;
    options.watcher = &progress_;
    options.backlog.asks_max = asks_max;
    options.backlog.time_wakes = configuration_.protection.minimum_runtime.ms > 0;
    options.backlog.schedulers = parts_.schedulers;
    options.backlog.pods = approved_pods(parts_.chosen.asks);
    return options;
  }

  bool await_first_lists() {
    const Time until = kube::monotonic_now() + first_lists_max;
    for (bool sees = false; !sees;) {
      sees = feed_->sees_all();  // Before the step, which then processes everything.
      loop_->step();
      if (interrupts_.seen()) return false;
      if (sees) break;
      const bool is_over = kube::monotonic_now() >= until;
      if (!is_over && feed_->trouble() != kube::WatchTrouble::permanent) continue;
      for (const kube::MissingWatch& each : feed_->missing()) print_problem(each.error.problem);
      if (is_over)
        print_error(
            fmt::format("the cluster could not be read within {}", to_text(first_lists_max)));
      return false;
    }
    return true;
  }

  /// With objects of ours, whose status a plan of pods changes or whose pods the plan's decisions
  /// depend on, more would be written than was confirmed (docs/decisions/0020-apply.md).
  bool has_own_objects() {
    std::string found;
    const auto note = [&]<class Object>(KindTag<Object> /*tag*/) {
      const auto& all = loop_->cluster().own<Object>();
      if (all.empty()) return;
      const Change first = all.begin()->second;
      found += fmt::format("{}{}", found.empty() ? "" : ", ", object_text(first));
      if (all.size() > 1) found += fmt::format(" and {} more", all.size() - 1);
    };
    note(KindTag<Queue>{});
    note(KindTag<ReplicaSchedule>{});
    note(KindTag<Session>{});
    if (found.empty()) return false;
    print_error(fmt::format(
        "this cluster has objects of makeway.dev ({}): apply carries out plans of pods and groups "
        "only, and would have to write their statuses, too; use makeway run, or carry the plan out "
        "by hand",
        found));
    return true;
  }

  /// False: the plan is of another cluster, or of a snapshot with hidden names.
  bool knows_any_pod() {
    std::size_t named = 0;
    for (const ApprovedAsk& ask : parts_.chosen.asks) {
      for (const auto* const pods : {&ask.places, &ask.victims}) {
        for (const ApprovedPod& pod : *pods) {
          const PodFate fate = fate_of(loop_->cluster(), pod);
          if (fate != PodFate::gone && fate != PodFate::replaced) return true;
          ++named;
        }
      }
    }
    if (named == 0) return true;
    print_error(fmt::format(
        "none of the {} pods that the plan names is in this cluster: the plan is of another "
        "cluster, of a snapshot with hidden names, or everything in it is gone; make a new one: "
        "makeway plan --kubeconfig FILE -o json",
        named));
    return false;
  }

  // ---- Rule 2 ----

  ApplyPreview look_ahead() {
    const std::vector<ApprovedAsk>& asks = parts_.chosen.asks;
    ApplyPreview preview;
    preview.asks.resize(asks.size());
    std::vector<std::size_t> owners;
    PlanRequest request{.now = port_->now(), .preset = parts_.document.name};
    request.explain = false;
    request.contain = tools_.contain;
    request.schedulers = parts_.schedulers;
    for (std::size_t at = 0; at < asks.size(); ++at) {
      owners.push_back(at);
      request.asks.push_back(asks[at].name);
    }
    PlanTools tools = tools_;
    tools.decide = [&](const Cluster& cluster, const Configuration& configuration,
                       const PlanRequest& wanted) {
      ApprovedAnswer answer =
          decide_approved(cluster, configuration, wanted, asks, owners, tools_.decide);
      for (auto& [at, why] : answer.dropped) preview.dropped[at] = std::move(why);
      return std::move(answer.decision);
    };
    const LawfulPlan made = make_lawful_plan(loop_->cluster(), configuration_, request, tools);
    for (std::size_t at = 0; at < asks.size(); ++at) note_ask(made, at, preview);
    has_seen_bug_ = made.shows_bug();
    return preview;
  }

  void note_ask(const LawfulPlan& made, std::size_t at, ApplyPreview& preview) const {
    const ApprovedAsk& ask = parts_.chosen.asks[at];
    if (preview.dropped.contains(at)) return;
    const auto runs = [&](const ApprovedPod& place) {
      return fate_of(loop_->cluster(), place) == PodFate::runs_there;
    };
    const auto running = static_cast<std::size_t>(std::ranges::count_if(ask.places, runs));
    if (running == ask.places.size()) {
      preview.done.insert(at);
      return;
    }
    if (std::string why = why_not_made(made, ask.name); !why.empty()) {
      preview.dropped[at] = std::move(why);
      return;
    }
    preview.binds += ask.places.size() - running;
    const auto found = std::ranges::find(made.plan->asks, ask.name, ask_name_of);
    if (found == made.plan->asks.end()) return;  // A member: its group comes first.
    preview.asks[at] = *found;
    preview.evictions += found->victims.size();
  }

  /// Law 14: why the ask was contained; empty: it was not.
  static std::string why_not_made(const LawfulPlan& made, const AskName& ask) {
    if (!made.plan) {
      return made.problems.empty() ? std::string("no lawful plan could be made")
                                   : made.problems.begin()->message;
    }
    for (const PlanLeftOut& left : made.plan->left_out) {
      const AskName name{
          .kind = left.kind, .namespace_name = left.namespace_name, .name = left.name};
      if (name == ask) return fmt::format("a bug of Makeway: {}", left.reason);
    }
    return made.plan->withheld;
  }

  void show(const ApplyPreview& preview) {
    print(plan_line(parts_.plan, port_->now()) +
          changes_text(parts_.chosen, loop_->cluster(), carrier_->moved(), preview) +
          preview_text(parts_.chosen, preview, palette_));
    if (parts_.dry_run) print(fmt::format("Would apply {}.\n", action_counts_text(preview)));
  }

  ExitStatus status_of(const ApplyPreview& preview) const {
    if (has_seen_bug_) return ExitStatus::bug;
    return preview.dropped.empty() && parts_.chosen.refused.empty() ? ExitStatus::done
                                                                    : ExitStatus::partly_applied;
  }

  /// None: yes.
  std::optional<ExitStatus> ask(const ApplyPreview& preview) {
    if (parts_.yes) {
      print(fmt::format("Applying {}.\n", action_counts_text(preview)));
      return std::nullopt;
    }
    print(fmt::format("Apply {}? [y/N] ", action_counts_text(preview)));
    while (!interrupts_.seen()) {
      loop_->step();  // Changes are read meanwhile.
      if (keeper_->was_lost()) return lost_lease();
      const std::optional<std::string> line = terminal_.input->line(Duration{0});
      if (!line) continue;
      const std::string answer = lower_word(*line);
      if (answer == "y" || answer == "yes") return std::nullopt;
      break;
    }
    print("Nothing was changed.\n");
    return ExitStatus::failed;
  }

  static std::string lower_word(std::string_view line) {
    std::string word;
    for (const char letter : line) {
      const bool is_upper = letter >= 'A' && letter <= 'Z';
      if (letter > ' ') word += is_upper ? static_cast<char>(letter - 'A' + 'a') : letter;
    }
    return word;
  }

  // ---- Rules 3 and 4 ----

  ExitStatus lost_lease() {
    print_error(fmt::format("{} was lost to {}; nothing more is written", lease_text(),
                            keeper_->holder().empty() ? "an unknown holder" : keeper_->holder()));
    return ExitStatus::lease_lost;
  }

  ExitStatus carry_out() {
    held_->open();
    Time happened = kube::monotonic_now();
    while (!progress_.is_over()) {
      if (interrupts_.seen()) {
        print("Interrupted: writes in flight are finished, and no new ones are started.\n");
        return ExitStatus::partly_applied;
      }
      if (keeper_->was_lost()) return lost_lease();
      if (is_paused()) return ExitStatus::partly_applied;
      loop_->step();
      loop_->forget_refused();  // They are reported as dropped asks.
      progress_.look(loop_->cluster(), loop_->in_flight());
      if (auto plan = progress_.take_withdrawn(port_->now())) {
        plan->id = tools_.identify(*plan);
        port_->submit(*plan);
      }
      const Time now = kube::monotonic_now();
      if (print_news() || is_any_pod_leaving()) happened = now;
      if (now - happened >= quiet_max) give_up();
    }
    print_news();
    return final_status();
  }

  ExitStatus final_status() const {
    if (progress_.has_seen_bug()) return ExitStatus::bug;
    const bool all_done = std::ranges::all_of(progress_.states(), [](const ApplyState& state) {
      return state.stage == ApplyStage::done;
    });
    return all_done && parts_.chosen.refused.empty() ? ExitStatus::done
                                                     : ExitStatus::partly_applied;
  }

  bool is_any_pod_leaving() const {
    return std::ranges::any_of(parts_.chosen.asks, [&](const ApprovedAsk& ask) {
      return std::ranges::any_of(ask.victims, [&](const ApprovedPod& victim) {
        return fate_of(loop_->cluster(), victim) == PodFate::leaving;
      });
    });
  }

  void give_up() {
    for (std::size_t at = 0; at < progress_.states().size(); ++at) {
      if (progress_.states()[at].stage != ApplyStage::open) continue;
      progress_.drop(at, fmt::format("nothing has happened for {}", to_text(quiet_max)));
    }
  }

  /// Whether there was any event.
  bool print_news() {
    const std::vector<ApplyEvent> all = progress_.take_events();
    for (const ApplyEvent& event : all) print(event_line(event, progress_, palette_));
    return !all.empty();
  }

  /// Stops all writers before the Lease is released.
  ExitStatus end(ExitStatus status) {
    loop_.reset();
    held_.reset();
    port_.reset();
    carrier_.reset();
    actuator_.reset();
    view_.reset();
    feed_.reset();
    keeper_.reset();
    return status;
  }

  ApplyParts parts_;
  const Configuration& configuration_;
  Terminal& terminal_;
  Palette palette_;
  std::string host_;
  std::string identity_;
  PlanTools tools_;
  PlanTools loop_tools_;
  ApplyProgress progress_;
  const kube::LeaseTimes lease_times_;
  InterruptWatch interrupts_;
  kube::ServerTime lease_time_;
  kube::WriteGate gate_;
  std::unique_ptr<kube::LeaseKeeper> keeper_;
  std::unique_ptr<kube::LiveFeed> feed_;
  std::unique_ptr<kube::Actuator> actuator_;
  std::unique_ptr<VersionCarrier> carrier_;
  std::unique_ptr<LiveView> view_;
  std::unique_ptr<kube::LivePort> port_;
  std::unique_ptr<HeldPort> held_;
  std::unique_ptr<ControlLoop> loop_;
  bool has_seen_bug_ = false;
};

ExitStatus run_apply_live(ApplyParts parts, Terminal& terminal, const Palette& palette) {
  return ApplyRun(std::move(parts), terminal, palette).run();
}

ExitStatus refuse(const Problems& problems, Terminal& terminal) {
  print_problems(problems, terminal);
  return ExitStatus::failed;
}

/// What is wrong with the flags alone; empty: nothing.
std::string refuse_flags(const Arguments& arguments, const Terminal& terminal) {
  const std::string& plan = arguments.operands().front();
  for (const std::string_view flag : {"kubeconfig", "context"}) {
    if (arguments.given(flag) == "") return fmt::format("--{} '': it is empty", flag);
  }
  const std::vector<std::string>& names = arguments.all("scheduler-name");
  if (std::ranges::find(names, "") != names.end()) {
    return "--scheduler-name '': expected the schedulerName of pods";
  }
  if (plan == "-" && arguments.given("config") == "-") {
    return "standard input can be read only once; name a file with --config";
  }
  if (arguments.has("yes") || arguments.has("dry-run")) return {};
  if (plan == "-") return "standard input is the plan, so it cannot be confirmed; give --yes";
  if (terminal.input != nullptr) return {};
  return "standard input is not a terminal, so the plan cannot be confirmed; give --yes to apply "
         "without asking, or --dry-run to see what would be done";
}

PlanReading read_plan(const std::string& path) {
  const auto source = read_source({.path = path});
  if (!source) return {.document = {}, .problems = {{.message = source.error().message}}};
  PlanReading reading = read_plan_document(source->text.view(), path);
  if (reading.document && !reading.document->withheld.empty()) {
    reading.problems.push_back(
        {.origin = {.source = path},
         .object = "Plan " + reading.document->id,
         .field = "withheld",
         .message = "the plan is empty, since no lawful one could be made: " +
                    reading.document->withheld});
    reading.document.reset();
  }
  return reading;
}

/// "makeway" of "makeway-live-changed": what a plan calls its configuration.
std::string_view preset_behind(std::string_view name) {
  for (const std::string_view ending : {"-changed", "-live"}) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  const auto names = preset_names();
  return std::ranges::find(names, name) == names.end() ? std::string_view{} : name;
}

/// The rules of the plan, as live ones. None: the status says how it ended.
std::optional<ConfigurationDocument> read_rules(const Arguments& arguments,
                                                const PlanDocument& plan, Terminal& terminal,
                                                ExitStatus& status) {
  ConfigurationChoice choice = choice_in(arguments, true);
  if (!choice.is_named()) choice.preset = preset_behind(plan.preset);
  ChosenConfiguration chosen = choose_configuration(choice);
  if (!chosen.usage.empty()) {
    status = usage_error("apply", chosen.usage, terminal);
    return std::nullopt;
  }
  status = ExitStatus::failed;
  print_problems(chosen.problems, terminal);
  if (!chosen.document) return std::nullopt;
  bool is_same = configuration_hash(chosen.document->configuration) == plan.configuration_hash;
  if (!is_same && choice.file != "-") {
    // A plan from files trusts the marks of all objects; here they count as in every live run.
    choice.live_trust = false;
    const ChosenConfiguration of_files = choose_configuration(choice);
    is_same = of_files.document &&
              configuration_hash(of_files.document->configuration) == plan.configuration_hash;
    choice.live_trust = true;
  }
  if (!is_same) {
    refuse({{.object = "Plan " + plan.id,
             .field = "configurationHash",
             .value = plan.configuration_hash,
             .message = fmt::format("the plan was made by other rules than these; it calls them {}",
                                    shorten(plan.preset)),
             .remedy = "give the --preset, --config and --set that `makeway plan` was given"}},
           terminal);
    return std::nullopt;
  }
  if (const std::string waived = waived_too_much(chosen.document->configuration); !waived.empty()) {
    terminal.error.write(fmt::format("error: {}\n", waived));
    return std::nullopt;
  }
  name_configuration(*chosen.document, choice);
  // The delay of a live run is for evictions without confirmation. Here the user has confirmed the
  // plan, and must get what was shown, not "0 evictions" and an eviction later.
  const Duration delay = chosen.document->configuration.required_node.preemption_start_delay;
  chosen.document->configuration = kube::live_rules(std::move(chosen.document->configuration));
  chosen.document->configuration.required_node.preemption_start_delay = delay;
  return std::move(chosen.document);
}

}  // namespace

ExitStatus run_apply(const Arguments& arguments, Terminal& terminal) {
  if (const std::string wrong = refuse_flags(arguments, terminal); !wrong.empty()) {
    return usage_error("apply", wrong, terminal);
  }
  LeaseRequest lease;
  if (const std::string wrong =
          read_lease_request(arguments.given("lease").value_or(standard_lease), lease);
      !wrong.empty()) {
    return usage_error("apply", wrong, terminal);
  }
  const PlanReading reading = read_plan(arguments.operands().front());
  if (!reading.document) return refuse(reading.problems, terminal);
  const Result<ChosenAsks> chosen = choose_asks(*reading.document, arguments.all("only"));
  if (!chosen) return usage_error("apply", chosen.error().message, terminal);
  ExitStatus status = ExitStatus::done;
  const auto document = read_rules(arguments, *reading.document, terminal, status);
  if (!document) return status;
  const kube::TargetRequest target{.kubeconfig = std::string(arguments.text("kubeconfig")),
                                   .context = std::string(arguments.text("context"))};
  OpenedCluster opened = open_cluster(target, terminal.kube);
  print_problems(opened.problems, terminal);
  if (opened.connection == nullptr) return ExitStatus::failed;
  auto served = opened.connection->api().discover();
  if (!served) return refuse({served.error().problem}, terminal);
  std::vector<std::string> schedulers = arguments.all("scheduler-name");
  if (schedulers.empty()) schedulers.emplace_back("makeway");
  return run_apply_live(
      {.plan = *reading.document,
       .chosen = *chosen,
       .document = *document,
       .connection = std::move(opened.connection),
       .served = *std::move(served),
       .schedulers = served_schedulers(std::move(schedulers), document->configuration),
       .lease = std::move(lease),
       .yes = arguments.has("yes"),
       .dry_run = arguments.has("dry-run")},
      terminal, palette_for_out(terminal, arguments.text("color")));
}

}  // namespace makeway::cli
