#include "sim/traces.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/printable.hpp"
#include "model/names.hpp"
#include "model/normalize.hpp"

namespace makeway {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;
constexpr std::int64_t amount_max = 1'000'000'000;
constexpr std::string_view gpu_share = "makeway.dev/gpu-milli";
constexpr std::string_view model_label = "makeway.dev/gpu-model";

constexpr std::int64_t seconds_max = 1'000'000'000;
constexpr std::int64_t memory_mib_max = std::int64_t{1} << 24;
constexpr std::int64_t pods_max = 100'000;

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Lines of cells; with a heading, cells by name.
class CellReader {
 public:
  CellReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  /// The next line that is not empty; false: there is none.
  bool next() {
    while (!text_.empty()) {
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      line_ = text_.substr(0, end);
      text_.remove_prefix(std::min(end + 1, text_.size()));
      ++number_;
      if (line_.ends_with('\r')) line_.remove_suffix(1);
      if (line_.find_first_not_of(" \t") != std::string_view::npos) return true;
    }
    return false;
  }
  std::string_view line() const { return line_; }

  void split_at_commas() {
    cells_.clear();
    std::string_view rest = line_;
    while (true) {
      const std::size_t comma = rest.find(',');
      cells_.push_back(rest.substr(0, comma));
      if (comma == std::string_view::npos) return;
      rest.remove_prefix(comma + 1);
    }
  }
  void split_at_blanks() {
    cells_.clear();
    std::size_t at = 0;
    while ((at = line_.find_first_not_of(" \t", at)) != std::string_view::npos) {
      const std::size_t end = std::min(line_.find_first_of(" \t", at), line_.size());
      cells_.push_back(line_.substr(at, end - at));
      at = end;
    }
  }

  void take_heading() {
    split_at_commas();
    heading_.clear();
    for (std::size_t at = 0; at < cells_.size(); ++at) heading_.emplace(cells_[at], at);
  }
  /// A misspelt column must not count as one that is missing.
  void expect_columns(std::span<const std::string_view> known) {
    for (const auto& [name, at] : heading_) {
      if (std::ranges::find(known, name) != known.end()) continue;
      complain(fmt::format("there is no column \"{}\"; known are {}", shorten(name),
                           fmt::join(known, ", ")));
    }
  }
  /// A line of a table.
  void take_row() {
    split_at_commas();
    if (cells_.size() <= heading_.size()) return;
    complain(fmt::format("{} cells under a heading of {}", cells_.size(), heading_.size()));
  }
  bool has(std::string_view name) const { return heading_.contains(name); }
  /// Empty where there is no such column or cell.
  std::string_view cell(std::string_view name) const {
    const auto found = heading_.find(name);
    if (found == heading_.end() || found->second >= cells_.size()) return {};
    return cells_[found->second];
  }
  std::string_view cell(std::size_t at) const { return at < cells_.size() ? cells_[at] : ""; }

  /// The first problem is kept; a wrong cell counts as 0.
  std::int64_t amount(std::string_view name, std::string_view text, std::int64_t most = amount_max,
                      std::int64_t standard = 0) {
    if (text.empty()) return standard;
    const std::optional<std::int64_t> value = number_of(text);
    if (value && *value >= 0 && *value <= most) return *value;
    complain(
        fmt::format("{} \"{}\": expected a whole number from 0 to {}", name, shorten(text), most));
    return 0;
  }
  std::int64_t amount(std::string_view name, std::int64_t most = amount_max,
                      std::int64_t standard = 0) {
    return amount(name, cell(name), most, standard);
  }
  /// Of the Standard Workload Format: -1 stands for unknown, and decimals do not matter.
  std::int64_t swf_number(std::string_view name, std::size_t at, std::int64_t most) {
    const std::string_view text = cell(at);
    if (text == "-1") return 0;
    return amount(name, text.substr(0, text.find('.')), most);
  }
  std::string_view checked_name(std::string_view text) {
    constexpr std::string_view letters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    if (text.empty() || text.size() > 200 ||
        text.find_first_not_of(letters) != std::string_view::npos) {
      complain(fmt::format("name \"{}\": expected 1 to 200 letters, digits, '.', '-' and '_'",
                           shorten(text)));
    }
    return text;
  }

