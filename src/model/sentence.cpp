#include "model/sentence.hpp"

#include <utility>

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
    : is_known_(true), text_size_(sentence.text.size()), items_(std::move(sentence.mentions)) {}

Mentions Mentions::none_in(std::string_view text) {
  return Mentions(Sentence{.text = std::string(text), .mentions = {}});
}

}  // namespace makeway
