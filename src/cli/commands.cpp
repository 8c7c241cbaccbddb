#include "cli/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "base/check.hpp"
#include "cli/help.hpp"
#include "cli/plan/plan_command.hpp"
#include "codec/fields.hpp"
#include "codec/presets.hpp"
#include "model/knobs.hpp"
#include "model/plan.hpp"

namespace makeway::cli {
namespace {

using Texts = std::vector<std::string_view>;
using Run = ExitStatus (*)(const Arguments&, Terminal&);

/// Null: the first word of several commands.
Run function_of(std::string_view command) {
  static const std::map<std::string_view, Run> functions = {{"plan", run_plan},
                                                            {"risk", run_risk},
                                                            {"advance", run_advance},
                                                            {"simulate", run_simulate},
                                                            {"simulate merge", run_simulate_merge},
                                                            {"run", run_run},
                                                            {"apply", run_apply},
                                                            {"replay", run_replay},
                                                            {"why", run_why},
                                                            {"journal list", run_journal_list},
                                                            {"journal stats", run_journal_stats},
                                                            {"journal verify", run_journal_verify},
                                                            {"snapshot", run_snapshot},
                                                            {"check", run_check},
                                                            {"config list", run_config_list},
                                                            {"config show", run_config_show},
                                                            {"config explain", run_config_explain},
                                                            {"explain", run_explain},
                                                            {"crds", run_crds},
                                                            {"session resume", run_session_resume},
                                                            {"completion", run_completion},
                                                            {"man", run_man},
                                                            {"version", run_version},
                                                            {"help", run_help}};
  const auto found = functions.find(command);
  return found == functions.end() ? nullptr : found->second;
}

/// Sections and knobs.
Texts knob_names() {
  Texts names;
  for (const Knob& knob : knobs()) {
    const bool is_new = std::ranges::find(names, knob.section()) == names.end();
    if (is_new && !knob.section().empty()) names.push_back(knob.section());
    names.push_back(knob.path);
  }
  return names;
}

/// "workload.evictFor=": what shells offer after --set.
Texts assignments() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> list;
    for (const Knob& knob : knobs()) list.push_back(std::string(knob.path) + "=");
    return list;
  }();
  return {texts.begin(), texts.end()};
}