  /// What the line is about, for its complaints: "job train".
  void about(std::string subject) { subject_ = std::move(subject); }
  std::size_t line_number() const { return number_; }
  void complain(std::string_view what) {
    if (!problem_.empty()) return;
    problem_ = subject_.empty()
                   ? fmt::format("{}, line {}: {}", file_, number_, what)
                   : fmt::format("{}, line {}, {}: {}", file_, number_, subject_, what);
  }
  const std::string& problem() const { return problem_; }
  std::string_view file() const { return file_; }

 private:
  std::string_view text_;
  std::string_view file_;
  std::string_view line_;
  std::string subject_;
  std::size_t number_ = 0;
  std::map<std::string, std::size_t, std::less<>> heading_;
  std::vector<std::string_view> cells_;
  std::string problem_;
};

Amounts amounts_of(std::int64_t cpu_milli, std::int64_t memory_mib, std::string_view gpu_name,
                   std::int64_t gpus, std::int64_t pods) {
  Amounts result = {{"cpu", cpu_milli},
                    {"memory", memory_mib * mib},
                    {std::string(gpu_name), gpus},
                    {"pods", pods}};
  normalize(result);
  return result;
}

Node node_of(std::string_view name, Amounts allocatable, Time start) {
  Node node{.name = std::string(name), .uid = fmt::format("uid-{}", name)};
  node.labels = {{std::string(names::hostname), node.name}};
  node.allocatable = std::move(allocatable);
  node.created = start;
  normalize(node);
  return node;
}

/// Names are how the world finds objects.
std::string repeated_name(const SimLoad& load) {
  std::set<std::string> seen;
  for (const Change& object : load.objects) {
    const Node* const node = std::get_if<Node>(&object);
    const Queue* const queue = std::get_if<Queue>(&object);
    if (node != nullptr && !seen.insert("node " + node->name).second) return "node " + node->name;
    if (queue != nullptr && !seen.insert("queue " + queue->name).second) {
      return "queue " + queue->name;
    }
  }
  for (const SimTask& task : load.tasks) {
    std::string prefix = fmt::format("pod {}/{}", task.namespace_name, task.name);
    if (task.kind == TaskKind::gang && !seen.insert("gang " + prefix).second) return prefix;
    for (std::int64_t member = 0; member < task.pods; ++member) {
      std::string name = task.pods == 1 ? prefix : fmt::format("{}-{}", prefix, member);
      if (!seen.insert(name).second) return name;
    }
  }
  return {};
}

std::optional<Error> finish(SimLoad& load, const CellReader& reader) {
  if (!reader.problem().empty()) return Error{ErrorCode::fix_input, reader.problem()};
  if (const std::string name = repeated_name(load); !name.empty()) {
    return Error{
        ErrorCode::fix_input,
        fmt::format("{}: {} is there twice; give each a name of its own", reader.file(), name)};
  }
  std::ranges::stable_sort(load.tasks, {}, &SimTask::arrival);
  return std::nullopt;
}

// ---- openb --------------------------------------------------------------------------------------

std::int32_t priority_of_class(std::string_view quality) {
  if (quality == "LS") return 300;
  if (quality == "Guaranteed") return 200;
  return quality == "Burstable" ? 100 : 0;
}

SimTask openb_task(CellReader& reader, Time start) {
  SimTask task{.name = std::string(reader.checked_name(reader.cell("name")))};
  const std::string_view quality = reader.cell("qos");
  task.kind = quality == "LS" ? TaskKind::service : TaskKind::job;
  task.priority = priority_of_class(quality);
  task.arrival = start + Duration{reader.amount("creation_time", seconds_max) * 1'000};
  const std::int64_t from =
      reader.amount("scheduled_time", seconds_max, reader.amount("creation_time"));
  const std::int64_t until = reader.amount("deletion_time", seconds_max);
  task.run = {std::max<std::int64_t>(until - from, 1) * 1'000};
  task.leave = {30'000};
  task.recreate = {1'000};
  const std::int64_t gpus = reader.amount("num_gpu", 1'000);
  const std::int64_t share = gpus > 1 ? gpus * 1'000 : gpus * reader.amount("gpu_milli");
  task.requests = amounts_of(reader.amount("cpu_milli"),
                             reader.amount("memory_mib", memory_mib_max), gpu_share, share, 0);
  std::string_view models = reader.cell("gpu_spec");
  if (models.empty()) return task;
  Requirement in{.key = std::string(model_label), .operation = Operator::in};
  while (!models.empty()) {
    const std::size_t bar = std::min(models.find('|'), models.size());
    in.values.emplace_back(models.substr(0, bar));
    models.remove_prefix(std::min(bar + 1, models.size()));
  }
  task.shape.node_terms = {{.labels = {std::move(in)}}};
  normalize(task.shape);
  return task;
}

// ---- Our own table ------------------------------------------------------------------------------

std::optional<TaskKind> task_kind(std::string_view text) {
  if (text == "job") return TaskKind::job;
  if (text == "gang") return TaskKind::gang;
  if (text == "service") return TaskKind::service;
  return std::nullopt;
}

constexpr std::string_view own_gpu = "nvidia.com/gpu";

constexpr std::array<std::string_view, 15> own_columns = {
    "kind",   "name",     "namespace", "cpu_milli", "memory_mib",   "gpu",     "pods", "minimum",
    "weight", "priority", "queue",     "arrival_s", "checkpoint_s", "leave_s", "run_s"};

SimTask csv_task(CellReader& reader, TaskKind kind, std::string_view name, Time start) {
  SimTask task{.kind = kind, .name = std::string(name)};
  if (!reader.cell("namespace").empty()) {
    task.namespace_name = reader.checked_name(reader.cell("namespace"));
  }
  task.arrival = start + Duration{reader.amount("arrival_s", seconds_max) * 1'000};
  task.run = {reader.amount("run_s", seconds_max) * 1'000};
  if (task.run.ms == 0) reader.complain("run_s: expected at least 1");
  task.checkpoint = {reader.amount("checkpoint_s", seconds_max) * 1'000};
  task.leave = {reader.amount("leave_s", seconds_max, 30) * 1'000};
  task.recreate = {1'000};
  task.pods = reader.amount("pods", pods_max, 1);
  task.minimum = reader.amount("minimum", pods_max, task.pods);
  if (task.pods < 1 || task.minimum < 1 || task.minimum > task.pods) {
    reader.complain("pods and minimum: expected at least one pod, and a minimum from 1 to pods");
  }
  const std::string_view priority = reader.cell("priority");
  const std::optional<std::int64_t> number = priority.empty() ? 0 : number_of(priority);
  if (!number || *number < -1'000'000'000 || *number > 1'000'000'000) {
    reader.complain(
        fmt::format("priority \"{}\": expected a whole number from -1000000000 to 1000000000",
                    shorten(priority)));
  }
  task.priority = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(number.value_or(0), -1'000'000'000, 1'000'000'000));
  task.queue = reader.cell("queue");
  task.requests =
      amounts_of(reader.amount("cpu_milli"), reader.amount("memory_mib", memory_mib_max), own_gpu,
                 reader.amount("gpu", 1'000), 0);
  return task;
}

/// A task that names a queue that is not there would be in none. `lines` are those of the tasks.
std::string missing_queue(const SimLoad& load, const std::vector<std::size_t>& lines,
                          std::string_view file) {
  std::set<std::string_view> queues;
  for (const Change& object : load.objects) {
    if (const Queue* const queue = std::get_if<Queue>(&object)) queues.insert(queue->name);
  }
  for (std::size_t at = 0; at < load.tasks.size(); ++at) {
    const SimTask& task = load.tasks[at];
    if (task.queue.empty() || queues.contains(task.queue)) continue;
    return fmt::format("{}, line {}, task {}: there is no queue \"{}\"; add a line of kind queue",
                       file, lines[at], task.name, shorten(task.queue));
  }
  return {};
}

}  // namespace

Result<SimLoad> openb_load(std::string_view nodes, std::string_view pods, Time start) {
  SimLoad load;
  CellReader node_cells(nodes, "openb nodes");
  if (node_cells.next()) node_cells.take_heading();
  while (node_cells.next()) {
    node_cells.take_row();
    Node node = node_of(
        node_cells.checked_name(node_cells.cell("sn")),
        amounts_of(node_cells.amount("cpu_milli"), node_cells.amount("memory_mib", memory_mib_max),
                   gpu_share, node_cells.amount("gpu", 1'000) * 1'000, 250),
        start);
    if (!node_cells.cell("model").empty()) {
      node.labels.push_back({std::string(model_label), std::string(node_cells.cell("model"))});
      normalize(node);
    }
    load.objects.emplace_back(std::move(node));
  }
  CellReader cells(pods, "openb pods");
  if (cells.next()) cells.take_heading();
  if (!cells.has("deletion_time")) {
    return input_error(
        "openb pods: there is no column deletion_time; this table has no times and "
        "cannot be replayed; take openb_pod_list_default.csv");
  }
  while (cells.next()) {
    cells.take_row();
    load.tasks.push_back(openb_task(cells, start));
  }
  for (const CellReader* const reader : {&node_cells, &cells}) {
    if (auto error = finish(load, *reader)) return std::unexpected(*std::move(error));
  }
  load.notes = {
      "GPU shares are counted per node (makeway.dev/gpu-milli): on which device one lies is "
      "ignored.",
      "Priorities follow the quality of service: LS 300, Guaranteed 200, Burstable 100, BE 0; LS "
      "pods are services."};
  return load;
}

namespace {

/// What a job of the Standard Workload Format says; what it becomes depends on the nodes.
struct SwfJob {
  std::int64_t processors = 0;
  SimTask task;
};

/// None: it never ran.
std::optional<SwfJob> swf_job(CellReader& cells, Time start) {
  const std::int64_t run = cells.swf_number("run time", 3, seconds_max);
  const std::int64_t used = cells.swf_number("allocated processors", 4, amount_max);
  const std::int64_t asked = cells.swf_number("requested processors", 7, amount_max);
  const std::int64_t size = used > 0 ? used : asked;
  if (run == 0 || size == 0) return std::nullopt;
  SwfJob job{.processors = size};
  job.task.name = fmt::format("job-{}", cells.checked_name(cells.cell(0)));
  job.task.arrival = start + Duration{cells.swf_number("submit time", 1, seconds_max) * 1'000};
  job.task.run = {run * 1'000};
  job.task.leave = {30'000};
  job.task.recreate = {1'000};
  job.task.priority = static_cast<std::int32_t>(cells.swf_number("queue", 14, 1'000'000) * 100);
  return job;
}

void place_swf_job(SwfJob& job, std::int64_t cores, CellReader& cells) {
  const std::int64_t pods = (job.processors + cores - 1) / cores;
  if (pods > pods_max) {
    cells.complain(fmt::format("{}: {} processors on nodes of {}: at most {} pods", job.task.name,
                               job.processors, cores, pods_max));
    return;
  }
  job.task.kind = pods > 1 ? TaskKind::gang : TaskKind::job;
  job.task.pods = pods;
  job.task.minimum = pods;
  job.task.whole = true;
  job.task.requests = amounts_of((job.processors + pods - 1) / pods * 1'000, 0, own_gpu, 0, 0);
}

}  // namespace

Result<SimLoad> swf_load(std::string_view text, Time start, std::string_view file) {
  SimLoad load;
  std::size_t left_out = 0;
  CellReader cells(text, file);
  std::int64_t nodes = 0;
  std::int64_t processors = 0;
  std::vector<SwfJob> jobs;
  while (cells.next()) {
    cells.split_at_blanks();
    if (cells.cell(0).starts_with(';')) {
      const std::size_t at = cells.cell(0) == ";" ? 1 : 0;
      if (cells.cell(at).ends_with("MaxNodes:")) {
        nodes = cells.swf_number("MaxNodes", at + 1, 200'000);
      } else if (cells.cell(at).ends_with("MaxProcs:")) {
        processors = cells.swf_number("MaxProcs", at + 1, 100'000'000);
      }
    } else if (std::optional<SwfJob> job = swf_job(cells, start)) {
      jobs.push_back(*std::move(job));
    } else {
      ++left_out;
    }
  }
  if (jobs.empty() && cells.problem().empty()) {
    return input_error(
        fmt::format("{}: there is no job that ran ({} have no run time or no processors); is this "
                    "the Standard Workload Format?",
                    file, left_out));
  }
  for (const SwfJob& job : jobs) {
    if (processors == 0) nodes = std::max<std::int64_t>(nodes, 1);
    if (processors < nodes) processors = nodes;
    if (nodes <= 1) processors = std::max(processors, job.processors);
  }
  if (nodes == 0) nodes = std::min<std::int64_t>(processors, 200'000);
  const std::int64_t cores = std::max<std::int64_t>((processors + nodes - 1) / nodes, 1);
  for (std::int64_t number = 0; number < nodes && cells.problem().empty(); ++number) {
    load.objects.emplace_back(node_of(
        fmt::format("node-{:05}", number),
        amounts_of(cores * 1'000, 0, own_gpu, 0, std::max<std::int64_t>(250, cores)), start));
  }
  for (SwfJob& job : jobs) {
    place_swf_job(job, cores, cells);
    load.tasks.push_back(std::move(job.task));
  }
  if (auto error = finish(load, cells)) return std::unexpected(*std::move(error));
  load.notes = {fmt::format("{} nodes of {} processors; a job that needs more is a gang, and its "
                            "processors are divided evenly, rounded up.",
                            nodes, cores),
                "Priorities are 100 times the number of the trace's queue."};
  if (left_out > 0) {
    load.notes.push_back(fmt::format(
        "{} {} left out: the trace knows no run time (-1 or 0) or no processors of {}.", left_out,
        left_out == 1 ? "job is" : "jobs are", left_out == 1 ? "it" : "them"));
  }
  return load;
}

Result<SimLoad> csv_load(std::string_view text, Time start, std::string_view file) {
  SimLoad load;
  std::vector<std::size_t> lines;  // Of the tasks.
  std::map<std::string, std::size_t, std::less<>> named;
  CellReader cells(text, file);
  if (cells.next()) cells.take_heading();
  for (const std::string_view needed : {"kind", "name", "cpu_milli"}) {
    if (cells.has(needed)) continue;
    return input_error(
        fmt::format("{}, line 1: the heading lacks the column {}; docs/simulation.md "
                    "describes the table",
                    file, needed));
  }
  cells.expect_columns(own_columns);
  while (cells.next()) {
    cells.take_row();
    const std::string_view kind = cells.cell("kind");
    cells.about(fmt::format("{} {}", shorten(kind), shorten(cells.cell("name"))));
    const std::string_view name = cells.checked_name(cells.cell("name"));
    std::string unique =
        fmt::format("{} {}/{}", task_kind(kind) ? "task" : kind, cells.cell("namespace"), name);
    const auto [first, is_new] = named.try_emplace(std::move(unique), cells.line_number());
    if (!is_new) {
      cells.complain(fmt::format(
          "there is one of that name in line {}; give each a name of its own", first->second));
    }
    if (kind == "node") {
      load.objects.emplace_back(
          node_of(name,
                  amounts_of(cells.amount("cpu_milli"), cells.amount("memory_mib", memory_mib_max),
                             own_gpu, cells.amount("gpu", 1'000),
                             std::max<std::int64_t>(cells.amount("pods", pods_max, 250), 1)),
                  start));
    } else if (kind == "queue") {
      Queue queue{.name = std::string(name)};
      queue.weight = std::max<std::int64_t>(cells.amount("weight", 1'000'000, 1), 1);
      normalize(queue);
      load.objects.emplace_back(std::move(queue));
    } else if (const std::optional<TaskKind> task = task_kind(kind)) {
      load.tasks.push_back(csv_task(cells, *task, name, start));
      lines.push_back(cells.line_number());
    } else {
      cells.complain(
          fmt::format("kind \"{}\": expected node, queue, job, gang or service", shorten(kind)));
    }
  }
  if (cells.problem().empty()) {
    std::string missing = missing_queue(load, lines, file);
    if (!missing.empty()) return input_error(std::move(missing));
  }
  if (auto error = finish(load, cells)) return std::unexpected(*std::move(error));
  return load;
}

void scale_load(SimLoad& load, const LoadScale& scale, Time start) {
  if (scale.tasks_max > 0 && std::ssize(load.tasks) > scale.tasks_max) {
    load.tasks.resize(static_cast<std::size_t>(scale.tasks_max));
    load.notes.push_back(fmt::format("Only the first {} tasks.", scale.tasks_max));
  }
  if (scale.nodes_percent < 100) {
    std::int64_t seen = 0;
    std::erase_if(load.objects, [&](const Change& object) {
      if (!std::holds_alternative<Node>(object)) return false;
      ++seen;
      return seen * scale.nodes_percent / 100 == (seen - 1) * scale.nodes_percent / 100;
    });
    load.notes.push_back(fmt::format("{} percent of the nodes.", scale.nodes_percent));
  }
  for (SimTask& task : load.tasks) {
    const std::int64_t after = (task.arrival - start).ms;
    task.arrival = start + Duration{after / scale.arrivals_percent * 100 +
                                    after % scale.arrivals_percent * 100 / scale.arrivals_percent};
    task.run.ms = std::max<std::int64_t>(task.run.ms / 100 * scale.runs_percent, 1);
  }
  if (scale.arrivals_percent != 100) {
    load.notes.push_back(
        fmt::format("Arrivals at {} percent of their speed.", scale.arrivals_percent));
  }
  if (scale.runs_percent != 100) {
    load.notes.push_back(fmt::format("Run times of {} percent.", scale.runs_percent));
  }
}

}  // namespace makeway
