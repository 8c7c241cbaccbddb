// Lines of a watch, however the bytes come: events are handed on as soon as they are whole.
//
// The length of a line is bounded (an object of Kubernetes has at most 3 MiB); a longer line, or
// one that is no event, ends the watch.
//
// ResourceWatch: keeps its listener informed of all objects of one resource.
//
// A list, in pages, then a watch from its version on. Rules:
//  1. A watch that ends is begun again where it ended; every event and bookmark moves that place.
//     One that ends within five seconds without an event counts as a failure.
//  2. 410, and anything that cannot be read, begins with a list again: the listener is shown all
//     objects anew, and what is not among them is gone.
//  3. After a failure there is a pause that doubles up to 30 s and varies; one that goes well again
//     begins with the shortest. A server that says Retry-After is obeyed.
//  4. A watch without a complete event for 90 s is cut. Bookmarks come every minute, but only if
//     the server has heard of news from its store since; where the store does not say it by itself,
//     a consistent read makes the server ask. So after 40 s of silence one object is read.
//  5. What is seen is current from the list on, until a failure; `sees` says so. After a failure
//     the first page of a list is read. If it is the whole list, or has the version that was seen
//     last, it proves that nothing was missed. Otherwise the watch goes on where it was, for three
//     seconds; then the proof is an event of the page's version, or a bookmark: a server sends one
//     two seconds before a watch ends, behind all events that were missed, unless nothing else has
//     happened since the last of them. If neither comes, twice, all is listed.
//
// Never blocks: it is driven by HttpClient::work and `tick`, on one thread. (Only credentials of an
// exec plugin that must be renewed make that thread wait for the plugin.)
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/backoff.hpp"
#include "base/problem.hpp"
#include "base/time.hpp"
#include "codec/api_text.hpp"
#include "kube/api_client.hpp"

namespace makeway::kube {

class WatchLines {
 public:
  static constexpr std::size_t line_bytes_default = std::size_t{16} << 20U;

  explicit WatchLines(std::size_t line_bytes_max = line_bytes_default)
      : line_bytes_max_(line_bytes_max) {}

  /// False: the watch is to end.
  using Visit = std::function<bool(const WatchEvent&)>;
  enum class Verdict : bool { stop, go_on };
  /// What was wrong is in `problem`.
  Verdict take(std::string_view bytes, const Visit& visit);
  const std::optional<Problem>& problem() const { return problem_; }
  void clear();

 private:
  Verdict line(std::string_view text, const Visit& visit);
  Verdict refuse(Problem problem);

  std::size_t line_bytes_max_;
  std::string rest_;  ///< A line that has not ended.
  std::optional<Problem> problem_;
};

class WatchListener {
 public:
  WatchListener() = default;
  WatchListener(const WatchListener&) = delete;
  WatchListener& operator=(const WatchListener&) = delete;
  virtual ~WatchListener() = default;

  /// All objects that there are.
  virtual void listed(const ServedResource& served, const ObjectPages& pages) = 0;
  /// One was added, modified or deleted.
  virtual void happened(const ServedResource& served, const WatchEvent& event) = 0;
  /// It failed and will be tried again.
  virtual void failed(const ServedResource& served, const ApiError& error) = 0;
};

struct WatchLimits {
  Backoff pause{.first = {800}, .max = {30'000}};
  Duration silence_max{90'000};
  Duration read_after{40'000};  ///< Of silence.
  int proofs_max = 2;           ///< Short watches, after a failure, before all is listed.
  std::size_t line_bytes_max = WatchLines::line_bytes_default;
};

class ResourceWatch final : public HttpListener {
 public:
  ResourceWatch(ApiClient& client, ServedResource served, WatchListener& listener, Prng jitter,
                WatchLimits limits = {});
  ~ResourceWatch() override;

  /// Does what is due; call it at `due_at` at the latest. The time is any clock that never goes
  /// back.
  void tick(Time now);
  /// None: it waits for the server.
  std::optional<Time> due_at() const;
  /// Whether what was shown is current.
  bool sees() const { return sees_; }
  const ServedResource& served() const { return served_; }
  std::uint64_t lists() const { return lists_; }

  bool bytes(std::string_view chunk) override;
  void ended(ApiResult<HttpAnswer> result) override;

 private:
  enum class Step : std::uint8_t { pausing, listing, watching };

  /// Reads one object, so that the server syncs with its store. The answer does not matter.
  class SyncRead final : public HttpListener {
   public:
    bool bytes(std::string_view /*chunk*/) override { return true; }
    void ended(ApiResult<HttpAnswer> /*result*/) override { request.reset(); }

    std::optional<HttpClient::RequestId> request;
    Time sent_at;
  };

  ApiResult<HttpRequest> request_for(const std::string& path, std::string_view verb) const;
  std::string page_path(std::size_t objects) const;
  void read_one_object();
  void begin_list();
  void begin_page();
  void begin_watch();
  void start(const std::string& path, std::string_view verb, bool is_stream);
  void page_came(HttpAnswer answer);
  void list_came();
  void watch_ended();
  void cut_silence();
  void prove();
  bool take_event(const WatchEvent& event);
  void fail(const ApiError& error);
  void pause_for(Duration pause);
  Duration next_pause(const std::optional<Duration>& retry_after);

  ApiClient& client_;
  ServedResource served_;
  WatchListener& listener_;
  Prng jitter_;
  WatchLimits limits_;
  Asked asked_;
  Step step_ = Step::pausing;
  Time now_;
  Time resumes_at_;
  int failures_ = 0;  ///< In a row.
  bool sees_ = false;
  int proofs_ = 0;            ///< Short watches since the watch was lost.
  std::string page_version_;  ///< Of the page that was read before a short watch.
  std::uint64_t lists_ = 0;
  ObjectPages pages_;
  std::string continue_token_;
  std::string version_;  ///< Where the watch goes on; empty: with a list.
  bool heard_ = false;   ///< Anything, since the watch began.
  Time heard_at_;        ///< The last whole event, else the beginning of the watch.
  std::optional<ApiError> watch_error_;
  WatchLines lines_;
  std::optional<HttpClient::RequestId> request_;
  SyncRead sync_read_;
};

}  // namespace makeway::kube
