#include "server/question_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <utility>
#include <vector>

namespace makeway::server {
namespace {

/// A thread that is busy with a question that ends on request, or is over.
class QuestionThreadTest : public testing::Test {
 protected:
  void keep_busy(QuestionThread::IsOver has_left) {
    std::promise<void> begun;
    EXPECT_TRUE(thread.ask(
        [&](const QuestionThread::IsOver& is_over) {
          begun.set_value();
          while (!is_over() && !may_end) std::this_thread::yield();
        },
        std::move(has_left)));
    begun.get_future().wait();
  }
  bool ask(int number, QuestionThread::IsOver has_left) {
    return thread.ask([this, number](const QuestionThread::IsOver&) { answered.push_back(number); },
                      std::move(has_left));
  }
  /// Until everything that was asked before is answered.
  void wait() {
    std::promise<void> done;
    while (!thread.ask([&](const QuestionThread::IsOver&) { done.set_value(); }))
      std::this_thread::yield();
    done.get_future().wait();
  }
  static bool is_there() { return false; }

  std::atomic<bool> may_end = false;
  std::vector<int> answered;  ///< By the thread; read after `wait`.
  QuestionThread thread{{}, 3};
};

TEST_F(QuestionThreadTest, DropsQuestionsOfClosedConnections) {
  std::atomic<bool> has_left = false;
  keep_busy(is_there);
  EXPECT_TRUE(ask(1, is_there));
  EXPECT_TRUE(ask(2, [&] { return has_left.load(); }));
  EXPECT_TRUE(ask(3, is_there));
  has_left = true;
  may_end = true;
  wait();
  EXPECT_EQ(answered, (std::vector<int>{1, 3}));
}

TEST_F(QuestionThreadTest, AClosedConnectionDoesNotBlockOthers) {
  std::atomic<bool> has_left = false;
  keep_busy(is_there);
  EXPECT_TRUE(ask(1, is_there));
  EXPECT_TRUE(ask(2, [&] { return has_left.load(); }));
  EXPECT_TRUE(ask(3, is_there));
  EXPECT_FALSE(ask(4, is_there));
  has_left = true;
  EXPECT_TRUE(ask(5, is_there));
  EXPECT_FALSE(ask(6, is_there));
  may_end = true;
  wait();
  EXPECT_EQ(answered, (std::vector<int>{1, 3, 5}));
}

TEST_F(QuestionThreadTest, AQuestionUnderWayHearsThatItsAskerHasLeft) {
  std::atomic<bool> has_left = false;
  keep_busy([&] { return has_left.load(); });
  EXPECT_TRUE(ask(1, is_there));
  has_left = true;
  wait();
  EXPECT_EQ(answered, std::vector<int>{1});
}

}  // namespace
}  // namespace makeway::server
