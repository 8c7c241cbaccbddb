// Keeps FakeApiserver honest: calls.txt and writes.txt of tests/e2e have requests and the answers
// that a real kube-apiserver gives (`make e2e` asks it the same), and the fake one must give them
// too.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "codec/json_text.hpp"
#include "kube/http_client.hpp"
#include "support/live_server.hpp"

namespace makeway::kube {
namespace {

std::pair<std::string, std::string> cut(std::string_view text) {
  const std::size_t space = std::min(text.find(' '), text.size());
  return {std::string(text.substr(0, space)),
          std::string(text.substr(std::min(space + 1, text.size())))};
}

/// A scalar as text; none: it is null.
std::optional<std::string> scalar(const JsonValue& value) {
  if (value.is_null()) return std::nullopt;
  if (value.as_string() != nullptr) return *value.as_string();
  if (value.as_integer() != nullptr) return std::to_string(*value.as_integer());
  if (value.as_boolean() != nullptr) return *value.as_boolean() ? "true" : "false";
  return "...";
}

/// The value at "items.0.metadata.name"; none: it is not there.
std::optional<std::string> at(const JsonValue& tree, std::string_view path) {
  const JsonValue* value = &tree;
  while (!path.empty()) {
    std::string key;
    std::size_t end = 0;
    for (; end < path.size() && path[end] != '.'; ++end) {
      if (path[end] == '\\') ++end;
      key += path[end];
    }
    path.remove_prefix(std::min(end + 1, path.size()));
    if (const JsonValue::Array* const list = value->as_array()) {
      if (key == "#") return std::to_string(list->size());
      std::size_t index = list->size();
      std::from_chars(key.data(), key.data() + key.size(), index);
      if (index >= list->size()) return std::nullopt;
      value = &(*list)[index];
    } else {
      value = value->find(key);
      if (value == nullptr) return std::nullopt;
    }
  }
  return scalar(*value);
}

/// A server gives uids itself; the fake one keeps what is written.
std::string with_uid(std::string json) {
  constexpr std::string_view before = "\"metadata\":{";
  constexpr std::string_view name_key = "\"name\":\"";
  const std::size_t place = json.find(before) + before.size();
  const std::size_t name = json.find(name_key, place) + name_key.size();
  const std::string uid = "uid-of-" + json.substr(name, json.find('"', name) - name);
  return json.insert(place, fmt::format("\"uid\":\"{}\",", uid));
}

/// Hears a watch to its end.
class Heard final : public HttpListener {
 public:
  bool bytes(std::string_view chunk) override {
    text += chunk;
    return true;
  }
  void ended(ApiResult<HttpAnswer> result) override {
    if (!result) {
      text += result.error().problem.message;
    } else {
      status = result->status;
      text += result->body.view();
    }
    is_over = true;
  }
  std::string text;
  int status = 0;
  bool is_over = false;
};

class CallScript {
 public:
  CallScript() : http_(HttpSettings{.server = live_.server.url()}) {
    live_.server.require_token("caller");
    live_.server.forbid("limitranges");
    live_.server.allow_writes();
    live_.server.set_kubelet(false, false);
  }

  void step(std::string_view line) {
    const auto [word, written] = cut(line);
    const std::string rest = filled(written);
    const auto [first, second] = cut(rest);
    if (word == "call") {
      call_ = {.name = rest};
    } else if (word == "put") {
      live_.server.put(with_uid(rest));
    } else if (word == "remove") {
      const auto [namespace_name, name] = cut(second);
      live_.server.remove(first, namespace_name, name);
    } else if (word == "forget") {
      live_.server.compact();
    } else if (word == "as") {
      call_.token = rest;
    } else if (word == "type") {
      call_.content_type = rest;
    } else if (word == "accept") {
      call_.accept = rest;
    } else if (word == "body") {
      call_.body = rest;
    } else if (word == "send") {
      call_.method = first;
      call_.path = second;
    } else if (word == "answer") {
      send();
      EXPECT_EQ(std::to_string(status_), rest) << context();
    } else if (word == "save") {
      const auto value = at(answer_, second);
      ASSERT_TRUE(value.has_value());
      saved_[first] = *value;
    } else {
      check(word, first, second, rest);
    }
  }
  std::string context() const {
    return fmt::format("{}; answer {} {}", call_.name, status_, text_);
  }

