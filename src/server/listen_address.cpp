#include "server/listen_address.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/printable.hpp"

namespace makeway::server {

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const auto wrong = [&] {
    return input_error(fmt::format(
        "'{}': expected ADDRESS:PORT with a number as the address, such as 127.0.0.1:10260, "
        "0.0.0.0:10260 or :10260 for this machine only",
        shorten(text)));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong();
  ListenAddress address;
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  if (error != std::errc{} || end != digits.data() + digits.size()) return wrong();
  std::string_view host = text.substr(0, colon);
  if (host.empty()) return address;
  const bool has_brackets = host.starts_with('[') && host.ends_with(']') && host.size() > 2;
  if (has_brackets) host = host.substr(1, host.size() - 2);
  const std::string_view allowed = has_brackets ? "0123456789abcdefABCDEF:." : "0123456789.";
  if (host.find_first_not_of(allowed) != std::string_view::npos) return wrong();
  address.host = host;
  return address;
}

}  // namespace makeway::server
