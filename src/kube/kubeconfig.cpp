#include "kube/kubeconfig.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "base/base64.hpp"
#include "codec/json_value.hpp"
#include "codec/source.hpp"
#include "codec/yaml.hpp"

namespace makeway::kube {
namespace {

constexpr std::string_view file_object = "kubeconfig";

/// Reads the fields of one entry and collects what is wrong with them.
class EntryReader {
 public:
  EntryReader(const JsonValue& value, std::string object, std::string file, Problems& problems)
      : value_(value), object_(std::move(object)), file_(std::move(file)), problems_(problems) {}

  void text(std::string_view field, std::string& out) {
    const JsonValue* const found = member(field);
    if (found == nullptr) return;
    const std::string* const text = found->as_string();
    if (text == nullptr) return wrong_type(field, *found, "a string");
    if (text->find('\0') != std::string::npos) {
      return refuse(field, shorten(*text), "a zero byte cannot be meant", "correct it");
    }
    out = *text;
  }

  /// Of one line: it goes into a header or a URL.
  void line(std::string_view field, std::string& out) {
    text(field, out);
    if (!has_controls(out)) return;
    // The value may be a secret.
    refuse(field, {}, "expected one line without control characters", "remove the line end");
    out.clear();
  }

  /// Relative to the file.
  void path(std::string_view field, std::string& out) {
    text(field, out);
    out = absolute(out);
  }

  std::string absolute(const std::string& path) const {
    if (path.empty() || path.starts_with('/')) return path;
    return (std::filesystem::path(file_).parent_path() / path).string();
  }

  void data(std::string_view field, std::string& out) {
    std::string encoded;
    text(field, encoded);
    std::optional<std::string> bytes = decode_base64(encoded);
    if (bytes) {
      out = std::move(*bytes);
      return;
    }
    refuse(field, {}, "expected base64", "encode the PEM file with base64 -w 0");
  }

  void flag(std::string_view field, bool& out) {
    const JsonValue* const found = member(field);
    if (found == nullptr) return;
    if (found->as_boolean() == nullptr) return wrong_type(field, *found, "true or false");
    out = *found->as_boolean();
  }

  void lines(std::string_view field, std::vector<std::string>& out) {
    texts(field, out);
    if (std::ranges::none_of(out, has_controls)) return;
    refuse(field, {}, "expected lines without control characters", {});
    out.clear();
  }

  void texts(std::string_view field, std::vector<std::string>& out) {
    const JsonValue* const found = member(field);
    if (found == nullptr) return;
    if (found->as_array() == nullptr) return wrong_type(field, *found, "a list of strings");
    for (const JsonValue& item : *found->as_array()) {
      if (item.as_string() == nullptr) return wrong_type(field, item, "a string");
      out.push_back(*item.as_string());
    }
  }

  /// Nothing: it is absent or null.
  const JsonValue* member(std::string_view field) const {
    const JsonValue* const found = value_.find(field);
    return found == nullptr || found->is_null() ? nullptr : found;
  }

  void refuse(std::string_view field, std::string value, std::string message, std::string remedy) {
    problems_.push_back({.origin = {.source = file_},
                         .object = object_,
                         .field = std::string(field),
                         .value = std::move(value),
                         .message = std::move(message),
                         .remedy = std::move(remedy)});
  }

  void wrong_type(std::string_view field, const JsonValue& found, std::string_view expected) {
    refuse(field, {}, fmt::format("expected {}, found {}", expected, found.type_name()), {});
  }

