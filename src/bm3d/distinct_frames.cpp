#include "bm3d/distinct_frames.h"

#include "bm3d/frame_statistics.h"

namespace lull::bm3d {

DistinctFrames::DistinctFrames(const Params& params)
    : params_(params), timeline_(params.temporal) {}

Standing DistinctFrames::next(Frame& frame) {
  Relation relation = Relation::fresh;
  if (before_.pixels) relation = relation_of(difference_of(frame, before_, params_.sigma));
  if (relation == Relation::identical) {
    frame.pixels = before_.pixels;
    frame.planes = before_.planes;
  }
  before_ = frame;
  if (!timeline_.is_distinct(relation)) return Standing::repeats;
  return timeline_.begins_anew() ? Standing::entry : Standing::distinct;
}

}  // namespace lull::bm3d
