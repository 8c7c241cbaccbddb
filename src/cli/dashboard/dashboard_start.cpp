#include "cli/dashboard/dashboard_start.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/printable.hpp"
#include "cli/dashboard/look_back.hpp"
#include "cli/dashboard/what_if.hpp"
#include "cli/plan/plan_maker.hpp"
#include "codec/presets.hpp"
#include "codec/source.hpp"
#include "codec/writer.hpp"
#include "page/page.hpp"

namespace makeway::cli {
namespace {

constexpr std::size_t token_length_min = 16;

/// What the page must know before its first request.
std::string page_facts(bool has_journal) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.begin_object();
  writer.boolean_field("journal", has_journal);
  writer.key("presets");
  writer.begin_array();
  for (const std::string_view name : preset_names()) writer.string(name);
  writer.end_array();
  writer.end_object();
  return text;
}

server::DashboardTools tools_for(const std::string& journal) {
  server::DashboardTools tools;
  tools.what_if = [](const server::HttpRequest& request, const server::Board& board) {
    return what_if(request, board, real_tools());
  };
  tools.why = [](const server::HttpRequest& request, const server::Board& board) {
    return why_now(request, board, real_tools());
  };
  if (!is_kept_journal(journal)) return tools;
  // Shared by three functions, which one thread calls.
  const auto look_back = std::make_shared<LookBack>(journal, real_tools());
  tools.why_recorded = [look_back](const server::HttpRequest& request,
                                   const server::Desk::IsOver& is_unwanted) {
    return look_back->why(request, is_unwanted);
  };
  tools.history = [look_back](const server::HttpRequest& /*request*/,
                              const server::Desk::IsOver& is_unwanted) {
    return look_back->cycles(is_unwanted);
  };
  tools.at = [look_back](const server::HttpRequest& request,
                         const server::Desk::IsOver& is_unwanted) {
    return look_back->cycle(request, is_unwanted);
  };
  return tools;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view white = " \t\r\n";
  const std::size_t first = text.find_first_not_of(white);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(white) - first + 1);
}

}  // namespace

Result<std::unique_ptr<server::Dashboard>> start_dashboard(
    DashboardOptions options, std::function<server::HttpReply(std::string_view path)> open_pages) {
  return server::Dashboard::start(
      {.address = *options.listen.address,
       .token = std::move(options.listen.token),
       .html = page_html({.title = "Makeway",
                          .bundle = PageBundle::dashboard,
                          .json = page_facts(is_kept_journal(options.journal))}),
       .schedulers = std::move(options.schedulers),
       .open_pages = std::move(open_pages),
       .tools = tools_for(options.journal),
       .contains_bugs = real_tools().contain,
       .tls = std::move(options.listen.tls)});
}

Result<ListenOptions> read_listen_options(const Arguments& arguments) {
  const auto wrong = [](std::string message) {
    return std::unexpected(Error{.code = ErrorCode::fix_usage, .message = std::move(message)});
  };
  ListenOptions options;
  if (const auto text = arguments.given("listen")) {
    auto address = server::parse_listen_address(*text);
    if (!address) return wrong(fmt::format("--listen {}", address.error().message));
    options.address = *std::move(address);
  }
  for (const std::string_view flag : {"token-file", "tls-cert", "tls-key"}) {
    const auto path = arguments.given(flag);
    if (path && !options.address)
      return wrong(fmt::format("--{} is for --listen ADDRESS:PORT", flag));
    if (path && path->empty()) return wrong(fmt::format("--{} '': expected a file", flag));
  }
  if (const auto path = arguments.given("token-file")) {
    auto token = read_token(std::string(*path));
    if (!token) return wrong(token.error().message);
    options.token = *std::move(token);
  }
  if (arguments.has("tls-cert") != arguments.has("tls-key")) {
    return wrong("give --tls-cert FILE and --tls-key FILE together, or neither");
  }
  if (!arguments.has("tls-cert")) return options;
  options.tls = {.certificate = std::string(arguments.text("tls-cert")),
                 .key = std::string(arguments.text("tls-key"))};
  if (auto keys = server::TlsKeys::read(options.tls); !keys) return wrong(keys.error().message);
  return options;
}

Result<std::string> read_token(const std::string& path) {
  const auto wrong = [&](std::string_view what) {
    return std::unexpected(
        Error{.code = ErrorCode::fix_usage,
              .message = fmt::format("--token-file {}: {}", printable(path), what)});
  };
  const Result<SourceText> read = read_source({.path = path});
  if (!read) return wrong(read.error().message);
  const std::string_view token = trimmed(read->text.view());
  if (token.size() < token_length_min) {
    return wrong(
        fmt::format("the token has {} characters; give it {} or more, such as the output "
                    "of `openssl rand -hex 32`",
                    token.size(), token_length_min));
  }
  if (token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                              "-._~+/=") != std::string_view::npos) {
    return wrong("the token has characters that no header takes; use letters and digits");
  }
  return std::string(token);
}

std::string dashboard_address(const ListenOptions& listen, std::uint16_t port) {
  const std::string_view scheme = listen.tls.are_given() ? "https" : "http";
  const std::string& listens = listen.address->host;
  const std::string host = listens == "0.0.0.0" || listens == "::" ? "localhost" : listens;
  if (host.contains(':')) return fmt::format("{}://[{}]:{}/", scheme, host, port);
  return fmt::format("{}://{}:{}/", scheme, host, port);
}

bool shows_dashboard(const ListenOptions& listen) {
  return !listen.token.empty() || server::access_rules(*listen.address, {}).is_loopback;
}

std::string dashboard_warning(const ListenOptions& listen) {
  if (server::access_rules(*listen.address, {}).is_loopback) return {};
  if (!shows_dashboard(listen)) {
    return "at an address beyond this machine only health and metrics are served, to this machine, "
           "too; the dashboard needs --token-file";
  }
  if (listen.tls.are_given()) return {};
  return "the dashboard and its token are sent unencrypted: give --tls-cert and "
         "--tls-key, put a proxy with TLS before it, or listen on localhost and forward the port";
}

std::string notice_text(const server::Notice& notice) {
  std::string text = fmt::format("{} failed: {}", notice.kind, notice.text);
  if (notice.kept_back > 0) {
    text += fmt::format("; {} more like it since the last report", notice.kept_back);
  }
  return text;
}

}  // namespace makeway::cli
