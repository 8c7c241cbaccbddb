#include "codec/session_status.hpp"

#include <optional>
#include <string_view>

#include "codec/writer.hpp"
#include "model/session_names.hpp"

namespace makeway {
namespace {

void text_or_null(DocumentWriter& writer, std::string_view key, std::string_view text) {
  writer.key(key);
  text.empty() ? writer.null() : writer.string(text);
}

void time_or_null(DocumentWriter& writer, std::string_view key, const std::optional<Time>& time) {
  text_or_null(writer, key, time ? to_text(*time) : std::string());
}

/// A list is replaced whole by a merge, so nothing in it need be null.
void write_places(DocumentWriter& writer, const Session& session) {
  writer.key("kernels");
  writer.begin_array();
  for (const Kernel& kernel : session.kernels) {
    if (kernel.node.empty() && kernel.nominated_node.empty()) continue;
    writer.begin_object();
    writer.string_field("name", kernel.name);
    if (!kernel.node.empty()) writer.string_field("node", kernel.node);
    if (!kernel.nominated_node.empty()) {
      writer.string_field("nominatedNode", kernel.nominated_node);
    }
    writer.end_object();
  }
  writer.end_array();
}

}  // namespace

std::string session_status_patch(const Session& session) {
  const SessionStatus& status = session.status;
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.begin_object();
  writer.string_field("phase", choice_name(status.phase));
  time_or_null(writer, "started", status.started);
  time_or_null(writer, "endsAt", status.ends_at);
  writer.integer_field("preemptions", status.preemptions);
  text_or_null(writer, "preemptedBy", status.preempted_by);
  time_or_null(writer, "preemptedAt", status.preempted_at);
  text_or_null(writer, "fate", status.fate ? choice_name(*status.fate) : std::string_view());
  time_or_null(writer, "resumeAfter", status.resume_after);
  write_places(writer, session);
  writer.end_object();
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace makeway
