#pragma once
// The page of two inputs that were compared.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/frame.h"
#include "tools/html/markup.h"
#include "tools/pages/pictures.h"
#include "tools/pages/thinned_list.h"

namespace lull::tools {

/// dB and SSIM of a frame, by plane.
struct FrameFigures {
  std::array<double, 3> psnr{}, ssim{};
};

/// What is shown of two clips, in bounded memory.
class CompareRecord {
 public:
  explicit CompareRecord(const FrameFormat& format);
  /// Of volumes, before the first slice: three cuts through one of a series.
  void show_cuts(const CutGeometry& geometry, std::int64_t volume, std::int64_t slices);

  /// Frames that go together, in order. `figures`: none of slices.
  void add(const Frame& a, const Frame& b, const std::optional<FrameFigures>& figures);

  /// `totals`: a table of what was measured, its heading first; cells are plain text.
  [[nodiscard]] std::string page(const std::string& first, const std::string& second,
                                 const std::vector<Cells>& totals) const;

 private:
  struct Note {
    std::int64_t number = 0;
    FrameFigures figures;
  };
  struct Pair {
    std::int64_t number = 0;
    int factor = 1;
    ComparisonPictures pictures;
  };
  struct Cuts {
    CutGeometry geometry;
    std::int64_t volume, slices;
    VolumeCuts first, second;
    double squares;  // of the differences, a sum over slices
  };
  std::string pictures() const;
  std::string curves() const;

  FrameFormat format_;
  Part part_;
  std::int64_t number_ = 0;
  ThinnedList<Pair> pairs_;
  ThinnedList<Note> notes_;
  std::optional<Cuts> cuts_;
};

}  // namespace lull::tools
