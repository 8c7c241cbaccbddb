// Sentence: a text for people that knows where it names objects of namespaces, so that what a
// tenant may read follows from the mentions and not from a search for names in finished text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace makeway {

/// What a text names. Nodes, queues and resource groups belong to no namespace, and are no mention.
enum class MentionKind : std::uint8_t {
  pod,
  kernel,
  pod_group,
  session,
  deployment,
  replica_schedule,
  namespace_name,
};

/// A part of a text that names an object of a namespace, or the namespace.
struct Mention {
  std::size_t at = 0;
  std::size_t length = 0;
  MentionKind kind = MentionKind::pod;
  std::string namespace_name;
};

struct Sentence {
  std::string text;
  std::vector<Mention> mentions;  ///< In the order of the text; they do not overlap.

  void add(std::string_view words) { text += words; }
  void add(const Sentence& other);
  void add_mention(MentionKind kind, std::string_view namespace_name, std::string_view words);
};

/// All mentions of a text beside which it stands. The text is the document: it is written to
/// journals and compared, its mentions are not. So a text that was read back has none that are
/// known, and neither has one that was changed after they were found.
class Mentions {
 public:
  Mentions() = default;
  explicit Mentions(Sentence sentence);
  /// Of a text that names nothing but what its reader may know.
  static Mentions none_in(std::string_view text);

  /// False: the text may name anything.
  bool known_for(std::string_view text) const;
  const std::vector<Mention>& items() const { return items_; }

  friend bool operator==(const Mentions&, const Mentions&) { return true; }

 private:
  bool is_known_ = false;
  std::uint64_t text_hash_ = 0;
  std::vector<Mention> items_;
};

}  // namespace makeway
