#include "tools/pages/compare_page.h"

#include <algorithm>
#include <cmath>

#include "core/version.h"
#include "tools/html/chart.h"
#include "tools/html/page.h"
#include "tools/pages/residual_planes.h"
#include "tools/pages/sections.h"

namespace lull::tools {
namespace {

constexpr std::size_t max_pairs = 8, max_figures = 1024;

/// Returns the gain of the difference picture, an integer that is low enough to clip few samples.
/// `rms` is the root mean square of the difference.
int factor_for(double rms) { return amplification(static_cast<float>(std::max(rms, 0.1))); }

std::string times_text(int factor) { return factor == 1 ? "" : printed(", %d-fold", factor); }

}  // namespace

CompareRecord::CompareRecord(const FrameFormat& format)
    : format_(format), part_(middle_of(format)), pairs_(max_pairs), notes_(max_figures) {}

void CompareRecord::show_cuts(const CutGeometry& geometry, std::int64_t volume,
                              std::int64_t slices) {
  cuts_.emplace(Cuts{geometry, volume, slices, VolumeCuts(geometry), VolumeCuts(geometry), 0});
}

void CompareRecord::add(const Frame& a, const Frame& b,
                        const std::optional<FrameFigures>& figures) {
  if (cuts_) {
    const std::int64_t slice = number_ - cuts_->volume * cuts_->slices;
    if (slice >= 0 && slice < cuts_->slices) {
      cuts_->first.add(a, static_cast<int>(slice));
      cuts_->second.add(b, static_cast<int>(slice));
      const double rms = a.format == b.format ? removed_rms(a, b, 0) : 0;
      cuts_->squares += rms * rms;
    }
  } else if (pairs_.keeps_next()) {
    const int factor = factor_for(removed_rms(a, b, 0));
    pairs_.add({number_, factor, compare_pictures(part_of(a, part_), part_of(b, part_), factor)});
  } else {
    pairs_.skip();
  }
  if (figures && notes_.keeps_next())
    notes_.add({number_, *figures});
  else
    notes_.skip();
  ++number_;
}

std::string CompareRecord::pictures() const {
  std::string html;
  if (cuts_) {
    const int factor = factor_for(std::sqrt(cuts_->squares / static_cast<double>(cuts_->slices)));
    for (int i = 0; i < 3; ++i)
      html += slider_of(compare_pictures(cuts_->geometry, cuts_->first, cuts_->second, i, factor),
                        {"A", "B", "A - B" + times_text(factor)},
                        std::string("cut across ") + "zyx"[i] + " at " +
                            std::to_string(cuts_->geometry.at[2 - i]));
    return html;
  }
  const std::vector<Pair>& all = pairs_.items();
  const std::size_t max_value = std::min<std::size_t>(all.size(), 3);
  for (std::size_t i = 0; i < max_value; ++i) {
    const Pair& pair = all[(2 * i + 1) * all.size() / (2 * max_value)];
    std::string caption = "frame " + std::to_string(pair.number);
    if (part_.width != format_.width || part_.height != format_.height)
      caption += printed(": %dx%d samples in the middle of %dx%d", part_.width, part_.height,
                         format_.width, format_.height);
    html += slider_of(pair.pictures, {"A", "B", "A - B" + times_text(pair.factor)}, caption);
  }
  return html;
}

std::string CompareRecord::curves() const {
  const std::vector<Note>& notes = notes_.items();
  if (notes.size() < 2) return {};
  std::array<Chart, 2> charts{Chart{.title = "PSNR by frame, dB"}, Chart{.title = "SSIM by frame"}};
  for (int which = 0; which < 2; ++which) {
    Chart& chart = charts[which];
    double min_value = 1e9, max_value = -1e9;
    for (int i = 0; i < format_.planes(); ++i) {
      Curve curve{plane_name_of(format_.layout, i), plane_colour(format_.layout, i), {}};
      for (const Note& note : notes) {
        const double value = which == 0 ? note.figures.psnr[i] : note.figures.ssim[i];
        if (std::isfinite(value))
          min_value = std::min(min_value, value), max_value = std::max(max_value, value);
        curve.points.emplace_back(static_cast<double>(note.number), value);
      }
      chart.curves.push_back(std::move(curve));
    }
    const std::int64_t length = notes.back().number - notes.front().number;
    chart.axis = "frame";
    chart.right = static_cast<double>((length + 3) / 4 * 4);
    chart.width = 860;
    if (min_value > max_value) min_value = 0, max_value = 1;  // all frames are equal
    chart.bottom = which == 0 ? std::floor(min_value) - 1 : std::floor(min_value * 20) / 20;
    chart.top = which == 0 ? std::ceil(max_value) + 1 : std::max(1.0, chart.bottom + 0.05);
  }
  return svg_of(charts[0]) + svg_of(charts[1]);
}

std::string CompareRecord::page(const std::string& first, const std::string& second,
                                const std::vector<Cells>& totals) const {
  const auto name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  Page page(name(first) + " and " + name(second));
  page.add(
      "Files",
      facts_table({{"A", first}, {"B", second}, {"compared by", "lull " + std::string(version)}}));
  std::vector<Cells> rows;
  for (const Cells& cells : totals) {
    Cells& row = rows.emplace_back();
    for (const std::string& cell : cells) row.push_back(escaped(cell));
  }
  const Cells heading = rows.front();
  rows.erase(rows.begin());
  page.add("Figures", html_table(heading, rows));
  if (number_ > 0) page.add("A, B, difference", pictures());
  if (const std::string html = curves(); !html.empty()) page.add("Frame by frame", html);
  return page.html();
}

}  // namespace lull::tools