 private:
  const JsonValue& value_;
  std::string object_;
  std::string file_;
  Problems& problems_;
};

/// "6443"; empty: the scheme's.
bool is_port(std::string_view text) {
  constexpr int port_max = 65'535;
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port >= 1 && port <= port_max;
}

/// What stands behind the host, without its colon; none: nothing does.
std::optional<std::string_view> port_in(std::string_view url) {
  std::string_view rest = url.substr(std::min(url.find("://") + 3, url.size()));
  rest = rest.substr(0, rest.find('/'));
  const std::size_t bracket = rest.rfind(']');
  const std::size_t colon = rest.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon == std::string_view::npos) return std::nullopt;
  return rest.substr(colon + 1);
}

/// "https://host:6443/prefix": a scheme, a host, no blanks.
bool is_server_url(std::string_view url) {
  const bool secure = url.starts_with("https://");
  if (!secure && !url.starts_with("http://")) return false;
  const std::string_view rest = url.substr(secure ? 8 : 7);
  if (rest.empty() || rest.starts_with('/') || rest.starts_with(':')) return false;
  return std::ranges::all_of(rest, [](char byte) {
    return byte > ' ' && byte < '\x7f' && byte != '@' && byte != '?' && byte != '#' &&
           byte != '"' && byte != '\\';
  });
}

void read_cluster(EntryReader& reader, KubeCluster& cluster) {
  reader.line("server", cluster.server);
  while (cluster.server.ends_with('/')) cluster.server.pop_back();
  if (const std::size_t at = cluster.server.rfind('@'); at != std::string::npos) {
    // What stands before it may be a password.
    reader.refuse("server", shorten(cluster.server.substr(at)), "there is a user before the host",
                  "write it as https://HOST:PORT; your identity belongs to `users`");
  } else if (!is_server_url(cluster.server)) {
    reader.refuse("server", shorten(cluster.server), "expected the URL of an API server",
                  "write it as https://HOST:PORT");
  } else if (const auto port = port_in(cluster.server); port && !is_port(*port)) {
    reader.refuse("server", shorten(cluster.server), fmt::format("'{}' is no port", shorten(*port)),
                  "a port is a number from 1 to 65535; an IPv6 address stands in brackets");
  }
  reader.path("certificate-authority", cluster.authority_file);
  reader.data("certificate-authority-data", cluster.authority_data);
  reader.line("tls-server-name", cluster.tls_server_name);
  reader.line("proxy-url", cluster.proxy_url);
  reader.flag("insecure-skip-tls-verify", cluster.skips_verification);
  const std::string& proxy = cluster.proxy_url;
  const bool known = proxy.empty() || proxy.starts_with("http://") ||
                     proxy.starts_with("https://") || proxy.starts_with("socks5://");
  if (!known) {
    // It may hold a password.
    reader.refuse("proxy-url", {}, "expected an http, https or socks5 URL",
                  "write it as http://HOST:PORT");
  }
}

void read_exec(const JsonValue& value, std::string_view object, std::string_view file,
               Problems& problems, ExecPlugin& plugin) {
  EntryReader reader(value, std::string(object), std::string(file), problems);
  reader.line("apiVersion", plugin.api_version);
  if (plugin.api_version != "client.authentication.k8s.io/v1" &&
      plugin.api_version != "client.authentication.k8s.io/v1beta1") {
    reader.refuse("exec.apiVersion", shorten(plugin.api_version),
                  "expected client.authentication.k8s.io/v1 or v1beta1",
                  "update the program and let it write its kubeconfig entry again");
  }
  reader.text("command", plugin.command);
  if (plugin.command.empty()) {
    reader.refuse("exec.command", {}, "expected the program that prints credentials", {});
  } else if (plugin.command.contains('/')) {
    plugin.command = reader.absolute(plugin.command);
  }
  reader.texts("args", plugin.arguments);
  reader.text("installHint", plugin.install_hint);
  reader.flag("provideClusterInfo", plugin.wants_cluster);
  std::string mode;
  reader.text("interactiveMode", mode);
  if (mode == "Always") {
    reader.refuse("exec.interactiveMode", mode, "it wants a terminal, which it does not get",
                  "log in with kubectl first and use a token, or set it to IfAvailable");
  }
  const JsonValue* const variables = reader.member("env");
  if (variables == nullptr || variables->as_array() == nullptr) return;
  for (const JsonValue& variable : *variables->as_array()) {
    EntryReader each(variable, std::string(object), std::string(file), problems);
    std::pair<std::string, std::string> pair;
    each.text("name", pair.first);
    each.text("value", pair.second);
    if (pair.first.empty() || pair.first.contains('=')) {
      each.refuse("exec.env.name", shorten(pair.first), "expected the name of a variable", {});
      continue;
    }
    plugin.environment.push_back(std::move(pair));
  }
}

void read_user(const JsonValue& value, std::string_view object, std::string_view file,
               Problems& problems, KubeUser& user) {
  EntryReader reader(value, std::string(object), std::string(file), problems);
  reader.path("client-certificate", user.certificate_file);
  reader.data("client-certificate-data", user.certificate_data);
  reader.path("client-key", user.key_file);
  reader.data("client-key-data", user.key_data);
  reader.line("token", user.token);
  reader.path("tokenFile", user.token_file);
  reader.line("username", user.name);
  reader.line("password", user.password);
  reader.line("as", user.impersonated);
  reader.lines("as-groups", user.impersonated_groups);
  if (reader.member("auth-provider") != nullptr) {
    reader.refuse("auth-provider", {}, "kubectl has no such providers any more, and neither do we",
                  "use exec with the provider's plugin");
  }
  const bool has_certificate = !user.certificate_file.empty() || !user.certificate_data.empty();
  const bool has_key = !user.key_file.empty() || !user.key_data.empty();
  if (has_certificate != has_key) {
    reader.refuse(has_key ? "client-certificate" : "client-key", {},
                  "a certificate and its key come together", "add the one that is missing");
  }
  if (const JsonValue* const exec = reader.member("exec")) {
    read_exec(*exec, object, file, problems, user.exec.emplace());
  }
}

struct ListPlace {
  std::string_view list;   ///< "clusters"
  std::string_view entry;  ///< "cluster"
};

/// Calls `read(value, object, named)` for each named entry of a list of the file.
template <class Entry, class Read>
void read_list(const JsonValue& root, ListPlace place, std::string_view file, Problems& problems,
               std::vector<Named<Entry>>& out, const Read& read) {
  EntryReader reader(root, std::string(file_object), std::string(file), problems);
  const JsonValue* const list = reader.member(place.list);
  if (list == nullptr) return;
  if (list->as_array() == nullptr) return reader.wrong_type(place.list, *list, "a list");
  for (const JsonValue& item : *list->as_array()) {
    std::string name;
    EntryReader named(item, std::string(file_object), std::string(file), problems);
    named.text("name", name);
    // The first of several of the same name counts, as in a merge.
    if (std::ranges::find(out, name, &Named<Entry>::name) != out.end()) continue;
    const std::string object = fmt::format("{} {}", place.entry, shorten(name));
    const JsonValue* const value = item.find(place.entry);
    if (name.empty() || value == nullptr || value->as_object() == nullptr) {
      // kubectl keeps users without anything; so do we.
      if (!name.empty() && place.entry == "user" && (value == nullptr || value->is_null())) {
        out.push_back({.name = std::move(name), .file = std::string(file)});
        continue;
      }
      named.refuse(place.list, shorten(name),
                   fmt::format("expected an entry with name and {}", place.entry), {});
      continue;
    }
    Named<Entry>& added = out.emplace_back();
    added.name = std::move(name);
    added.file = file;
    read(*value, object, added);
  }
}

/// One YAML document, or JSON, which is YAML too.
std::expected<JsonValue, Problems> read_tree(std::string_view text, std::string_view path) {
  std::vector<YamlDocument> documents;
  Problems problems = yaml_to_json(text, path, {}, documents);
  if (has_errors(problems)) return std::unexpected(std::move(problems));
  const Origin origin{.source = std::string(path)};
  if (documents.size() != 1) {
    return std::unexpected(
        Problems{{.origin = origin,
                  .object = std::string(file_object),
                  .message = fmt::format("expected one document, found {}", documents.size())}});
  }
  auto tree = parse_json_value(documents.front().json);
  if (!tree) {
    Problem problem = std::move(tree.error());
    problem.origin = origin;
    return std::unexpected(Problems{std::move(problem)});
  }
  if (tree->as_object() == nullptr) {
    return std::unexpected(
        Problems{{.origin = origin,
                  .object = std::string(file_object),
                  .message = fmt::format("expected a mapping, found {}", tree->type_name())}});
  }
  return std::move(*tree);
}

}  // namespace

