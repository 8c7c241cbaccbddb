#include "server/request_parser.hpp"

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "server/http_server.hpp"

namespace makeway::server {
namespace {

namespace http = boost::beast::http;

}  // namespace

struct RequestParser::Parser {
  http::request_parser<http::string_body> http;
};

RequestParser::RequestParser(std::uint32_t header_bytes_max, std::uint64_t body_bytes_max)
    : parser_(std::make_unique<Parser>()) {
  parser_->http.header_limit(header_bytes_max);
  parser_->http.body_limit(body_bytes_max);
}

RequestParser::~RequestParser() = default;

RequestParser::Progress RequestParser::take_header(std::string& input) {
  return take(input, false);
}

RequestParser::Progress RequestParser::take_body(std::string& input) { return take(input, true); }

RequestParser::Progress RequestParser::take(std::string& input, bool whole) {
  auto& parser = parser_->http;
  parser.eager(whole);
  const auto is_complete = [&] { return whole ? parser.is_done() : parser.is_header_done(); };
  while (!is_complete() && !input.empty()) {
    boost::system::error_code failure;
    const std::size_t taken =
        parser.put(boost::asio::const_buffer(input.data(), input.size()), failure);
    input.erase(0, taken);
    if (failure == http::error::need_more) return Progress::later;
    if (failure == http::error::body_limit) return Progress::too_long;
    if (failure) return Progress::wrong;
    if (taken == 0) break;
  }
  return is_complete() ? Progress::done : Progress::later;
}

bool RequestParser::is_header_done() const { return parser_->http.is_header_done(); }
bool RequestParser::is_done() const { return parser_->http.is_done(); }

RequestParser::Method RequestParser::method() const {
  switch (parser_->http.get().method()) {
    case http::verb::get: return Method::get;
    case http::verb::head: return Method::head;
    case http::verb::post: return Method::post;
    default: return Method::other;
  }
}

bool RequestParser::keeps_alive() const { return parser_->http.get().keep_alive(); }
bool RequestParser::is_http_1_0() const { return parser_->http.get().version() == 10; }

HttpRequest RequestParser::request() const {
  const auto& from = parser_->http.get();
  const std::string target(from.target());
  const std::size_t mark = target.find('?');
  return {.is_post = from.method() == http::verb::post,
          .path = target.substr(0, mark),
          .query = mark == std::string::npos ? std::string() : target.substr(mark + 1),
          .body = from.body(),
          .host = std::string(from[http::field::host]),
          .origin = std::string(from[http::field::origin]),
          .fetch_site = std::string(from["Sec-Fetch-Site"]),
          .authorization = std::string(from[http::field::authorization]),
          .content_type = std::string(from[http::field::content_type]),
          .if_none_match = std::string(from[http::field::if_none_match])};
}

std::string_view status_text(int status) {
  const auto text = http::obsolete_reason(static_cast<http::status>(status));
  return {text.data(), text.size()};
}

}  // namespace makeway::server
