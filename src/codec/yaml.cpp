#include "codec/yaml.hpp"

#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

#include "base/check.hpp"
#include "codec/writer.hpp"
#include "codec/yaml_scalar.hpp"

namespace makeway {
namespace {

constexpr std::string_view tag_prefix = "tag:yaml.org,2002:";

std::string_view text_of(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

/// "int" for !!int, "!x" for a foreign tag, nothing for none.
std::string_view tag_name(const yaml_char_t* tag) {
  const std::string_view name = text_of(tag);
  return name.starts_with(tag_prefix) ? name.substr(tag_prefix.size()) : name;
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

class Parser {
 public:
  explicit Parser(std::string_view text) {
    CHECK(yaml_parser_initialize(&parser_) == 1, "out of memory");
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    // libyaml asserts that there is a text; an empty view may point nowhere.
    const char* const begin = text.empty() ? "" : text.data();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(begin),
                                 text.size());
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser() { yaml_parser_delete(&parser_); }

  yaml_parser_t* get() { return &parser_; }

 private:
  yaml_parser_t parser_{};
};

class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { yaml_event_delete(&event_); }

  yaml_event_t* get() { return &event_; }
  const yaml_event_t* operator->() const { return &event_; }
  const yaml_event_t& operator*() const { return event_; }
  std::uint64_t line() const { return event_.start_mark.line + 1; }

 private:
  yaml_event_t event_{};
};

/// libyaml's words for a syntax error, and ours.
struct Phrase {
  std::string_view original;
  std::string_view message;
  std::string_view remedy;
};

constexpr std::array<Phrase, 13> phrases = {{
    {"mapping values are not allowed in this context", "a \":\" where no key can stand",
     "check the indentation, and quote values that contain \": \""},
    {"found character that cannot start any token",
     "a tab or a reserved character (@ ` %) where a value should start",
     "indent with spaces, and quote values that start with such a character"},
    {"did not find expected key", "expected a key",
     "check the indentation of this line and of the lines above"},
    {"did not find expected '-' indicator", "expected a \"-\" like those above",
     "check the indentation of this line and of the lines above"},
    {"could not find expected ':'", "expected a \":\" behind the key",
     "write \"key: value\", and check the quotes and the indentation above"},
    {"found unexpected end of stream", "a quote is not closed", "add the closing quote"},
    {"did not find expected ',' or ']'", R"(expected "," or "]")", "close the list"},
    {"did not find expected ',' or '}'", R"(expected "," or "}")", "close the mapping"},
    {"found undefined tag handle", "an unknown tag", "remove it"},
    {"control characters are not allowed", "a control character", "remove it"},
    {"invalid leading UTF-8 octet", "not valid UTF-8", "save the file as UTF-8"},
    {"invalid trailing UTF-8 octet", "not valid UTF-8", "save the file as UTF-8"},
    {"incomplete UTF-8 octet sequence", "not valid UTF-8", "save the file as UTF-8"},
}};

struct Complaint {
  std::uint64_t line = 0;
  std::string_view value;
  std::string message;
  std::string_view remedy;
};

/// The document under construction. JSON is written straight from the events; a mapping or list is
/// only a frame on a stack, and an anchor a range of the text written so far.
class Converter {
 public:
  Converter(std::string_view text, std::string_view source, const YamlLimits& limits,
            const YamlSink& sink)
      : text_(without_byte_order_mark(text)),
        source_(source),
        limits_(limits),
        sink_(sink),
        parser_(text_) {}

