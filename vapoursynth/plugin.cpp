// Registers core.lull.Denoise and core.lull.BM3Dv2 in VapourSynth (API 4).

#include <VSHelper4.h>
#include <VapourSynth4.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/describe.h"
#include "core/error.h"
#include "core/version.h"
#include "noise/estimate/clipped_noise.h"
#include "noise/estimate/estimate.h"
#include "vapoursynth/arguments.h"
#include "vapoursynth/seeking_session.h"

namespace lull::vapoursynth {
namespace {

/// Returns a lull frame that shares the samples of a VapourSynth frame. The side data of the lull
/// frame is the VapourSynth frame, whose properties the filter copies to the result.
Frame shared(const VSFrame* source, int number, const FrameFormat& format, const VSAPI* api) {
  const std::shared_ptr<const VSFrame> owner(source, api->freeFrame);
  Frame frame;
  frame.format = format;
  frame.pts = number;
  frame.duration = 1;
  frame.time_base = {1, 25};
  for (int i = 0; i < format.planes(); ++i)
    frame.planes[i] = {
        reinterpret_cast<std::byte*>(const_cast<std::uint8_t*>(api->getReadPtr(source, i))),
        format.plane_width(i) * format.bytes_per_sample(), format.plane_height(i),
        api->getStride(source, i)};
  frame.pixels = std::shared_ptr<std::byte[]>(owner, frame.planes[0].data);
  frame.side_data =
      std::shared_ptr<const SideData>(owner, reinterpret_cast<const SideData*>(source));
  return frame;
}

/// Copies rows. Several threads copy a large plane, because the filter can do no other work during
/// the copy.
void copy_rows(PlaneView<const std::byte> from, PlaneView<std::byte> to) {
  constexpr std::ptrdiff_t bytes_per_thread = 256 * 1024;
  constexpr std::ptrdiff_t max_threads = 8;  // enough to use the memory bandwidth
  const auto bands = static_cast<int>(std::clamp<std::ptrdiff_t>(
      from.width * std::ptrdiff_t{from.height} / bytes_per_thread, 1, max_threads));
  const auto begin = [&](int band) {
    return static_cast<int>(std::ptrdiff_t{from.height} * band / bands);
  };
  tbb::parallel_for(
      0, bands,
      [&](int band) {
        const int y = begin(band);
        vsh::bitblt(to.row(y), to.stride, from.row(y), from.stride,
                    static_cast<std::size_t>(from.width),
                    static_cast<std::size_t>(begin(band + 1) - y));
      },
      tbb::simple_partitioner());
}

struct Filter {
  const VSAPI* api;
  VSNode *clip, *guide;  // guide: null if it was not given
  VSVideoInfo info;
  FrameFormat format{}, guide_format{};
  std::unique_ptr<SeekingSession> session{};

  Filter(const VSAPI* a, VSNode* c, VSNode* g)
      : api(a), clip(c), guide(g), info(*a->getVideoInfo(c)) {}
  ~Filter() {
    session.reset();
    api->freeNode(clip);
    api->freeNode(guide);
  }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  /// Copies a result to a new VapourSynth frame.
  const VSFrame* publish_frame(const Frame& result, VSCore* core) const {
    const auto* source = reinterpret_cast<const VSFrame*>(result.side_data.get());
    VSFrame* frame = api->newVideoFrame(&info.format, info.width, info.height, source, core);
    for (int i = 0; i < format.planes(); ++i) {
      const PlaneView<const std::byte> plane = result.planes[i];
      copy_rows(plane, {reinterpret_cast<std::byte*>(api->getWritePtr(frame, i)), plane.width,
                        plane.height, api->getStride(frame, i)});
    }
    return frame;
  }

  void request_frames(Frames frames, VSFrameContext* context) const {
    for (int k = frames.first; k <= frames.last; ++k) {
      api->requestFrameFilter(k, clip, context);
      if (guide) api->requestFrameFilter(k, guide, context);
    }
  }

