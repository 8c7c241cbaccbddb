// The texts of the choices in session_objects.hpp.
#pragma once

#include "model/configuration.hpp"
#include "model/session_objects.hpp"

namespace makeway {

template <>
inline constexpr std::array<std::string_view, 3> choice_names<SessionType> = {
    "batch", "interactive", "inference"};

template <>
inline constexpr std::array<std::string_view, 5> choice_names<SessionPhase> = {
    "pending", "running", "preempted", "suspended", "ended"};

template <>
inline constexpr std::array<std::string_view, 5> choice_names<SessionFate> = {
    "ends", "requeues", "on-request", "to-autoscaler", "suspends"};

template <>
inline constexpr std::array<std::string_view, 3> choice_names<PartitionMode> = {"cancel", "requeue",
                                                                                "suspend"};

}  // namespace makeway