 private:
  struct Call {
    std::string name;
    std::string token = "caller";
    std::string method;
    std::string path;
    std::string content_type = "application/json";
    std::string accept = "application/json";
    std::string body;
  };

  std::string filled(std::string text) const {
    for (const auto& [name, value] : saved_) {
      const std::string mark = fmt::format("${{{}}}", name);
      for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark)) {
        text.replace(at, mark.size(), value);
      }
    }
    return text;
  }

  void send() {
    const bool is_watch = call_.path.contains("watch=1");
    Heard heard;
    HttpRequest request{.path = call_.path, .bytes_max = std::size_t{1} << 20U};
    request.identity.authorization = "Bearer " + call_.token;
    request.is_stream = is_watch;
    request.accept = call_.accept;
    if (call_.method != "GET") {
      request.write =
          HttpWrite{.method = call_.method, .content_type = call_.content_type, .body = call_.body};
    }
    http_.start(std::move(request), heard);
    while (!heard.is_over) http_.work(Duration{1'000});
    status_ = heard.status;
    text_ = heard.text;
    std::string json = text_;
    if (is_watch && status_ == 200) {
      while (json.ends_with('\n')) json.pop_back();
      std::ranges::replace(json, '\n', ',');
      json = fmt::format("{{\"events\":[{}]}}", json);
    }
    auto tree = parse_json_value(json);
    answer_ = tree ? std::move(*tree) : JsonValue{};
  }

  void check(const std::string& word, const std::string& path, const std::string& value,
             const std::string& rest) const {
    const std::optional<std::string> found = at(answer_, path);
    if (word == "says") {
      EXPECT_TRUE(text_.contains(rest));
    } else if (word == "has" && value.starts_with('~')) {
      EXPECT_TRUE(found && found->contains(value.substr(1))) << path;
    } else if (word == "has") {
      EXPECT_EQ(found, value) << path;
    } else if (word == "lacks") {
      EXPECT_EQ(found.value_or(""), "") << path;
    } else if (word == "some") {
      const auto [key, wanted] = cut(value);
      bool is_there = false;
      const std::string size = at(answer_, path + ".#").value_or("0");
      for (int index = 0; std::to_string(index) != size; ++index) {
        is_there |= at(answer_, fmt::format("{}.{}.{}", path, index, key)) == wanted;
      }
      EXPECT_TRUE(is_there) << path;
    } else {
      ADD_FAILURE() << "unknown word " << word;
    }
  }

  LiveServer live_;
  HttpClient http_;
  std::map<std::string, std::string> saved_;
  Call call_;
  int status_ = 0;
  std::string text_;
  JsonValue answer_;
};

class CallScriptFile : public testing::TestWithParam<std::string_view> {};

TEST_P(CallScriptFile, IsAnsweredAsByTheRealServer) {
  const char* const folder = std::getenv("MAKEWAY_SOURCE_DIR");
  std::ifstream file(fmt::format("{}/tests/e2e/{}", folder == nullptr ? "." : folder, GetParam()));
  CallScript script;
  int calls = 0;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    calls += line.starts_with("call ") ? 1 : 0;
    const std::string place = fmt::format("{}:{}: {}", GetParam(), number, line);
    SCOPED_TRACE(place);
    script.step(line);
  }
  EXPECT_GT(calls, 10);
}
INSTANTIATE_TEST_SUITE_P(Files, CallScriptFile, testing::Values("calls.txt", "writes.txt"),
                         [](const auto& test) {
                           return std::string(test.param.substr(0, test.param.find('.')));
                         });

}  // namespace
}  // namespace makeway::kube