  /// Returns the result, or null if the filter has requested further frames.
  const VSFrame* filter_frame(VSFrameContext* context, VSCore* core) const {
    const auto fetch = [&](int k) {
      Frame frame = shared(api->getFrameFilter(k, clip, context), k, format, api);
      if (guide)
        frame.guide = std::make_shared<const Frame>(
            shared(api->getFrameFilter(k, guide, context), k, guide_format, api));
      return frame;
    };
    const auto keep = [&](const Frame& result) {
      const VSFrame* frame = publish_frame(result, core);
      api->cacheFrame(frame, static_cast<int>(result.pts), context);
      api->freeFrame(frame);
    };
    Frames more;
    const std::optional<Frame> result = session->process(fetch, keep, more);
    if (result) return publish_frame(*result, core);
    request_frames(more, context);
    return nullptr;
  }

  const VSFrame* get(int n, int reason, VSFrameContext* context, VSCore* core) const {
    if (reason == arInitial) {
      const Frames needed = session->start(n);
      request_frames(needed, context);
      return needed.empty() ? filter_frame(context, core) : nullptr;
    }
    return reason == arAllFramesReady ? filter_frame(context, core) : nullptr;
  }
};

// VapourSynth calls a filter of the mode fmFrameState for one frame at a time, so the filter
// requires no lock.
const VSFrame* VS_CC get_frame(int n, int reason, void* data, void**, VSFrameContext* context,
                               VSCore* core, const VSAPI* api) {
  const auto* filter = static_cast<const Filter*>(data);
  try {
    return filter->get(n, reason, context, core);
  } catch (const std::exception& error) {
    filter->session->reset();
    api->setFilterError((std::string("lull: ") + error.what()).c_str(), context);
    return nullptr;
  }
}

void VS_CC free_filter(void* data, VSCore*, const VSAPI*) { delete static_cast<Filter*>(data); }

/// Number of excerpts for the noise estimation, and frames per excerpt, as in `lull noise`.
constexpr int positions = 8, frames_per_excerpt = 3;

std::vector<Excerpt> read_excerpts(const Filter& filter) {
  std::vector<Excerpt> excerpts;
  const int frames = filter.info.numFrames;
  const bool is_short = frames <= positions * frames_per_excerpt;
  const int count = is_short ? (frames + frames_per_excerpt - 1) / frames_per_excerpt : positions;
  for (int i = 0; i < count; ++i) {
    const int from = is_short ? i * frames_per_excerpt
                              : std::min(static_cast<int>(frames * (i + 0.5) / positions),
                                         frames - frames_per_excerpt);
    Excerpt& excerpt = excerpts.emplace_back();
    for (int k = from; k < std::min(from + frames_per_excerpt, frames); ++k) {
      char message[512] = {};
      const VSFrame* frame =
          filter.api->getFrame(k, filter.clip, message, static_cast<int>(sizeof message));
      if (!frame) throw BadData(message);
      excerpt.push_back(shared(frame, k, filter.format, filter.api));
    }
  }
  return excerpts;
}

/// Returns the noise model `given`. If the noise is so strong that its clipping is visible, the
/// function adds the clipping limits of the samples (find_clipping()).
NoiseModel given_noise(const NoiseModel& given, const Filter& filter) {
  if (!may_show_clipping(given, filter.format.layout)) return given;
  return with_clipping(given, find_clipping(given, read_excerpts(filter)));
}

/// Checks the guide and stores its format.
/// @throws InvalidArgument  sessions cannot match patches in the guide
void check_guide(Filter& filter) {
  const VSVideoInfo& guide = *filter.api->getVideoInfo(filter.guide);
  filter.guide_format = format_of(guide);
  FrameFormat expected = filter.guide_format;
  expected.sample = filter.format.sample;
  expected.bits = filter.format.bits;
  if (expected != filter.format || guide.numFrames != filter.info.numFrames)
    throw InvalidArgument("guide: " + std::to_string(guide.numFrames) + " frames of " +
                          describe(filter.guide_format) + ", the clip has " +
                          std::to_string(filter.info.numFrames) + " of " + describe(filter.format) +
                          " (patches are matched at equal positions); give a guide of the same "
                          "size, kind and length");
}

using Choose = SessionChoice (*)(const Arguments&);

struct Function {
  const char* name;
  Choose choose;
  bool finds_noise;
};
constexpr Function denoise{"Denoise", denoise_choice, true};
constexpr Function bm3dv2{"BM3Dv2", bm3dv2_choice, false};

void create(const VSMap* in, VSMap* out, const Function& function, VSCore* core, const VSAPI* api) {
  const Arguments given(in, api);
  int none = 0;
  auto filter = std::make_unique<Filter>(api, api->mapGetNode(in, "clip", 0, nullptr),
                                         api->mapGetNode(in, "guide", 0, &none));
  filter->format = format_of(filter->info);
  SessionChoice choice = function.choose(given);
  if (filter->guide) check_guide(*filter);
  if (function.finds_noise) {
    const auto sigma = sigmas_of(given);
    choice.noise =
        sigma ? given_noise(*sigma, *filter) : estimate_noise(read_excerpts(*filter)).noise;
  }
  filter->session =
      std::make_unique<SeekingSession>(choice, filter->format, filter->info.numFrames);
  const VSFilterDependency dependencies[] = {{filter->clip, rpGeneral}, {filter->guide, rpGeneral}};
  const int sources = filter->guide ? 2 : 1;
  Filter* raw = filter.release();
  VSNode* node = api->createVideoFilter2(function.name, &raw->info, get_frame, free_filter,
                                         fmFrameState, dependencies, sources, raw, core);
  api->setLinearFilter(node);
  api->mapConsumeNode(out, "clip", node, maAppend);
}

void VS_CC create_filter(const VSMap* in, VSMap* out, void* data, VSCore* core, const VSAPI* api) {
  const auto& function = *static_cast<const Function*>(data);
  try {
    create(in, out, function, core, api);
  } catch (const std::exception& error) {
    api->mapSetError(out, (std::string(function.name) + ": " + error.what()).c_str());
  }
}

}  // namespace
}  // namespace lull::vapoursynth

