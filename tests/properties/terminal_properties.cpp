// Nothing raw on a terminal (SPEC law 13, section 10; docs/security.md): whatever stands in
// objects, file names and arguments, no command prints a character that drives a terminal, hides or
// reorders text, or begins a line of its own. Objects of all kinds come from random worlds; every
// field of every kind is hostile once, then several at random.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/run.hpp"
#include "codec/dump.hpp"
#include "codec/json_value.hpp"
#include "codec/presets.hpp"
#include "codec/writer.hpp"
#include "model/kinds.hpp"
#include "support/property.hpp"
#include "support/random_objects.hpp"
#include "support/random_planes.hpp"
#include "support/random_world.hpp"
#include "support/screen.hpp"
#include "support/screen_text.hpp"

namespace makeway::terminal_properties {
namespace {

// ---- Running commands
// ------------------------------------------------------------------------------

/// A folder of its own, removed at the end.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / fmt::format("makeway-{}", getpid())) {
    std::filesystem::create_directories(path_);
    std::filesystem::current_path(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::current_path("/", ignored);
    std::filesystem::remove_all(path_, ignored);
  }

  static void write(const std::string& name, std::string_view text) {
    std::ofstream(name, std::ios::binary) << text;
  }

 private:
  std::filesystem::path path_;
};

/// Counts, so that a test can say that its cases were no empty ones.
struct Tally {
  std::uint64_t runs = 0;
  std::uint64_t done = 0;
  std::uint64_t hostile = 0;  ///< Outputs that show something of the payload.
};

void run_and_look(const std::vector<std::string>& words, Tally& tally) {
  Screen screen;
  const cli::ExitStatus status = cli::run(words, screen.terminal);
  ++tally.runs;
  tally.done += status == cli::ExitStatus::done ? 1 : 0;
  tally.hostile += (screen.out.text() + screen.error.text()).contains(screen_forged) ? 1 : 0;
  EXPECT_NE(status, cli::ExitStatus::bug) << screen.error.text();
  for (const std::string* const printed : {&screen.out.text(), &screen.error.text()}) {
    const std::string complaint = screen_complaint(*printed);
    if (complaint.empty()) continue;
    ADD_FAILURE() << fmt::format("{}", fmt::join(words, " ")) << ": " << complaint << "\n"
                  << *printed;
  }
}

/// What people read, for every field.
const std::vector<std::vector<std::string>>& texts_over_files() {
  static const std::vector<std::vector<std::string>> commands = {
      {"plan", "-f", "cluster.json", "--explain"},
      {"check", "-f", "cluster.json"},
      {"snapshot", "-f", "cluster.json", "--all"}};
  return commands;
}

/// In turn.
const std::vector<std::vector<std::string>>& commands_over_files() {
  static const std::vector<std::vector<std::string>> commands = {
      {"plan", "-f", "cluster.json", "--explain"},
      {"plan", "-f", "cluster.json", "--explain", "-o", "json"},
      {"plan", "-f", "cluster.json", "--explain", "-o", "yaml"},
      {"plan", "-f", "cluster.json", "--preset", "kube-1.37"},
      {"plan", "-f", "cluster.json", "--keep-going", "--trust", "live"},
      {"plan", "-f", "cluster.json", "--keep-going", "--trust", "live", "-o", "yaml"},
      {"check", "-f", "cluster.json", "--keep-going", "--trust", "live"},
      {"snapshot", "-f", "cluster.json", "--keep-going"},
      {"plan", "--plane", "east=cluster.json"},
      {"plan", "--batch", "cluster.json"},
      {"plan", "--batch", "batch.json"},
      {"plan", "--batch", "batch.json", "--verify"},
      {"check", "-f", "cluster.json"},
      {"check", "-f", "cluster.json", "-o", "json"},
      {"check", "-f", "cluster.json", "--preset", "kep-5710"},
      {"check", "--config", "cluster.json"},
      {"snapshot", "-f", "cluster.json", "--all"},
      {"snapshot", "-f", "cluster.json", "-o", "json"},
      {"snapshot", "-f", "cluster.json", "-o", "yaml"},
      {"session", "resume", "-f", "cluster.json", "default/session-0"},
      {"config", "show", "--config", "cluster.json"}};
  return commands;
}

// ---- Hostile documents
// -------------------------------------------------------------------------------

/// Calls `visit(path, text)` for every string and every key below a value; "[]" stands for items.
void each_text(JsonValue& value, const std::string& path,
               const std::function<void(const std::string&, std::string&)>& visit) {
  if (auto* const text = std::get_if<std::string>(&value.data)) return visit(path, *text);
  if (auto* const items = std::get_if<JsonValue::Array>(&value.data)) {
    for (JsonValue& item : *items) each_text(item, path + "[]", visit);
  }
  if (auto* const members = std::get_if<JsonValue::Object>(&value.data)) {
    for (JsonMember& member : *members) {
      const std::string below = fmt::format("{}.{}", path, member.key);
      visit(below + " (key)", member.key);
      each_text(member.value, below, visit);
    }
  }
}

std::string kind_of(const JsonValue& object) {
  const JsonValue* const kind = object.find("kind");
  return kind == nullptr || kind->as_string() == nullptr ? "" : *kind->as_string();
}

JsonValue::Array& items_of(JsonValue& list) {
  for (JsonMember& member : std::get<JsonValue::Object>(list.data)) {
    if (member.key == "items") return std::get<JsonValue::Array>(member.value.data);
  }
  ADD_FAILURE() << "a dump is a List";
  std::abort();
}

std::string json_of(const JsonValue& value) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  write_value(value, writer);
  return text;
}

