#include "bm3d/host_bytes.h"

#include <algorithm>
#include <cstdint>

#include "bm3d/phase_plan.h"
#include "linear/plan.h"
#include "match/guide.h"

namespace lull::bm3d {
namespace {

double samples_of(const FrameFormat& format, int plane) {
  return 1.0 * format.plane_width(plane) * format.plane_height(plane);
}

/// Returns the number of bytes of the guides of all searched frames, in the layouts of the CPU
/// matchers (match/cpu/guide_memory.h).
double guide_bytes(const Params& params, double luma) {
  const double searched = 2 * params.temporal + 1;
  const bool propagates =
      params.search_step > 0 || (params.kept > 0 && params.same_groups != SameGroups::all);
  double bytes = 2.5 * luma;  // pairs of samples, with padding
  if (params.temporal > 0) bytes += searched * 2 * luma;
  if (propagates) bytes += (searched * patch / 2 + 1) * luma;
  return bytes;
}

/// Returns the number of bytes of the clusters (match/clusters.h) and their patches, for all
/// searched frames.
double cluster_bytes(const Params& params, double luma, bool cpu) {
  int tilings = 0;
  for (const PhaseParams* phase : {&params.hard, &params.wiener})
    if (phase->clusters && (phase == &params.hard || params.phases > 1))
      tilings = std::max(tilings, phase->clusters->tilings);
  if (tilings == 0) return 0;
  const double searched = 2 * params.temporal + 1;
  const double index = sizeof(std::uint32_t);
  // For each patch, the cpu backend stores 4 rows of samples. For each patch and each pair of
  // tilings, the cpu backend also stores one cluster identifier (`earlier_leaf_ids_` in
  // match/cpu/cluster_matcher.cpp).
  const double patches = cpu ? patch / 2 + index * tilings * (tilings - 1) / 2 : 1;
  return searched * (patches + tilings * (2 * index + 1)) * luma;
}

/// Returns the number of bytes of a session of linear combinations. Temporal filtering needs sums
/// and groups for each unfinished frame, and guides and tiles for each searched frame.
double linear_bytes(const Params& params, const FrameFormat& format, BackendKind kind) {
  const bool over_time = params.temporal > 0;
  const linear::GroupSizes sizes = over_time ? linear::parameters_over_time(20).iteration
                                             : linear::GroupSizes{};  // the largest groups
  double all = 0;
  for (int i = 0; i < format.planes(); ++i) all += samples_of(format, i);
  const double luma = samples_of(format, 0);
  const double sums = kind == BackendKind::cpu ? 3 * sizeof(float) : 4 * sizeof(double);
  const double groups = (sizeof(std::uint16_t) * sizes.group + 1.0) / (sizes.step * sizes.step);
  const double guides = sizeof(std::int32_t) + 1;
  if (!over_time) {
    const double pictures = (params.guided ? 4 : 3) * sizeof(float) * all;
    return pictures + (sums + groups + sizeof(float) + guides) * luma;
  }
  const double frames = margin(params).after + 1, searched = 2 * params.temporal + 1;
  const double frame = (3 * sizeof(float) + sums + groups) * all + format.bytes_per_sample() * all;
  return frames * frame + searched * (guides + 1) * luma;
}

}  // namespace

bool filters_samples(const Params& params, const FrameFormat& format) {
  if (format.sample == SampleType::f32 || format.layout == Layout::rgb) return false;
  if (params.guided) return false;
  for (int i = 0; i < format.planes(); ++i) {
    const PlaneNoise& noise = params.noise.plane(i);
    if (!(noise.sigma > 0) || noise.curve || !fits_patch(format, i)) return false;
  }
  return true;
}

double host_bytes(const Params& params, const FrameFormat& format, BackendKind kind) {
  if (params.linear_combinations) return linear_bytes(params, format, kind);
  const bool cpu = kind == BackendKind::cpu;
  double all = 0;
  for (int i = 0; i < format.planes(); ++i) all += samples_of(format, i);
  const double luma = samples_of(format, 0);
  const double chroma = format.planes() > 1 ? samples_of(format, 1) : 0;
  // `frames` is the number of unfinished frames. For `later` of these frames, the first phase is
  // complete.
  const double frames = margin(params).after + 1, later = frames - 2 * params.temporal;
  const bool loads_samples = cpu && filters_samples(params, format);
  const double noisy =
      loads_samples ? format.bytes_per_sample() * all + sizeof(float) * luma : sizeof(float) * all;
  const double sums = 2 * (cpu ? sizeof(float) : sizeof(double)) * all;
  double bytes = frames * (noisy + sums + sizeof(float) * chroma);
  if (params.guided) bytes += frames * sizeof(float) * all;
  // Memory of the basic estimates, the luma guides and the stored groups.
  bytes += later * (sizeof(float) * (all + (loads_samples ? 0 : luma)) +
                    static_cast<double>(kept_bytes(params, format)));
  // Memory of the 8-bit luma (or green) planes for motion estimation.
  if (params.temporal > 0) bytes += (2 * params.temporal + 1) * luma;
  bytes += sizeof(float) * (luma + 2 * chroma);  // temporary planes
  bytes += cluster_bytes(params, luma, cpu);
  return cpu ? bytes + guide_bytes(params, luma) : bytes;
}

}  // namespace lull::bm3d
