// SessionVictims: which sessions leave for one that asks.
//
// Candidates leave in their order until the session fits (the shortest beginning of the list that
// is enough), then all that are not needed are put back, most important first, each tried once. The
// session may be placed anew after each step, so no set has a less important worst member, then
// next worst, and so on; that is what "lowest priority, then start time, until it fits, then
// irreducible" means here. A victim that could not be put back once cannot be put back later: room
// only shrinks. So one pass is as good as many, and the answer is irreducible.
//
// `fewest`: the lowest tier and priority at which enough can leave bounds the candidates; among
// them the set with the fewest sessions is taken, then the one whose worst member is least
// important. Exact for kernels that are alike, unless `engine.victimStepsMax` stops it; for kernels
// that differ one kernel after the other.
//
// A suspended session keeps its memory, so it frees everything else.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "policies/session/session_room.hpp"

namespace makeway {

struct SessionVictimsOptions {
  PutBack put_back = PutBack::until_stable;
  bool fewest = false;
};

class SessionVictims {
 public:
  SessionVictims(const SessionTable& table, const SessionSettings& settings, SessionPlacer& placer);

  /// Looks for victims among the candidates, least important first, in the world `after`. False:
  /// not even all of them are enough, or a bound stopped the search.
  bool find(const SessionEntry& ask, std::span<const SessionIndex> candidates,
            const RoomRows& after, const SessionVictimsOptions& options, const StepMeter& steps);

  /// Sessions, least important first.
  const std::vector<SessionIndex>& victims() const { return victims_; }
  /// Where the kernels of the ask go.
  const std::vector<SessionPlace>& places() const { return places_; }
  /// Names of bounds that stopped the search.
  const std::vector<std::string>& bounds() const { return bounds_; }
  SessionFate fate(SessionIndex session) const;
  /// The room when all candidates have left.
  const RoomRows& without_all(const SessionEntry& ask, std::span<const SessionIndex> candidates,
                              const RoomRows& after);

 private:
  // session_victims.cpp
  void start(const SessionEntry& ask, std::span<const SessionIndex> candidates,
             const RoomRows& after);
  void leave(SessionIndex session) { move(session, true); }
  void come_back(SessionIndex session) { move(session, false); }
  void move(SessionIndex session, bool leaves);
  void recount(SessionPlace place);
  bool leave_until_it_fits();
  bool leave_until_unlike_fit();
  void leave_first(std::size_t count);
  bool fits_with_first(std::size_t count);
  bool still_fits() const { return capacity_ >= needed_; }
  bool still_placed();
  void put_back_alike();
  void put_back_unlike();
  bool place();

  // The order `fewest`.
  struct Share {
    std::uint32_t rank = 0;   ///< In the candidates.
    std::uint32_t begin = 0;  ///< Its amounts in `share_amounts_`, one for each missing resource.
  };
  void take_fewest();
  void take_level();
  void start_over();
  void take(const std::vector<std::uint8_t>& gone);
  bool fewest_for(DemandIndex demand, SessionPlace& best_place);
  void list_by_node();
  bool shares_of(SessionPlace place, std::span<const ResourceAmount> demand);
  void find_largest();
  /// Counts another one.
  bool out_of_steps();
  bool cover(std::size_t size, std::size_t end);
  void take_fewer();
  void list_gains();
  bool pick(std::size_t size, std::size_t end);

  const SessionTable& table_;
  const SessionSettings& settings_;
  SessionPlacer& placer_;
  const SessionEntry* ask_ = nullptr;
  std::span<const SessionIndex> candidates_;
  SessionVictimsOptions options_;
  RoomRows room_;
  IndexedVector<SessionPlace, std::uint8_t> open_;  ///< By place: the ask may go there.
  IndexedVector<SessionPlace, std::int64_t>
      counts_;                 ///< By place: kernels of the ask that find room.
  std::int64_t capacity_ = 0;  ///< Sum of these.
  std::int64_t needed_ = 0;
  bool alike_ = true;
  std::size_t taken_ = 0;
  std::vector<std::uint8_t> gone_;  ///< By rank among the candidates.
  std::vector<SessionIndex> victims_;
  std::vector<SessionPlace> places_;
  std::vector<std::string> bounds_;

  // For `fewest`:
  struct OnNode {
    std::uint32_t rank = 0;
    std::uint32_t kernel = 0;
  };
  std::vector<std::uint32_t> node_begin_;
  std::vector<OnNode> on_node_;
  std::vector<ResourceIndex> missing_;   ///< Resources that are short on the node looked at.
  std::vector<std::int64_t> shortfall_;  ///< How much of each.
  std::vector<Share> shares_;            ///< Candidates on that node, least important first.
  std::vector<std::int64_t> share_amounts_;
  std::vector<std::int64_t> share_largest_;  ///< Of each resource among the first ones.
  std::vector<std::uint32_t> chosen_;        ///< Ranks, most important first.
  std::vector<std::uint32_t> best_;          ///< The best of them so far.
  std::optional<StepMeter> steps_;           ///< Of the choice that goes on.
  std::vector<std::int64_t> gains_;          ///< By rank: at most so many more kernels find room.
  std::vector<std::int64_t> gains_before_;   ///< By rank: the largest gain of those before it.
};

}  // namespace makeway
