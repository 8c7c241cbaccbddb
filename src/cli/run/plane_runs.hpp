// PlaneRuns: the planes of a run, each with an API server, watches and a writer of its own (SPEC
// section 4).
//
//  1. A plane whose kubeconfig is wrong, or where a right to write is clearly missing, keeps the
//     run from starting. One that cannot be reached does not, and the run does not wait for it: it
//     is asked until it answers, and counts as unreachable until then. All planes are asked at the
//     same time, so that several of them cost no more than one.
//  2. The loss of a plane is logged, and its return as well; the other planes continue.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/run/decision_log.hpp"
#include "control/plane_view.hpp"
#include "kube/actuator.hpp"
#include "kube/connection.hpp"
#include "kube/live_port.hpp"
#include "kube/own_rights.hpp"

namespace makeway::cli {

// PlaneQuestion: may we write to this plane? Asked on a thread of its own, so that a plane that
// does not answer does not delay the start.

class PlaneQuestion {
 public:
  /// The connection makes no second attempt: its pause could not be cut short.
  explicit PlaneQuestion(std::unique_ptr<kube::Connection> connection);
  PlaneQuestion(const PlaneQuestion&) = delete;
  PlaneQuestion& operator=(const PlaneQuestion&) = delete;
  /// Gives up what is not answered, and waits until that is heard.
  ~PlaneQuestion();

  struct Answer {
    std::optional<kube::ApiError> error;  ///< Why nothing could be asked.
    std::vector<kube::Right> missing;
  };
  /// None: the server was not heard until `heard`, or the answer is not complete at `whole`.
  std::optional<Answer> await(Time heard, Time whole);
  /// It has begun to answer, or no answer will come.
  bool was_heard();
  /// Of several, the first does not keep the others waiting: call it for all before they are gone.
  void give_up();

 private:
  void run();

  std::unique_ptr<kube::Connection> connection_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_heard_ = false;  ///< The server, or why there is none.
  std::optional<Answer> answer_;
  std::thread thread_;  ///< Last: it uses the others.
};

/// A plane with an open connection.
struct PlaneParts {
  std::string name;
  std::unique_ptr<kube::Connection> connection;
};

/// How long a beginning waits for all planes together.
struct PlanePatience {
  Duration heard{3'000};   ///< Until each has said what it serves.
  Duration whole{10'000};  ///< And what we may do there.
};

class PlaneRuns {
 public:
  PlaneRuns(std::vector<PlaneParts> planes, const Configuration& configuration, RunLog& log,
            PlanePatience patience = {});

  /// Rule 1.
  bool may_begin(bool writes);
  /// False: a connection could not be opened, and that was logged.
  bool begin();
  /// For a writer: connections of its own. Empty if none can be opened.
  kube::PlaneConnections connections();
  void join(kube::LivePort& port);
  /// Rule 2, and which schedules nothing is decided about.
  void log_states();
  /// Before the feed of home.
  void end();

 private:
  struct Plane {
    std::string name;
    std::unique_ptr<kube::Connection> connection;
    std::unique_ptr<kube::LiveFeed> feed;
    bool sees = false;
    std::optional<Time> missing_logged;  ///< When it was last logged that it is not seen.
  };

  std::unique_ptr<kube::Connection> connect(const Plane& plane, const kube::ConnectionTools& tools);
  bool may_write(Plane& plane, PlaneQuestion& question, Time begun);
  void log_missing(Plane& plane);
  void log_plane_problem(std::string_view event, LogLevel level, const std::string& plane,
                         const Problem& problem);

  std::vector<Plane> planes_;
  RunLog& log_;
  PlanePatience patience_;
  PlaneView view_;
  OwnFindings logged_notes_;
};

}  // namespace makeway::cli