bool has_controls(std::string_view text) {
  return std::ranges::any_of(text, [](char byte) { return byte >= 0 && byte < ' '; });
}

std::expected<Kubeconfig, Problems> parse_kubeconfig(std::string_view text, std::string_view path) {
  Kubeconfig config;
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return config;
  const auto tree = read_tree(text, path);
  if (!tree) return std::unexpected(tree.error());
  Problems problems;
  EntryReader root(*tree, std::string(file_object), std::string(path), problems);
  std::string kind = "Config";
  root.text("kind", kind);
  if (kind != "Config") {
    root.refuse("kind", shorten(kind), "expected a kubeconfig file, whose kind is Config",
                "manifests come with -f");
  }
  root.text("current-context", config.current_context);
  read_list(*tree, {.list = "clusters", .entry = "cluster"}, path, problems, config.clusters,
            [&](const JsonValue& value, const std::string& object, Named<KubeCluster>& cluster) {
              EntryReader reader(value, object, std::string(path), cluster.problems);
              read_cluster(reader, cluster.entry);
            });
  read_list(*tree, {.list = "users", .entry = "user"}, path, problems, config.users,
            [&](const JsonValue& value, const std::string& object, Named<KubeUser>& user) {
              read_user(value, object, path, user.problems, user.entry);
            });
  read_list(*tree, {.list = "contexts", .entry = "context"}, path, problems, config.contexts,
            [&](const JsonValue& value, const std::string& object, Named<KubeContext>& context) {
              EntryReader reader(value, object, std::string(path), context.problems);
              reader.text("cluster", context.entry.cluster);
              reader.text("user", context.entry.user);
            });
  if (has_errors(problems)) return std::unexpected(std::move(problems));
  return config;
}

