#include "tidy/seeds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace makeway::tidy {
namespace {

constexpr std::string_view rules_header =
    "| rule | SPEC | function | test | example | knob, and where ours differs |";
constexpr std::size_t rule_cells = 6;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(trimmed(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

/// What stands between an opening and the next closing text, again and again.
std::vector<std::string_view> between(std::string_view text, std::string_view open,
                                      std::string_view close) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t begin = text.find(open);
    if (begin == std::string_view::npos) return parts;
    text.remove_prefix(begin + open.size());
    const std::size_t end = text.find(close);
    if (end == std::string_view::npos) return parts;
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + close.size());
  }
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_identifier_character(text[at - 1]);
    const bool ends = end == text.size() || !is_identifier_character(text[end]);
    if (begins && ends) return true;
  }
  return false;
}

/// `TEST(Suite, Name)`, whatever kind of test, in a text without blanks.
bool has_test(std::string_view squeezed, std::string_view suite, std::string_view name) {
  return std::ranges::any_of(
      std::array{std::string_view("TEST"), std::string_view("TEST_F"), std::string_view("TEST_P")},
      [&](std::string_view kind) {
        return squeezed.contains(fmt::format("{}({},{})", kind, suite, name));
      });
}

bool is_reference(std::string_view span) {
  return std::ranges::any_of(
      std::array{std::string_view("src/"), std::string_view("tests/"), std::string_view("docs/"),
                 std::string_view("examples/"), std::string_view("bench/")},
      [&](std::string_view folder) { return span.starts_with(folder); });
}

class SeedsPage {
 public:
  explicit SeedsPage(const Tree& tree) {
    for (const SourceFile& file : tree) files_.emplace(file.path, &file);
    if (const SourceFile* const page = find("docs/configuration.md")) read_knobs(page->text);
  }

  Findings check();

 private:
  const SourceFile* find(std::string_view path) const {
    const auto at = files_.find(path);
    return at == files_.end() ? nullptr : at->second;
  }
  void read_knobs(std::string_view page);
  void say(std::string message) {
    findings_.push_back(
        {.path = std::string(seeds_page), .line = line_, .message = std::move(message)});
  }
  void check_spans(std::string_view line);
  void check_reference(std::string_view span);
  bool occurs(const SourceFile& file, std::string_view name);
  void check_knob(std::string_view span);
  void check_links(std::string_view line);
  void check_row(std::string_view line);

  std::map<std::string_view, const SourceFile*, std::less<>> files_;
  std::set<std::string_view, std::less<>> knobs_;
  std::set<std::string_view, std::less<>> sections_;
  std::map<std::string_view, std::string> code_;      ///< Without comments, by path.
  std::map<std::string_view, std::string> squeezed_;  ///< The same without blanks.
  std::size_t line_ = 0;
  Findings findings_;
};

void SeedsPage::read_knobs(std::string_view page) {
  for (const std::string_view line : lines_of(page)) {
    if (!line.starts_with("| `")) continue;
    const std::string_view path = line.substr(3, line.find('`', 3) - 3);
    const std::size_t dot = path.find('.');
    if (dot == std::string_view::npos) continue;
    knobs_.insert(path);
    sections_.insert(path.substr(0, dot));
  }
}

bool SeedsPage::occurs(const SourceFile& file, std::string_view name) {
  if (file.path.starts_with("tests/scenarios/") && file.path.ends_with(".txt")) {
    return file.text.contains(fmt::format("\n==== {}.", name));
  }
  if (!is_cpp(file.path)) return has_word(file.text, name);
  auto [code, is_new] = code_.try_emplace(file.path);
  std::string& squeezed = squeezed_[file.path];
  if (is_new) {
    code->second = code_only(file.text);
    std::ranges::copy_if(code->second, std::back_inserter(squeezed),
                         [](char byte) { return byte != ' ' && byte != '\n'; });
  }
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return has_word(code->second, name);
  return has_test(squeezed, name.substr(0, dot), name.substr(dot + 1));
}

void SeedsPage::check_reference(std::string_view span) {
  const std::size_t colon = span.find(": ");
  const std::string_view path = span.substr(0, colon);
  const SourceFile* const file = find(path);
  if (file == nullptr) return say(fmt::format("there is no file {}", path));
  if (colon == std::string_view::npos) return;
  for (const std::string_view name : split(span.substr(colon + 2), ",")) {
    if (!occurs(*file, name)) say(fmt::format("{} does not occur in {}", name, path));
  }
}

void SeedsPage::check_knob(std::string_view span) {
  const std::string_view path = span.substr(0, span.find('='));
  const std::size_t dot = path.find('.');
  const bool is_knob = dot != std::string_view::npos && sections_.contains(path.substr(0, dot)) &&
                       !path.contains(' ');
  if (is_knob && !knobs_.contains(path)) say(fmt::format("there is no knob {}", path));
}

void SeedsPage::check_spans(std::string_view line) {
  for (const std::string_view span : between(line, "`", "`")) {
    is_reference(span) ? check_reference(span) : check_knob(span);
  }
  for (const std::string_view preset : between(line, "reset `", "`")) {
    if (find(fmt::format("src/codec/presets/{}.yaml", preset)) != nullptr) continue;
    say(fmt::format("there is no preset {}", preset));
  }
}

void SeedsPage::check_links(std::string_view line) {
  for (std::string_view target : between(line, "](", ")")) {
    target = target.substr(0, target.find('#'));
    if (target.empty() || target.starts_with("https://")) continue;
    const std::string path =
        target.starts_with("../") ? std::string(target.substr(3)) : fmt::format("docs/{}", target);
    if (find(path) == nullptr) say(fmt::format("there is no file {}", path));
  }
}

void SeedsPage::check_row(std::string_view line) {
  std::vector<std::string_view> cells = split(trimmed(line), "|");
  if (cells.size() != rule_cells + 2) {
    return say(fmt::format("a rule has {} cells, this row {}", rule_cells,
                           std::max<std::size_t>(cells.size(), 2) - 2));
  }
  cells.erase(cells.begin());
  cells.pop_back();
  if (std::ranges::find(cells, std::string_view{}) != cells.end()) {
    say("an empty cell; write - or \"none yet\"");
  }
  if (cells[1].empty() || cells[1][0] < '0' || cells[1][0] > '9') {
    say("the second cell begins with the section of SPEC");
  }
  const auto want = [&](std::size_t cell, std::string_view part, std::string_view what) {
    if (cells[cell].contains(part) || cells[cell].starts_with("none")) return;
    say(fmt::format("no {}; name one, or write \"none yet\"", what));
  };
  want(2, "`src/", "function");
  want(3, ": ", "test");
  want(4, "](../examples/", "example");
}

Findings SeedsPage::check() {
  const SourceFile* const page = find(seeds_page);
  if (page == nullptr) {
    say("missing: every rule of every seed has its row there");
    return findings_;
  }
  std::size_t tables = 0;
  bool in_rules = false;
  for (const std::string_view line : lines_of(page->text)) {
    ++line_;
    check_spans(line);
    check_links(line);
    if (line == rules_header) {
      ++tables;
      in_rules = true;
    } else if (!line.starts_with('|')) {
      in_rules = false;
    } else if (in_rules && !line.starts_with("|---")) {
      check_row(line);
    }
  }
  line_ = 0;
  if (tables != seeds_count) {
    say(fmt::format("{} tables of rules for {} seeds; each begins with {}", tables, seeds_count,
                    rules_header));
  }
  return findings_;
}

}  // namespace

Findings check_seeds(const Tree& tree) { return SeedsPage(tree).check(); }

}  // namespace makeway::tidy
