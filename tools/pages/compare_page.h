#pragma once
// Writes the HTML page of `lull compare`.

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

/// PSNR in dB and SSIM of each plane of a frame.
struct FrameFigures {
  std::array<double, 3> psnr{}, ssim{};
};

/// Collects the pictures, PSNR and SSIM of a comparison of two clips, in limited memory.
class CompareRecord {
 public:
  explicit CompareRecord(const FrameFormat& format);
  /// Makes the page show three cross-sections through one volume of a series, instead of slices.
  /// The caller must call this function before add().
  void show_cuts(const CutGeometry& geometry, std::int64_t volume, std::int64_t slices);

  /// Adds the next pair of frames. `figures` contains PSNR and SSIM, and is empty for slices.
  void add(const Frame& a, const Frame& b, const std::optional<FrameFigures>& figures);

  /// Returns the page. `totals` is a table of the results, as plain text with headings in the first
  /// row.
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
    double squares;  // sum of the mean squared differences of the slices
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
