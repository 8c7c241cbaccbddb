// SPEC section 9: traces become loads, and bad ones are refused with line and remedy.
#include "sim/traces.hpp"

#include <gtest/gtest.h>

#include "sim/generate.hpp"

namespace makeway {
namespace {

TEST(Traces, OurOwnTable) {
  const auto load = csv_load(
      "kind,name,arrival_s,run_s,pods,minimum,priority,queue,cpu_milli,memory_mib,gpu\n"
      "node,n1,,,20,,,,4000,8192,2\n"
      "queue,team,,,,,,,,,\n"
      "gang,train,10,60,3,2,100,team,1000,512,1\n"
      "job,early,5,60,,,,,500,,\n",
      Time{});
  ASSERT_TRUE(load.has_value()) << load.error().message;
  EXPECT_EQ(load->objects.size(), 2U);
  ASSERT_EQ(load->tasks.size(), 2U);
  EXPECT_EQ(load->tasks[0].name, "early");  // By arrival.
  EXPECT_EQ(load->tasks[1].minimum, 2);
  EXPECT_EQ(load->tasks[1].priority, 100);
  EXPECT_EQ(load->tasks[1].queue, "team");
}

TEST(Traces, AWrongCellIsReportedWithItsLine) {
  const auto load = csv_load("kind,name,cpu_milli\nnode,n1,many\n", Time{});
  ASSERT_FALSE(load.has_value());
  EXPECT_EQ(
      load.error().message,
      "csv, line 2, node n1: cpu_milli \"many\": expected a whole number from 0 to 1000000000");
  EXPECT_EQ(csv_load("kind,name,cpu_milli\nrocket,x,1\n", Time{}).error().message,
            "csv, line 2, rocket x: kind \"rocket\": expected node, queue, job, gang or service");
  EXPECT_EQ(
      csv_load("", Time{}).error().message,
      "csv, line 1: the heading lacks the column kind; docs/simulation.md describes the table");
}

TEST(Traces, WhatWouldBeMisreadIsRefused) {
  const auto message = [](std::string_view text) {
    const auto load = csv_load(text, Time{});
    return load ? std::string() : load.error().message;
  };
  EXPECT_EQ(
      message("kind,name,cpu_milli\nnode,n,1\nnode,n,1\n"),
      "csv, line 3, node n: there is one of that name in line 2; give each a name of its own");
  EXPECT_EQ(message("kind,name,cpu_milli,run_s,pods\njob,a,1,9,2\njob,a-0,1,9,\n"),
            "csv: pod default/a-0 is there twice; give each a name of its own");
  EXPECT_NE(message("kind,name,cpu_milli,priorty\nnode,n,1,\n").find("no column \"priorty\""),
            std::string::npos);
  EXPECT_EQ(message("kind,name,cpu_milli,run_s,queue\njob,a,1,9,team\n"),
            "csv, line 2, task a: there is no queue \"team\"; add a line of kind queue");
  EXPECT_NE(message("kind,name,cpu_milli,run_s,priority\njob,a,1,9,abc\n").find("priority"),
            std::string::npos);
  EXPECT_NE(message("kind,name,cpu_milli,run_s\njob,a,1,-1\n").find("run_s"), std::string::npos);
  EXPECT_NE(message("kind,name,cpu_milli\nnode,a\x1b[31m,1\n").find("\\x1b"), std::string::npos);
  EXPECT_NE(message("kind,name,cpu_milli\nnode,n,1,2\n").find("4 cells"), std::string::npos);
}

TEST(Traces, StandardWorkloadFormatWithoutSizes) {
  const auto one = swf_load("1 0 5 100 6 -1 -1 6 -1 -1 1 1 1 1 2 -1 -1 -1\n", Time{});
  ASSERT_TRUE(one.has_value()) << one.error().message;
  EXPECT_EQ(one->objects.size(), 1U);
  EXPECT_FALSE(swf_load("", Time{}).has_value());
  EXPECT_FALSE(swf_load("kind,name\n", Time{}).has_value());
  EXPECT_FALSE(
      swf_load(";MaxProcs: 1\n1 0 5 9 999999999 -1 -1 6 -1 -1 1 1 1 1 2 -1 -1 -1\n", Time{})
          .has_value());
}

TEST(Traces, StandardWorkloadFormat) {
  const auto load = swf_load(
      "; MaxNodes: 2\n;MaxProcs: 8\n"
      "1 0 5 100 6 -1 -1 6 -1 -1 1 1 1 1 2 -1 -1 -1\n"
      "2 7 5 0 6 -1 -1 6 -1 -1 0 1 1 1 2 -1 -1 -1\n"
      "3 9 5 50 -1 -1 -1 1 -1 -1 1 1 1 1 1 -1 -1 -1\n",
      Time{});
  ASSERT_TRUE(load.has_value()) << load.error().message;
  EXPECT_EQ(load->objects.size(), 2U);
  ASSERT_EQ(load->tasks.size(), 2U);  // The second one never ran, and that is reported.
  EXPECT_EQ(load->notes.back(),
            "1 job is left out: the trace knows no run time (-1 or 0) or no processors of it.");
  EXPECT_EQ(load->tasks[0].kind, TaskKind::gang);
  EXPECT_EQ(load->tasks[0].pods, 2);  // Six processors on nodes of four.
  EXPECT_EQ(load->tasks[0].priority, 200);
  EXPECT_EQ(load->tasks[1].kind, TaskKind::job);
}

TEST(Traces, OpenbNeedsTimes) {
  const auto load = openb_load("sn,cpu_milli,memory_mib,gpu,model\nn1,1000,1024,1,T4\n",
                               "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,0,0\n", Time{});
  ASSERT_FALSE(load.has_value());
  EXPECT_NE(load.error().message.find("deletion_time"), std::string::npos);
}

TEST(Traces, ScalingSaysSo) {
  SimLoad load = generate_load({.nodes = 10, .pods = 10}, 1, Time{});
  const std::size_t tasks = load.tasks.size();
  const Time last = load.tasks.back().arrival;
  scale_load(load, {.arrivals_percent = 200, .nodes_percent = 30}, Time{});
  EXPECT_EQ(load.objects.size(), 3U);
  EXPECT_EQ(load.tasks.size(), tasks);
  EXPECT_EQ(load.tasks.back().arrival.ms, last.ms / 2);
  EXPECT_EQ(load.notes.size(), 2U);
}

TEST(Generate, WrongPartsAreRefused) {
  EXPECT_TRUE(parse_generate("nodes=3,pods=10").has_value());
  EXPECT_FALSE(parse_generate("nodes=0").has_value());
  EXPECT_FALSE(parse_generate("nodes").has_value());
  EXPECT_FALSE(parse_generate("rockets=1").has_value());
  EXPECT_FALSE(parse_generate("gangs=60,services=60").has_value());
}

}  // namespace
}  // namespace makeway
