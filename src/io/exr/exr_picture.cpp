#include "io/exr/exr_picture.h"

#include <array>

#include "core/frame_pool.h"
#include "io/exr/exr_file.h"
#include "io/ffmpeg/passenger.h"
#include "io/layers.h"

namespace lull::io {
namespace {

/// The file that a frame came from; empty: none.
std::span<const std::uint8_t> origin_of(const Frame& frame) {
  if (!frame.passenger || !frame.passenger->properties) return {};
  const AVBufferRef* bytes = frame.passenger->properties->opaque_ref;
  if (!bytes) return {};
  return {bytes->data, static_cast<std::size_t>(bytes->size)};
}

const std::string in_memory = "the input";  // whose name is not known any more

void check_size(const ExrWindow& window, const std::string& path, std::int64_t max_pixels) {
  const double pixels = (double{1} + window.x1 - window.x0) * (double{1} + window.y1 - window.y0);
  if (pixels > static_cast<double>(max_pixels))
    throw BadData("'" + path + "' has more than " + std::to_string(max_pixels) +
                  " pixels in a frame; allow it with --max-pixels");
}

/// FFmpeg's order of planes is G, B, R, A.
constexpr std::array<int, 4> plane_of = {2, 0, 1, 3};

}  // namespace

FramePtr read_exr(const AVPacket& file, const std::string& path, std::int64_t max_pixels) {
  const ExrFile exr({file.data, static_cast<std::size_t>(file.size)}, path);
  const ExrLayer& layer = exr.picture();
  const ExrWindow window = exr.window(layer);
  check_size(window, path, max_pixels);
  std::vector<std::string> channels = exr.picture_channels();
  const bool rgb = channels.size() == 3;
  const std::string* alpha = rgb ? layer.channel("A") : nullptr;
  if (alpha) channels.push_back(*alpha);
  FramePtr picture = make_frame();
  picture->format = !rgb ? AV_PIX_FMT_GRAYF32 : alpha ? AV_PIX_FMT_GBRAPF32 : AV_PIX_FMT_GBRPF32;
  picture->width = window.width();
  picture->height = window.height();
  if (av_frame_get_buffer(picture.get(), 0) < 0) throw std::bad_alloc();
  std::vector<PlaneView<float>> planes;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const int p = rgb ? plane_of[i] : 0;
    planes.emplace_back(reinterpret_cast<float*>(picture->data[p]), window.width(), window.height(),
                        picture->linesize[p] / static_cast<std::ptrdiff_t>(sizeof(float)));
  }
  exr.read(layer, channels, planes);
  if (rgb) picture->colorspace = AVCOL_SPC_RGB;
  if (const double aspect = exr.pixel_aspect(layer); aspect > 0 && aspect != 1)
    picture->sample_aspect_ratio = av_d2q(aspect, 10000);
  if (file.buf && file.data == file.buf->data) {
    picture->opaque_ref = non_null(av_buffer_ref(file.buf));
  } else {
    picture->opaque_ref = non_null(av_buffer_alloc(static_cast<std::size_t>(file.size)));
    std::copy_n(file.data, file.size, picture->opaque_ref->data);
  }
  picture->pts = picture->best_effort_timestamp = file.pts;
  return picture;
}

PacketPtr write_exr(const Frame& frame) {
  const ExrFile exr(origin_of(frame), in_memory);
  const std::vector<std::string> channels = exr.picture_channels();
  std::vector<PlaneView<const float>> planes;
  for (int i = 0; i < frame.format.planes(); ++i) planes.emplace_back(frame.plane<float>(i));
  if (planes.size() != channels.size())
    throw InternalError("a frame of another layout came to the writer of OpenEXR");
  return exr.with_picture(channels, planes);
}

std::vector<LayerName> layers_of(const Frame& frame) {
  if (origin_of(frame).empty()) return {};
  std::vector<LayerName> names;
  const ExrFile file(origin_of(frame), in_memory);
  for (const ExrLayer& layer : file.layers()) names.push_back({layer.name, layer.suffixes});
  return names;
}

std::string layers_text(const Frame& frame) {
  return origin_of(frame).empty() ? "no layers" : ExrFile(origin_of(frame), in_memory).text();
}

Frame read_layer(const Frame& frame, std::string_view name,
                 const std::vector<std::string>& channels) {
  const ExrFile exr(origin_of(frame), in_memory);
  for (const ExrLayer& layer : exr.layers()) {
    if (layer.name != name) continue;
    std::vector<std::string> full;
    for (const std::string& suffix : channels)
      if (const std::string* channel = layer.channel(suffix)) full.push_back(*channel);
    if (full.size() != channels.size()) break;
    const ExrWindow own = exr.window(layer), shown = exr.window(exr.picture());
    if (own.x0 != shown.x0 || own.y0 != shown.y0 || own.x1 != shown.x1 || own.y1 != shown.y1)
      throw BadData("the layer " + std::string(name) + " is of " + std::to_string(own.width()) +
                    "x" + std::to_string(own.height()) + " pixels, the picture of " +
                    std::to_string(shown.width()) + "x" + std::to_string(shown.height()) +
                    " (or lies elsewhere); give one that covers it");
    FrameFormat format{.width = own.width(), .height = own.height()};
    format.layout = full.size() == 3 ? Layout::rgb : Layout::gray;
    format.sample = SampleType::f32;
    format.bits = 32;
    Frame result = FramePool(format).acquire();
    std::vector<PlaneView<float>> planes;
    for (int i = 0; i < format.planes(); ++i) planes.push_back(result.plane<float>(i));
    exr.read(layer, full, planes);
    return result;
  }
  throw BadData("no layer " + std::string(name) + " with these channels (there is " + exr.text() +
                "); name another");
}

}  // namespace lull::io