JsonValue random_document(Prng& random) {
  const bool any_objects = random.chance(40);
  const std::vector<Change> objects = any_objects ? random_objects(random, random_options(random))
                                                  : random_world_case(random).objects;
  return *parse_json_value(dump(cluster_of(objects), DumpFormat::json));
}

/// Instead of the text, or behind it: a reference should still be found now and then.
void poison(std::string& text, bool behind) {
  text = behind ? text + std::string(screen_payload) : std::string(screen_payload);
}

void write_files(const JsonValue& list, std::string_view id) {
  const std::string text = json_of(list);
  Folder::write("cluster.json", text);
  std::string line = R"({"id":)";
  append_json_string(line, id);
  line += R"(,"expect":{"outcome":"fits","victims":[)";
  append_json_string(line, id);
  line += R"(]},"snapshot":)" + text.substr(0, text.find('\n')) + "}\n";
  Folder::write("batch.json", line);
}

// ---- Every field
// ---------------------------------------------------------------------------------------

/// A field of a kind, in the smallest document that has it.
struct Place {
  const JsonValue* document = nullptr;
  std::size_t item = 0;
  std::size_t text = 0;
};

std::vector<JsonValue> documents_by_size() {
  constexpr std::uint64_t count = 200;
  std::vector<std::pair<std::size_t, JsonValue>> sized;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    Prng random(seed);
    JsonValue document = random_document(random);
    const std::size_t size = json_of(document).size();
    sized.emplace_back(size, std::move(document));
  }
  std::ranges::stable_sort(sized, {}, &std::pair<std::size_t, JsonValue>::first);
  std::vector<JsonValue> documents;
  documents.reserve(sized.size());
  for (auto& [size, document] : sized) documents.push_back(std::move(document));
  return documents;
}

std::map<std::string, Place> all_fields(std::vector<JsonValue>& documents) {
  std::map<std::string, Place> fields;
  for (JsonValue& document : documents) {
    JsonValue::Array& items = items_of(document);
    for (std::size_t item = 0; item < items.size(); ++item) {
      std::size_t number = 0;
      each_text(items[item], kind_of(items[item]), [&](const std::string& path, std::string&) {
        fields.try_emplace(path, Place{.document = &document, .item = item, .text = number++});
      });
    }
  }
  return fields;
}

TEST(TerminalProperties, EveryFieldOfEveryKindMayBeHostile) {
  const Folder folder;
  std::vector<JsonValue> documents = documents_by_size();
  const std::map<std::string, Place> fields = all_fields(documents);
  const auto& commands = commands_over_files();
  std::set<std::string> kinds;
  Tally tally;
  std::size_t turn = 0;
  for (const auto& [path, place] : fields) {
    SCOPED_TRACE(path);
    kinds.insert(path.substr(0, path.find_first_of(".[")));
    for (const bool behind : {false, true}) {
      JsonValue list = *place.document;
      std::size_t number = 0;
      each_text(items_of(list)[place.item], "", [&](const std::string&, std::string& text) {
        if (number++ == place.text) poison(text, behind);
      });
      write_files(list, behind ? screen_payload : "case");
      for (const auto& words : texts_over_files()) run_and_look(words, tally);
      run_and_look(commands[turn++ % commands.size()], tally);
    }
    if (testing::Test::HasFailure()) return;
  }
  for (const KindRow& row : kind_rows) {
    EXPECT_TRUE(kinds.contains(std::string(row.name))) << row.name;
  }
  EXPECT_GT(fields.size(), 200U);
  EXPECT_GT(tally.hostile, tally.runs / 10);
  EXPECT_GT(tally.done, tally.runs / 10);
  std::cout << fmt::format("{} fields, {} runs, {} of them show the text\n", fields.size(),
                           tally.runs, tally.hostile);
}

