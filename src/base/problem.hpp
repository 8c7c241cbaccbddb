// Problem: one thing that is wrong with the input, worded so that a tired operator can fix it.
//
// Law 13: bad input is refused with the object, the field, the value and the remedy. Parsers and
// validators collect Problems instead of stopping at the first one; the edge prints them together.
//
// Memory is bounded whatever the input is: of each severity the first `kept_max` are kept, with
// their texts shortened, and the others are only counted. Problems that differ in nothing but names
// and numbers have one cause. They are counted by cause, and the first few of a cause are kept also
// when it comes late: ten thousand equal slips do not hide another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/printable.hpp"

namespace makeway {

enum class Severity : std::uint8_t {
  error,    ///< The input is refused.
  warning,  ///< The input is accepted; it probably does not say what its author meant.
};

/// Where in the input something stands. Empty parts are unknown and are not printed.
struct Origin {
  std::string source;          ///< File name, or "-" for standard input.
  std::uint32_t document = 0;  ///< Counted from 1; 0 when the source was not split into documents.
  std::uint64_t line = 0;      ///< Counted from 1; 0 when unknown.

  friend bool operator==(const Origin&, const Origin&) = default;
};

struct Problem {
  Severity severity = Severity::error;
  Origin origin;
  std::string object;   ///< "Pod default/web-1"; empty when the document has no name yet.
  std::string field;    ///< "spec.containers[0].resources.requests.cpu".
  std::string value;    ///< The offending text, shortened; empty when the field is missing.
  std::string message;  ///< What is wrong, or what was expected.
  std::string remedy;   ///< What to do about it; may be empty when the message says it.

  friend bool operator==(const Problem&, const Problem&) = default;
};

/// The same for problems that differ only in names and numbers.
std::string cause_of(const Problem& problem);

/// The first problems of each severity in the order in which they were found, and the number of
/// the others.
class Problems {
 public:
  static constexpr std::size_t kept_max = 100;  ///< Errors, and as many warnings.
  // Beyond that:
  static constexpr std::size_t cause_kept_max = 3;  ///< Of each cause.
  static constexpr std::size_t causes_max = 100;    ///< More causes are not distinguished.

  using value_type = Problem;                                   // NOLINT(*-identifier-naming)
  using iterator = std::vector<Problem>::iterator;              // NOLINT(*-identifier-naming)
  using const_iterator = std::vector<Problem>::const_iterator;  // NOLINT(*-identifier-naming)

  Problems() = default;
  Problems(std::initializer_list<Problem> problems) {
    for (const Problem& problem : problems) push_back(problem);
  }

  void push_back(Problem problem);
  /// Whether another one of this severity is kept only if its cause is new.
  bool is_full(Severity severity) const { return of(severity).kept >= kept_max; }
  /// One more without a description, since it would not be kept.
  void count_one(Severity severity) { ++of(severity).found; }
  /// With what was left out of them.
  void append(Problems more);
  void clear() { *this = {}; }
  /// Errors that turned out to be bearable.
  void make_warnings();
  /// Errors that are reported elsewhere.
  void drop_errors();
  /// Those of the kept ones for which `unwanted(problem)`, which may change them, says yes.
  template <class Unwanted>
  void erase_if(const Unwanted& unwanted) {
    std::erase_if(kept_, [&](Problem& problem) {
      const std::string cause = cause_of(problem);  // `unwanted` may change the problem.
      if (!unwanted(problem)) return false;
      --of(problem.severity).found;
      --of(problem.severity).kept;
      forget(cause);
      return true;
    });
  }

  /// All that were found, kept or not.
  std::uint64_t count(Severity severity) const { return of(severity).found; }
  std::uint64_t count() const { return errors_.found + warnings_.found; }
  std::uint64_t left_out(Severity severity) const { return of(severity).found - of(severity).kept; }
  std::uint64_t left_out() const { return count() - kept_.size(); }
  /// How many were found of this cause, kept or not; 0: it is not distinguished.
  std::uint64_t count_of_cause(const std::string& cause) const;

  // Those that are kept.
  std::size_t size() const { return kept_.size(); }
  bool empty() const { return kept_.empty(); }
  iterator begin() { return kept_.begin(); }
  iterator end() { return kept_.end(); }
  const_iterator begin() const { return kept_.begin(); }
  const_iterator end() const { return kept_.end(); }
  Problem& front() { return kept_.front(); }
  const Problem& front() const { return kept_.front(); }
  Problem& back() { return kept_.back(); }
  const Problem& back() const { return kept_.back(); }
  Problem& operator[](std::size_t position) { return kept_[position]; }
  const Problem& operator[](std::size_t position) const { return kept_[position]; }

  friend bool operator==(const Problems&, const Problems&) = default;

 private:
  struct Tally {
    std::uint64_t found = 0;
    std::uint64_t kept = 0;

    friend bool operator==(const Tally&, const Tally&) = default;
  };

  const Tally& of(Severity severity) const {
    return severity == Severity::error ? errors_ : warnings_;
  }
  Tally& of(Severity severity) { return severity == Severity::error ? errors_ : warnings_; }

  /// Null: there are too many causes to distinguish it.
  Tally* tally_of(const std::string& cause);
  void forget(const std::string& cause);

  std::vector<Problem> kept_;
  Tally errors_;
  Tally warnings_;
  std::map<std::string, Tally> causes_;
};

inline bool has_errors(const Problems& problems) { return problems.count(Severity::error) > 0; }

/// One printable line, without a newline:
/// `a.yaml, document 2: Pod default/x: spec.nodeName "": expected ...`.
std::string to_text(const Problem& problem);

}  // namespace makeway