VS_EXTERNAL_API(void) VapourSynthPluginInit2(VSPlugin* plugin, const VSPLUGINAPI* api) {
  using namespace lull::vapoursynth;
  int major = 0, minor = 0;
  std::sscanf(lull::version, "%d.%d", &major, &minor);
  api->configPlugin("org.lull.denoise", "lull", "Denoises clips on NVIDIA GPUs or the CPU",
                    VS_MAKE_VERSION(major, minor), VAPOURSYNTH_API_VERSION, 0, plugin);
  api->registerFunction("Denoise",
                        "clip:vnode;sigma:float[]:opt;profile:data:opt;temporal:int:opt;"
                        "device:data:opt;guide:vnode:opt;method:data:opt;"
                        "matcher:data:opt;cluster:data:opt;",
                        "clip:vnode;", create_filter, const_cast<Function*>(&denoise), plugin);
  api->registerFunction(
      "BM3Dv2",
      "clip:vnode;ref:vnode:opt;sigma:float[]:opt;block_step:int[]:opt;bm_range:int[]:opt;"
      "radius:int:opt;ps_num:int[]:opt;ps_range:int[]:opt;chroma:int:opt;device_id:int:opt;"
      "fast:int:opt;extractor_exp:int:opt;bm_error_s:data[]:opt;transform_2d_s:data[]:opt;"
      "transform_1d_s:data[]:opt;zero_init:int:opt;",
      "clip:vnode;", create_filter, const_cast<Function*>(&bm3dv2), plugin);
}
