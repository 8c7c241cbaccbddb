// Expansion: one workload of the input on its way to the pods that its controllers would make.
//
// A kind is a function that reads the manifest and calls `add` for every pod that is missing. It is
// pure: what it sees is the input, and nothing is drawn or looked up anywhere else. Bounds: all
// workloads of one input make at most `MadePods::pods_max` pods of `MadePods::text_max` bytes.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codec/decode.hpp"
#include "codec/workloads/existing_pods.hpp"
#include "codec/workloads/pod_template.hpp"
#include "codec/workloads/workloads.hpp"

namespace makeway {

using TextPairs = std::vector<std::pair<std::string, std::string>>;

/// What one pod has besides its template.
struct PodDetails {
  std::string name;
  TextPairs labels;
  TextPairs annotations;
  std::int32_t wave = 0;
  std::string wave_after;
  const std::string* spec_text = nullptr;  ///< Instead of the template's.
};

/// The manifests of the input, by kind, plane, namespace and name.
using ManifestKey = std::tuple<std::string_view, std::string, std::string, std::string>;
using Manifests = std::map<ManifestKey, Manifest>;
/// By kind of the controller, plane, namespace and name of it.
using ManifestChildren = std::map<ManifestKey, std::vector<const Manifest*>>;

/// What all expansions of one input share.
class MadePods {
 public:
  static constexpr std::int64_t pods_max = 50'000;
  static constexpr std::size_t text_max = std::size_t{64} << 20U;
  /// Jobs and groups that are gone through, with pods or without.
  static constexpr std::int64_t steps_max = 100'000;

  /// A pod. False: a bound is reached.
  bool take(std::size_t bytes);
  /// Text that is gone through without a pod. False: a bound is reached.
  bool charge(std::size_t bytes);
  bool step() { return ++steps_ <= steps_max; }
  /// True once: every later caller meets the same bound.
  bool report_bound_once() { return !std::exchange(reported_, true); }
  /// An unused name.
  std::string fresh_name(const Cluster& cluster, std::string_view namespace_name,
                         std::string_view base);

 private:
  std::int64_t pods_ = 0;
  std::size_t bytes_ = 0;
  std::int64_t steps_ = 0;
  bool reported_ = false;
  std::map<std::string, std::uint32_t, std::less<>> next_number_;
};

struct ExpansionScope {
  const ExistingPods& existing;
  const Manifests& manifests;
  const ManifestChildren& children;
  std::map<const Manifest*, JsonValue>& references;  ///< LimitRanges and RuntimeClasses, read.
  MadePods& made;
  ObjectDecoder& decoder;
  const MadePodSink& sink;
  LossShares& losses;
};

class Expansion {
 public:
  Expansion(const ExpansionScope& scope, const Manifest& root, bool asked);
  Expansion(const Expansion&) = delete;
  Expansion& operator=(const Expansion&) = delete;
  ~Expansion() = default;

  // ---- What is in the input -----------------------------------------------------------------
  const Manifest& root() const { return root_; }
  const std::string& namespace_name() const { return root_.namespace_name; }
  const ExistingPods& existing() const { return scope_.existing; }
  const Cluster& cluster() const { return scope_.existing.cluster(); }
  /// The fields of a manifest, as it was written.
  ManifestField fields(const Manifest& manifest);
  /// What the API server says about it; absent: it is not there yet.
  ManifestField status(const Manifest& manifest);
  /// Fields of a tree that was made; problems are reported as of `like`.
  ManifestField keep(JsonValue tree, const ManifestField& like);
  /// In the namespace of the root; null: it is not in the input.
  const Manifest* find(std::string_view kind, std::string_view name) const;
  std::vector<const Manifest*> children(std::string_view kind, const OwnerReference& owner) const;
  /// Pods that are there, by their controller.
  std::vector<PodIndex> pods_of(std::string_view kind, const std::string& name,
                                const std::string& uid = {}) const;
  /// A controller of pods; a uid that is not known is made up.
  OwnerReference controller(std::string_view kind, std::string_view name,
                            std::string_view uid) const;
  /// The number that the class of such a pod stands for.
  std::int64_t priority_of(const JsonValue& spec) const;

  // ---- What comes of it ---------------------------------------------------------------------
  /// It asks for nothing now; its pods are made only if the caller asks for it by name.
  void hold(std::string why);
  /// Holds it where `spec` suspends it, or leaves it to another controller.
  void hold_if_off(const ManifestField& spec, std::string_view manager_of_kind);
  /// It has ended: no pods in any case, and no loss stops it.
  void end() { stopped_ = ended_ = true; }
  /// Counts a pod that is there.
  void note_present(PodIndex pod);
  /// The same by name; false: there is none.
  bool note_if_present(std::string_view name);
  /// Says what losing a pod costs; only of one that runs (loss_rules.hpp).
  void share_loss(PodIndex pod, LossShare share);
  std::string fresh_name(std::string_view base);
  /// Defaults what the API server would, and checks it. False: it has errors.
  bool prepare(PodTemplate& pods);
  /// Makes a pod. False: enough, a bound is reached or the template is refused.
  bool add(const PodTemplate& pods, const PodDetails& details);
  /// Makes an object besides pods, a PodGroup.
  void add_object(const JsonValue& object);
  bool step();
  /// Counts text that is gone through again and again. False: a bound is reached.
  bool charge(std::size_t bytes);

  WorkloadPods& result() { return result_; }
  /// Of everything that was read, children and runtimes included.
  Problems problems() const;

 private:
  struct Opened {
    JsonValue tree;
    ManifestProblems problems;
  };
  Opened& open(const Manifest& manifest, std::string_view text);
  const JsonValue* reference(const Manifest& manifest);
  Admission admission_of(PodTemplate& pods);
  std::string pod_text(const PodTemplate& pods, const PodDetails& details) const;
  bool decode(const PodTemplate& pods, const std::string& text, Change& decoded);
  void refuse_bound();

  ExpansionScope scope_;
  const Manifest& root_;
  bool asked_;
  bool stopped_ = false;
  bool ended_ = false;
  std::size_t free_bytes_;  ///< What may be read of the manifest itself: all of it, once.
  std::deque<Opened> opened_;
  std::map<std::pair<const Manifest*, bool>, Opened*> opened_by_;
  std::deque<JsonValue> kept_;
  WorkloadPods result_;
};

/// A selector must be there and select the pods of its own template.
void check_selector(const ManifestField& selector, const PodTemplate& pods);
/// As the decoders of pods read it.
std::optional<LabelSelector> read_selector(const ManifestField& selector);

}  // namespace makeway
