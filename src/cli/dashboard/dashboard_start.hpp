// Sets up the dashboard of a run: its page, its access and its tools.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/command.hpp"
#include "control/lawful_plan.hpp"
#include "journal/journal_index.hpp"
#include "journal/journal_reader.hpp"
#include "journal/journal_world.hpp"
#include "server/board.hpp"
#include "server/dashboard.hpp"
#include "server/http_server.hpp"
#include "server/listen_address.hpp"
#include "server/question_thread.hpp"
#include "server/tls_keys.hpp"

namespace makeway::cli {

// What if this manifest were submitted now? The plan for it, on a copy of what the dashboard shows.
//
// Nothing is changed: the board's cluster is copied, the manifest's objects are added to the copy,
// and those of them that are pending are decided. Objects of the cluster that a manifest may refer
// to (priority classes, queues, resource groups, ...) are known to its reader.

/// The body is YAML or JSON; `preset=NAME` in the query: by the rules of that preset. The answer is
/// what the page of a plan is made of (plan/plan_page.hpp), with "notes" about documents that do
/// not count where there are any; or {"error": ...}.
server::HttpReply what_if(const server::HttpRequest& request, const server::Board& board,
                          const PlanTools& tools);

/// Why KIND/NAMESPACE/NAME waits, as far as the board knows: {"text": ...} or {"error": ...}.
server::HttpReply why_now(const server::HttpRequest& request, const server::Board& board,
                          const PlanTools& tools);

/// --listen and the flags that go with it.
struct ListenOptions {
  std::optional<server::ListenAddress> address;  ///< None: nothing listens.
  std::string token;                             ///< Empty: there is none.
  server::TlsFiles tls;                          ///< None given: plain HTTP.
};

/// An error is a usage error; the contents of the files are checked.
Result<ListenOptions> read_listen_options(const Arguments& arguments);

struct DashboardOptions {
  ListenOptions listen;                 ///< With an address.
  std::string journal;                  ///< The file that the run writes; empty: none.
  std::vector<std::string> schedulers;  ///< schedulerNames of our pods; none: all pods.
};

/// `open_pages`: health and metrics.
Result<std::unique_ptr<server::Dashboard>> start_dashboard(
    DashboardOptions options, std::function<server::HttpReply(std::string_view path)> open_pages);

/// The token in that file: its text without white space around it. An error says what is wrong.
Result<std::string> read_token(const std::string& path);

/// "http://127.0.0.1:10260/", as opened on this machine.
std::string dashboard_address(const ListenOptions& listen, std::uint16_t port);

/// A warning for the operator; empty: none.
std::string dashboard_warning(const ListenOptions& listen);
/// Whether it shows more than health and metrics: to this machine alone, or with a token.
bool shows_dashboard(const ListenOptions& listen);

/// "a frame failed: TEXT; 3 more like it since the last report"
std::string notice_text(const server::Notice& notice);

// LookBack: reads the journal of a run for the dashboard, while it is being written.
//
// Rules
//  1. A list of cycles comes from an index, which reads what was written since the last question.
//  2. A cycle is read from the last base before it. A later cycle of the same chapter is read on
//     from there: one cluster is kept for that.
//  3. A story is read from the beginning: an object may be in any record (`walk_story`).
//     A few megabytes of the journal are in memory at a time.
//  4. Reading ends soon after the request is closed, and after a timeout: other requests wait.
//     What 1 and 2 have read by then is kept, so a repeated request continues from there.
//
// One thread: the dashboard's question thread.

/// Until the request is closed, or for a time.
class Patience {
 public:
  Patience(server::QuestionThread::IsOver is_unwanted, std::chrono::milliseconds at_most)
      : is_unwanted_(std::move(is_unwanted)), until_(std::chrono::steady_clock::now() + at_most) {}
  bool is_over() const {
    return std::chrono::steady_clock::now() >= until_ || (is_unwanted_ && is_unwanted_());
  }

 private:
  server::QuestionThread::IsOver is_unwanted_;  ///< Empty: it is wanted.
  std::chrono::steady_clock::time_point until_;
};

class LookBack {
 public:
  static constexpr std::chrono::milliseconds standard_patience{30'000};

  LookBack(std::string journal, PlanTools tools,
           std::chrono::milliseconds patience = standard_patience)
      : journal_(std::move(journal)),
        tools_(std::move(tools)),
        patience_(patience),
        index_(journal_) {}

  /// `object=KIND/NAMESPACE/NAME`: the text of `makeway why --journal`, as {"text": ...}.
  server::HttpReply why(const server::HttpRequest& request,
                        const server::QuestionThread::IsOver& is_unwanted) const;

  /// {"cycles":[[number, milliseconds, asks, 1 if the plan acts], ...]}, oldest first; of very many
  /// the newest, and how many were left out.
  server::HttpReply cycles(const server::QuestionThread::IsOver& is_unwanted);

  /// `cycle=N`, and `preset=P`: the cluster as it was then with the plan of that cycle, and the
  /// plan that the other preset would have made.
  server::HttpReply cycle(const server::HttpRequest& request,
                          const server::QuestionThread::IsOver& is_unwanted);

  /// Records that were read for cycles so far, for tests.
  std::uint64_t records_read() const { return records_read_; }

 private:
  /// Reading stands behind this cycle.
  struct Place {
    JournalIndex::Chapter chapter;
    JournalReader reader;
    JournalWorld world;
    CycleRecord cycle;
  };
  std::optional<Error> begin(const JournalIndex::Chapter& chapter);
  enum class Found : std::uint8_t { yes, no, not_yet };
  Found find(std::uint64_t wanted, const Patience& patience);
  std::optional<server::HttpReply> go_to(std::uint64_t wanted, const Patience& patience);
  std::string plan_by(const Configuration& configuration, std::string_view preset) const;

  std::string journal_;
  PlanTools tools_;
  std::chrono::milliseconds patience_;
  JournalIndex index_;
  std::optional<Place> place_;
  std::uint64_t records_read_ = 0;
};

/// Whether it can be read again: what was written to a pipe or a device cannot.
bool is_kept_journal(const std::string& journal);

}  // namespace makeway::cli
