#pragma once
// The candidates of whole windows, ranked exactly: every distance, in 16 bits, then the least of
// them. For the matchers, which make groups of the rankings.

#include <array>
#include <span>
#include <vector>

#include "match/cpu/matcher.h"
#include "match/cpu/quantiser.h"
#include "match/motion_grid.h"

namespace lull::cpu {

class WindowSearch {
 public:
  explicit WindowSearch(int threads);

  static BlockSize block_size(const MatchParams& params, int columns);

  /// As the matchers' (matcher.h). A temporal window of 0: none.
  void begin(const MatchParams& params, std::span<const GuideFrame> frames,
             const Quantiser& quantiser);
  void begin_block(const Block& block, int thread);
  /// Of the references in one row of the block, one for each column, until the thread's next call.
  std::span<const Ranking> rank(const Block& block, int row, int thread);

 private:
  /// What a thread needs while it works on a block.
  struct Workspace {
    Buffer<std::uint16_t> values, minima, sums, outside;
    Buffer<std::uint32_t> keys;
    std::vector<Ranking> rankings;
    Scores scores{};
  };
  /// How a guide is arranged for references `step` apart, with margins for windows of `radius`.
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
  PairedGuide prepare_barred(int step, int radius, const Holes& holes,
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
  std::vector<Workspace> workspaces_;  // one for each thread

  // Of the frame whose references are matched, from begin() on.
  MatchParams params_;
  std::span<const GuideFrame> frames_;
  MatchGeometry own_{}, around_{};  // windows in the frame of the references, in others
  MotionGrid grid_;
  std::vector<std::uint32_t> displacements_;  // of each candidate
  bool by_products_ = false;  // in the frame of the references (scores_by_products())
  PairedGuide guide_;
  QuadGuide quads_;                             // in its place
  std::array<PairedGuide, max_frames> guides_;  // of all frames for step 1, where there are several
  std::uint16_t limit_ = 0, bonus_ = 0;         // as scores
  ScoreBias score_bias_{};
  PairedGuide barred_;  // candidates that reach into holes, of the references' frame
  std::array<PairedGuide, max_frames> frame_barred_;  // and of the others

  // Memory, kept from one frame to the next.
  Buffer<std::uint16_t> pairs_;
  Buffer<std::int32_t> quad_samples_, quad_norms_;
  std::array<Buffer<std::uint16_t>, max_frames> frame_pairs_;
  Buffer<std::uint16_t> barred_places_;
  std::array<Buffer<std::uint16_t>, max_frames> frame_barred_places_;
  Buffer<std::int8_t> bytes_;
};

}  // namespace lull::cpu
