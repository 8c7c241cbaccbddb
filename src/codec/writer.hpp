// DocumentWriter: one sequence of calls, written as JSON or as YAML.
//
//   std::string out;
//   YamlWriter writer(out);
//   writer.begin_object();
//   writer.key("kind");
//   writer.string("Pod");
//   writer.end_object();   // The document is complete; the next value starts another one.
//
// Rules: calls in an order that JSON forbids are programmer errors (CHECK). Equal calls give equal
// bytes. Bytes that are not UTF-8 come out as U+FFFD, so the output is always valid.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace makeway {

/// Appends the text as a JSON string with its quotes. Beyond what JSON asks for, everything is
/// escaped that a terminal must not see (base/printable.hpp): documents are printed, too.
void append_json_string(std::string& out, std::string_view text);
/// The same for YAML 1.1, which writes characters beyond 16 bits in another way.
void append_yaml_string(std::string& out, std::string_view text);

class DocumentWriter {
 public:
  explicit DocumentWriter(std::string& out) : out_(&out) {}
  DocumentWriter(const DocumentWriter&) = delete;
  DocumentWriter& operator=(const DocumentWriter&) = delete;
  virtual ~DocumentWriter() = default;

  void begin_object() { begin(true); }
  void end_object() { end(true); }
  void begin_array() { begin(false); }
  void end_array() { end(false); }
  void key(std::string_view text);
  void string(std::string_view text) { scalar(text, true); }
  void integer(std::int64_t value);
  void boolean(bool value) { scalar(value ? "true" : "false", false); }
  void null() { scalar("null", false); }
  /// Any number, given as its JSON text.
  void number(std::string_view text) { scalar(text, false); }

  // The frequent pairs of calls.
  void string_field(std::string_view name, std::string_view value);
  void integer_field(std::string_view name, std::int64_t value);
  void boolean_field(std::string_view name, bool value);
  void strings_field(std::string_view name, std::span<const std::string> values);

 protected:
  struct Level {
    bool is_object = false;
    bool awaits_value = false;  ///< An object's key has been written, its value not yet.
    std::uint64_t items = 0;    ///< Members or elements begun so far.
  };

  std::string& out() { return *out_; }
  /// The open objects and arrays, outermost first.
  const std::vector<Level>& levels() const { return levels_; }

 private:
  // Each is called before `levels` takes notice of what it writes.
  virtual void write_key(std::string_view text) = 0;
  virtual void write_scalar(std::string_view text, bool is_string) = 0;
  /// Begin of an object or array; its end is `write_end`, called while it is still the last level.
  virtual void write_begin(bool is_object) = 0;
  virtual void write_end() = 0;

  void begin(bool is_object);
  void end(bool is_object);
  void scalar(std::string_view text, bool is_string);
  void expect_value();
  void count_value();

  std::string* out_;
  std::vector<Level> levels_;
};

enum class JsonStyle : std::uint8_t {
  compact,  ///< One line a document: JSON lines.
  pretty,   ///< Two spaces a level.
};

/// Every document ends with a newline.
/// Takes a document piece by piece.
using PieceSink = std::function<void(std::string_view)>;

class JsonWriter final : public DocumentWriter {
 public:
  /// With a sink, `out` holds no more than the piece that is being written, and nothing in the end.
  explicit JsonWriter(std::string& out, JsonStyle style = JsonStyle::pretty, PieceSink sink = {})
      : DocumentWriter(out), style_(style), sink_(std::move(sink)) {}

 private:
  void write_key(std::string_view text) override;
  void write_scalar(std::string_view text, bool is_string) override;
  void write_begin(bool is_object) override;
  void write_end() override;
  void start_item();
  void start_line(std::size_t depth);

  JsonStyle style_;
  PieceSink sink_;
};

/// Block style as kubectl prints it; documents are separated by "---". Strings are quoted whenever
/// some YAML 1.1 reader could take them for something else.
class YamlWriter final : public DocumentWriter {
 public:
  explicit YamlWriter(std::string& out) : DocumentWriter(out) {}

 private:
  void write_key(std::string_view text) override;
  void write_scalar(std::string_view text, bool is_string) override;
  void write_begin(bool is_object) override;
  void write_end() override;
  void start_value();
  void start_item();

  std::vector<std::size_t> indents_;  ///< One for each level.
  std::string quoted_;
  bool any_document_ = false;
};

}  // namespace makeway
