// FakeApiserver: as much of a Kubernetes API server as our client can distinguish, on 127.0.0.1.
//
// It keeps objects as JSON with resourceVersions, answers discovery, lists in pages and watches,
// carries out the writes of a scheduler (fake_writes.hpp) once they are allowed, and misbehaves on
// demand. It speaks HTTP/1.1 on a free port, one thread a connection, and stops with its
// destructor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/fake_writes.hpp"

namespace makeway {

/// What goes wrong with requests, the next `times` ones whose path begins like this.
struct ServerFault {
  enum class Kind : std::uint8_t {
    status,        ///< Answers `status` with `body`.
    broken_json,   ///< 200 with half of a JSON text.
    endless_list,  ///< Pages that all say that there is one more.
    same_page,     ///< A page that is followed by itself.
    cut,           ///< Closes the connection without a word.
    half_answer,   ///< Announces more bytes than it sends, and closes.
    slow,          ///< Answers after `delay_ms`.
    huge_header,   ///< A header of a megabyte.
    no_http,       ///< Bytes that are no HTTP.
    drip,          ///< 200, then a blank every `delay_ms`, for ever.
  };
  Kind kind = Kind::cut;
  std::string path_prefix = "/";
  int times = 1;
  int status = 500;
  int retry_after_s = 0;  ///< 0: no header.
  std::string body;       ///< Empty: a Status object.
  int delay_ms = 0;
  bool only_watches = false;
};

/// What goes wrong with one write.
struct WriteFault {
  enum class Kind : std::uint8_t {
    hold,           ///< It waits until `release_held`, and is carried out then.
    cut_before,     ///< Not carried out, no answer.
    cut_after,      ///< Carried out, no answer.
    status_before,  ///< Not carried out, answered with `status`.
    status_after,   ///< Carried out, and answered with `status`.
  };
  Kind kind = Kind::cut_before;
  int status = 500;
  int retry_after_s = 0;    ///< 0: no header.
  bool plain_text = false;  ///< The answer is no Status.
};
/// Hears of every write before it is carried out, with its number from 1 and its request line.
using WriteHook =
    std::function<std::optional<WriteFault>(std::int64_t number, const std::string& line)>;

class FakeApiserver {
 public:
  FakeApiserver();
  FakeApiserver(const FakeApiserver&) = delete;
  FakeApiserver& operator=(const FakeApiserver&) = delete;
  ~FakeApiserver();

  /// "http://127.0.0.1:34567"
  std::string url() const;
  std::uint16_t port() const;

  /// A kind besides those of a plain Kubernetes: "scheduling.k8s.io/v1beta1", "podgroups".
  void serve(std::string_view group_version, std::string_view plural, std::string_view kind);
  /// Creates or replaces; the text is a manifest in JSON. Returns the resourceVersion.
  std::int64_t put(std::string_view json);
  /// All items of a List in JSON.
  void put_all(std::string_view json);
  void remove(std::string_view kind, std::string_view namespace_name, std::string_view name);
  /// Forgets what happened until now: older watches and pages get 410.
  void compact();
  /// Every watch gets a bookmark.
  void bookmark();
  /// Ends all watches, as a server that restarts does.
  void end_watches();

  void fail(ServerFault fault);
  /// Nothing goes wrong any more.
  void mend();
  /// Writes are carried out from now on; before, everything but GET is 405.
  void allow_writes(WriteHook hook = {});
  void release_held();
  /// Bound pods run at once; deleted ones are gone at once.
  void set_kubelet(bool runs, bool lets_go);
  std::size_t let_go();
  /// Writes that were carried out.
  std::vector<FakeDeed> deeds() const;
  /// Whether that becomes true, within 30 seconds; asked after every change.
  using Until = std::function<bool(const FakeObjects&, const std::vector<FakeDeed>&)>;
  bool await(const Until& until);
  /// Requests that changed something or tried to, with their bodies, in the order of arrival.
  struct SeenWrite {
    std::string line;
    std::string body;
  };
  std::vector<SeenWrite> writes() const;
  /// Its JSON; empty: there is none.
  std::string object(std::string_view kind, std::string_view namespace_name,
                     std::string_view name) const;

  /// 403 for this resource, or this part of it ("pods/binding").
  void forbid(std::string_view plural);
  /// 401 without it.
  void require_token(std::string_view token);
  /// As kubectl get -o json prints it: one List of all objects.
  std::string dump() const;

  /// "GET /api/v1/pods?limit=500", in the order of arrival.
  std::vector<std::string> requests() const;
  /// How many watches are open; waits up to five seconds until there are that many.
  bool await_watches(std::size_t count);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace makeway
