#include "tools/repair/repair_plan.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "core/error.h"
#include "core/samples.h"
#include "pipeline/field_denoiser.h"

namespace lull::tools {
namespace {

/// Summary of the defects of a plane. For fields that lull repairs separately, the summary covers
/// both fields.
struct PlaneSummary {
  std::size_t samples = 0;
  float impulses = 0, rows = 0, columns = 0;
};

PlaneSummary summary_of(const RepairPlan& plan, int i) {
  PlaneSummary summary;
  for (const repair::ClipDefects& defects : plan.defects) {
    const repair::PlaneDefects& plane = defects.planes[i];
    summary.samples += plane.samples.size();
    if (plane.impulses) summary.impulses = std::max(summary.impulses, plane.impulses->density);
    if (plane.rows) summary.rows = std::max(summary.rows, plane.rows->deviation);
    if (plane.columns) summary.columns = std::max(summary.columns, plane.columns->deviation);
  }
  return summary;
}

template <class Text>
void append(std::string& text, const std::string& what, const RepairPlan& plan, Layout layout,
            const Text& text_of) {
  constexpr const char* names[3][3] = {{"", "", ""}, {"Y ", "Cb ", "Cr "}, {"R ", "G ", "B "}};
  std::string list;
  for (int i = 0; i < (layout == Layout::gray ? 1 : 3); ++i)
    if (const std::string value = text_of(summary_of(plan, i)); !value.empty())
      list += (list.empty() ? "" : " ") + std::string(names[static_cast<int>(layout)][i]) + value;
  if (!list.empty()) text += (text.empty() ? "" : ", ") + what + " (" + list + ")";
}

std::string number_text(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

RepairPlan find_repair(std::span<const Excerpt> excerpts, bool by_fields) {
  RepairPlan plan{.by_fields = by_fields, .defects = {}};
  if (!by_fields) {
    plan.defects[0] = repair::find_defects(excerpts);
    return plan;
  }
  for (const int parity : {0, 1}) {
    std::vector<Excerpt> fields(excerpts.begin(), excerpts.end());
    for (Excerpt& excerpt : fields)
      for (Frame& frame : excerpt) frame = pipeline::field_of(frame, parity);
    plan.defects[parity] = repair::find_defects(fields);
  }
  return plan;
}

std::string describe(const RepairPlan& plan, Layout layout) {
  std::string text;
  append(text, "defective pixels", plan, layout, [](const PlaneSummary& s) {
    return s.samples > 0 ? std::to_string(s.samples) : std::string();
  });
  append(text, "impulses", plan, layout, [](const PlaneSummary& s) {
    return s.impulses > 0 ? number_text("%.2g %%", 100 * static_cast<double>(s.impulses))
                          : std::string();
  });
  append(text, "row offsets", plan, layout, [](const PlaneSummary& s) {
    return s.rows > 0 ? number_text("%.2g", static_cast<double>(s.rows)) : std::string();
  });
  append(text, "column offsets", plan, layout, [](const PlaneSummary& s) {
    return s.columns > 0 ? number_text("%.2g", static_cast<double>(s.columns)) : std::string();
  });
  return text;
}

FrameRepairer::FrameRepairer(RepairPlan plan, const FrameFormat& format)
    : plan_(std::move(plan)), pool_(format) {}

Frame FrameRepairer::operator()(Frame frame) {
  if (plan_.none()) return frame;
  if (frame.on_device)
    throw InvalidArgument(
        "--repair with a frame in GPU memory (defects are repaired in host memory); "
        "decode on the CPU");
  if (!frame.pixels) return frame;
  Frame repaired = pool_.acquire();
  static_cast<FrameInfo&>(repaired) = frame;
  static_cast<FrameInputs&>(repaired) = frame;
  for (int i = 0; i < frame.format.planes(); ++i) copy_plane(frame, i, repaired);
  if (!plan_.by_fields) {
    (void)repair::repair_in_place(plan_.defects[0], frame.slice, repaired);
    return repaired;
  }
  for (const int parity : {0, 1})
    (void)repair::repair_in_place(plan_.defects[parity], frame.slice,
                                  pipeline::field_of(repaired, parity));
  return repaired;
}

RepairedSource::RepairedSource(FrameSource& source, const RepairPlan& plan)
    : source_(source), repairer_(plan, source.format()) {}

std::optional<Frame> RepairedSource::read() {
  std::optional<Frame> frame = source_.read();
  if (frame && frame->format == source_.format()) return repairer_(*std::move(frame));
  return frame;
}

}  // namespace lull::tools