Kubeconfig merge_kubeconfigs(std::span<const Kubeconfig> files) {
  Kubeconfig merged;
  const auto take = [](auto& into, const auto& from) {
    for (const auto& each : from) {
      const bool known =
          std::ranges::any_of(into, [&](const auto& other) { return other.name == each.name; });
      if (!known) into.push_back(each);
    }
  };
  for (const Kubeconfig& file : files) {
    take(merged.clusters, file.clusters);
    take(merged.users, file.users);
    take(merged.contexts, file.contexts);
    if (merged.current_context.empty()) merged.current_context = file.current_context;
  }
  return merged;
}

namespace {

template <class Entry>
const Named<Entry>* find_named(const std::vector<Named<Entry>>& entries, std::string_view name) {
  const auto found = std::ranges::find(entries, name, &Named<Entry>::name);
  return found == entries.end() ? nullptr : &*found;
}

/// "known: a, b and 3 more"
template <class Entry>
std::string known_names(const std::vector<Named<Entry>>& entries) {
  constexpr std::size_t names_max = 5;
  if (entries.empty()) return "there are none";
  std::string text = "there are: ";
  for (std::size_t at = 0; at < std::min(entries.size(), names_max); ++at) {
    text += fmt::format("{}{}", at == 0 ? "" : ", ", shorten(entries[at].name));
  }
  if (entries.size() > names_max) text += fmt::format(" and {} more", entries.size() - names_max);
  return text;
}

}  // namespace

