#pragma once
// Ranks all candidates in the search windows of each reference patch by 16-bit distances. The
// matchers make groups from the rankings.

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "match/cpu/matcher.h"
#include "match/cpu/quantiser.h"
#include "match/motion_grid.h"

namespace lull::cpu {

class WindowSearch {
 public:
  WindowSearch(int threads, const std::shared_ptr<GuideMemory>& memory);

  static BlockSize block_size(const MatchParams& params, int columns);

  /// The preconditions of begin() and begin_block() are the same as for the class Matcher. If the
  /// temporal window is 0, the matcher searches only the reference frame.
  void begin(const MatchParams& params, std::span<const GuideAt> frames,
             const Quantiser& quantiser);
  void begin_block(const Block& block, int thread);
  /// Returns the rankings of one row of reference patches, valid until the next call by the same
  /// thread.
  std::span<const Ranking> rank(const Block& block, int row, int thread);

 private:
  /// Memory of one thread for its current block.
  struct Workspace {
    Buffer<std::uint16_t> values, minima, sums, outside;
    Buffer<std::uint32_t> keys;
    std::vector<Ranking> rankings;
    Scores scores{};
  };
  /// Layout of a guide for one step of the reference patches and one radius of the search window.
  struct Arrangement {
    int before, elements, rows;
    std::ptrdiff_t phase_stride, row_stride;
  };

  bool searches_own_frame() const { return params_.group > 1 && params_.window > 1; }
  bool searches_other_frames() const {
    return params_.group > 1 && params_.temporal_window > 0 && frames_.size() > 1;
  }
  Motion motion_to(const GuideView& frame, int x, int y) const {
    return frame.motion.empty() ? Motion{} : frame.motion[grid_.bundle_at(x, y)];
  }
  void list_displacements();
  void set_limits(float scores);
  void prepare_guides(const Quantiser& quantiser);
  Arrangement arrange(int step, int radius) const;
  PairedGuide prepare_invalid(int step, int radius, const Holes& holes,
                              Buffer<std::uint16_t>& memory) const;
  PairedGuide prepare_guide(int step, int radius, PlaneView<const float> guide,
                            const Quantiser& quantiser, Buffer<std::uint16_t>& memory);
  QuadGuide prepare_quads(int step, int radius, PlaneView<const float> guide,
                          const Quantiser& quantiser);
  template <class Element>
  PhasedGuide<Element> fill_rows(const Arrangement& a, int step, int radius,
                                 PlaneView<const float> guide, const Quantiser& quantiser,
                                 Buffer<Element>& memory);

  int threads_;
  std::vector<Workspace> workspaces_;  // one element for each thread

  // begin() sets these data of the current reference frame.
  MatchParams params_;
  std::span<const GuideAt> frames_;
  /// The search windows in the reference frame and in the neighbouring frames.
  MatchGeometry own_geometry_{}, temporal_geometry_{};
  MotionGrid grid_;
  // The packed displacement of each candidate.
  std::vector<std::uint32_t> displacements_;
  // Whether score_block_by_products() computes the scores of the reference frame.
  bool by_products_ = false;
  PairedGuide guide_;
  QuadGuide quads_;  // used instead of `guide_` if by_products_ is true
  /// The guides of all frames, with a `step` of 1 (PhasedGuide). Only searches of several frames
  /// use these guides.
  std::array<PairedGuide, max_frames> guides_;
  std::uint16_t limit_ = 0, motion_bias_ = 0;  // distance parameters in units of scores
  ScoreBias score_bias_{};
  PairedGuide invalid_;  // positions of patches in the reference frame that overlap holes
  std::array<PairedGuide, max_frames>
      frame_invalid_;  // invalid positions of the neighbouring frames

  std::shared_ptr<GuideMemory> memory_;
};

}  // namespace lull::cpu
