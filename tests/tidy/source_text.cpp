#include "tidy/source_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

namespace makeway::tidy {
namespace {

/// Walks over C++ once and blanks what was asked for.
class Blanker {
 public:
  Blanker(std::string_view text, bool blank_literals)
      : text_(text), result_(text), blank_literals_(blank_literals) {}

  std::string run() {
    while (at_ < text_.size()) {
      if (starts("//")) {
        blank_until(end_of_line(at_));
      } else if (starts("/*")) {
        blank_until(end_after("*/", at_ + 2));
      } else if (starts("R\"") && !follows_identifier()) {
        raw_string();
      } else if (text_[at_] == '"') {
        literal('"');
      } else if (text_[at_] == '\'' && !follows_identifier()) {  // 1'000 is no literal.
        literal('\'');
      } else {
        ++at_;
      }
    }
    return std::move(result_);
  }

 private:
  bool starts(std::string_view prefix) const { return text_.substr(at_).starts_with(prefix); }

  bool follows_identifier() const { return at_ > 0 && is_identifier_character(text_[at_ - 1]); }

  std::size_t end_of_line(std::size_t from) const {
    return std::min(text_.find('\n', from), text_.size());
  }

  std::size_t end_after(std::string_view closing, std::size_t from) const {
    const std::size_t found = text_.find(closing, from);
    return found == std::string_view::npos ? text_.size() : found + closing.size();
  }

  void blank_until(std::size_t end) {
    for (; at_ < end; ++at_) {
      if (text_[at_] != '\n') result_[at_] = ' ';
    }
  }

  /// Skips or blanks a literal but never its quotes, so that it still looks like an operand.
  void literal_body(std::size_t end_of_body, std::size_t end) {
    if (blank_literals_) blank_until(end_of_body);
    at_ = end;
  }

  void literal(char quote) {
    ++at_;
    std::size_t end = at_;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2U : 1U;
    }
    end = std::min(end, text_.size());
    literal_body(end, std::min(end + 1, text_.size()));
  }

  void raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) {
      at_ = text_.size();
      return;
    }
    const std::string closing = fmt::format("){}\"", text_.substr(at_ + 2, open - at_ - 2));
    const std::size_t end = end_after(closing, open);
    at_ += 2;
    literal_body(end - 1, end);
  }

  std::string_view text_;
  std::string result_;
  std::size_t at_ = 0;
  bool blank_literals_;
};

void blank_preprocessor_lines(std::string& text) {
  bool continued = false;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::size_t first = text.find_first_not_of(" \t", begin);
    const bool directive = continued || (first < end && text[first] == '#');
    continued = directive && end > begin && text[end - 1] == '\\';
    if (directive)
      std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin),
                text.begin() + static_cast<std::ptrdiff_t>(end), ' ');
    begin = end + 1;
  }
}

std::string read(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

bool is_skipped_folder(const std::string& name) {
  return name == ".git" || name == "build" || name == ".cache" || name == "node_modules";
}

}  // namespace

std::string to_text(const Finding& finding) {
  if (finding.line == 0) return fmt::format("{}: {}", finding.path, finding.message);
  return fmt::format("{}:{}: {}", finding.path, finding.line, finding.message);
}

std::string without_comments(std::string_view cpp) { return Blanker(cpp, false).run(); }

std::string code_only(std::string_view cpp) {
  std::string result = Blanker(cpp, true).run();
  blank_preprocessor_lines(result);
  return result;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::size_t line_at(std::string_view text, std::size_t offset) {
  return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, offset), '\n'));
}

bool is_identifier_character(char byte) {
  return byte == '_' || std::isalnum(static_cast<unsigned char>(byte)) != 0;
}

bool is_cpp(std::string_view path) { return path.ends_with(".cpp") || path.ends_with(".hpp"); }

bool is_companion(std::string_view path) {
  return path.ends_with("_test.cpp") || path.ends_with("_fuzz.cpp") ||
         path.ends_with("_benchmark.cpp");
}

std::string_view layer_of(std::string_view path) {
  if (!path.starts_with("src/")) return {};
  path.remove_prefix(4);
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

std::string_view stem_of(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);  // npos + 1 is 0.
  return path.substr(0, path.rfind('.'));
}

Tree read_tree(const std::filesystem::path& root) {
  Tree tree;
  std::filesystem::recursive_directory_iterator at(root);
  for (; at != std::filesystem::recursive_directory_iterator(); ++at) {
    if (at->is_directory() && is_skipped_folder(at->path().filename().string())) {
      at.disable_recursion_pending();
    } else if (at->is_regular_file() && !at->is_symlink()) {
      tree.push_back({.path = std::filesystem::relative(at->path(), root).generic_string(),
                      .text = read(at->path())});
    }
  }
  std::ranges::sort(tree, {}, &SourceFile::path);
  return tree;
}

}  // namespace makeway::tidy