Texts split_at(char separator, std::string_view text) {
  Texts words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// "text,json", or a list that the program knows: "@presets".
Texts values_of(std::string_view list) {
  if (list == "@presets") return preset_names();
  if (list == "@knobs") return knob_names();
  if (list == "@assignments") return assignments();
  if (list == "@outcomes") return {choice_names<Outcome>.begin(), choice_names<Outcome>.end()};
  if (list == "@kinds") return own_kind_names();
  if (list == "@fields") return explained_paths();
  CHECK(!list.starts_with('@'), "commands.txt names a list that there is");
  return split_at(',', list);
}

/// What stands behind the name of a flag or an operand.
template <class Described>
void set_attribute(Described& item, std::string_view word) {
  const std::string_view value = word.substr(word.find('=') + 1);
  if (word == "repeats") {
    item.repeats = true;
  } else if (word == "required") {
    item.required = true;
  } else if (word.starts_with("choices=")) {
    item.choices = values_of(value);
  } else if (word.starts_with("suggestions=")) {
    item.suggestions = values_of(value);
  } else if constexpr (requires { item.standard; }) {
    if (word.starts_with("standard=")) {
      item.standard = value;
    } else {
      item.value = word;
    }
  }
}

Flag flag_of(std::span<const std::string_view> words) {
  Flag flag;
  for (const std::string_view word : words) {
    if (word.starts_with("--")) {
      flag.name = word.substr(2);
    } else if (word.starts_with('-') && flag.name.empty()) {
      flag.letter = word[1];
    } else {
      set_attribute(flag, word);
    }
  }
  return flag;
}

/// Reads commands.txt. The commands refer to its text, and to what this keeps.
class TableReader {
 public:
  std::vector<Command> read(std::string_view text) {
    Texts lines = split_at('\n', text);
    for (std::size_t at = 0; at < lines.size();) {
      const std::string_view head = lines[at++];
      const std::size_t first = at;
      while (at < lines.size() && (lines[at].empty() || lines[at].starts_with("  "))) ++at;
      if (head.empty() || head.starts_with('#')) continue;
      add(head, std::span(lines).subspan(first, at - first));
    }
    return std::move(table_);
  }

 private:
  void add(std::string_view head, std::span<const std::string_view> lines) {
    const std::string_view what = head.substr(0, head.find(' '));
    const std::string_view rest = head.substr(std::min(what.size() + 1, head.size()));
    const std::string_view text = texts_.emplace_back(joined(lines));
    const Texts words = split_at(' ', rest);
    if (what == "shared") {
      shared_[words.front()] = flag_of(std::span(words).subspan(1));
      shared_[words.front()].help = text;
    } else if (what == "command") {
      const std::string_view name = rest.substr(0, rest.find(':'));
      table_.push_back({.name = name,
                        .summary = rest.substr(name.size() + 2),
                        .description = text,
                        .run = function_of(name)});
    } else if (what == "flags") {
      for (const std::string_view name : words) {
        CHECK(shared_.contains(name), "commands.txt names a flag that there is");
        table_.back().flags.push_back(shared_[name]);
      }
    } else if (what == "flag") {
      table_.back().flags.push_back(flag_of(words));
      table_.back().flags.back().help = text;
    } else if (what == "operand") {
      Operand& operand =
          table_.back().operands.emplace_back(Operand{.name = words[0], .help = text});
      for (const std::string_view word : std::span(words).subspan(1)) set_attribute(operand, word);
    } else if (what == "example") {
      table_.back().examples.push_back({.line = rest, .meaning = text});
    } else {
      CHECK(what == "exit", "commands.txt has no other items");
      std::string_view& status = table_.back().exit_status;
      status = status.empty() ? text : texts_.emplace_back(fmt::format("{}\n{}", status, text));
    }
  }

  static std::string joined(std::span<const std::string_view> lines) {
    std::string text;
    bool breaks = false;  ///< The line before was kept as it is.
    bool is_new_paragraph = false;
    for (std::string_view line : lines) {
      if (line.empty()) {
        is_new_paragraph = true;
        continue;
      }
      line.remove_prefix(2);
      const bool is_kept = line.starts_with(' ');
      if (!text.empty()) text += is_new_paragraph ? "\n\n" : is_kept || breaks ? "\n" : " ";
      text += line;
      breaks = is_kept;
      is_new_paragraph = false;
    }
    return text;
  }

  std::vector<Command> table_;
  std::map<std::string_view, Flag> shared_;
  std::deque<std::string> texts_;
};

}  // namespace

std::span<const Command> commands() {
  static TableReader reader;
  static const std::vector<Command> table = [] {
    std::vector<Command> all = reader.read(command_texts());
    // Help comes last and knows the others.
    for (const Command& command : all) {
      if (command.name.contains(' ')) continue;
      all.back().operands.front().suggestions.push_back(command.name);
    }
    return all;
  }();
  return table;
}

const Command* find_command(std::string_view name) {
  const auto found = std::ranges::find(commands(), name, &Command::name);
  return found == commands().end() ? nullptr : &*found;
}

const std::vector<std::string>& Arguments::all(std::string_view name) const {
  const auto found = values_.find(name);
  CHECK(found != values_.end(), "the command has no such flag");
  return found->second;
}

bool Arguments::has(std::string_view name) const { return !all(name).empty(); }

std::optional<std::string_view> Arguments::given(std::string_view name) const {
  const std::vector<std::string>& values = all(name);
  if (values.empty()) return std::nullopt;
  return values.back();
}

std::string_view Arguments::text(std::string_view name) const {
  const std::vector<std::string>& values = all(name);
  return values.empty() ? std::string_view{} : std::string_view(values.back());
}

}  // namespace makeway::cli
