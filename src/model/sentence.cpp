#include "model/sentence.hpp"

#include <utility>

#include "base/intern.hpp"

namespace makeway {

void Sentence::add(const Sentence& other) {
  for (const Mention& mention : other.mentions) {
    mentions.push_back(mention);
    mentions.back().at += text.size();
  }
  text += other.text;
}

void Sentence::add_mention(MentionKind kind, std::string_view namespace_name,
                           std::string_view words) {
  mentions.push_back({.at = text.size(),
                      .length = words.size(),
                      .kind = kind,
                      .namespace_name = std::string(namespace_name)});
  text += words;
}

Mentions::Mentions(Sentence sentence)
    : is_known_(true), text_hash_(hash_of(sentence.text)), items_(std::move(sentence.mentions)) {}

bool Mentions::known_for(std::string_view text) const {
  return is_known_ && hash_of(text) == text_hash_;
}

Mentions Mentions::none_in(std::string_view text) {
  return Mentions(Sentence{.text = std::string(text), .mentions = {}});
}

}  // namespace makeway