// ---- Several at once, and bytes that are no text
// ---------------------------------------------------------

TEST(TerminalProperties, NothingRawIsPrinted) {
  const Folder folder;
  Tally tally;
  for_each_case("terminal: nothing raw is printed", [&](Prng& random) {
    JsonValue list = random_document(random);
    std::size_t texts = 0;
    each_text(list, "", [&](const std::string&, std::string&) { ++texts; });
    std::set<std::size_t> chosen;
    for (std::uint64_t count = random.below(5); count > 0; --count) {
      chosen.insert(random.below(texts));
    }
    std::size_t number = 0;
    each_text(list, "", [&](const std::string&, std::string& text) {
      if (chosen.contains(number++)) poison(text, random.chance(60));
    });
    write_files(list, screen_payload);
    if (random.chance(10)) {
      std::string text = json_of(list);
      for (int count = 0; count < 3; ++count) {
        text[random.below(text.size())] = static_cast<char>(random.below(256));
      }
      Folder::write("cluster.json", text);
      Folder::write("batch.json", text);
    }
    const auto& commands = commands_over_files();
    for (int count = 0; count < 3; ++count) {
      run_and_look(commands[random.below(commands.size())], tally);
    }
  });
  EXPECT_GT(tally.done, tally.runs / 20);
}

// ---- Arguments and file names
// ----------------------------------------------------------------------------

TEST(TerminalProperties, ArgumentsAndFileNamesMayBeHostile) {
  const Folder folder;
  const std::string hostile(screen_payload);
  const std::string bytes = "\xFF\xC0\xAF\xED\xA0\x80" + hostile;
  Tally tally;
  Folder::write("node.json", R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}})");
  for (const std::string& word : {hostile, bytes}) {
    std::string name = word;
    std::ranges::replace(name, '/', '_');
    Folder::write(name, "{kind: [");
    const std::vector<std::vector<std::string>> lines = {
        {word},
        {"--" + word},
        {"help", word},
        {"explain", word},
        {"explain", "queue." + word},
        {"config", word},
        {"config", "explain", word},
        {"config", "show", word},
        {"config", "show", "--config", name},
        {"config", "show", "--set", word},
        {"config", "show", "--set", "workload.evictFor=" + word},
        {"config", "show", "--set", "protection.namespaces=" + word},
        {"config", "show", "--set", "protection.namespaces=" + word, "--comments"},
        {"completion", word},
        {"version", word},
        {"snapshot", "-f", word},
        {"snapshot", "-f", name},
        {"snapshot", "-f", "node.json", "-o", word},
        {"snapshot", "--plane", word},
        {"snapshot", "--plane", word + "=node.json"},
        {"snapshot", "--plane", "east=" + name},
        {"check", "-f", name},
        {"check", "-f", name, "-o", "json"},
        {"check", "-f", name + "/below"},
        {"check", "--config", name},
        {"check", "--preset", word},
        {"plan", "-f", "node.json", "--ask", word},
        {"plan", "-f", "node.json", "--ask", fmt::format("{}/{}", word, word)},
        {"plan", "-f", "node.json", "--ask", word + "/a/b"},
        {"plan", "-f", "node.json", "--now", word},
        {"plan", "-f", "node.json", "--color", word},
        {"plan", "-f", "node.json", word},
        {"plan", "--batch", name},
        {"plan", "--batch", name + "-missing"},
        {"plan", "--batch", "node.json", "--set", word},
        {"session", "resume", "-f", "node.json", word},
        {"session", "resume", "-f", "node.json", "a/" + word}};
    for (const auto& words : lines) run_and_look(words, tally);
  }
  EXPECT_GT(tally.hostile, tally.runs / 2);
}

}  // namespace
}  // namespace makeway::terminal_properties
