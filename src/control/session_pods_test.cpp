#include "control/session_pods.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/object_text.hpp"

namespace makeway {
namespace {

Session running_session() {
  Session session{.namespace_name = "team", .name = "train", .uid = "u1"};
  session.kernels = {{.name = "a", .node = "n1", .pod_template = "{}"}};
  session.status.phase = SessionPhase::running;
  return session;
}

Pod kernel_pod_of(const std::string& name, const std::string& node, const std::string& uid = "u1") {
  Pod pod{.namespace_name = "team", .name = name, .node = node};
  pod.owners = {{.kind = "Session", .name = "train", .uid = uid, .controller = true}};
  return pod;
}

std::vector<std::string> texts_of(const std::vector<Change>& changes) {
  std::vector<std::string> texts;
  for (const Change& change : changes) {
    const auto* const gone = std::get_if<Removal>(&change);
    texts.push_back(gone == nullptr ? "+" + object_text(change)
                                    : fmt::format("-{} {}/{}", row_of_kind(gone->kind).name,
                                                  gone->namespace_name, gone->name));
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(SessionPods, ThePodThatARowStandsForIsHidden) {
  SessionPods pods;
  EXPECT_EQ(texts_of(pods.show({running_session()})), Texts{"+Session team/train"});
  EXPECT_EQ(texts_of(pods.show({kernel_pod_of("train-a-0", "n1")})), Texts{});
  // What only looks like it is usage, or nothing.
  EXPECT_EQ(texts_of(pods.show({kernel_pod_of("train-a-1", "n1")})), Texts{"+Pod team/train-a-1"});
  EXPECT_EQ(texts_of(pods.show({kernel_pod_of("train-a-2", "n1", "u2")})),
            Texts{"+Pod team/train-a-2"});
  EXPECT_EQ(texts_of(pods.show({kernel_pod_of("mine", "")})), Texts{});
  EXPECT_EQ(texts_of(pods.show(
                {Removal{.kind = ObjectKind::pod, .namespace_name = "team", .name = "train-a-0"}})),
            Texts{});
  EXPECT_EQ(texts_of(pods.show(
                {Removal{.kind = ObjectKind::pod, .namespace_name = "team", .name = "train-a-1"}})),
            Texts{"-Pod team/train-a-1"});
}

TEST(SessionPods, APodComesToLightWhenItsSessionHoldsNoRoom) {
  SessionPods pods;
  pods.show({running_session(), kernel_pod_of("train-a-0", "n1")});
  Session leaving = running_session();
  leaving.status.preemptions = 1;
  leaving.status.ends_at = Time{1};
  EXPECT_EQ(texts_of(pods.show({leaving})), Texts{"+Session team/train"});
  const Removal gone{.kind = ObjectKind::session, .namespace_name = "team", .name = "train"};
  EXPECT_EQ(texts_of(pods.show({gone})), (Texts{"-Session team/train", "+Pod team/train-a-0"}));
  EXPECT_EQ(texts_of(pods.show({running_session()})),
            (Texts{"+Session team/train", "-Pod team/train-a-0"}));
}

TEST(SessionPods, APodMayBeShownBeforeItsSession) {
  SessionPods pods;
  EXPECT_EQ(texts_of(pods.show({kernel_pod_of("train-a-0", "n1")})), Texts{"+Pod team/train-a-0"});
  EXPECT_EQ(texts_of(pods.show({running_session()})),
            (Texts{"+Session team/train", "-Pod team/train-a-0"}));
}

/// Planes have names of their own. Before, such a pod took the place of the one at home in what is
/// known here, and when it was gone, the loop did not learn of it.
TEST(SessionPods, APodOfAPlaneIsNoKernel) {
  SessionPods pods;
  pods.show({running_session(), kernel_pod_of("train-a-0", "n1")});
  for (const bool is_of_a_session : {true, false}) {
    Pod other = kernel_pod_of("train-a-0", "e1", "u7");
    if (!is_of_a_session) other.owners.clear();
    other.plane = "east";
    EXPECT_EQ(texts_of(pods.show({other})), Texts{"+Pod team/train-a-0 of plane east"});
    EXPECT_EQ(texts_of(pods.show({Removal{.kind = ObjectKind::pod,
                                          .namespace_name = "team",
                                          .name = "train-a-0",
                                          .plane = "east"}})),
              Texts{"-Pod team/train-a-0"});
  }
  // The one at home is still there, and comes to light with its session gone.
  const Removal gone{.kind = ObjectKind::session, .namespace_name = "team", .name = "train"};
  EXPECT_EQ(texts_of(pods.show({gone})), (Texts{"-Session team/train", "+Pod team/train-a-0"}));
}

TEST(SessionPods, ASessionThatNothingCanBeMadeFromIsNotShown) {
  SessionPods pods;
  Session bare = running_session();
  bare.kernels[0].pod_template.clear();
  bare.kernels[0].node.clear();
  bare.status.phase = SessionPhase::pending;
  EXPECT_EQ(texts_of(pods.show({bare})), Texts{"-Session team/train"});
  EXPECT_EQ(texts_of(pods.show({bare})), Texts{});
  bare.kernels[0].pod_template = "{}";
  EXPECT_EQ(texts_of(pods.show({bare})), Texts{"+Session team/train"});
}

}  // namespace
}  // namespace makeway
