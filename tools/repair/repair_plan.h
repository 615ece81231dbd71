#pragma once
// The repair plan (--repair): a list of the sensor defects of an input.

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/frame.h"
#include "core/frame_pool.h"
#include "core/stream.h"
#include "noise/estimate/estimate.h"
#include "repair/defects.h"

namespace lull::tools {

struct RepairPlan {
  bool by_fields = false;  // whether the fields of each parity have their own defects
  /// The defects of complete frames (defects[0]), or, if `by_fields` is true, of the even fields
  /// (defects[0]) and the odd fields (defects[1]).
  std::array<repair::ClipDefects, 2> defects;

  bool none() const { return defects[0].none() && defects[1].none(); }
  bool operator==(const RepairPlan&) const = default;
};

/// Finds the sensor defects of an input by statistical tests (repair/defects.h). The excerpts must
/// consist of complete frames, not fields.
[[nodiscard]] RepairPlan find_repair(std::span<const Excerpt> excerpts, bool by_fields);

/// Returns a string such as "defective pixels (Y 25), impulses (Y 2 %)", or an empty string without
/// defects.
[[nodiscard]] std::string describe(const RepairPlan& plan, Layout layout);

/// Returns the plan as a JSON object. Equal plans give equal texts.
[[nodiscard]] std::string to_json(const RepairPlan& plan);
/// Parses a plan.
/// @param name  origin of the text, for error messages
/// @throws BadData  the text is not a repair plan, or the plan does not match frames of this format
[[nodiscard]] RepairPlan parse_repair(const std::string& text, const FrameFormat& format,
                                      const std::string& name);

/// Repairs complete frames of one format in host memory.
class FrameRepairer {
 public:
  FrameRepairer(RepairPlan plan, const FrameFormat& format);
  /// Returns a repaired copy of the frame, or the frame itself if there are no defects.
  [[nodiscard]] Frame operator()(Frame frame);

 private:
  RepairPlan plan_;
  FramePool pool_;
};

/// A source that returns repaired copies of the frames of another source. The frames must be in
/// host memory.
class RepairedSource final : public FrameSource {
 public:
  RepairedSource(FrameSource& source, const RepairPlan& plan);

  const FrameFormat& format() const noexcept override { return source_.format(); }
  std::optional<Frame> read() override;
  void interrupt() noexcept override { source_.interrupt(); }

 private:
  FrameSource& source_;
  FrameRepairer repairer_;
};

}  // namespace lull::tools