  Problems run() {
    if (tag_directives() > tag_directives_max) {
      report({.line = 1,
              .value = "%TAG",
              .message = fmt::format("more than {} tag directives", tag_directives_max),
              .remedy = "remove them"},
             {});
      return std::move(problems_);
    }
    while (!stopped_) {
      Event event;
      if (yaml_parser_parse(parser_.get(), event.get()) == 0) {
        report_syntax();
        break;
      }
      if (event->type == YAML_STREAM_END_EVENT) break;
      take(event);
    }
    return std::move(problems_);
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  // libyaml compares each directive with all before it, so many of them would take forever.
  static constexpr std::size_t tag_directives_max = 100;

  std::size_t tag_directives() const {
    std::size_t count = 0;
    for (std::size_t at = text_.find("%TAG"); at != std::string_view::npos;
         at = text_.find("%TAG", at + 1)) {
      const char before = at == 0 ? '\n' : text_[at - 1];
      const bool at_line_start = before == '\n' || before == '\r' || (before & 0x80) != 0;
      if (at_line_start) ++count;
    }
    return count;
  }

  struct Frame {
    bool is_mapping = false;
    bool expects_key = false;
    std::size_t items = 0;
    std::size_t height = 0;      ///< Levels inside, for aliases of this node.
    std::size_t keys_begin = 0;  ///< Its keys are the end of `keys_`.
    std::size_t anchor = none;
  };

  struct Key {
    std::size_t begin = 0;  ///< In the JSON text, quotes included.
    std::size_t size = 0;
    std::uint64_t line = 0;
  };

  struct Anchor {
    std::string name;
    std::size_t begin = 0;
    std::size_t size = 0;
    std::size_t height = 0;
    bool complete = false;
  };

  void take(const Event& event) {
    switch (event->type) {
      case YAML_DOCUMENT_START_EVENT: start_document(); break;
      case YAML_DOCUMENT_END_EVENT: end_document(); break;
      case YAML_SCALAR_EVENT: take_scalar(event); break;
      case YAML_ALIAS_EVENT: take_alias(event); break;
      case YAML_SEQUENCE_START_EVENT:
        begin(event, false, event->data.sequence_start.anchor, event->data.sequence_start.tag);
        break;
      case YAML_MAPPING_START_EVENT:
        begin(event, true, event->data.mapping_start.anchor, event->data.mapping_start.tag);
        break;
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT: end(); break;
      default: break;
    }
  }

  void start_document() {
    ++document_.number;
    document_.line = 0;
    document_.json.clear();
    frames_.clear();
    keys_.clear();
    anchors_.clear();
    problems_before_ = problems_.size();
    in_document_ = true;
  }

  void end_document() {
    in_document_ = false;
    if (problems_.size() != problems_before_ || document_.json == "null") return;
    sink_(document_);
  }

  bool at_key() const { return !frames_.empty() && frames_.back().expects_key; }

  /// Before every value: the comma, and the count that paths are made of.
  void start_value(std::uint64_t line) {
    if (frames_.empty()) {
      document_.line = line;
      return;
    }
    Frame& frame = frames_.back();
    if (frame.is_mapping) {
      frame.expects_key = true;
      return;
    }
    if (frame.items++ != 0) document_.json += ',';
  }

  void take_scalar(const Event& event) {
    const auto& scalar = event->data.scalar;
    if (at_key()) {
      take_key(event);
      return;
    }
    start_value(event.line());
    const std::size_t anchor = start_anchor(event, scalar.anchor);
    append_scalar(event);
    finish_anchor(anchor, 0);
  }

  static std::string_view value_of(const Event& event) {
    return {reinterpret_cast<const char*>(event->data.scalar.value), event->data.scalar.length};
  }

  /// What a scalar means: its style and its tag decide whether it may be anything but a string.
  PlainScalar resolve(const Event& event) {
    const std::string_view text = value_of(event);
    const std::string_view tag = tag_name(event->data.scalar.tag);
    if (tag.empty()) {
      const bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
      return plain ? resolve_plain(text, scratch_) : PlainScalar{ScalarKind::string, text};
    }
    if (tag == "!" || tag == "str" || tag == "binary" || tag == "timestamp") {
      return {ScalarKind::string, text};
    }
    const PlainScalar plain = resolve_plain(text, scratch_);
    const bool fits = (tag == "null" && plain.kind == ScalarKind::null) ||
                      (tag == "bool" && plain.kind == ScalarKind::boolean) ||
                      (tag == "int" && plain.kind == ScalarKind::integer) ||
                      (tag == "float" &&
                       (plain.kind == ScalarKind::decimal || plain.kind == ScalarKind::integer));
    if (fits) return plain;
    const bool known = tag == "null" || tag == "bool" || tag == "int" || tag == "float";
    complain({.line = event.line(),
              .value = known ? text : tag,
              .message = known ? fmt::format("does not fit its tag !!{}", tag)
                               : std::string("an unsupported tag"),
              .remedy = "remove the tag"});
    return {ScalarKind::null, "null"};
  }

  void append_scalar(const Event& event) {
    const PlainScalar scalar = resolve(event);
    if (scalar.kind == ScalarKind::string) {
      append_json_string(document_.json, scalar.json);
      return;
    }
    if (scalar.kind == ScalarKind::not_finite) {
      complain({.line = event.line(),
                .value = value_of(event),
                .message = "infinity and not-a-number have no JSON form",
                .remedy = "quote it if it is meant as text"});
    }
    document_.json += scalar.json;
  }

  void take_key(const Event& event) {
    Frame& frame = frames_.back();
    if (frame.items++ != 0) document_.json += ',';
    frame.expects_key = false;
    const std::size_t begin = document_.json.size();
    const PlainScalar key = resolve(event);
    append_json_string(document_.json, key.json);
    keys_.push_back({begin, document_.json.size() - begin, event.line()});
    document_.json += ':';

    const bool is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (key.kind == ScalarKind::null) {
      complain({.line = event.line(),
                .value = value_of(event),
                .message = "a key is empty or null",
                .remedy = "quote it, or check the indentation"});
    } else if (is_plain && value_of(event) == "<<") {
      complain({.line = event.line(),
                .value = "<<",
                .message = "merge keys are not supported",
                .remedy = "write the merged keys out"});
    }
    if (event->data.scalar.anchor != nullptr) {
      complain({.line = event.line(),
                .value = text_of(event->data.scalar.anchor),
                .message = "an anchor on a key is not supported",
                .remedy = "put it on a value"});
    }
  }

  void begin(const Event& event, bool is_mapping, const yaml_char_t* anchor,
             const yaml_char_t* tag) {
    if (at_key()) {
      stop({.line = event.line(),
            .message = "a mapping or a list cannot be a key",
            .remedy = "quote the key; a template that was not filled in ({{ }}) looks like this"});
      return;
    }
    if (frames_.size() >= limits_.depth_max) {
      stop_too_deep(event.line());
      return;
    }
    start_value(event.line());
    const std::string_view name = tag_name(tag);
    if (!name.empty() && name != "!" && name != (is_mapping ? "map" : "seq")) {
      complain({.line = event.line(),
                .value = name,
                .message = "an unsupported tag",
                .remedy = "remove the tag"});
    }
    const std::size_t anchor_slot = start_anchor(event, anchor);
    document_.json += is_mapping ? '{' : '[';
    frames_.push_back({.is_mapping = is_mapping,
                       .expects_key = is_mapping,
                       .keys_begin = keys_.size(),
                       .anchor = anchor_slot});
  }

  void end() {
    Frame frame = frames_.back();
    if (frame.is_mapping) report_duplicates(frame);
    keys_.resize(frame.keys_begin);
    frames_.pop_back();
    document_.json += frame.is_mapping ? '}' : ']';
    ++frame.height;
    finish_anchor(frame.anchor, frame.height);
    note_height(frame.height);
  }

  void note_height(std::size_t height) {
    if (!frames_.empty()) frames_.back().height = std::max(frames_.back().height, height);
  }

  std::string_view key_text(const Key& key) const {
    return std::string_view(document_.json).substr(key.begin, key.size);
  }

  /// Equal keys have equal JSON texts. Sorting keeps a mapping of a million keys cheap.
  void report_duplicates(const Frame& frame) {
    const std::size_t count = keys_.size() - frame.keys_begin;
    if (count < 2) return;
    const auto first = keys_.begin() + static_cast<std::ptrdiff_t>(frame.keys_begin);
    constexpr std::size_t few = 8;
    if (count <= few && !any_equal(frame.keys_begin)) return;
    std::sort(first, keys_.end(), [this](const Key& a, const Key& b) {
      const int order = key_text(a).compare(key_text(b));
      return order != 0 ? order < 0 : a.begin < b.begin;
    });
    for (std::size_t i = frame.keys_begin + 1; i < keys_.size() && !stopped_; ++i) {
      if (key_text(keys_[i]) != key_text(keys_[i - 1])) continue;
      std::string_view name = key_text(keys_[i]);
      name = name.substr(1, name.size() - 2);
      const std::string path = path_to(frames_.size() - 1, name);
      report({.line = keys_[i].line,
              .value = name,
              .message = fmt::format("the key is given twice; first on line {}", keys_[i - 1].line),
              .remedy = "keep one of them"},
             path);
    }
  }

  bool any_equal(std::size_t keys_begin) const {
    for (std::size_t i = keys_begin + 1; i < keys_.size(); ++i) {
      for (std::size_t j = keys_begin; j < i; ++j) {
        if (keys_[i].size == keys_[j].size && key_text(keys_[i]) == key_text(keys_[j])) return true;
      }
    }
    return false;
  }

  std::size_t start_anchor(const Event& event, const yaml_char_t* name) {
    if (name == nullptr) return none;
    if (anchors_.size() == limits_.anchors_max) {
      stop({.line = event.line(),
            .value = text_of(name),
            .message = fmt::format("more than {} anchors in one document", limits_.anchors_max),
            .remedy = "write the values out"});
      return none;
    }
    anchors_.push_back({.name = std::string(text_of(name)), .begin = document_.json.size()});
    return anchors_.size() - 1;
  }

  void finish_anchor(std::size_t slot, std::size_t height) {
    if (slot == none) return;
    Anchor& anchor = anchors_[slot];
    anchor.size = document_.json.size() - anchor.begin;
    anchor.height = height;
    anchor.complete = true;
  }

  void take_alias(const Event& event) {
    const std::string_view name = text_of(event->data.alias.anchor);
    const Complaint complaint{.line = event.line(), .value = name};
    const auto newest_first = anchors_ | std::views::reverse;
    const auto found = std::ranges::find(newest_first, name, &Anchor::name);
    if (at_key()) {
      stop(with(complaint, "an alias cannot be a key", "write the key out"));
    } else if (found == newest_first.end()) {
      stop(with(complaint, "no anchor of this name stands above", "define it, or quote the text"));
    } else if (!found->complete) {
      stop(with(complaint, "the alias stands inside of its own anchor", "write the value out"));
    } else if (frames_.size() + found->height > limits_.depth_max) {
      stop_too_deep(event.line());
    } else if (found->size > limits_.alias_bytes_max - alias_bytes_) {
      stop(with(complaint,
                fmt::format("aliases expand to more than {} bytes", limits_.alias_bytes_max),
                "write the values out, or split the file"));
    } else {
      alias_bytes_ += found->size;
      start_value(event.line());
      document_.json.reserve(document_.json.size() + found->size);
      document_.json.append(document_.json, found->begin, found->size);
      note_height(found->height);
    }
  }

  static Complaint with(Complaint complaint, std::string message, std::string_view remedy) {
    complaint.message = std::move(message);
    complaint.remedy = remedy;
    return complaint;
  }

  /// The path to the `depth`-th frame's member `last`.
  std::string path_to(std::size_t depth, std::string_view last) const {
    std::string path;
    for (std::size_t i = 0; i < depth; ++i) {
      const Frame& frame = frames_[i];
      if (!frame.is_mapping) {
        path += fmt::format("[{}]", frame.items == 0 ? 0 : frame.items - 1);
        continue;
      }
      const std::size_t keys_end =
          i + 1 < frames_.size() ? frames_[i + 1].keys_begin : keys_.size();
      if (keys_end == frame.keys_begin) continue;
      std::string_view key = key_text(keys_[keys_end - 1]);
      append_step(path, key.substr(1, key.size() - 2));
    }
    if (!last.empty()) append_step(path, last);
    return path;
  }

  static void append_step(std::string& path, std::string_view key) {
    const bool simple = std::ranges::none_of(
        key, [](char byte) { return byte == '.' || byte == '[' || byte == ' ' || byte == '"'; });
    if (!simple) {
      path += fmt::format("[{}]", shorten(key));
      return;
    }
    if (!path.empty()) path += '.';
    path += shorten(key);
  }

  void complain(const Complaint& complaint) { report(complaint, path_to(frames_.size(), {})); }

  void stop(const Complaint& complaint) {
    complain(complaint);
    stopped_ = true;
  }

  void stop_too_deep(std::uint64_t line) {
    stop({.line = line,
          .message = fmt::format("nested more than {} levels deep", limits_.depth_max),
          .remedy = "flatten the document"});
  }

  void report(const Complaint& complaint, std::string path) {
    problems_.push_back({.severity = Severity::error,
                         .origin = {.source = std::string(source_),
                                    .document = document_.number,
                                    .line = complaint.line},
                         .field = std::move(path),
                         .value = shorten(complaint.value),
                         .message = complaint.message,
                         .remedy = std::string(complaint.remedy)});
    if (problems_.size() >= limits_.problems_max) stopped_ = true;
  }

  void report_syntax() {
    const yaml_parser_t& parser = *parser_.get();
    const std::string_view original = parser.problem == nullptr ? "" : parser.problem;
    const auto known = std::ranges::find(phrases, original, &Phrase::original);
    Complaint complaint;
    complaint.message = known == phrases.end() ? fmt::format("not valid YAML: {}", original)
                                               : fmt::format("not valid YAML: {}", known->message);
    if (known != phrases.end()) complaint.remedy = known->remedy;
    if (parser.error == YAML_READER_ERROR) {
      const std::size_t end = std::min(parser.problem_offset, text_.size());
      complaint.line =
          1 + static_cast<std::uint64_t>(std::ranges::count(text_.substr(0, end), '\n'));
    } else {
      complaint.line = parser.problem_mark.line + 1;
      const std::uint64_t begun = parser.context_mark.line + 1;
      if (parser.context != nullptr && begun != complaint.line) {
        complaint.message += fmt::format(" (in what begins on line {})", begun);
      }
    }
    // An error between two documents belongs to the one that did not come to be.
    if (!in_document_) ++document_.number;
    // The scanner reads ahead: the member is not certain, the mapping or list around it is.
    report(complaint, path_to(frames_.empty() ? 0 : frames_.size() - 1, {}));
  }

  std::string_view text_;
  std::string_view source_;
  const YamlLimits& limits_;
  const YamlSink& sink_;
  Parser parser_;

  YamlDocument document_;
  std::vector<Frame> frames_;
  std::vector<Key> keys_;
  std::vector<Anchor> anchors_;
  std::string scratch_;
  Problems problems_;
  std::size_t problems_before_ = 0;
  std::size_t alias_bytes_ = 0;
  bool in_document_ = false;
  bool stopped_ = false;
};

}  // namespace

Problems yaml_documents(std::string_view text, std::string_view source, const YamlLimits& limits,
                        const YamlSink& sink) {
  return Converter(text, source, limits, sink).run();
}

Problems yaml_to_json(std::string_view text, std::string_view source, const YamlLimits& limits,
                      std::vector<YamlDocument>& out) {
  return yaml_documents(text, source, limits,
                        [&](YamlDocument& document) { out.push_back(document); });
}

}  // namespace makeway
