// RequestParser: one request of HTTP/1.0 or 1.1, from bytes as they come.
//
// It reads what belongs to the request and leaves the rest; a header and a body that are longer
// than the limits end it.
//
// The one place that knows Boost.Beast. Beast's own streams would be instantiated for a minute
// (docs/decisions/0045-light-server.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace makeway::server {

struct HttpRequest;

class RequestParser {
 public:
  enum class Progress { done, later, too_long, wrong };
  enum class Method { get, head, post, other };

  RequestParser(std::uint32_t header_bytes_max, std::uint64_t body_bytes_max);
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;
  ~RequestParser();

  /// Takes what belongs to the header off the front of `input`. Done: the header is complete.
  Progress take_header(std::string& input);
  /// The same for the rest of the request.
  Progress take_body(std::string& input);
  bool is_header_done() const;
  /// The whole of it was read.
  bool is_done() const;

  Method method() const;
  bool keeps_alive() const;
  bool is_http_1_0() const;
  HttpRequest request() const;

 private:
  struct Parser;
  Progress take(std::string& input, bool whole);
  std::unique_ptr<Parser> parser_;
};

/// "Not Found"
std::string_view status_text(int status);

}  // namespace makeway::server
