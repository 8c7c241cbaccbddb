#include "cli/flags.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "codec/presets.hpp"
#include "model/knobs.hpp"

namespace makeway::cli {

Flag file_flag(bool required) {
  return {.name = "file",
          .letter = 'f',
          .value = "FILE|DIR|-",
          .help =
              "Read this file, every .yaml, .yml, .json and .jsonl (also .gz) below this "
              "folder, or standard input. May be repeated.",
          .repeats = true,
          .required = required};
}

Flag plane_flag() {
  return {.name = "plane",
          .value = "NAME=FILE|DIR|-",
          .help =
              "Read this file or folder as the plane NAME, one Kubernetes cluster of several. Its "
              "objects belong to that plane and their names are its own, so that ordinary dumps of "
              "several clusters can be read together. What schedules over planes "
              "(ReplicaSchedule) comes with -f. May be repeated.",
          .repeats = true};
}

Flag plane_or_live_plane_flag() {
  return {.name = "plane",
          .value = "NAME=FILE|DIR|-|KUBECONFIG[:CONTEXT]",
          .help =
              "Read this file or folder as the plane NAME, one Kubernetes cluster of several. Its "
              "objects belong to that plane and their names are its own, so that ordinary dumps of "
              "several clusters can be read together. What schedules over planes "
              "(ReplicaSchedule) comes with -f. With --kubeconfig, --context or --live: the live "
              "cluster that this kubeconfig file names, read as `makeway run --plane` does; one "
              "that does not answer is reported, and nothing is decided about schedules that need "
              "it. May be repeated.",
          .repeats = true};
}

Flag output_flag(std::vector<std::string_view> choices, std::string_view help) {
  const std::string_view standard = choices.front();
  return {.name = "output",
          .letter = 'o',
          .value = "FORMAT",
          .help = help,
          .choices = std::move(choices),
          .standard = standard};
}

Flag color_flag() {
  return {.name = "color",
          .value = "WHEN",
          .help = "Colour the text. auto: on a terminal, unless NO_COLOR is set.",
          .choices = {"auto", "always", "never"},
          .standard = "auto"};
}

Flag preset_flag() {
  return {.name = "preset",
          .value = "NAME",
          .help = "Start from this preset; makeway when neither it nor --config is given.",
          .choices = preset_names()};
}

Flag config_flag() {
  return {.name = "config",
          .value = "FILE|-",
          .help =
              "Read the configuration from this file, or from standard input, instead of a preset; "
              "a knob that it does not set has its default."};
}

namespace {

/// "workload.evictFor=": what shells offer after --set. Written once, then never changed.
const std::vector<std::string>& assignments() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> list;
    for (const Knob& knob : knobs()) list.push_back(std::string(knob.path) + "=");
    return list;
  }();
  return texts;
}

}  // namespace

std::vector<std::string_view> knob_names() {
  std::vector<std::string_view> names;
  for (const Knob& knob : knobs()) {
    const bool is_new = std::ranges::find(names, knob.section()) == names.end();
    if (is_new && !knob.section().empty()) names.push_back(knob.section());
    names.push_back(knob.path);
  }
  return names;
}

Flag set_flag() {
  return {.name = "set",
          .value = "KNOB=VALUE",
          .help = "Change one knob; lists are separated by commas. May be repeated.",
          .suggestions = {assignments().begin(), assignments().end()},
          .repeats = true};
}

Flag keep_going_flag() {
  return {.name = "keep-going",
          .help =
              "One bad object does not stop the others: it is put into quarantine and reported. "
              "What cannot be read of it counts as absent and numbers beyond limits are cut; a "
              "pending one is not placed, a bound one keeps its room and may be a victim."};
}

Flag trust_flag() {
  return {.name = "trust",
          .value = "MODE",
          .help =
              "Which marks count. files: those of all objects, as the configuration says; the "
              "default without a live cluster. live: as in a live run, where marks of tenants are "
              "only requests; marks that do not count are reported on standard error; the default "
              "with a live cluster.",
          .choices = {"files", "live"}};
}

Flag journal_size_flag() {
  return {.name = "journal-size",
          .value = "SIZE",
          .help =
              "Go on in a new FILE when it is larger, such as 64Mi; the old one becomes "
              "FILE.1, and so on."};
}

Flag journal_files_flag() {
  return {.name = "journal-files",
          .value = "NUMBER",
          .help = "How many old files of the journal are kept.",
          .standard = "4"};
}

Flag kubeconfig_flag() {
  return {.name = "kubeconfig",
          .value = "FILE",
          .help = "The live cluster that this kubeconfig file names."};
}

Flag context_flag() {
  return {.name = "context",
          .value = "NAME",
          .help = "The context of the kubeconfig file; else its current one."};
}

std::vector<Flag> live_flags(LiveIs is) {
  return {{.name = "kubeconfig",
           .value = "FILE",
           .help = is == LiveIs::likely
                       ? "Read the live cluster that this kubeconfig file names, and nothing is "
                         "changed there; what -f gives is added to it. Without -f, KUBECONFIG or "
                         "the service account of the pod is enough."
                       : "Read the live cluster that this kubeconfig file names, and nothing is "
                         "changed there; what -f gives is added to it."},
          {.name = "context",
           .value = "NAME",
           .help = "The context of the kubeconfig file, for a live cluster; else its current one."},
          {.name = "live",
           .help = "Read the live cluster of KUBECONFIG, else of ~/.kube/config, else the one in "
                   "whose pod this runs."}};
}

}  // namespace makeway::cli