std::expected<KubeTarget, Problems> choose_target(const Kubeconfig& config,
                                                  std::string_view context) {
  const bool is_named = !context.empty();
  const std::string_view wanted = is_named ? context : std::string_view(config.current_context);
  const auto refuse = [](Problem problem) { return std::unexpected(Problems{std::move(problem)}); };
  if (wanted.empty()) {
    return refuse(
        {.object = std::string(file_object),
         .field = "current-context",
         .message = "no context is the current one",
         .remedy = fmt::format("name one with --context; {}", known_names(config.contexts))});
  }
  const Named<KubeContext>* const found = find_named(config.contexts, wanted);
  if (found == nullptr) {
    return refuse({.object = std::string(file_object),
                   .field = is_named ? "--context" : "current-context",
                   .value = shorten(wanted),
                   .message = "there is no context of this name",
                   .remedy = known_names(config.contexts)});
  }
  if (!found->problems.empty()) return std::unexpected(found->problems);
  const auto missing = [&](std::string_view field, const std::string& name, std::string remedy) {
    return refuse({.origin = {.source = found->file},
                   .object = fmt::format("context {}", shorten(found->name)),
                   .field = std::string(field),
                   .value = shorten(name),
                   .message = fmt::format("there is no {} of this name", field),
                   .remedy = std::move(remedy)});
  };
  const Named<KubeCluster>* const cluster = find_named(config.clusters, found->entry.cluster);
  if (cluster == nullptr) {
    return missing("cluster", found->entry.cluster, known_names(config.clusters));
  }
  KubeTarget target{.context = found->name, .cluster = cluster->entry};
  Problems problems = cluster->problems;
  if (!found->entry.user.empty()) {
    const Named<KubeUser>* const user = find_named(config.users, found->entry.user);
    if (user == nullptr) return missing("user", found->entry.user, known_names(config.users));
    target.user = user->entry;
    problems.append(user->problems);
  }
  if (has_errors(problems)) return std::unexpected(std::move(problems));
  return target;
}

KubeTarget in_cluster_target(const KubeEnvironment& environment) {
  const bool is_v6 = environment.service_host.contains(':');
  const std::string host =
      is_v6 ? fmt::format("[{}]", environment.service_host) : environment.service_host;
  const std::string& port = environment.service_port;
  KubeTarget target{.context = "in-cluster"};
  target.cluster.server = fmt::format("https://{}:{}", host, port.empty() ? "443" : port);
  target.cluster.authority_file = environment.service_account_folder + "/ca.crt";
  target.user.token_file = environment.service_account_folder + "/token";
  return target;
}

namespace {

/// The files that KUBECONFIG names, or the one in the home folder.
std::vector<std::string> standard_files(const KubeEnvironment& environment) {
  std::vector<std::string> files;
  std::string_view rest = environment.kubeconfig;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string file(rest.substr(0, end));
    if (!file.empty() && std::ranges::find(files, file) == files.end()) files.push_back(file);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (files.empty() && !environment.home.empty()) {
    files.push_back(environment.home + "/.kube/config");
  }
  return files;
}

Problem no_server(const KubeEnvironment& environment) {
  return {.object = std::string(file_object),
          .field = environment.kubeconfig.empty() ? "--kubeconfig" : "KUBECONFIG",
          .value = shorten(environment.kubeconfig, 200),
          .message = environment.kubeconfig.empty()
                         ? "there is no ~/.kube/config, and we do not run in a pod"
                         : "none of these files exists",
          .remedy = "name a file with --kubeconfig"};
}

}  // namespace

std::expected<KubeTarget, Problems> find_target(const TargetRequest& request,
                                                const KubeEnvironment& environment) {
  const bool is_named = !request.kubeconfig.empty();
  const std::vector<std::string> paths =
      is_named ? std::vector{request.kubeconfig} : standard_files(environment);
  std::vector<Kubeconfig> files;
  Problems problems;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!is_named && !std::filesystem::exists(path, ignored)) continue;
    const Result<SourceText> source = read_source({.path = path});
    if (!source) {
      problems.push_back({.object = std::string(file_object), .message = source.error().message});
      continue;
    }
    auto parsed = parse_kubeconfig(source->text.view(), path);
    if (parsed) {
      files.push_back(std::move(*parsed));
    } else {
      problems.append(std::move(parsed.error()));
    }
  }
  if (has_errors(problems)) return std::unexpected(std::move(problems));
  if (files.empty()) {
    if (environment.is_in_cluster() && request.context.empty())
      return in_cluster_target(environment);
    return std::unexpected(Problems{no_server(environment)});
  }
  auto target = choose_target(merge_kubeconfigs(files), request.context);
  if (!target) {
    Problem& first = target.error().front();
    if (first.origin.source.empty()) first.origin.source = paths.front();
    return std::unexpected(std::move(target.error()));
  }
  return std::move(*target);
}

}  // namespace makeway::kube
