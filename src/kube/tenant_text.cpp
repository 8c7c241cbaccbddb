#include "kube/tenant_text.hpp"

#include "base/check.hpp"

namespace makeway::kube {
namespace {

std::string_view shown_instead(MentionKind kind) {
  switch (kind) {
    case MentionKind::pod: return "a pod of another namespace";
    case MentionKind::kernel: return "a kernel of another namespace";
    case MentionKind::pod_group: return "a pod group of another namespace";
    case MentionKind::session: return "a session of another namespace";
    case MentionKind::deployment: return "a deployment of another namespace";
    case MentionKind::replica_schedule: return "a replica schedule of another namespace";
    case MentionKind::namespace_name: return "another namespace";
  }
  CHECK(false, "unknown kind of mention");
}

}  // namespace

std::string tenant_text(std::string_view text, const Mentions& mentions,
                        std::string_view namespace_name) {
  if (!mentions.known_for(text)) return std::string(unknown_names_text);
  std::string shown;
  std::size_t at = 0;
  for (const Mention& mention : mentions.items()) {
    if (mention.namespace_name == namespace_name) continue;
    shown += text.substr(at, mention.at - at);
    shown += shown_instead(mention.kind);
    at = mention.at + mention.length;
  }
  shown += text.substr(at);
  return shown;
}

}  // namespace makeway::kube
