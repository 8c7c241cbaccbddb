// Whatever a server or a plugin answers: no reader crashes, and every refusal says something.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "codec/api_text.hpp"
#include "kube/api_error.hpp"
#include "kube/exec_plugin.hpp"
#include "kube/resources.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const makeway::PaddedText padded(text);
  if (const auto page = makeway::read_list_page(padded)) CHECK(page->kind.ends_with("List"));
  if (const auto event = makeway::read_watch_event(padded)) CHECK(event->object.starts_with('{'));
  if (const auto groups = makeway::kube::parse_group_list(text); !groups) {
    CHECK(!groups.error().message.empty());
  }
  if (const auto names = makeway::kube::parse_resource_list(text); !names) {
    CHECK(!names.error().message.empty());
  }
  const auto credential =
      makeway::kube::parse_exec_credential(text, "client.authentication.k8s.io/v1");
  if (credential) CHECK(!credential->token.contains('\n'));
  const int status = 400 + static_cast<int>(bytes[0]) % 200;
  const makeway::kube::ApiError error =
      makeway::kube::refusal({.request = "list https://a/b", .verb = "list"}, status, text, {});
  CHECK(!to_text(error.problem).empty());
  return 0;
}
