// ResourceWatch: keeps whoever listens informed of all objects of one resource.
//
// A list, in pages, then a watch from its version on. Rules:
//  1. A watch that ends is begun again where it ended; every event and bookmark moves that place.
//  2. 410, and anything that cannot be read, begins with a list again: the listener is told all
//     objects anew, and what is not among them is gone.
//  3. After a failure there is a pause that doubles up to 30 s and varies; one that goes well again
//     begins with the shortest. A server that says Retry-After is obeyed.
//  4. A watch that tells no whole event for 90 s is cut: bookmarks come every minute.
//  5. What is seen is current from the list on, until a failure; `sees` says so. After a failure it
//     is current again with a bookmark, or a second after the server accepted the watch: by then it
//     has refused a version that it forgot, and sent what was missed. (Bookmarks come once a
//     minute.)
//
// Never blocks: it is driven by HttpClient::work and `tick`, on one thread. (Only credentials of an
// exec plugin that must be renewed make that thread wait for the plugin.)
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "kube/api_client.hpp"
#include "kube/watch_lines.hpp"

namespace makeway::kube {

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
  Duration pause_first{800};
  Duration pause_max{30'000};
  Duration silence_max{90'000};
  Duration sight_after{1'000};  ///< Without an event, once the server accepted.
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
  /// Whether what was told is current.
  bool sees() const { return sees_; }
  const ServedResource& served() const { return served_; }
  std::uint64_t lists() const { return lists_; }

  void accepted() override { accepted_at_ = now_; }
  bool bytes(std::string_view chunk) override;
  void ended(ApiResult<HttpAnswer> result) override;

 private:
  enum class Step : std::uint8_t { pausing, listing, watching };

  void begin_page();
  void begin_watch();
  void start(const std::string& path, std::string_view verb, bool is_stream);
  void page_came(HttpAnswer answer);
  void watch_ended();
  void cut_silence();
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
  std::uint64_t lists_ = 0;
  ObjectPages pages_;
  std::string continue_token_;
  std::string version_;              ///< Where the watch goes on; empty: with a list.
  std::optional<Time> accepted_at_;  ///< The watch; none: not yet.
  bool heard_ = false;               ///< Anything, since the watch began.
  Time heard_at_;                    ///< The last whole event, else the beginning of the watch.
  std::optional<ApiError> watch_error_;
  WatchLines lines_;
  std::optional<HttpClient::RequestId> request_;
};

}  // namespace makeway::kube
